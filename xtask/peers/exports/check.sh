#!/usr/bin/env bash
# Exports of winners and of 200 random plans, shown to the parsers and checks of Megatron-LM, torchtitan and nanotron themselves.
# From the repository root: xtask/peers/exports/check.sh SOURCES, a folder that holds `megatron` (a checkout of Megatron-LM), `titan` (of
# torchtitan) and `nanotron`; what is not there is left out. EXPORTS_PYTHON=/path/to/python takes one that has the packages of
# requirements.txt; a GPU is not needed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
sources=$(cd "${1:?name the folder with the checkouts}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
RAILWRIGHT_EXPORTS=$scratch/out cargo test --quiet -p railwright-launch --lib corpus >/dev/null
python=${EXPORTS_PYTHON:-$scratch/python/bin/python}
if [ -z "${EXPORTS_PYTHON:-}" ]; then
    python3 -m venv "$scratch/python"
    "$scratch/python/bin/pip" install --quiet -r xtask/peers/exports/requirements.txt ||
        { echo "error: the packages could not be installed; name a Python that has them in EXPORTS_PYTHON" >&2; exit 2; }
fi
rc=0
# check NAME FOLDER FILES...: shows the files to a framework, if its checkout is there.
check() {
    local name=$1 source=$2
    shift 2
    if [ ! -d "$source" ]; then
        printf '%s: left out, there is no %s\n' "$name" "$source"
        return
    fi
    printf '%s: ' "$name"
    "$python" "xtask/peers/exports/check_$name.py" "$source" "$@" 2>/dev/null >"$scratch/$name.txt" || rc=1
    grep refused "$scratch/$name.txt" || true
    tail -n 1 "$scratch/$name.txt"
}
check megatron "$sources/megatron" "$scratch"/out/megatron/*.sh
check torchtitan "$sources/titan" "$scratch"/out/torchtitan/*.py
check nanotron "$sources/nanotron/src" "$scratch"/out/nanotron/*.yaml
exit $rc
