#!/usr/bin/env python3
"""A compactor of one's own: compactor replay LOGS --strategy exec:'python3 scripts/exec_example.py'

Keeps what the person said and the errors, and says how much is gone."""
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    said, errors = [], []
    for message in request["messages"]:
        if message["role"] == "user" and message["content"]:
            said.append(message["content"].splitlines()[0])
        errors += [it["content"].splitlines()[-1] for it in message.get("results", []) if it["failed"] and it["content"]]
    parts = [request["previous"] or "", "Requests:", *said[-10:], "Errors:", *errors[-5:], "Changed:"]
    parts += request["files"]["modified"][-30:] + [f"({len(request['messages'])} messages left the context)"]
    # About four characters to a token; a summary over its budget is told in the results.
    summary = "\n".join(parts)[-4 * request["budget"] * 3 // 4 :]
    print(json.dumps({"id": request["id"], "summary": summary}), flush=True)
