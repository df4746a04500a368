#!/usr/bin/env bash
# Runs every test labelled `long`, one after the other, and ends with a summary: hours on two cores, up to 8 GB. A rerun
# takes what is missing: tests that passed with these sources are not run again, and a study that was interrupted goes
# on where it was. Random tests draw new seeds, which they print.
#   tests/long.sh [REGEX]      only the tests whose names match
# Logs, and the list of what passed, are in build/long/long.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=jobs/packages.sh
. jobs/packages.sh
install_missing "${build_packages[@]}" "${test_packages[@]}" "${slurm_packages[@]}" "${notebook_packages[@]}" valgrind
cmake --preset long >/dev/null
cmake --build --preset long
# shellcheck source=tests/environment.sh
. tests/environment.sh

# Everything that can change what a test finds. Expected rows are compared anew each time instead: that takes seconds.
sources=(. ':!*.md' ':!*.png' ':!*.ipynb' ':!experiments/*/expected.csv')
TENEX_LONG_KEY=$({ git ls-files -s -- "${sources[@]}"; git diff HEAD -- "${sources[@]}"; } | sha256sum | cut -d' ' -f1)
export TENEX_LONG_KEY  # tests/analysis/keep_study.cmake
logs=build/long/long
mkdir -p "$logs"
touch "$logs/passed"

# Steps of a study run as fixtures of the test that compares its rows.
names=$(ctest --test-dir build/long -N -L '^long$' | sed -nE 's/^ *Test +#[0-9]+: (.*[^ ]) *$/\1/p' |
  grep -vE '_(clean|study)$' | grep -E "${1:-.}" || true)
passed=0 failed=()
while IFS= read -r name; do
  [ -n "$name" ] || continue
  if [[ $name != *_expected ]] && grep -qxF "$TENEX_LONG_KEY $name" "$logs/passed"; then
    passed=$((passed + 1))
    continue
  fi
  # shellcheck disable=SC2001  # one character class, not one string
  pattern=$(sed 's/[]^$.*+?(){}|[\\]/\\&/g' <<<"$name")
  SECONDS=0
  if ctest --test-dir build/long -R "^$pattern\$" --output-on-failure >"$logs/${name//\//_}.log" 2>&1 </dev/null; then
    echo "$TENEX_LONG_KEY $name" >>"$logs/passed"
    passed=$((passed + 1))
    echo "passed in $SECONDS s: $name"
  else
    failed+=("$name")
    echo "FAILED in $SECONDS s: $name ($logs/${name//\//_}.log)"
  fi
done <<<"$names"
echo "$passed of $((passed + ${#failed[@]})) long tests passed; failed: ${failed[*]:-none}"
[ ${#failed[@]} -eq 0 ]
