#!/usr/bin/env bash
# Exports of winners and of 200 random plans, shown to the parsers and checks of the frameworks themselves.
# From the repository root: xtask/peers/exports/check.sh SOURCES, a folder with the checkouts that are there, the others are left out:
#   megatron, megatron-0.19, megatron-0.18, ... (Megatron-LM, each release), titan (torchtitan), titan-2026-02 (238fa995), nanotron,
#   axolotl, llamafactory, maxtext.
# RAILWRIGHT_EXPORTS_SEED=1 (to 255) checks other random plans than those of the tests.
# DeepSpeed, accelerate and TRL are packages of requirements.txt. EXPORTS_PYTHON=/path/to/python takes a Python that has them; a GPU is
# not needed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
sources=$(cd "${1:?name the folder with the checkouts}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out
RAILWRIGHT_EXPORTS=$out cargo test --quiet -p railwright-launch --lib corpus >/dev/null
python=${EXPORTS_PYTHON:-$scratch/python/bin/python}
if [ -z "${EXPORTS_PYTHON:-}" ]; then
    python3 -m venv "$scratch/python"
    "$scratch/python/bin/pip" install --quiet -r xtask/peers/exports/requirements.txt ||
        { echo "error: the packages could not be installed; name a Python that has them in EXPORTS_PYTHON" >&2; exit 2; }
fi
# The frameworks pin packages that others of them do not accept.
export DISABLE_VERSION_CHECK=1
rc=0
# check NAME SCRIPT SOURCE FILES...: shows the files to a framework, if its checkout is there; SOURCE is `-` for a package.
check() {
    local name=$1 script=$2 source=$3
    shift 3
    if [ "$source" != - ]; then
        if [ ! -d "$source" ]; then
            printf '%s: left out, there is no %s\n' "$name" "$source"
            return
        fi
        set -- "$source" "$@"
    fi
    printf '%s: ' "$name"
    "$python" "xtask/peers/exports/check_$script.py" "$@" 2>/dev/null >"$scratch/$name.txt" || rc=1
    grep refused "$scratch/$name.txt" || true
    tail -n 1 "$scratch/$name.txt"
}
check megatron megatron "$sources/megatron" "$out"/megatron-2026-08/*.sh
for version in 0.19 0.18 0.17 0.16; do
    check "megatron-$version" megatron "$sources/megatron-$version" "$out/megatron-$version"/*.sh
done
check torchtitan torchtitan "$sources/titan" "$out"/torchtitan-2026-08/*.py
check torchtitan-2026-02 torchtitan_toml "$sources/titan-2026-02" "$out"/torchtitan-2026-02/*.toml
check nanotron nanotron "$sources/nanotron/src" "$out"/nanotron/*.yaml
check deepspeed deepspeed - "$out"/deepspeed/*.json
check accelerate accelerate - "$out"/accelerate/*.accelerate.yaml
check axolotl axolotl "$sources/axolotl/src" "$out"/axolotl/*.axolotl.yaml
check llama-factory llama_factory "$sources/llamafactory/src" "$out"/llama-factory/*.llama_factory.yaml
check maxtext maxtext "$sources/maxtext/src" "$out"/maxtext/*.yml
exit $rc
