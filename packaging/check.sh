#!/usr/bin/env bash
# Unpacks an archive and checks the program in it: static, at most 20 MB, starts in at most 5 ms, and answers.
#
#   check.sh ARCHIVE
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xzf "$1"
program=$(echo "$folder"/*/railwright)

size=$(stat -c %s "$program")
printf 'size      %d bytes\n' "$size"
[ "$size" -le 20000000 ] || { echo "error: more than 20 MB" >&2; exit 1; }

# A static program has neither an interpreter nor needed libraries.
if readelf -ld "$program" | grep -Eq 'INTERP|NEEDED'; then
    echo "error: not a static program" >&2
    exit 1
fi
echo 'static    yes'

# The best of 20 starts: other load on the machine can only add.
best=$(for _ in $(seq 20); do
    begun=$(date +%s%N)
    "$program" --version >/dev/null
    echo $(($(date +%s%N) - begun))
done | sort -n | head -n 1)
printf 'start     %d us\n' $((best / 1000))
[ "$best" -le 5000000 ] || { echo "error: more than 5 ms" >&2; exit 1; }

"$program" estimate llama-3.1-8b --cluster dgx-h100 --gpus 8 --json --quiet | grep -q '"kind": *"estimate"'
for page in "$folder"/*/man/man1/*.1; do
    grep -q '^\.TH' "$page" || { echo "error: $page is no manual page" >&2; exit 1; }
done
bash -n "$folder"/*/completions/railwright.bash
echo 'answers   yes'
