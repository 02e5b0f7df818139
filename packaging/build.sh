#!/usr/bin/env bash
# Builds the static program of a target, on this machine for any of them.
#
#   build.sh TARGET [CARGO-ARGUMENTS...]     TARGET: x86_64-unknown-linux-musl or aarch64-unknown-linux-musl
#
# Rust links with its own linker, so that no cross toolchain is needed. SQLite, zstd and the allocator are C: their compiler is CC, else
# musl-gcc for this machine's own architecture, else zig of the Python package ziglang (ZIG names its Python).
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1
shift
architecture=${target%%-*}
folder=${CARGO_TARGET_DIR:-target}
upper=$(echo "$target" | tr 'a-z-' 'A-Z_')
lower=${target//-/_}

# No relocation at start, and functions with the same instructions once.
export "CARGO_TARGET_${upper}_RUSTFLAGS=-C linker=rust-lld -C relocation-model=static -C link-arg=--icf=all"

if [ -z "${CC:-}" ]; then
    if [ "$architecture" = "$(uname -m)" ] && command -v musl-gcc >/dev/null; then
        export "CC_$lower=musl-gcc"
    else
        zig=${ZIG:-python3}
        "$zig" -m ziglang version >/dev/null || {
            echo "error: no C compiler for $target: install musl-tools or the Python package ziglang" >&2
            exit 2
        }
        mkdir -p "$folder"
        # Compilers are named by one path; the target is zig's own name for it, and flags that zig does not know are left out.
        cat >"$folder/zig-cc-$architecture" <<END
#!/usr/bin/env bash
arguments=()
for argument in "\$@"; do
    case \$argument in --target=*) ;; *) arguments+=("\$argument") ;; esac
done
exec "$zig" -m ziglang cc -target $architecture-linux-musl -fno-sanitize=undefined "\${arguments[@]}"
END
        printf '#!/usr/bin/env bash\nexec "%s" -m ziglang ar "$@"\n' "$zig" >"$folder/zig-ar"
        chmod +x "$folder/zig-cc-$architecture" "$folder/zig-ar"
        export "CC_$lower=$(realpath "$folder")/zig-cc-$architecture" "AR_$lower=$(realpath "$folder")/zig-ar"
    fi
fi

cargo build --profile dist --locked --package railwright --target "$target" "$@"
ls -l "$folder/$target/dist/railwright"
