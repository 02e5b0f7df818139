#!/usr/bin/env bash
# HolisticTraceAnalysis (from PyPI), a plain typed parse by serde_json, and the profiler, on the same traces, one after the other: wall time,
# CPU seconds of the process and its children, peak memory of one process, and how many times the CPU seconds of the full report the others take.
# A1 is the largest trace of the collection (54 MB), A8 eight copies of it with the rank rewritten (430 MB).
# From the repository root: xtask/peers/hta/run.sh [without-hta]; HTA_PYTHON=/path/to/python takes one that has HTA installed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
source=fixtures/traces/hta_samples/df_index_resolver/df_index_resolver.json.gz
mkdir "$scratch/A1" "$scratch/A8"
gzip -dc "$source" >"$scratch/A1/rank-1.json"
for rank in 0 1 2 3 4 5 6 7; do
    sed "0,/\"rank\": 1, \"world_size\": 2/s//\"rank\": $rank, \"world_size\": 8/" "$scratch/A1/rank-1.json" >"$scratch/A8/rank-$rank.json"
done
cargo build --release --quiet -p railwright-profiler --example read_traces
cargo build --release --quiet -p railwright
here=target/release/examples/read_traces
python=${HTA_PYTHON:-$scratch/python/bin/python}
if [ "${1:-}" != without-hta ] && [ -z "${HTA_PYTHON:-}" ]; then
    python3 -m venv "$scratch/python"
    "$scratch/python/bin/pip" install --quiet HolisticTraceAnalysis pyyaml 'pandas<3' ||
        { echo "error: HolisticTraceAnalysis could not be installed; give without-hta to leave it out" >&2; exit 2; }
fi
printf '%-36s %8s %8s %10s %8s\n' program 'wall s' 'CPU s' 'memory MB' times
# measure NAME COMMAND...: the median of three by CPU time, of the process and its children. The one whose name ends in "full report" is the unit of
# those after it.
measure() {
    local name=$1
    shift
    python3 - "$scratch/unit" "$name" "$@" <<'PYTHON'
import os, subprocess, sys, time
unit, name, command = sys.argv[1], sys.argv[2], sys.argv[3:]
runs = []
for _ in range(3):
    begin = time.time()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"error: {name} failed")
    runs.append((usage.ru_utime + usage.ru_stime, time.time() - begin, usage.ru_maxrss / 1024))
cpu, wall, memory = sorted(runs)[1]
if name.endswith("full report"):
    with open(unit, "w") as file:
        file.write(str(cpu))
with open(unit) as file:
    times = cpu / float(file.read())
print(f"{name:36} {wall:8.2f} {cpu:8.2f} {memory:10.0f} {times:8.1f}")
PYTHON
}
for set in A1 A8; do
    measure "$set railwright profile, full report" target/release/railwright profile --json "$scratch/$set"
    measure "$set read" "$here" read "$scratch/$set"/*
    measure "$set read and HTA's tables" "$here" tables "$scratch/$set"/*
    measure "$set typed parse by serde_json" "$here" typed "$scratch/$set"/*
    if [ "${1:-}" != without-hta ]; then
        measure "$set HTA, load" "$python" xtask/peers/hta/peer.py load "$scratch/$set"
        measure "$set HTA, load and tables" "$python" xtask/peers/hta/peer.py tables "$scratch/$set"
    fi
done
