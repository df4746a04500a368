#!/usr/bin/env bash
# The slowest tests of the last ctest run, and the sum per label, so that growth is seen: wall seconds.
#   tests/slowest.sh [PRESET [COUNT]]      default: ci, 30
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build/${1:-ci}
log=$build/Testing/Temporary/LastTest.log
[ -f "$log" ] || { echo "slowest.sh: there is no $log (run ctest --preset ${1:-ci} to its end)" >&2; exit 2; }
ctest --test-dir "$build" --show-only=json-v1 | python3 "$top/tests/support/slowest.py" "$log" "${2:-30}"
