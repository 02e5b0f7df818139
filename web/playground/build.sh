#!/usr/bin/env bash
# Builds the playground into FOLDER: the page of web/dist and the program as WebAssembly, as static files.
# Needs the target wasm32-unknown-unknown and node; `wasm-opt` makes the program smaller where it is installed (or named in WASM_OPT).
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."

# The stack of WebAssembly is 1 MiB by default; threads of the server have 2 MiB.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C link-arg=-zstack-size=4194304"
cargo build --locked --profile playground --target wasm32-unknown-unknown -p railwright
built=${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/playground
wasm=$built/railwright.wasm
optimizer=${WASM_OPT:-$(command -v wasm-opt || true)}
# Older versions lack features that rustc uses.
if [ -n "$optimizer" ] && ! "$optimizer" --help | grep -q enable-call-indirect-overlong; then
    echo "note: $optimizer is too old and not used" >&2
    optimizer=
fi
if [ -n "$optimizer" ]; then
    # What rustc uses by default, no more: browsers lack some of the rest.
    features=(--enable-bulk-memory --enable-bulk-memory-opt --enable-call-indirect-overlong --enable-multivalue --enable-mutable-globals
        --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext)
    # The passes that take most of the size; all of `-Oz` take many times longer.
    passes=(--duplicate-function-elimination --merge-similar-functions --simplify-locals --vacuum --reorder-functions --reorder-locals)
    "$optimizer" "${features[@]}" "${passes[@]}" "$wasm" -o "$built/railwright-small.wasm"
    wasm=$built/railwright-small.wasm
fi
node web/scripts/playground.mjs "$wasm" "$folder"
echo "$folder: $(wc -c <"$wasm") bytes of WebAssembly, $(wc -c <"$folder/assets/playground/railwright.wasm.packed") compressed"
