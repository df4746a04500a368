#!/usr/bin/env bash
# Installs the packages that the tests need (Debian 12, root or sudo), builds with warnings as errors, and runs every
# test except those labelled `long` (tests/long.sh). CI adds the sanitizers (tests/sanitize.sh).
#   tests/run.sh [ctest arguments]      for instance: tests/run.sh -L schedule
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${build_packages[@]}" "${test_packages[@]}" "${slurm_packages[@]}" "${notebook_packages[@]}"

cd "$top"
cmake --preset ci >/dev/null
cmake --build --preset ci
echo "== built in $SECONDS s"
# shellcheck source=tests/environment.sh
. tests/environment.sh
jobs=$(($(nproc) * 2))  # half of the tests wait for processes
[ $# -eq 0 ] || exec ctest --preset ci --parallel "$jobs" "$@"
failed=0
ctest --preset ci --parallel "$jobs" || failed=1
tests/slowest.sh ci || true
echo "== built and tested in $SECONDS s"
exit "$failed"
