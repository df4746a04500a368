#!/usr/bin/env bash
# Runs the tests of MPI, of ranks as threads, of the store and of fuzz targets under sanitizers: AddressSanitizer,
# LeakSanitizer and UBSan (tree build/asan), ThreadSanitizer with Archer (build/archer). A report of any process fails
# the run, even of a process whose exit code no test checks. With --build it only builds; two runs take turns per tree.
#   tests/sanitize.sh [--build] [asan|archer]...
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${build_packages[@]}" "${test_packages[@]}" "${sanitizer_packages[@]}"
only_build=
if [ "${1:-}" = --build ]; then only_build=1 && shift; fi
[ $# -gt 0 ] || set -- asan archer

cd "$top"
mkdir -p build
export PATH=$PATH:/usr/lib/llvm-14/bin  # llvm-symbolizer: names in reports
# shellcheck source=tests/environment.sh
. tests/environment.sh
failed=0
for tree in "$@"; do
  echo "== $tree: build"
  SECONDS=0
  {
    flock 9
    cmake --preset "$tree" >/dev/null
    cmake --build --preset "$tree"
  } 9>"build/$tree.lock"
  [ -z "$only_build" ] || continue
  echo "== $tree: tests (built or waited for in $SECONDS s)"
  SECONDS=0
  reports=build/$tree/reports  # where the test preset's options send them
  rm -rf "$reports"
  mkdir -p "$reports"
  ctest --preset "$tree" --parallel $(($(nproc) * 3 / 2)) || failed=1  # tests wait for processes
  for report in "$reports"/*; do
    [ -s "$report" ] || continue
    echo "== $report"
    head -n 60 "$report"
    failed=1
  done
  echo "== $tree: tested in $SECONDS s"
done
exit "$failed"
