#!/usr/bin/env bash
# Opens reports in headless Chromium and fails on a console error, a request that leaves the page, two seconds to load, low
# contrast, a page wider than its window, names or labels that are missing, tables that do not sort. Without arguments it makes
# two: of the fixtures, and of 1,000 made sessions. Needs chromium and node; without them it says so and skips.
# scripts/report_browser.sh [--shots DIR] [REPORT.html]...
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in "${CHROMIUM:-chromium}" node; do
  command -v "$tool" >/dev/null 2>&1 || { echo "skipped: $tool is not there"; exit 0; }
done
shots=()
if [ "${1:-}" = --shots ]; then
  shots=(--shots "$2")
  shift 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ $# = 0 ]; then
  program=${COMPACTOR:-${CARGO_TARGET_DIR:-target}/release/compactor}
  "$program" replay fixtures --log-facts --out "$scratch/fixtures" --quiet >/dev/null
  "$program" report "$scratch/fixtures" --html "$scratch/fixtures.html" --quiet
  "$program" report "$scratch/fixtures" --redact --html "$scratch/redacted.html" --quiet
  cargo bench --locked --bench report --quiet -- 1000 "$scratch/many.html"
  set -- "$scratch/fixtures.html" "$scratch/redacted.html" "$scratch/many.html"
fi
node scripts/report_browser.mjs "${shots[@]}" "$@"
