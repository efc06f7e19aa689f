#!/usr/bin/env bash
# Has small real models write the summaries of four fixtures, and keeps their replies as cassettes, which tests replay:
#   scripts/record_models.sh [PATH/TO/compactor] [MODEL]...
# Models are qwen15, qwen05 and smollm2 (1.1 GB, 0.5 GB and 0.1 GB, fetched into COMPACTOR_MODEL_CACHE). What is recorded already
# is not asked again: after a change of prompts or fixtures remove tests/data/cassettes first. Takes about an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
compactor=$(realpath "${1:-target/release/compactor}")
models=("${@:2}")
[ "${#models[@]}" -gt 0 ] || models=(smollm2 qwen05 qwen15)
cache=${COMPACTOR_MODEL_CACHE:-$HOME/.cache/compactor-models}
logs=(
  fixtures/anthropic-messages/tidegate-cache-request.jsonl
  fixtures/claude-code/price-split-and-mobile-layout.jsonl
  fixtures/codex/cpp-tiles-nodata-compacted.jsonl
  fixtures/pi/v3-orchard-cache-branch.jsonl
)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
for model in "${models[@]}"; do
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  server=$(WAIT=1 THREADS=${THREADS:-1} scripts/llm/start_server.sh "$model" "$port" 8192 "$cache")
  # The server answers one at a time.
  "$compactor" replay "${logs[@]}" --cycles 2 --strategy structured --summarizer llm --model "$model" \
    --base-url "http://127.0.0.1:$port" --concurrency 1 --timeout 3600 --cassettes tests/data/cassettes
  kill "$server"
  server=
done
