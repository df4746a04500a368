#!/usr/bin/env bash
# Runs the scalability study on this machine, once per number of threads, one point at a time; then makes tables and
# figures.
#   jobs/scalability.sh [THREADS ...]   default: 1 2 4 ... up to the cores; results/scalability-THREADS
# STUDY, RESULTS: another study (experiments/scalability/small.toml takes seconds), another folder. REPEAT: number of
# runs per number of threads; their medians count. Measure on an otherwise idle machine: conditions.jsonl beside each
# result records the other load, and only points that were measured alone are compared. With 1 and 2 threads on two
# cores the study takes about 15 minutes. TENEX: a binary to use instead of building one. WRITE=1 rewrites expected.csv,
# README.md's table and the figures of experiments/scalability.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
experiment=$top/experiments/scalability
study=$(realpath "${STUDY:-$experiment/study.toml}")
results=$(realpath -m "${RESULTS:-$top/results}")
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
# shellcheck source=jobs/binding.sh
. "$top/jobs/binding.sh"
if [ -z "${TENEX:-}" ]; then
  install_missing "${build_packages[@]}" "${notebook_packages[@]}"
  (cd "$top" && cmake --preset release -DTENEX_TESTS=OFF -DTENEX_BENCHMARKS=OFF >/dev/null &&
    cmake --build --preset release >&2)
  TENEX=$top/build/release/bin/tenex
fi
if [ $# -eq 0 ]; then
  for ((threads = 1; threads <= $(available_cores); threads *= 2)); do set -- "$@" "$threads"; done
fi

export PYTHONPATH=$top/analysis PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 -m tenex_analysis.conditions >&2 ||
  echo "times that are measured now will not be compared (other work is running) end it, then remove" \
    "$results/scalability-* and run this again" >&2
dirs=()
for threads in "$@"; do
  for ((run = 1; run <= ${REPEAT:-1}; ++run)); do
    dir=$results/scalability-$threads
    [ "$run" -eq 1 ] || dir+=.$run
    dirs+=("$dir")
    OMP_NUM_THREADS=$threads OMP_PLACES=cores OMP_PROC_BIND=close \
      /usr/bin/python3 -m tenex_analysis.conditions "$dir" -- "$TENEX" run "$study" --one-by-one --out "$dir"
  done
done

figures=$results
if [ "${WRITE:-0}" = 1 ]; then
  figures=$experiment
  /usr/bin/python3 -m tenex_analysis.expected "${dirs[0]}" >"$experiment/expected.csv"
  /usr/bin/python3 -m tenex_analysis.growth "${dirs[@]}" --into "$experiment/README.md"
elif [ "$study" = "$experiment/study.toml" ]; then
  for dir in "${dirs[@]}"; do /usr/bin/python3 -m tenex_analysis.expected "$dir" "$experiment/expected.csv"; done
fi
/usr/bin/python3 -m tenex_analysis.growth "${dirs[@]}"
TENEX_RESULT=$(IFS=:; echo "${dirs[*]}") TENEX_FIGURES=$figures /usr/bin/python3 -m nbconvert --to notebook --execute \
  "$top/analysis/scalability.ipynb" --output-dir "$results" --output scalability.ipynb
