#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy over src and what it includes; a finding fails. Outside CI: all of it takes
# half an hour on two cores.
#   tests/tidy.sh [MODULE or FILE.cpp]...      for instance: tests/tidy.sh schedule src/cli/main.cpp
# Compiles as preset `dev` does, and configures it where that has not been done.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=jobs/packages.sh
. "$top/jobs/packages.sh"
install_missing "${build_packages[@]}" "${test_packages[@]}" clang-tidy-14

cd "$top"
[ -f build/dev/compile_commands.json ] || cmake --preset dev >/dev/null
[ $# -gt 0 ] || set -- src
files=()
for word in "$@"; do
  [ -e "$word" ] || word=src/$word
  [ -e "$word" ] || { echo "$word: no such module or file (modules are the folders of src)" >&2; exit 2; }
  mapfile -t -O "${#files[@]}" files < <(find "$word" -name '*.cpp' | sort)
done
# GCC's names of warnings are none of clang's, and clang's warnings no errors of GCC's: only the checks count.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p build/dev --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error 2> >(grep -v 'warnings\? generated' >&2)
