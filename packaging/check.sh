#!/usr/bin/env bash
# Unpacks an archive and checks the program in it: static, at most 20 MB, starts in at most 5 ms, and answers.
#
#   check.sh ARCHIVE [REFERENCE]
#
# REFERENCE is another build of the same commit, whose answers must be the same bytes. RUNNER runs a program of another architecture, such as
# `qemu-aarch64-static`; its start is not timed then.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xzf "$1"
program=$(echo "$folder"/*/railwright)
root=$(cd "$(dirname "$0")/.." && pwd)
run=(${RUNNER:+"$RUNNER"} "$program")

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
if [ -z "${RUNNER:-}" ]; then
    best=$(for _ in $(seq 20); do
        begun=$(date +%s%N)
        "$program" --version >/dev/null
        echo $(($(date +%s%N) - begun))
    done | sort -n | head -n 1)
    printf 'start     %d us\n' $((best / 1000))
    [ "$best" -le 5000000 ] || { echo "error: more than 5 ms" >&2; exit 1; }
fi

"${run[@]}" estimate llama-3.1-8b --cluster dgx-h100 --gpus 8 --json --quiet | grep -q '"kind": *"estimate"'
for page in "$folder"/*/man/man1/*.1; do
    grep -q '^\.TH' "$page" || { echo "error: $page is no manual page" >&2; exit 1; }
done
bash -n "$folder"/*/completions/railwright.bash
echo 'answers   yes'

[ $# -ge 2 ] || exit 0
reference=$(realpath "$2")
# Dense and sparse models, launch files, a search, networks, traces, and what the C libraries read and write: Parquet, zstd, SQLite.
cd "$root"
traces=fixtures/traces/generated_torch215_gloo_pp2dp2
saved=$folder/saved.railwright
"$reference" save "$traces" --quiet --output "$saved"
count=0
while read -r line; do
    eval "words=($line)"
    "$reference" "${words[@]}" --quiet >"$folder/expected" </dev/null || true
    "${run[@]}" "${words[@]}" --quiet >"$folder/found" </dev/null || true
    if ! [ -s "$folder/expected" ] || ! cmp "$folder/expected" "$folder/found"; then
        echo "error: another answer than the reference: railwright $line" >&2
        exit 1
    fi
    count=$((count + 1))
done <<'END'
estimate llama-3.1-405b --cluster dgx-h100 --gpus 1024 --tp 8 --cp 2 --pp 16 --global-batch 512 --uneven-stages --json
estimate deepseek-v3 --cluster dgx-h100 --gpus 2048 --global-batch 4096 --json
estimate examples/runs/gpt3-175b.toml --json
estimate examples/launch/llama3_70b.sh --cluster dgx-h100 --json
estimate examples/launch/mixtral_8x7b.log --cluster dgx-h100
sensitivity llama-3-8b --cluster dgx-h100 --gpus 64 --tp 2 --json
search llama-3-8b --cluster dgx-h100 --gpus 32 --global-batch 128 --json
network cost --gpus 1024 --json
network simulate llama-3-8b --cluster dgx-h100 --gpus 64 --tp 2 --json
profile "$traces" --json
profile "$saved" --json
profile fixtures/traces/jaxtoolbox_nsys_fsdp4 --json
stragglers "$traces" --json
query "SELECT name, count(*), sum(duration_us) FROM gpu GROUP BY name ORDER BY 1" fixtures/traces/jaxtoolbox_nsys_fsdp4 --format csv
query "SELECT name, count(*), sum(duration_us) FROM host GROUP BY name ORDER BY 1" "$saved" --format csv
log fixtures/traces/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz --json
hang examples/hang --json
models list
explain mfu
END
echo "same      yes, $count commands"
