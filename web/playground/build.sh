#!/usr/bin/env bash
# Builds the playground into FOLDER: the page of web/dist and the program as WebAssembly, as static files. The program comes twice: without
# readers of files, which the page loads at once, and whole, which it loads with the first file of the user.
# Needs the target wasm32-unknown-unknown and node; `wasm-opt` makes the program smaller where it is installed: on PATH, in web/node_modules
# (the package binaryen), or named in WASM_OPT.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."

# The stack of WebAssembly is 1 MiB by default; threads of the server have 2 MiB.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C link-arg=-zstack-size=4194304"
built=${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/playground
installed=$PWD/web/node_modules/.bin/wasm-opt
optimizer=${WASM_OPT:-$(command -v wasm-opt || command -v "$installed" || true)}
# Older versions lack features that rustc uses.
if [ -n "$optimizer" ] && ! "$optimizer" --help | grep -q enable-call-indirect-overlong; then
    echo "note: $optimizer is too old and not used" >&2
    optimizer=
fi
# What rustc uses by default, no more: browsers lack some of the rest.
features=(--enable-bulk-memory --enable-bulk-memory-opt --enable-call-indirect-overlong --enable-multivalue --enable-mutable-globals
    --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext)
# The passes that take most of the size; all of `-Oz` take many times longer.
passes=(--duplicate-function-elimination --merge-similar-functions --simplify-locals --vacuum --reorder-functions --reorder-locals)

# part NAME FEATURES: the program with these features as NAME.wasm.
part() {
    cargo build --locked --profile playground --target wasm32-unknown-unknown -p railwright --no-default-features --features "$2"
    if [ -n "$optimizer" ]; then
        "$optimizer" "${features[@]}" "${passes[@]}" "$built/railwright.wasm" -o "$built/$1.wasm"
    else
        cp "$built/railwright.wasm" "$built/$1.wasm"
    fi
}
part whole files
part quick ''
node web/scripts/playground.mjs "$built/quick.wasm" "$built/whole.wasm" "$folder"
