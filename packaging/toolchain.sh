#!/usr/bin/env bash
# Makes a Rust compiler for other targets from Debian's packages, for machines where rustup cannot add a target.
#
#   toolchain.sh FOLDER [TARGET...]     TARGET: wasm32-unknown-unknown, x86_64-unknown-linux-musl and aarch64-unknown-linux-musl by default;
#                                       aarch64-unknown-linux-gnu with gcc-aarch64-linux-gnu installed
#
# Then `RUSTC=FOLDER/bin/rustc` before web/playground/build.sh, packaging/build.sh or cargo. Debian compiles the compiler (rustc-web) and ships
# the sources of the standard library, which is built here once per target with its own Cargo.lock. Shared libraries of the compiler are
# installed with apt-get (root); everything else stays in FOLDER. The C runtime of musl is Debian's musl-dev; the unwinder is LLVM's, from
# the sources in the Python package ziglang (ZIG names its Python, as in build.sh).
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [TARGET...]" >&2; exit 2; }

folder=$(realpath -m "$1")
shift
[ $# -gt 0 ] || set -- wasm32-unknown-unknown x86_64-unknown-linux-musl aarch64-unknown-linux-musl
zig=${ZIG:-python3}
packages=$folder/packages root=$folder/root
sysroot=$root/usr
libraries=$sysroot/lib/$(uname -m)-linux-gnu
mkdir -p "$packages" "$root" "$folder/bin"
# apt-get downloads as a user of its own, which may not write here.
apt=(apt-get -qq -o APT::Sandbox::User=root)

# needed PACKAGE PATTERN: the dependency of a package whose name has that form.
needed() { apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p" | head -n 1; }

if [ ! -x "$sysroot/bin/rustc" ]; then
    standard=$(needed libstd-rust-web-dev 'libstd-rust-web-[0-9.]*')
    llvm=$(needed "${standard:-none}" 'libllvm[0-9]*')
    [ -n "$llvm" ] || { echo "error: Debian's package rustc-web is not to be had; run apt-get update" >&2; exit 2; }
    DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --yes --no-install-recommends "$llvm" "lld-${llvm#libllvm}" >/dev/null
    (cd "$packages" && "${apt[@]}" download rustc-web rust-web-src libstd-rust-web-dev "$standard")
    for package in rustc-web rust-web-src libstd-rust-web; do
        for file in "$packages/$package"*.deb; do dpkg -x "$file" "$root"; done
    done
    # Rust's name for the linker; wasm32 has no other.
    mkdir -p "$sysroot/lib/rustlib/$(uname -m)-unknown-linux-gnu/bin"
    ln -sf "$(command -v "lld-${llvm#libllvm}")" "$sysroot/lib/rustlib/$(uname -m)-unknown-linux-gnu/bin/rust-lld"
fi
cat >"$folder/bin/rustc" <<END
#!/bin/sh
LD_LIBRARY_PATH="$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" exec "$sysroot/bin/rustc" "\$@"
END
chmod +x "$folder/bin/rustc"

# standard TARGET: compiles the standard library with bitcode, so that programs can be optimized together with it. A browser loads its part of
# it: there it is compiled for size, without the long forms of sorting.
standard() {
    local build=$folder/build small=()
    case $1 in wasm32-*) small=(CARGO_UNSTABLE_BUILD_STD_FEATURES=optimize_for_size CARGO_PROFILE_RELEASE_OPT_LEVEL=s) ;; esac
    mkdir -p "$build/src"
    printf '[package]\nname = "standard"\nedition = "2021"\n[workspace]\n' >"$build/Cargo.toml"
    printf '#![no_std]\n' >"$build/src/lib.rs"
    (cd "$build" && env ${small[@]+"${small[@]}"} RUSTC="$folder/bin/rustc" RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_abort \
        RUSTFLAGS=-Cembed-bitcode=yes CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_PROFILE_RELEASE_DEBUG=0 \
        cargo build --release --target "$1" --target-dir "$build/target")
    mkdir -p "$sysroot/lib/rustlib/$1/lib"
    cp "$build/target/$1/release/deps"/lib*.rlib "$sysroot/lib/rustlib/$1/lib/"
    rm -f "$sysroot/lib/rustlib/$1/lib"/libstandard-*.rlib
    rm -rf "$build/target"
}

# unwinder ARCHITECTURE OUT: LLVM's libunwind for musl.
unwinder() {
    local sources build name flags
    sources=$("$zig" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "lib/libunwind")') || {
        echo "error: the unwinder needs the Python package ziglang" >&2
        exit 2
    }
    build=$(mktemp -d)
    flags=(-target "$1-linux-musl" -O2 -fPIC -DNDEBUG -D_LIBUNWIND_IS_NATIVE_ONLY -funwind-tables -fno-sanitize=undefined -w -I "$sources/include")
    "$zig" -m ziglang c++ "${flags[@]}" -std=c++17 -fno-exceptions -fno-rtti -c "$sources/src/libunwind.cpp" -o "$build/libunwind.o"
    for name in UnwindLevel1.c UnwindLevel1-gcc-ext.c UnwindRegistersRestore.S UnwindRegistersSave.S; do
        "$zig" -m ziglang cc "${flags[@]}" -fexceptions -c "$sources/src/$name" -o "$build/$name.o"
    done
    rm -f "$2"
    "$zig" -m ziglang ar rcs "$2" "$build"/*.o
    rm -rf "$build"
}

# runtime ARCHITECTURE: start files, libc and unwinder, where Rust expects those of musl.
runtime() {
    local debian=$1 compiler files lists=$folder/lists-$1 own unpacked=$folder/runtime-$1
    case $1 in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; esac
    own=$sysroot/lib/rustlib/$1-unknown-linux-musl/lib/self-contained
    compiler=$(needed gcc 'gcc-[0-9]*')
    # Lists of that architecture in a folder of their own: the machine's stay as they are.
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$packages/$1" "$own"
    files=(-o "Dir::State::lists=$lists/lists" -o "Dir::Cache=$lists/cache" -o "APT::Architecture=$debian" -o "APT::Architectures::=$debian")
    "${apt[@]}" "${files[@]}" update
    (cd "$packages/$1" && "${apt[@]}" "${files[@]}" download "musl-dev:$debian" "lib${compiler}-dev:$debian")
    for file in "$packages/$1"/*.deb; do dpkg -x "$file" "$unpacked"; done
    cp "$unpacked/usr/lib/$1-linux-musl"/{crt1.o,rcrt1.o,Scrt1.o,crti.o,crtn.o,libc.a} "$own/"
    cp "$unpacked/usr/lib/gcc/$1-linux-gnu/${compiler#gcc-}"/{crtbegin.o,crtbeginS.o,crtend.o,crtendS.o} "$own/"
    unwinder "$1" "$own/libunwind.a"
    rm -rf "$lists" "$unpacked"
}

for target; do
    [ -e "$sysroot/lib/rustlib/$target/complete" ] && continue
    standard "$target"
    case $target in *-linux-musl) runtime "${target%%-*}" ;; esac
    touch "$sysroot/lib/rustlib/$target/complete"
done
printf 'RUSTC=%s\n' "$folder/bin/rustc"
