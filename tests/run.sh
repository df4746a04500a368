#!/usr/bin/env bash
# Installs the packages that the tests need (Debian 12, root or sudo), builds with warnings as errors, and runs every
# test except those labelled `long`. Then it runs the tests of MPI, of threads and of fuzz targets under sanitizers
# (tests/sanitize.sh), unless arguments choose tests.
#   tests/run.sh [ctest arguments]      for instance: tests/run.sh -L schedule
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${build_packages[@]}" "${test_packages[@]}" "${sanitizer_packages[@]}" "${slurm_packages[@]}" \
  "${notebook_packages[@]}"

cd "$top"
cmake --preset ci
cmake --build --preset ci
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMPI_MCA_rmaps_base_oversubscribe=1
jobs=$(($(nproc) * 3 / 2))  # many tests wait for processes and time limits
[ $# -eq 0 ] || exec ctest --preset ci --parallel "$jobs" "$@"
failed=0
ctest --preset ci --parallel "$jobs" || failed=1
tests/sanitize.sh || failed=1
if [ "$failed" -ne 0 ]; then
  # Printed last, because logs are often cut at their beginning.
  echo "== failed tests (number:name); a failure that names no test is a build or a sanitizer's report, see above"
  tail -n +1 build/*/Testing/Temporary/LastTestsFailed.log 2>/dev/null || true
fi
exit "$failed"
