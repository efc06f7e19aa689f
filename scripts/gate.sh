#!/usr/bin/env bash
# The regression gate on the own fixtures: exact figures per session against a committed baseline, no broken invariant,
# no modified file lost. A change for better or worse is accepted in review: scripts/gate.sh BINARY --accept
set -euo pipefail
cd "$(dirname "$0")/.."
binary=${1:?usage: scripts/gate.sh BINARY [--accept]}
baseline=fixtures/baseline.csv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$binary" replay fixtures --out "$scratch/run" --quiet >/dev/null

# The columns a reviewer wants to see move: one line per session and strategy, found by their names in the header.
awk -F, 'NR == 1 { n = split("source session strategy cycles_reached files_modified files_read structural_survival lexical_survival needed_survival context_survival reduction violations", want, " ")
    for (i = 1; i <= NF; i++) at[$i] = i
    for (i = 1; i <= n; i++) if (!(want[i] in at)) { print "no column " want[i] > "/dev/stderr"; exit 1 } }
  { line = $at[want[1]]; for (i = 2; i <= n; i++) line = line "," $at[want[i]]; print line }' \
  "$scratch/run/sessions.csv" >"$scratch/now.csv"

if [ "${2:-}" = --accept ]; then
  diff -u "$baseline" "$scratch/now.csv" || true
  cp "$scratch/now.csv" "$baseline"
  echo "accepted: $(($(wc -l <"$baseline") - 1)) rows"
  exit 0
fi

failed=0
if [ ! -f "$baseline" ]; then
  echo "gate: no baseline at $baseline; make one with: scripts/gate.sh $binary --accept" >&2
  exit 1
fi
if ! diff -u "$baseline" "$scratch/now.csv"; then
  echo "gate: figures differ from $baseline; if that is meant: scripts/gate.sh $binary --accept" >&2
  failed=1
fi
rows=$(($(wc -l <"$scratch/now.csv") - 1))
[ "$rows" -ge 40 ] || { echo "gate: only $rows rows; nothing much was measured" >&2; failed=1; }
awk -F, 'NR > 1 && $12 != 0 { print "gate: " $12 " broken invariants: " $1 " " $3 > "/dev/stderr"; bad = 1 } END { exit bad }' \
  "$scratch/now.csv" || failed=1
awk -F, 'NR > 1 && $3 == "structured" && $5 != "" { sum += $5; n++ }
  END { if (n == 0 || sum / n < 0.98) { print "gate: structured keeps " (n ? sum / n : "n/a") " of modified files, needs 0.98" > "/dev/stderr"; exit 1 } }' \
  "$scratch/now.csv" || failed=1
[ "$failed" -eq 0 ] && echo "gate: passed, $rows rows"
exit "$failed"
