#!/usr/bin/env bash
# SimGrid (Debian: libsimgrid-dev, g++) and the flow simulation on the same programs, one after the other: simulated time, CPU time, ratio.
# From the repository root: xtask/peers/simgrid/run.sh [FILE...], with programs in the format of crates/network/tests/support/case.rs
set -euo pipefail
cd "$(dirname "$0")/../../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
g++ -O2 -std=c++17 xtask/peers/simgrid/peer.cpp -o "$scratch/peer" -lsimgrid ||
    { echo "error: SimGrid is not there; as root: apt-get install libsimgrid-dev g++" >&2; exit 2; }
cargo build --release --quiet -p railwright-network --example flows --example flow_case
here=target/release/examples/flows

# seconds COMMAND...: user seconds of the command, its output in $answer.
seconds() {
    local TIMEFORMAT=%U
    { time "$@" >"$scratch/out" 2>/dev/null; } 2>&1
}
printf '%-32s %14s %14s %10s %10s %8s\n' program "SimGrid (s)" "here (s)" "CPU (s)" "here (s)" ratio
while read -r -a arguments; do
    peer=$(seconds "$scratch/peer" "${arguments[@]}")
    theirs=$(cat "$scratch/out")
    # A process of a millisecond cannot be timed: twenty of them.
    own=$(seconds bash -c 'for _ in $(seq 20); do "$0" "$@"; done' "$here" "${arguments[@]}")
    ours=$(tail -n 1 "$scratch/out")
    awk -v name="${arguments[*]}" -v a="$theirs" -v b="$ours" -v p="$peer" -v o="$own" \
        'BEGIN { o /= 20; printf "%-32s %14s %14s %10.2f %10.4f %8.0f\n", name, a, b, p, o, p / o }'
done <<LIST
all_to_all 64 1e6 8
all_to_all 128 1e6 16
all_to_all 256 1e6 16
ring 256 1e9 16
ring 1024 1e9 32
LIST
for file in "$@"; do
    peer=$(seconds "$scratch/peer" case "$file")
    read -r theirs distance <"$scratch/out"
    own=$(seconds target/release/examples/flow_case "$file")
    read -r _ _ name _ _ _ ours _ worst _ <"$scratch/out"
    awk -v name="$name" -v a="$theirs" -v b="$ours" -v p="$peer" -v o="$own" -v d="$distance" -v w="$worst" \
        'BEGIN { printf "%-32s %14s %14s %10.2f %10.4f %8.0f   ends within %s, here %s\n", name, a, b, p, o, p / o, d, w }'
done
