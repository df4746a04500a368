#!/usr/bin/env bash
# Lists every class, struct, union and enumeration of src and include whose name is defined twice at namespace scope,
# unnamed namespaces included: one name, one meaning. Fails if there is one. What stands in the first column is at
# namespace scope, which is how this project is formatted. Members (`Foo::Bar`) and specializations have no name of
# their own.
#   check_names.sh PROJECT
#   check_names.sh --self-test  shows that a second definition is found, and that declarations and members pass
set -euo pipefail

kinds='^(?:class|struct|union|enum(?: class)?) (?:alignas\([^)]*\) |\[\[[^\]]*\]\] )*'
pattern="$kinds\\K[A-Z]\\w*(?=(?: final)?(?: \\{.*| :[^;]*)?\$)"

check() {
  local names twice
  names=$(grep -rnoP --include='*.hpp' --include='*.cpp' -- "$pattern" src include)
  [ -n "$names" ] || { echo "no class found below $PWD"; return 1; }
  twice=$(awk -F: '{ print $3 }' <<<"$names" | sort | uniq -d)
  [ -z "$twice" ] && return
  awk -F: 'FNR == NR { twice[$1] = 1; next } $3 in twice { print $1 ":" $2 ": " $3 " is defined more than once" }' \
    <(printf '%s\n' "$twice") <(sort -t: -k3,3 -k1,1 -k2,2n <<<"$names")
  return 1
}

if [ "${1:-}" = --self-test ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  code=src/base headers=include/tenex/base
  mkdir -p "$code" "$headers"
  printf '%s\n' 'struct One;' 'enum class Two : std::uint8_t;' 'struct Three {' '  struct One {};' '};' \
    'struct Three::One {' '};' 'template <>' 'struct Four<int> {' '};' >"$code/one.cpp"
  printf '%s\n' 'struct One {' '};' 'enum class Two : std::uint8_t {' '};' 'template <class T>' \
    'class Four final : public One {' '};' >"$headers/one.hpp"
  check || { echo "declarations, members or specializations are refused"; exit 1; }
  printf '%s\n' 'class Two final' '    : public One {' '};' 'struct Five {};' 'union Five {' '};' >"$code/two.cpp"
  ! check >found || { echo "a second definition is not found"; exit 1; }
  printf '%s is defined more than once\n' "$code/two.cpp:4: Five" "$code/two.cpp:5: Five" "$headers/one.hpp:3: Two" \
    "$code/two.cpp:1: Two" | diff - found
  exit
fi
cd "$1"
check
