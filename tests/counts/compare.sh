#!/usr/bin/env bash
# Counts the instructions of every kernel of kernel_counts under callgrind, on one thread, and compares them with those
# that are kept: more than 3 % above fails, more than 3 % below is worth keeping. Equal code counts the same,
# within 0.03 % for other environments and folders, whatever else the machine does.
#   compare.sh PROGRAM COUNTS.csv BUILT_WITH         exits with 77 where counts cannot be compared
#   compare.sh --keep PROGRAM COUNTS.csv BUILT_WITH  writes the file anew
#   compare.sh --self-test                           shows that a slower kernel is found
# BUILT_WITH says by which compiler and flags: counts of others say nothing, the file's first line names its own.
set -euo pipefail

# Lines `kernel,instructions`.
count_all() {
  local kernel instructions
  for kernel in $("$1"); do
    instructions=$(OMP_NUM_THREADS=1 valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/dev/null \
      "$1" "$kernel" 2>&1 | sed -n 's/.*Collected : //p')
    [ -n "$instructions" ] || { echo "$kernel: callgrind counted nothing (run $1 $kernel)" >&2; return 1; }
    echo "$kernel,$instructions"
  done
}

# compare KEPT FOUND: a line per kernel; fails where one is slower, missing or new.
compare() {
  awk -F, '
    /^#/ || $1 == "kernel" { next }
    FNR == NR { kept[$1] = $2; next }
    !($1 in kept) { printf "%-28s %13d  is not kept yet\n", $1, $2; bad = 1; next }
    {
      ratio = $2 / kept[$1]
      verdict = ratio > 1.03 ? "SLOWER" : ratio < 0.97 ? "faster: keep this" : ""
      printf "%-28s kept %13d  now %13d  ratio %.4f  %s\n", $1, kept[$1], $2, ratio, verdict
      bad = bad || ratio > 1.03
      delete kept[$1]
    }
    END {
      for (kernel in kept) { print kernel " is kept, but there is no such kernel"; bad = 1 }
      exit bad
    }' "$1" "$2"
}

self_test() {
  local work
  work=$(mktemp -d)
  printf '# built with: nothing\nkernel,instructions\na,1000000000\nb,1000\n' >"$work/kept"
  printf 'a,1029000000\nb,1000\n' >"$work/same"
  printf 'a,1031000000\nb,900\n' >"$work/slower"
  printf 'a,1000000000\n' >"$work/fewer"
  compare "$work/kept" "$work/same" || { echo "a difference of 2.9 % fails"; exit 1; }
  if compare "$work/kept" "$work/slower" >"$work/said"; then echo "a difference of 3.1 % is not found"; exit 1; fi
  [ "$(grep -cE '^a .*SLOWER|^b .*faster' "$work/said")" -eq 2 ] || { cat "$work/said"; exit 1; }
  if compare "$work/kept" "$work/fewer"; then echo "a kernel that is gone is not found"; exit 1; fi
  rm -r "$work"
}

if [ "$1" = --self-test ]; then self_test; exit; fi
keep=0
if [ "$1" = --keep ]; then keep=1; shift; fi
program=$1 counts=$2 built_with=$3
if ! command -v valgrind >/dev/null; then
  echo "no valgrind (it counts the instructions) install it: apt-get install valgrind"
  case ${CI:-0} in 0 | false) exit 77 ;; *) exit 1 ;; esac
fi
if [ "$keep" -eq 0 ] && [ "$(head -n 1 "$counts")" != "# built with: $built_with" ]; then
  echo "this program was built with $built_with, which $counts does not hold ($(head -n 1 "$counts"))"
  exit 77
fi
found=$(mktemp)
trap 'rm "$found"' EXIT
count_all "$program" >"$found"
if [ "$keep" -eq 1 ]; then
  { echo "# built with: $built_with"; echo kernel,instructions; cat "$found"; } >"$counts"
elif ! compare "$counts" "$found"; then
  echo "Where this is meant, keep the new counts and say why: cmake --build --preset long --target keep_counts"
  exit 1
fi
