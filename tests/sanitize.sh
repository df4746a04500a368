#!/usr/bin/env bash
# Runs the tests of MPI, of ranks as threads, of the store and of fuzz targets under sanitizers: AddressSanitizer,
# LeakSanitizer and UBSan (tree build/asan), ThreadSanitizer with Archer (build/archer). A report of any process fails
# the run, even of a process whose exit code no test checks.
#   tests/sanitize.sh [asan|archer]...
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${build_packages[@]}" "${test_packages[@]}" "${sanitizer_packages[@]}"
[ $# -gt 0 ] || set -- asan archer

cd "$top"
export PATH=$PATH:/usr/lib/llvm-14/bin  # llvm-symbolizer: names in reports
# shellcheck source=tests/environment.sh
. tests/environment.sh
failed=0
for tree in "$@"; do
  echo "== $tree: build"
  SECONDS=0
  cmake --preset "$tree" >/dev/null
  cmake --build --preset "$tree"
  echo "== $tree: tests (built in $SECONDS s)"
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
