#!/usr/bin/env bash
# Lists what clang 14 cannot compile with the library of GCC 12: views that adapt a range, and algorithms that return a
# subrange. The sanitizers' trees (tests/sanitize.sh) are built with it, half an hour after a build with GCC accepts
# such a line. Iterators and std::span say the same: std::unique, std::lower_bound, std::span(x).subspan(1).
#   check_views.sh PROJECT      fails where there is one
#   check_views.sh --self-test  shows that they are found, and that other uses of ranges pass
set -euo pipefail

subranges='unique|remove|remove_if|rotate|partition|stable_partition|equal_range|search|search_n|find_end|subrange'
pattern="std::views::(?!iota\\b)|std::ranges::(?:$subranges)\\b"

find_in() { grep -rnP --include='*.hpp' --include='*.cpp' --include='*.inc' -- "$pattern" "$@"; }

if [ "${1:-}" = --self-test ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  printf '%s\n' 'for (const int x : xs | std::views::drop(1)) {' 'const auto twice = std::ranges::unique(xs);' \
    'std::ranges::subrange(a, b)' >"$work/a.cpp"
  printf '%s\n' 'std::ranges::any_of(std::views::iota(0, 3), odd)' 'xs.erase(std::unique(a, b), b);' \
    'std::ranges::partition_point(xs, small)' >"$work/b.cpp"
  [ "$(find_in "$work/a.cpp" | wc -l)" -eq 3 ] || { echo "lines that clang 14 refuses are not found"; exit 1; }
  if find_in "$work/b.cpp"; then echo "lines that clang 14 takes are reported"; exit 1; fi
  exit
fi
cd "$1"
if find_in src include tests; then exit 1; fi
