#!/usr/bin/env bash
# Writes a Homebrew formula and a conda recipe for a release.
#
#   formulas.sh VERSION SHA256SUMS OUT
#
# SHA256SUMS lists the archives of the release, as `sha256sum` prints them.
set -euo pipefail

version=$1 sums=$2 out=$3
address=https://github.com/railwright/railwright/releases/download/v$version

sum() {
    local found
    found=$(awk -v name="railwright-$version-$1.tar.gz" '$2 == name || $2 == "*" name { print $1 }' "$sums")
    [ -n "$found" ] || { echo "error: $sums has no checksum of railwright-$version-$1.tar.gz" >&2; exit 1; }
    echo "$found"
}
x86=$(sum x86_64-unknown-linux-musl)
arm=$(sum aarch64-unknown-linux-musl)

mkdir -p "$out"
cat >"$out/railwright.rb" <<END
class Railwright < Formula
  desc "Model, profile and tune distributed LLM training, and design its networks"
  homepage "https://github.com/railwright/railwright"
  version "$version"
  license "Apache-2.0"

  on_linux do
    on_intel do
      url "$address/railwright-$version-x86_64-unknown-linux-musl.tar.gz"
      sha256 "$x86"
    end
    on_arm do
      url "$address/railwright-$version-aarch64-unknown-linux-musl.tar.gz"
      sha256 "$arm"
    end
  end

  def install
    bin.install "railwright"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/railwright.bash" => "railwright"
    zsh_completion.install "completions/_railwright"
    fish_completion.install "completions/railwright.fish"
  end

  test do
    assert_match "step time", shell_output("#{bin}/railwright estimate llama-3.1-8b --cluster dgx-h100 --gpus 8")
  end
end
END

cat >"$out/recipe.yaml" <<END
schema_version: 1

package:
  name: railwright
  version: "$version"

source:
  - if: linux and x86_64
    then:
      url: $address/railwright-$version-x86_64-unknown-linux-musl.tar.gz
      sha256: $x86
  - if: linux and aarch64
    then:
      url: $address/railwright-$version-aarch64-unknown-linux-musl.tar.gz
      sha256: $arm

build:
  number: 0
  script:
    - install -Dm755 railwright \$PREFIX/bin/railwright
    - install -Dm644 completions/railwright.bash \$PREFIX/share/bash-completion/completions/railwright
    - install -Dm644 completions/_railwright \$PREFIX/share/zsh/site-functions/_railwright
    - install -Dm644 completions/railwright.fish \$PREFIX/share/fish/vendor_completions.d/railwright.fish
    - mkdir -p \$PREFIX/share/man/man1 && cp man/man1/*.1 \$PREFIX/share/man/man1/
  dynamic_linking:
    binary_relocation: false

tests:
  - script:
      - railwright --version
      - railwright estimate llama-3.1-8b --cluster dgx-h100 --gpus 8

about:
  homepage: https://github.com/railwright/railwright
  license: Apache-2.0
  license_file: LICENSE
  summary: Model, profile and tune distributed LLM training, and design its networks
END
printf '%s\n' "$out/railwright.rb" "$out/recipe.yaml"
