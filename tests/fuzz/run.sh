#!/usr/bin/env bash
# Fuzzes every target for SECONDS altogether (default 600): libFuzzer with AddressSanitizer, LeakSanitizer and UBSan
# (tree build/asan), or, without clang, the plain driver of the `ci` build. An input that crashes, leaks, takes 10 s or
# 2 GiB is left in build/asan/found and fails the run.
#   tests/fuzz/run.sh [SECONDS] [TARGET...]
#   tests/fuzz/run.sh keep [TARGET...]      adds the small inputs found so far that reach new code to tests/fuzz/corpus
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-600}
shift $(($# > 0 ? 1 : 0))
targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  targets=(study schedule schedule_columns journal workload cost_model machine machine_import foreign_schedule
    measurements tuner_table constraint)
cd "$top"
export PATH=$PATH:/usr/lib/llvm-14/bin  # llvm-symbolizer: names in reports

if command -v clang++-14 >/dev/null; then
  preset=asan
else
  echo "no clang++-14 here: the plain driver, without coverage and sanitizers" >&2
  preset=ci
fi
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target fuzz

seeds_of() { # TARGET: sets `seeds`
  seeds=("tests/fuzz/corpus/$1")
  case $1 in
    workload) seeds+=(experiments/workloads) ;;
    cost_model) seeds+=(experiments/cost_models) ;;
    machine) seeds+=(experiments/machines) ;;
  esac
}

keep() { # TARGET: copies inputs that reach new code and are small enough for the repository
  TENEX_FUZZ=$1 build/asan/bin/fuzz -set_cover_merge=1 -max_len=512 -timeout=10 "${seeds[@]}" "build/asan/found/$1" \
    2>"build/asan/found/$1.log"
  echo "$1: $(find "tests/fuzz/corpus/$1" -type f | wc -l) inputs"
}

failed=0
for target in "${targets[@]}"; do
  seeds_of "$target"
  found=build/asan/found/$target
  if [ "$seconds" = keep ]; then
    keep "$target"
    continue
  fi
  each=$((seconds / ${#targets[@]} + 1))
  echo "== $target: $each s"
  if [ "$preset" = asan ]; then
    mkdir -p "$found"
    TENEX_FUZZ=$target ASAN_OPTIONS=detect_leaks=1 build/asan/bin/fuzz -max_total_time="$each" -timeout=10 \
      -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -artifact_prefix="$found-" "$found" "${seeds[@]}" \
      2>"$found.log" || failed=1
    grep -aE '^(stat::|Done|SUMMARY|==.*ERROR|artifact_prefix)|Test unit written|: runtime error:' "$found.log" || true
  else
    end=$((SECONDS + each))
    for ((seed = RANDOM; SECONDS < end; ++seed)); do
      TENEX_FUZZ=$target build/ci/bin/fuzz --runs 5000 --seed "$seed" "${seeds[@]}" && continue
      echo "seed $seed" >&2
      failed=1
      break
    done
  fi
done
exit "$failed"
