#!/usr/bin/env bash
# The tables of METHODOLOGY.md on real logs: what each strategy keeps, and how long facts last. Needs the corpus
# (COMPACTOR_CORPUS, default ../shared/corpus); without it, or with one of other bytes, nothing is compared.
# `scripts/real_logs.sh BINARY` prints them; `--check` fails where METHODOLOGY.md has others, `--accept` writes them there.
set -euo pipefail
binary=$(realpath "${1:?usage: scripts/real_logs.sh BINARY [--check|--accept]}")
cd "$(dirname "$0")/.."
source scripts/written.sh
mode=${2:-}
corpus=${COMPACTOR_CORPUS:-../shared/corpus}
logs=()
for format in claude-code codex pi openai-chat; do
  [ -d "$corpus/$format" ] && logs+=("$corpus/$format")
done
if [ ${#logs[@]} -lt 4 ]; then
  echo "no corpus at $corpus: skipped"
  exit 0
fi
bytes=$(find "${logs[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | cksum)
identity="<!-- bytes of the logs, by cksum: $bytes -->"
if [ "$mode" = --check ] && ! grep -qxF "$identity" METHODOLOGY.md; then
  echo "the logs at $corpus are others than those of METHODOLOGY.md: skipped"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$binary" replay "${logs[@]}" --out "$scratch/run" --quiet >/dev/null 2>&1 || [ $? -eq 3 ] || {
  echo "replay of the logs failed" >&2
  exit 1
}

# Numbers by the names of their columns: the schema may grow.
awk -F, -v identity="$identity" '
  function grouped(number,  text) {
    text = sprintf("%d", number)
    while (match(text, /[0-9][0-9][0-9][0-9]($|,)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
  }
  # The mean, and with `between` the ends of its interval; sessions are counted in the first row.
  function share(column, between,  text) {
    text = sprintf("%.3f", $(c[column]))
    if (between) text = text sprintf(" [%.3f, %.3f]", $(c[column "_low"]), $(c[column "_high"]))
    if (FNR == 2) text = text " (n " $(c[column "_n"]) ")"
    return text
  }
  FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i
    print identity
    print "| strategy | modified files kept | read files kept | structural in summary | lexical in summary | needed in summary | summary tokens |"
    print "|---|---|---|---|---|---|---|"
    next }
  { printf "| %s | %s | %s | %s | %s | %s | %s |\n", $(c["strategy"]), share("files_modified"), share("files_read"),
      share("structural_survival", 1), share("lexical_survival", 1), share("needed_survival", 1),
      grouped($(c["tokens_summary"])) }' "$scratch/run/summary.csv" > "$scratch/kept"

awk -F, '
  FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i
    print "| strategy | kind | 1 | 2 | 3 | 5 | half-life |"
    print "|---|---|---|---|---|---|---|"
    next }
  $(c["strategy"]) !~ /^(structured|narrative)$/ || $(c["class"]) !~ /^(structural|lexical)$/ { next }
  $(c["age"]) == 1 { row = "| " $(c["strategy"]) " | " $(c["class"]) " |" }
  $(c["age"]) ~ /^[1235]$/ { row = row sprintf(" %.2f [%.2f, %.2f] |", $(c["survival"]), $(c["survival_low"]), $(c["survival_high"])) }
  $(c["age"]) == 5 { print row " " $(c["half_life"]) " |" }' "$scratch/run/curves.csv" > "$scratch/spells"

written "real logs" scripts/real_logs.sh "$scratch/kept" "$mode"
written "spells" scripts/real_logs.sh "$scratch/spells" "$mode"
