#!/usr/bin/env bash
# Builds tenex on a machine where nothing may be installed, with libraries from modules, a Spack environment or folders
# of yours.
#   jobs/build.sh [cmake options]       the binary is build/release/bin/tenex
#   jobs/build.sh --check               only lists everything that is missing
# Needed: CMake 3.25, a C++20 compiler with OpenMP, MPI 3.1 (any), HDF5 1.10 with its HL library (serial or parallel),
# zlib. Optional, by pkg-config: COIN-OR Clp; with COIN-OR Cbc and Z3 beside it, the synthesizers with solvers
# (-DTENEX_SOLVERS=OFF leaves all three out).
# For libraries that consist of headers, environment variables may name the
# folder to write behind -I:
#   TENEX_FMT TENEX_XXHASH TENEX_TOMLPLUSPLUS TENEX_NLOHMANN_JSON TENEX_CLI11 TENEX_PROTOZERO
# CC, CXX, CMAKE_PREFIX_PATH, HDF5_ROOT, MPI_HOME and PKG_CONFIG_PATH mean the same as to CMake. BUILD: another build
# folder. JOBS: number of compilers at once (default: the cores that this shell may use). It calls no package manager
# and downloads nothing.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$top/build/release}
headers=(TENEX_FMT=fmt/core.h TENEX_XXHASH=xxhash.h TENEX_TOMLPLUSPLUS=toml++/toml.h
  TENEX_NLOHMANN_JSON=nlohmann/json.hpp TENEX_CLI11=CLI/CLI.hpp TENEX_PROTOZERO=protozero/pbf_reader.hpp)

missing=()
lack() { missing+=("$*"); }

# CMake reports missing libraries, but needs itself and a compiler for that. Without them this script checks the
# libraries, so that one visit to `module avail` is enough.
look_for_tools() {
  local version compiler=${CXX:-c++}
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p' || true)
  if [ -z "$version" ]; then
    lack "CMake 3.25 (no cmake here) load a module of it, or unpack the binary archive of cmake.org and put its bin" \
      "on PATH"
  elif [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
    lack "CMake 3.25 ($version is here) load a newer module, or unpack the binary archive of cmake.org and put" \
      "its bin on PATH"
  fi
  if ! command -v "$compiler" >/dev/null; then
    lack "a C++ compiler ($compiler is not here) load the module of one, or set CXX"
  elif ! { printf '#include <%s>\n' compare source_location ranges span && echo 'int main() { return 0; }'; } |
    "$compiler" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
    lack "C++20 ($compiler of $("$compiler" -dumpversion 2>/dev/null) lacks parts of it) load a newer compiler, such" \
      "as g++ 12, and set CXX"
  fi
  command -v make >/dev/null || command -v ninja >/dev/null ||
    lack "make or ninja (neither is here) load a module that has one"
}

look_for_libraries() {
  local entry variable header
  command -v mpicc >/dev/null || [ -n "${MPI_HOME:-}" ] ||
    lack "MPI 3.1 (no mpicc) load the module of an MPI library, or set MPI_HOME"
  command -v h5cc >/dev/null || command -v h5pcc >/dev/null || [ -n "${HDF5_ROOT:-}" ] || has_header hdf5.h ||
    lack "HDF5 1.10 with its HL library (no h5cc, no hdf5.h) load a module of it, or set HDF5_ROOT"
  has_header zlib.h || lack "zlib (no zlib.h) load a module that has it, or set ZLIB_ROOT"
  for entry in "${headers[@]}"; do
    variable=${entry%%=*} header=${entry#*=}
    if [ -n "${!variable:-}" ]; then
      [ -f "${!variable}/$header" ] ||
        lack "$header ($variable names ${!variable}, which does not hold it) name the folder to write behind -I"
    else
      has_header "$header" ||
        lack "$header (on none of the paths) load a module that has it, or unpack it and set $variable to its folder"
    fi
  done
}

# Searches the paths of compilers, modules (CPATH) and Spack (CMAKE_PREFIX_PATH).
has_header() {
  local folder folders
  IFS=: read -ra folders <<<"${CPATH:-}:${CMAKE_PREFIX_PATH:-}:/usr:/usr/local"
  for folder in "${folders[@]}"; do
    [ -z "$folder" ] || [ ! -f "$folder/$1" ] || return 0
    [ -z "$folder" ] || [ ! -f "$folder/include/$1" ] || return 0
  done
  return 1
}

look_for_tools
if [ ${#missing[@]} -gt 0 ]; then
  look_for_libraries
  echo "What tenex needs and this machine does not offer:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  exit 2
fi

options=(-DCMAKE_BUILD_TYPE=Release -DTENEX_TESTS=OFF -DTENEX_BENCHMARKS=OFF)
for entry in "${headers[@]}"; do
  variable=${entry%%=*}
  [ -z "${!variable:-}" ] || options+=("-D$variable=$(realpath -m "${!variable}")")
done
check=false
if [ "${1:-}" = --check ]; then
  check=true build=$(mktemp -d)
  trap 'rm -rf "$build"' EXIT
  shift
fi
# The generator of an earlier configuration stays; a new folder gets ninja if it is installed.
[ -f "$build/CMakeCache.txt" ] || ! command -v ninja >/dev/null || options+=(-G Ninja)
# CMake reports all missing libraries before it fails.
log=$build/configure.log
{ mkdir -p "$build" && : >"$log"; } 2>/dev/null || {
  echo "$build: not writable (the build goes there) set BUILD to a folder of yours" >&2
  exit 2
}
if ! cmake -S "$top" -B "$build" "${options[@]}" "$@" >"$log" 2>&1; then
  if grep -q 'What tenex needs' "$log"; then
    sed -n '/What tenex needs/,/^$/p; /^    /p' "$log" | sed 's/^  //; /^$/d' | awk '!seen[$0]++' >&2
  else
    cat "$log" >&2
  fi
  exit 2
fi
if $check; then
  echo "nothing is missing: jobs/build.sh builds"
  exit 0
fi
cmake --build "$build" --target tenex --parallel "${JOBS:-$(env -u OMP_NUM_THREADS nproc)}"
echo "built $build/bin/tenex"
