#!/usr/bin/env bash
# Draws the pictures of experiments/ again from a folder of results. It draws those whose results are there, and names
# the others.
#   jobs/pictures.sh [RESULTS]      default: results/
# The results have the names that jobs/local.sh and the other scripts give them:
#   RESULTS/quickstart                                     quickstart/bandwidth.png
#   RESULTS/baselines, themis, utilization, pipeline       baselines/{baselines,heat_maps}.png,
#                                                          utilization/utilization.png, pipeline/pipeline.png
#   RESULTS/process_groups                                 process_groups/{speed_ups,link_use,busy_links}.png
#   RESULTS/curves                                         curves/curves.png
#   RESULTS/faults_large                                   faults_large/faults.png
#   RESULTS/all_reduce                                     all_reduce/all_reduce.png
#   RESULTS/solvers                                        solvers/solvers.png
#   RESULTS/hp_at_scale (or several: hp_at_scale-*)        hp_at_scale/{pareto,best_hp,exposed,efficiency,models}.png
#   RESULTS/scalability-1, scalability-2, ...              scalability/{scalability,scalability_cost}.png
# RUN=1 first runs the studies of the first three lines if their results are missing (seconds each). TENEX: a binary to
# use instead of building one.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
results=$(realpath -m "${1:-$top/results}")
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${notebook_packages[@]}"
export PYTHONPATH=$top/analysis PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${RUN:-0}" = 1 ]; then
  for study in quickstart baselines themis utilization pipeline process_groups; do
    [ ! -f "$results/$study/study.h5" ] || continue
    if [ -n "${TENEX:-}" ]; then
      "$TENEX" run "$top/experiments/$study/study.toml" --out "$results/$study"
    else
      "$top/jobs/local.sh" "$top/experiments/$study/study.toml" "$results/$study"
    fi
  done
fi

# draw NOTEBOOK PICTURE...: runs a notebook and keeps these of its pictures (paths below experiments/).
draw() {
  local notebook=$1 picture
  shift
  TENEX_FIGURES=$work /usr/bin/python3 -m nbconvert --log-level ERROR --to notebook \
    --execute "$top/analysis/$notebook.ipynb" --output-dir "$work" --output executed.ipynb
  for picture in "$@"; do
    cp "$work/$(basename "$picture")" "$top/experiments/$picture"
    echo "drawn: experiments/$picture"
  done
}

# folders PATTERN...: prints the matching result folders that hold a result, joined by ":".
folders() {
  local folder found=()
  for folder in "$@"; do [ ! -f "$folder/study.h5" ] || found+=("$folder"); done
  (IFS=:; echo "${found[*]:-}")
}

# missing WHAT COMMAND: names pictures that are left as they are.
missing() { echo "left as they are: pictures of experiments/$1 (no result in $results) run $2"; }

if [ -f "$results/quickstart/study.h5" ]; then
  TENEX_RESULT=$results/quickstart draw quickstart quickstart/bandwidth.png
else
  missing quickstart "jobs/local.sh experiments/quickstart/study.toml"
fi

pictures=()
for study in baselines utilization pipeline; do
  if [ ! -f "$results/$study/study.h5" ] || { [ "$study" = utilization ] && [ ! -f "$results/themis/study.h5" ]; }; then
    missing "$study" "jobs/local.sh experiments/$study/study.toml$([ "$study" != utilization ] || echo ', and themis')"
    continue
  fi
  pictures+=("$study/$study.png")
  [ "$study" != baselines ] || pictures+=(baselines/heat_maps.png)
done
[ ${#pictures[@]} -eq 0 ] || TENEX_RESULTS=$results draw algorithms "${pictures[@]}"

if [ -f "$results/process_groups/study.h5" ]; then
  /usr/bin/python3 -m tenex_analysis.pccl_pictures "$results/process_groups" --into "$top/experiments/process_groups"
else
  missing process_groups "jobs/local.sh experiments/process_groups/study.toml"
fi

if [ -f "$results/curves/study.h5" ]; then
  /usr/bin/python3 -m tenex_analysis.curves "$results/curves" --png "$top/experiments/curves/curves.png" >"$work/curves"
  echo "drawn: experiments/curves/curves.png"
else
  missing curves "jobs/local.sh experiments/curves/study.toml"
fi

if [ -f "$results/faults_large/study.h5" ]; then
  /usr/bin/python3 -m tenex_analysis.faults "$results/faults_large" --into "$top/experiments/faults_large"
else
  missing faults_large "jobs/local.sh experiments/faults_large/study.toml"
fi

if [ -f "$results/all_reduce/study.h5" ]; then
  /usr/bin/python3 -m tenex_analysis.all_reduce "$results/all_reduce" --into "$top/experiments/all_reduce"
else
  missing all_reduce "jobs/local.sh experiments/all_reduce/study.toml"
fi

if [ -f "$results/solvers/study.h5" ]; then
  /usr/bin/python3 -m tenex_analysis.solver_pictures "$results/solvers" --into "$top/experiments/solvers"
else
  missing solvers "jobs/local.sh experiments/solvers/study.toml"
fi

joined=$(folders "$results"/hp_at_scale "$results"/hp_at_scale-*)
if [ -n "$joined" ]; then
  TENEX_RESULT=$joined draw hp_at_scale hp_at_scale/{pareto,best_hp,exposed,efficiency,models}.png
else
  missing hp_at_scale "experiments/hp_at_scale/measured.toml (experiments/hp_at_scale/README.md)"
fi

joined=$(folders "$results"/scalability-[0-9]*)
if [ -n "$joined" ]; then
  TENEX_RESULT=$joined draw scalability scalability/{scalability,scalability_cost}.png
else
  missing scalability "jobs/scalability.sh on a quiet machine"
fi
