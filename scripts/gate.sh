#!/usr/bin/env bash
# The regression gate on the own fixtures: policy and baseline in fixtures/gate. Nothing may differ from the baseline; a change for
# better or worse is accepted in review: scripts/gate.sh BINARY --accept. The gate must also turn red when it should: on damaged
# copies (--self-test) and for summaries of a fraction of the budget.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=${1:?usage: scripts/gate.sh BINARY [--accept]}
gate=(--baseline fixtures/gate --policy fixtures/gate/policy.toml)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$binary" replay fixtures --out "$scratch/run" --quiet >/dev/null

if [ "${2:-}" = --accept ]; then
  "$binary" gate "$scratch/run" --baseline fixtures/gate --accept
  exit 0
fi

"$binary" gate "$scratch/run" "${gate[@]}"
"$binary" gate "$scratch/run" "${gate[@]}" --self-test >"$scratch/self-test" || {
  cat "$scratch/self-test" >&2
  exit 1
}
head -1 "$scratch/self-test"

# What became better is accepted, too: else the next loss would hide behind it.
cp -r fixtures/gate "$scratch/baseline"
"$binary" gate "$scratch/run" --baseline "$scratch/baseline" --accept >/dev/null
if ! diff -u fixtures/gate/baseline.csv "$scratch/baseline/baseline.csv"; then
  echo "gate: figures differ from fixtures/gate; if that is meant: scripts/gate.sh $binary --accept" >&2
  exit 1
fi

# A summarizer that is worse: summaries of 300 tokens.
"$binary" replay fixtures --summary-tokens 300 --out "$scratch/worse" --quiet >/dev/null
code=0
"$binary" gate "$scratch/worse" "${gate[@]}" --quiet >"$scratch/said" || code=$?
if [ "$code" -ne 1 ] || ! grep -q 'fail: .*needed_survival' "$scratch/said"; then
  cat "$scratch/said" >&2
  echo "gate: summaries of 300 tokens gave exit code $code, not 1" >&2
  exit 1
fi
echo "a worse summarizer turned it red"
