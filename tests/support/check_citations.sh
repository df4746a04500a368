#!/usr/bin/env bash
# Checks that papers are cited by name and section ("TACOS, section V-A"), never by a number of three digits, which only
# its author could resolve.
#   check_citations.sh ROOT         fails where a file of the checkout cites by number
#   check_citations.sh --self-test  shows that the pattern matches citations and no other numbers
set -euo pipefail

# The number as a word: not a part of 1,000 or 1'000 or 0.001 or 12:000, of a key, a path or an option, and not a
# percentage.
pattern='(?<![\w.,'\''/\\$%+-])(?<!\d:)00[0-3](?![\w%]|[-.,'\'':]\d)'

find_in() { grep -rInP --exclude-dir=corpus --exclude-dir=__pycache__ -- "$pattern" "$@"; }

# Checks each line alone. @ stands for two zeros, so that this file passes its own check.
self_test() {
  local work line failed=0
  work=$(mktemp -d)
  while IFS= read -r line; do
    echo "${line//@/00}" >"$work/line"
    find_in "$work" >/dev/null || { echo "not found: $line"; failed=1; }
  done <<'END'
// a baseline of @1, VI-B.3, and another.
source = "TE-CCL paper Sec 6.1 (seed @3); facts"
and the Ideal of @1
the multi-rail algorithm of @2 (or Themis')
@2's formula
// Idea (@1, IV-E): a Reduce-Scatter
described in @0, chapter 6
see @3.
END
  while IFS= read -r line; do
    echo "${line//@/00}" >"$work/line"
    if find_in "$work"; then echo "no citation: $line"; failed=1; fi
  done <<'END'
times of 1,@0 GB/s and 1'@0'@0 bytes, $15,@0,@0
| 0.@1 | 1.@0 | 10@ | @03 |
the key @0af1 in rows/@0/@1.h5 and tests-@1
x = 1.@3e-6; y = 0x@1; z = 1_@0
12:00:@0 or @0:12 and 50.@0 %
END
  rm -r "$work"
  return "$failed"
}

if [ "${1:-}" = --self-test ]; then
  self_test
  exit
fi

cd "$1"
code=0
find_in src include tests analysis experiments jobs ./*.md ./*.txt ./*.cff ./*.json || code=$?
[ "$code" -eq 1 ] && exit 0  # nothing found
[ "$code" -ne 0 ] ||
  echo "papers are cited by number (readers have no such list) cite by name and section: TACOS, section V-A" >&2
exit 1
