#!/usr/bin/env bash
# Runs a study on this machine: installs missing packages (Debian 12, root or sudo), builds, runs on all cores.
#   jobs/local.sh STUDY.toml [DIR]      DIR defaults to results/<folder of the study>; the result is DIR/study.h5
# One rank per NUMA domain, with the domain's cores as threads; RANKS and OMP_NUM_THREADS override that.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,4s/^# *//p' "$0" >&2; exit 2; }
study=$(realpath "$1")
[ -f "$study" ] || {
  echo "$1: no such study (jobs/local.sh takes a TOML file) try experiments/quickstart/study.toml" >&2
  exit 2
}
top=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${2:-$top/results/$(basename "$(dirname "$study")")}")

# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${build_packages[@]}"

(cd "$top" && cmake --preset release -DTENEX_TESTS=OFF -DTENEX_BENCHMARKS=OFF >/dev/null &&
  cmake --build --preset release >&2)

# shellcheck source=jobs/binding.sh
. "$top/jobs/binding.sh"
cores=$(available_cores)
ranks=${RANKS:-$(numa_domains)}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(((cores + ranks - 1) / ranks))}
bind_ranks "$ranks" "$OMP_NUM_THREADS"
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
exec mpirun -n "$ranks" "${binding[@]}" "$top/build/release/bin/tenex" run "$study" --out "$out"
