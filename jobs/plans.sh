#!/usr/bin/env bash
# What the studies of experiments/ were planned to take, and what they took: a line for each whose result is there.
#   jobs/plans.sh [RESULTS] [--fit]      default: results/
# --fit also fits the seconds of units of work (src/base/work.cpp) to these results and shows the lines with them. The
# results have the names that jobs/local.sh gives them. Make them with one thread on an otherwise idle machine:
#   tenex run experiments/STUDY/study.toml --threads 1 --out RESULTS/STUDY
# MEMORY: the --memory of these runs, if they had one. TENEX: a binary to use in place of build/release/bin/tenex.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${notebook_packages[@]}"
tenex=$(realpath -m "${TENEX:-$top/build/release/bin/tenex}")
[ -x "$tenex" ] || {
  echo "$tenex: no binary (it plans the studies) build it with jobs/build.sh, or set TENEX" >&2
  exit 2
}
fit=()
[ "${!#}" != --fit ] || { fit=(--fit); set -- "${@:1:$#-1}"; }
results=$(realpath -m "${1:-$top/results}")
plans=$(mktemp -d)
trap 'rm -rf "$plans"' EXIT

pairs=()
for text in "$top"/experiments/*/study.toml; do
  study=$(basename "$(dirname "$text")")
  [ -f "$results/$study/study.h5" ] || continue
  "$tenex" plan "$text" --points --json ${MEMORY:+--memory "$MEMORY"} >"$plans/$study.json"
  pairs+=("$plans/$study.json" "$results/$study")
done
[ ${#pairs[@]} -gt 0 ] || { echo "$results: no result of a study of experiments/ try jobs/local.sh" >&2; exit 2; }
PYTHONPATH=$top/analysis /usr/bin/python3 -m tenex_analysis.work_prices "${fit[@]}" "${pairs[@]}"
