#!/usr/bin/env bash
# The table of METHODOLOGY.md: every embedded profile, faithful and mended, under every strategy, on the fixtures.
# `scripts/profiles.sh BINARY` prints it; `scripts/profiles.sh BINARY --check` fails where METHODOLOGY.md has another one.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/written.sh
binary=${1:?usage: scripts/profiles.sh BINARY [--check|--accept]}
mode=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

names=$("$binary" profiles | cut -d' ' -f1)
list=$(for name in $names; do printf '%s,' "$name"; [ "$name" = standard ] || printf '%s+fixes,' "$name"; done)
"$binary" replay fixtures --profile "${list%,}" --out "$scratch/run" --quiet >/dev/null

# Numbers by the names of their columns: the schema may grow.
table() {
  awk -F, '
    function is(cell) { return cell == "true" || cell + 0 > 0 }
    function percent(text) { return text == "" ? "n/a" : sprintf("%.1f %%", 100 * text) }
    FILENAME == ARGV[1] && FNR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    FILENAME == ARGV[1] {
      key = $(c["profile"]) SUBSEP $(c["strategy"])
      cycles[key]++
      if ($(c["tokens_summary"]) > 0) { written[key]++; tokens[key] += $(c["tokens_summary"]) }
      used = $(c["strategy_used"])
      if (used != $(c["strategy"])) other[key]++
      orphans[key] += $(c["orphan_results"]) + $(c["orphan_calls"])
      broken[key] += is($(c["duplicate_results"])) + is($(c["empty_blocks"])) + is($(c["no_user_message"])) + is($(c["summary_after_tail"])) + is($(c["over_budget"])) + is($(c["stuck"]))
      next
    }
    FNR == 1 { for (i = 1; i <= NF; i++) s[$i] = i
      print "| profile | strategy | cycles | files modified | structural | lexical | needed | summary tokens | other strategy ran | orphans | other rules broken |"
      print "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
      next }
    {
      key = $(s["profile"]) SUBSEP $(s["strategy"])
      if (!(key in cycles)) next
      # Mended profiles differ in what a summary is made of: one strategy shows it.
      if ($(s["profile"]) ~ /[+]fixes$/ && $(s["strategy"]) != "structured") next
      printf "| %s | %s | %d | %s | %s | %s | %s | %d | %d | %d | %d |\n", $(s["profile"]), $(s["strategy"]), cycles[key],
        percent($(s["files_modified"])), percent($(s["structural_survival"])), percent($(s["lexical_survival"])),
        percent($(s["needed_survival"])), written[key] ? tokens[key] / written[key] : 0, other[key], orphans[key], broken[key]
    }' "$scratch/run/cycles_plain.csv" "$scratch/run/summary.csv"
}
# Fields with commas are quoted: none of those that are read has one, but they move the others.
plain() { sed 's/"[^"]*"/x/g' "$scratch/run/cycles.csv" > "$scratch/run/cycles_plain.csv"; }
plain
table > "$scratch/table"

written profiles scripts/profiles.sh "$scratch/table" "$mode"
