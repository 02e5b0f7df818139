#!/usr/bin/env bash
# Checks the launch scripts that changed between two commits and writes a Markdown report.
#
#   comment.sh BASE HEAD PATTERNS REPORT.md [OPTIONS OF railwright check]...
#
# BASE is fetched from `origin` if the clone lacks it. The first push of a branch has none, and a forced one may have lost it: then it is the
# parent of HEAD, or the empty tree. PATTERNS are git pathspecs, separated by spaces. RAILWRIGHT names the program (default: railwright).
# Exit code: that of the worst file (0 fits, 4 at risk, 1 does not fit, 2 invalid; anything else is worse); 0 when nothing changed.
set -euo pipefail

base=$1 head=$2 patterns=$3 report=$4
shift 4
program=${RAILWRIGHT:-railwright}
earlier=$(mktemp)
trap 'rm -f "$earlier"' EXIT

has_base() { git cat-file -e "$base^{commit}" 2>/dev/null; }
has_base || git fetch --quiet --depth=1 origin "$base" 2>/dev/null || true
if ! has_base; then
    [ "$(git rev-parse --is-shallow-repository)" = false ] || git fetch --quiet --deepen=1 || true
    base=$(git rev-parse --quiet --verify "$head^" || git hash-object -t tree /dev/null)
fi

# Globs are git's, not the shell's.
read -ra pathspecs <<<"$patterns"
mapfile -d '' -t files < <(git diff -z --name-only --diff-filter=AMR "$base" "$head" -- "${pathspecs[@]}")

# The codes are not in the order of severity: a file at risk (4) must not hide an invalid one (2).
severity() {
    case $1 in
        0) echo 0 ;;
        4) echo 1 ;;
        1) echo 2 ;;
        2) echo 3 ;;
        *) echo 4 ;;
    esac
}

worst=0
: >"$report"
for file in "${files[@]}"; do
    against=()
    if git cat-file -e "$base:$file" 2>/dev/null; then
        git show "$base:$file" >"$earlier"
        against=(--against "$earlier")
    fi
    code=0
    printf '### Railwright: %s\n\n' "$file" >>"$report"
    "$program" check "$file" "${against[@]}" --format md --quiet "$@" >>"$report" || code=$?
    printf '\n' >>"$report"
    [ "$(severity "$code")" -le "$(severity "$worst")" ] || worst=$code
done
exit "$worst"
