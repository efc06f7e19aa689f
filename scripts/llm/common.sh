# What the scripts that start a server have in common; sourced with the name of the script's work and the path of the program.
what=$1
compactor=$(realpath "${2:-target/release/compactor}")
cache=${COMPACTOR_MODEL_CACHE:-$HOME/.cache/compactor-models}
log=tests/data/prompts/session.jsonl
scratch=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

# Nothing can be said here: that is no failure, unless it is said to be one.
skip() {
  echo "$what: skipped: $*"
  [ "${COMPACTOR_REQUIRE_REAL_LLM:-0}" != 1 ]
  exit
}
command -v python3 >/dev/null || skip "python3 is missing"
command -v curl >/dev/null || skip "curl is missing"

# A port that is free now.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
