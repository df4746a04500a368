#!/usr/bin/env bash
# What `cmake --install` gives: a program with its pages, and a CMake package for other projects.
#   prefix.sh BUILD VERSION [CMake options for the consumer]
set -euo pipefail
build=$1 version=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() {
  echo "$*" >&2
  exit 1
}

cmake --install "$build" --prefix "$prefix" >"$work/log" || fail "$(cat "$work/log")"

# The program runs from the prefix, and finds its libraries without the build folder.
mv "$prefix" "$work/moved"  # whatever names the prefix is found out
prefix=$work/moved
[ "$(cd "$work" && PATH=$prefix/bin:$PATH && tenex --version | head -n 1 | cut -d' ' -f1-2)" = "tenex $version" ] ||
  fail "the installed tenex does not print its version"
if readelf -d "$prefix/bin/tenex" | grep -E 'RPATH|RUNPATH'; then fail "the installed tenex has a path of the build"; fi

# Its pages are those that it prints.
"$prefix/bin/tenex" manual | cmp - "$prefix/share/man/man1/tenex.1"
"$prefix/bin/tenex" completion bash | cmp - "$prefix/share/bash-completion/completions/tenex"
"$prefix/bin/tenex" completion zsh | cmp - "$prefix/share/zsh/vendor-completions/_tenex"
"$prefix/bin/tenex" completion fish | cmp - "$prefix/share/fish/vendor_completions.d/tenex.fish"
[ -f "$prefix/share/doc/tenex/copyright" ] || fail "the licence is missing"
# Python's package has its own ways: pip, or the Debian package.
[ ! -e "$prefix/lib/python3" ] || fail "Python files came without being asked for"

# Another project uses the library.
cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "$@" \
  >"$work/log" 2>&1 || fail "$(cat "$work/log")"
cmake --build "$work/consumer" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
[ "$("$work/consumer/consumer")" = 1000500000 ] || fail "the consumer prints another time"
[ "$(cat "$work/consumer/program")" = "$prefix/bin/tenex $version" ] || fail "$(cat "$work/consumer/program")"
# A version that is not compatible is refused.
sed 's/tenex 0.1 REQUIRED/tenex 99 REQUIRED/' "$here/consumer/CMakeLists.txt" >"$work/CMakeLists.txt"
cp "$here/consumer/main.cpp" "$work"
if cmake -S "$work" -B "$work/other" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$work/log" 2>&1; then
  fail "version 99 is accepted"
fi
grep -q 'requested version "99"' "$work/log" || fail "$(cat "$work/log")"
echo "installed, used, and the same pages"
