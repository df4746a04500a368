#!/usr/bin/env bash
# Checks that lines of code (C++, Python, shell, CMake) and of Markdown's prose have at most 120 columns. Exceptions in
# Markdown: tables, lines with links, commands to copy (code blocks), and the generated reference page.
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

# The files below the given folders that are held to it.
list_files() {
  find "$@" \( -name '*.md' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.py' -o -name '*.sh' \
    -o -name '*.sbatch' -o -name '*.cmake' -o -name CMakeLists.txt \) -not -path experiments/reference.md
}

self_test() {
  local work long file files
  work=$(mktemp -d)
  long=$(printf 'word %.0s' {1..25})
  printf '%s\n' "$long" >"$work/a.md"
  for file in a.cpp a.py a.sh a.cmake CMakeLists.txt; do printf '# | %s\n' "$long" >"$work/$file"; done
  printf '%s\n' "| $long |" "[$long](x)" "    $long" '```' "$long" '```' "ünüü${long:0:115}" >"$work/b.md"
  mapfile -t files < <(list_files "$work")
  [ "$(find_long "${files[@]}" | wc -l)" -eq 6 ] || { echo "long lines are not found"; exit 1; }
  if find_long "$work/b.md"; then echo "exceptions are reported"; exit 1; fi
  rm -r "$work"
}

if [ "$1" = --self-test ]; then self_test; exit; fi
cd "$1"
mapfile -t files < <(
  list_files CHANGELOG.md CMakeLists.txt CONTRIBUTING.md README.md analysis experiments include jobs src tests
)
[ "${#files[@]}" -gt 100 ] || { echo "no files below $1"; exit 1; }
if find_long "${files[@]}"; then exit 1; fi
