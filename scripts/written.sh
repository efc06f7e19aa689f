#!/usr/bin/env bash
# Tables that stand in METHODOLOGY.md between the lines `<!-- NAME: made by SCRIPT -->` and `<!-- NAME: end -->`.
# written NAME SCRIPT TABLE MODE: without a mode prints the file TABLE, `--check` fails where another one stands there,
# `--accept` writes it there.
written() {
  local name=$1 script=$2 table=$3 mode=$4
  local begin="<!-- $name: made by $script -->" end="<!-- $name: end -->"
  case $mode in
    '') cat "$table" ;;
    --check)
      awk -v begin="$begin" -v end="$end" '$0 == end { on = 0 } on { print } $0 == begin { on = 1 }' \
        METHODOLOGY.md > "$table.written"
      diff -u "$table.written" "$table" || {
        echo "the table of $name in METHODOLOGY.md is not that of this build; $script BINARY --accept" >&2
        return 1
      } ;;
    --accept)
      awk -v begin="$begin" -v end="$end" -v table="$table" '
        $0 == begin { print; while ((getline line < table) > 0) print line; skip = 1; next }
        $0 == end { skip = 0 }
        !skip' METHODOLOGY.md > "$table.new" && cp "$table.new" METHODOLOGY.md ;;
    *) echo "unknown option $mode" >&2; return 2 ;;
  esac
}
