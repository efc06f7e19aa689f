#!/usr/bin/env bash
# Lets a third party judge how models are asked: llmock serves both protocols, breaks them as told, and says in the end whether
# its client misbehaved (waits that were not kept, errors that no repetition mends, storms of repetitions).
#   scripts/llm_conformance.sh [PATH/TO/compactor]
# Where the package cannot be had it says so in one line and ends well; with COMPACTOR_REQUIRE_REAL_LLM=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/llm/common.sh "client conformance" "${1:-}"
venv=$cache/llmock
if [ ! -x "$venv/bin/llmock" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check llmock==0.2.2; } \
    >"$scratch/pip" 2>&1 || skip "llmock cannot be had ($(tail -n 1 "$scratch/pip"))"
fi
url=http://127.0.0.1:$port
"$venv/bin/llmock" serve --host 127.0.0.1 --port "$port" --context-window 960 --response-style hello \
  >"$scratch/llmock" 2>&1 &
server=$!
for _ in $(seq 300); do
  curl -fsS -o /dev/null "$url/health" 2>/dev/null && break
  kill -0 "$server" 2>/dev/null || { cat "$scratch/llmock" >&2; exit 1; }
  sleep 0.1
done

failed=0
number=0
# What happens to the next requests, then a replay: the exit code that is right, then arguments.
scenario() {
  for provider in openai anthropic; do
    curl -fsS -o /dev/null -X POST "$url/_llmock/scenario" -H 'content-type: application/json' \
      -d "{\"behaviors\": [$2]}"
    base=$url/v1
    [ "$provider" = openai ] || base=$url/anthropic
    code=0
    # Requests of different runs are no repetitions of each other: each run has a model of its own.
    number=$((number + 1))
    COMPACTOR_API_KEY=any-key "$compactor" replay "$log" --summarizer llm --provider "$provider" --base-url "$base" \
      --model "model-$number" --strategy structured --window 900 --max-output-tokens 64 --out "$scratch/out" "${@:4}" \
      >"$scratch/table" 2>"$scratch/err" || code=$?
    if [ "$code" = "$3" ]; then
      echo "ok      $1 ($provider)"
    else
      failed=1
      echo "FAILED  $1 ($provider): exit code $code, not $3"
      tail -n 5 "$scratch/err"
    fi
  done
}
scenario "a rate limit that says how long" \
  '{"type": "fail", "status": 429, "retry_after": 1.5, "times": 2}' 0
scenario "an overloaded provider" '{"type": "fail", "status": 529, "times": 2}' 0
scenario "a server error" '{"type": "fail", "status": 500, "times": 2}, {"type": "fail", "status": 503, "times": 1}' 0
scenario "a reply that does not come in time" '{"type": "delay", "seconds": 4, "times": 2}' 0 --timeout 2
scenario "replies that are cut short" '{"type": "reply", "text": "## Goal", "finish_reason": "length", "times": 6}' 0
# Only here is a prompt larger than the window of the server.
scenario "a conversation that is too long" '{"type": "delay", "seconds": 0, "times": 1}' 0 --window 1300 --cassettes "$scratch/tapes"
grep -q '"overflow"' "$scratch"/tapes/*.json || { failed=1; echo "FAILED  no conversation was too long"; }
scenario "a request that is refused" '{"type": "fail", "status": 422, "times": 6}' 2 --concurrency 1
scenario "a key that is refused" '{"type": "fail", "status": 401, "times": 2}' 2 --concurrency 1

"$venv/bin/llmock" report --url "$url" --strict || failed=1
[ "$failed" = 0 ]
