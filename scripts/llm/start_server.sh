#!/usr/bin/env bash
# Starts a real model server on this machine:
#   scripts/llm/start_server.sh smollm2|qwen05|qwen15 PORT WINDOW CACHE [KEY]
# The last line of stdout is its process id. It answers 503 until the weights are loaded; with WAIT=1 this waits for that.
set -euo pipefail
kind=$1 port=$2 window=$3 cache=$4
here=$(cd "$(dirname "$0")" && pwd)
weights=$("$here/fetch_model.sh" "$kind" "$cache/models")
[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install -q --disable-pip-version-check --require-hashes --only-binary :all: \
  -r "$here/server.req.txt" >&2
log=$cache/$kind-$port.log
"$cache/venv/bin/python" "$here/serve.py" "$weights" "$port" "$window" "$kind" "${@:5}" >"$log" 2>&1 &
server=$!
if [ "${WAIT:-0}" = 1 ]; then
  for _ in $(seq 1200); do
    if curl -fsS -o /dev/null "http://127.0.0.1:$port/health" 2>/dev/null; then
      echo "$server"
      exit 0
    fi
    kill -0 "$server" 2>/dev/null || { tail -5 "$log" >&2; exit 1; }
    sleep 0.1
  done
  kill "$server"
  echo "the server was not ready after two minutes: $log" >&2
  exit 1
fi
echo "$server"
