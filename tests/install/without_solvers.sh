#!/usr/bin/env bash
# The build without solvers (-DTENEX_SOLVERS=OFF): no file of it needs COIN-OR Clp, Cbc or Z3.
#   without_solvers.sh BUILD SOURCE CXX           configures, and compiles the files that the option changes: seconds
#   without_solvers.sh BUILD SOURCE CXX --whole   also builds the binary, which must refuse a study that asks for one
# BUILD/without_solvers is its build folder.
set -euo pipefail
build=$1/without_solvers log=$1/without_solvers.log source=$2 compiler=$3
fail() {
  echo "without_solvers: $*" >&2
  exit 1
}

cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
  -DTENEX_SOLVERS=OFF -DTENEX_TESTS=OFF -DTENEX_BENCHMARKS=OFF -DTENEX_UNITY=OFF >"$log" 2>&1 ||
  fail "CMake failed: $(tail -n 20 "$log")"

# No other file includes a part of what is left out, so all of them can be linked without. The registry names the
# synthesizers (synthesis/synthesizers.hpp) only behind the definition.
left_out='synthesis/(solvers|te_ccl|taccl|sccl)/'
cd "$source/src"
outside=$(grep -rlE "#include \"$left_out" . | grep -vE "$left_out" || true)
[ -z "$outside" ] || fail "other files include parts of solvers: $outside"
if grep -E "\"file\": \".*/src/($left_out|bound/exact/)|-DTENEX_(SOLVERS|CLP)" "$build/compile_commands.json"; then
  fail "what needs a solver is compiled all the same"
fi

registries=(synthesis bound)
for module in "${registries[@]}"; do
  object=src/CMakeFiles/tenex_$module.dir/$module/registry.cpp.o
  ninja -C "$build" "$object" >"$log" 2>&1 || fail "$(tail -n 20 "$log")"
  symbols=$(nm -C "$build/$object")
  if grep -E ' U .*(te_ccl|taccl|sccl|exact_flow|exact_strength)' <<<"$symbols"; then
    fail "$object refers to what is left out"
  fi
done

[ "${4:-}" = --whole ] || exit 0
cmake --build "$build" --target tenex
"$build/bin/tenex" --version | grep -F Clp && fail "the binary claims to have solvers"
refused=$("$build/bin/tenex" plan "$source/experiments/teccl/study.toml" 2>&1) && fail "te_ccl was not refused"
for words in 'this tenex has no algorithm "te_ccl"' 'this tenex has no algorithm "taccl"' \
  'coinor-libclp-dev coinor-libcbc-dev libz3-dev'; do
  grep -qF "$words" <<<"$refused" || fail "the refusal lacks: $words"
done
"$build/bin/tenex" synthesize --topology dgx1 --collective all_gather --size 200KB --synthesizer tacos --json |
  grep -qF '"verified":true' || fail "tacos does not work"
