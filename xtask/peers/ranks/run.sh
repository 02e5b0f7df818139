#!/usr/bin/env bash
# What a whole report costs by the number of ranks: traces of 8 to 1,024 ranks, made from two real ones; wall time, CPU seconds, peak memory.
# From the repository root: xtask/peers/ranks/run.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo build --release --quiet -p railwright
printf '%-10s %8s %8s %8s %10s %14s\n' command ranks 'wall s' 'CPU s' 'memory MB' 'CPU ms a rank'
for ranks in 8 128 1024; do
    python3 xtask/peers/ranks/replicate.py "$scratch/$ranks" "$ranks"
    for command in profile comm stragglers; do
        python3 - "$command" "$ranks" target/release/railwright "$command" --json "$scratch/$ranks" <<'PYTHON'
import os, subprocess, sys, time
name, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
begin = time.time()
child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
if status:
    sys.exit(f"error: {name} of {ranks} ranks failed")
cpu = usage.ru_utime + usage.ru_stime
print(f"{name:10} {ranks:8} {time.time() - begin:8.2f} {cpu:8.2f} {usage.ru_maxrss / 1024:10.0f} {1000 * cpu / ranks:14.2f}")
PYTHON
    done
    rm -r "${scratch:?}/$ranks"
done
