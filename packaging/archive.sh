#!/usr/bin/env bash
# Writes railwright-VERSION-TARGET.tar.gz with the program, its documents, completions and manual pages.
#
#   archive.sh TARGET BINARY OUT [HOST-BINARY]
#
# HOST-BINARY writes completions and manual pages where BINARY cannot run here; default: BINARY.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1 binary=$2 out=$3 host=${4:-$2}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=railwright-$version-$target
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder/$name"/{completions,man/man1} "$out"
install -m 755 "$binary" "$folder/$name/railwright"
install -m 644 README.md LICENSE CHANGELOG.md "$folder/$name/"
"$host" completions bash >"$folder/$name/completions/railwright.bash"
"$host" completions zsh >"$folder/$name/completions/_railwright"
"$host" completions fish >"$folder/$name/completions/railwright.fish"
"$host" man --quiet --all "$folder/$name/man/man1"
# The same bytes for the same files: sorted, one owner, the time of the commit.
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$folder" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
printf '%s\n' "$out/$name.tar.gz"
