#!/usr/bin/env bash
# ASTRA-sim (analytical backend, without contention) and the flow simulation on the same steps and networks, both ways:
# steps of a run written by `network export --to astra-sim`, and ASTRA-sim's own traces and networks read by `network flows`.
# From the repository root: xtask/peers/astra-sim/run.sh ASTRA_SIM_FOLDER [RAILWRIGHT]
# ASTRA_SIM_FOLDER is a built checkout (build/astra_analytical/build.sh). RAILWRIGHT is the program [default: target/release/railwright].
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=${1:?usage: run.sh ASTRA_SIM_FOLDER [RAILWRIGHT]}
here=${2:-target/release/railwright}
theirs=$folder/build/astra_analytical/build/bin/AstraSim_Analytical_Congestion_Unaware
[ -x "$theirs" ] || { echo "error: $theirs is not there; build ASTRA-sim first" >&2; exit 2; }
[ -x "$here" ] || { echo "error: $here is not there; cargo build --release -p railwright" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
none='{"memory-type": "NO_MEMORY_EXPANSION"}'
echo "$none" >"$scratch/memory.json"

# simulated PROGRAM TRACES NETWORK SYSTEM MEMORY [GROUPS]: seconds until the last rank has ended, as ASTRA-sim prints them in ns.
# Every rank of the traces must end, or the step is stuck.
simulated() {
    local ranks ended
    ranks=$(find "$(dirname "$2")" -name "$(basename "$2").*.et" | wc -l)
    (cd "$scratch" && "$1" --workload-configuration="$2" --network-configuration="$3" --system-configuration="$4" \
        --remote-memory-configuration="$5" ${6:+--comm-group-configuration="$6"}) >"$scratch/output" 2>&1 ||
        { tail -n 5 "$scratch/output" >&2; return 1; }
    ended=$(grep -c 'sys\[[0-9]*\] finished' "$scratch/output" || true)
    [ "$ended" = "$ranks" ] || { echo "error: $ended of $ranks ranks ended" >&2; return 1; }
    sed -n 's/.*sys\[[0-9]*\] finished, \([0-9]*\) cycles.*/\1/p' "$scratch/output" | sort -n | tail -n 1 |
        awk '{ printf "%.9f", $1 / 1e9 }'
}

# value KEY: a number of the JSON on stdin.
value() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

printf '%-34s %12s %12s %12s %9s %9s\n' 'step' 'ASTRA-sim (s)' 'traces (s)' 'step (s)' 'traces' 'step'
while IFS='|' read -r name arguments; do
    at=$scratch/$name
    read -r -a run <<<"$arguments"
    "$here" network export "${run[@]}" --to astra-sim --output "$at" --quiet 2>/dev/null
    a=$(simulated "$theirs" "$at/step" "$at/network.yml" "$at/system.json" "$at/memory.json" "$at/comm_groups.json")
    f=$("$here" network flows "$at" --fabric "$at/network.yml" --json 2>/dev/null | value makespan)
    s=$("$here" network simulate "${run[@]}" --json 2>/dev/null | value step_time)
    awk -v n="$name" -v a="$a" -v f="$f" -v s="$s" \
        'BEGIN { printf "%-34s %12.6f %12.6f %12.6f %+8.2f%% %+8.2f%%\n", n, a, f, s, 100 * (f / a - 1), 100 * (s / a - 1) }'
done <"$(dirname "$0")/steps.txt"

# ASTRA-sim's own traces and networks, with its own system file, and with one chunk and no cost of local memory. Its all-to-all, which
# forwards messages around a ring, has no counterpart here.
echo
printf '%-34s %12s %12s %9s %12s %9s\n' "ASTRA-sim's own traces" 'here (us)' '4 chunks' here '1 chunk' here
examples=$folder/examples
system=$examples/system/native_collectives/Ring_4chunks.json
sed 's/"endpoint-delay": *[0-9]*/"endpoint-delay": 1/; s/"local-mem-bw": *[0-9]*/"local-mem-bw": 1000000/; s/"preferred-dataset-splits": *[0-9]*/"preferred-dataset-splits": 1/' \
    "$system" >"$scratch/one.json"
for network in Ring_4npus Ring_8npus Ring_16npus HGX-H100-validated; do
    file=$examples/network/analytical/$network.yml
    npus=$(sed -n 's/^npus_count: *\[ *\([0-9]*\) *\].*/\1/p' "$file")
    for kind in all_gather all_reduce reduce_scatter; do
        traces=$examples/workload/microbenchmarks/$kind/${npus}npus_1MB
        f=$("$here" network flows "$traces" --fabric "$file" --json 2>/dev/null | value makespan)
        a=$(simulated "$theirs" "$traces/$kind" "$file" "$system" "$scratch/memory.json")
        b=$(simulated "$theirs" "$traces/$kind" "$file" "$scratch/one.json" "$scratch/memory.json")
        awk -v n="$kind, $network" -v a="$a" -v f="$f" -v b="$b" \
            'BEGIN { printf "%-34s %12.2f %12.2f %+8.1f%% %12.2f %+8.2f%%\n", n, f * 1e6, a * 1e6, 100 * (f / a - 1), b * 1e6, 100 * (f / b - 1) }'
    done
done
