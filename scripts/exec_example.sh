#!/usr/bin/env bash
# A compactor of one's own in a shell: compactor replay LOGS --strategy exec:scripts/exec_example.sh
# Keeps the last two messages that leave as they are (by their numbers), and lists the changed files in front of them.
while IFS= read -r request; do
  jq -c '{
    id,
    messages: ([{role: "user", content: ("Files changed so far: " + (.files.modified | join(", ")))}]
      + [.messages[] | select(.index != null and .role == "user") | {index}][-2:])
  }' <<<"$request"
done
