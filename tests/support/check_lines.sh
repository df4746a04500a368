#!/usr/bin/env bash
# Checks that lines of C++ and of Markdown's prose have at most 120 columns. Exceptions: tables, lines with links,
# commands to copy (code blocks), and the generated reference page.
#   check_lines.sh ROOT         fails where a line is longer
#   check_lines.sh --self-test  shows that long lines are found, and exceptions accepted
set -euo pipefail

# Prints the longer lines of the given files. Continuation bytes of a character do not count as columns.
find_long() {
  LC_ALL=C awk '
    FNR == 1 { fence = 0 }
    FILENAME ~ /\.md$/ && /^ *```/ { fence = !fence }
    { line = $0; gsub(/[\200-\277]/, "", line) }
    length(line) <= 120 { next }
    FILENAME ~ /\.md$/ && (fence || /^    / || /^ *\|/ || /\]\(/ || /https?:/) { next }
    { print FILENAME ":" FNR ": " length(line) " columns"; found = 1 }
    END { exit !found }' "$@"
}

self_test() {
  local work long
  work=$(mktemp -d)
  long=$(printf 'word %.0s' {1..25})
  printf '%s\n' "$long" >"$work/a.md"
  printf '// %s\n' "$long" >"$work/a.cpp"
  printf '%s\n' "| $long |" "[$long](x)" "    $long" '```' "$long" '```' "ünüü${long:0:115}" >"$work/b.md"
  [ "$(find_long "$work/a.md" "$work/a.cpp" | wc -l)" -eq 2 ] || { echo "long lines are not found"; exit 1; }
  if find_long "$work/b.md"; then echo "exceptions are reported"; exit 1; fi
  rm -r "$work"
}

if [ "$1" = --self-test ]; then self_test; exit; fi
cd "$1"
mapfile -t files < <(find CHANGELOG.md CONTRIBUTING.md README.md analysis experiments include jobs src tests \
  \( -name '*.md' -o -name '*.cpp' -o -name '*.hpp' \) -not -path experiments/reference.md)
[ "${#files[@]}" -gt 100 ] || { echo "no files below $1"; exit 1; }
if find_long "${files[@]}"; then exit 1; fi
