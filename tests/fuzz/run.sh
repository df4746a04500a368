#!/usr/bin/env bash
# Fuzzes every target for SECONDS altogether (default 600), with libFuzzer, AddressSanitizer and UBSan where clang is installed, else
# with the plain driver of the `ci` build. New inputs are collected in build/fuzz/corpus; worth keeping are those that found something.
#   tests/fuzz/run.sh [SECONDS] [TARGET...]
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-600}
shift $(($# > 0 ? 1 : 0))
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(study schedule journal workload cost_model machine constraint)
each=$((seconds / ${#targets[@]} + 1))
cd "$top"

if command -v clang++ >/dev/null; then
  preset=fuzz
else
  echo "no clang++ here: the plain driver, without coverage and sanitizers" >&2
  preset=ci
fi
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target "${targets[@]/#/fuzz_}"

for target in "${targets[@]}"; do
  seeds=("tests/fuzz/corpus/$target")
  case $target in
    workload) seeds+=(experiments/workloads) ;;
    cost_model) seeds+=(experiments/cost_models) ;;
    machine) seeds+=(experiments/machines) ;;
  esac
  echo "== $target"
  if [ "$preset" = fuzz ]; then
    found=build/fuzz/corpus/$target
    mkdir -p "$found"
    "build/fuzz/bin/fuzz_$target" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/$target-" "$found" "${seeds[@]}"
  else
    end=$((SECONDS + each))
    for ((seed = RANDOM; SECONDS < end; ++seed)); do
      "build/ci/bin/fuzz_$target" --runs 5000 --seed "$seed" "${seeds[@]}" || { echo "seed $seed" >&2; exit 1; }
    done
  fi
done
