#!/usr/bin/env bash
# Checks that paths in comments and pages, from the top of the project, name files that exist: files move, and those who
# read of them do not hear of it.
#   check_paths.sh ROOT         fails where a file of ROOT names one that is not there
#   check_paths.sh --self-test  shows that such a path is found, and that names with placeholders are none
set -euo pipefail

# Not a part of a longer path, nor of one that begins with a variable; a name in capitals stands for any.
top='(?:src|include|tests|jobs|analysis|experiments)'
end='\.(?:cpp|hpp|inc|md|py|sh|toml|cmake|csv)(?![\w/*])'
pattern="(?<![\\w/.{}\$-])$top/(?!\\S*[A-Z]{4})[\\w./-]+$end"

check() {
  local file line path missing=0
  while IFS=: read -r file line path; do
    [ -e "$path" ] || { echo "$file:$line: $path is no file of the project"; missing=1; }
  done < <(grep -rInoP --include='*.cpp' --include='*.hpp' --include='*.inc' --include='*.md' --include='*.sh' \
    --include='*.cmake' --include='CMakeLists.txt' --exclude='*self_test*' --exclude=check_paths.sh \
    --exclude-dir=build -- "$pattern" .)
  return "$missing"
}

if [ "${1:-}" = --self-test ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  mkdir -p src/base experiments/guide
  touch src/base/here.cpp
  printf '%s\n' '// as src/base/here.cpp says; results/src/base/gone.cpp; $top/src/base/gone.cpp' \
    '// experiments/STUDY/study.toml' >src/base/one.hpp
  check || { echo "a path that exists is refused"; exit 1; }
  echo 'see (src/base/gone.cpp).' >experiments/guide/page.md
  ! check >found || { echo "a path that does not exist is not found"; exit 1; }
  grep -qx './experiments/guide/page.md:1: src/base/gone.cpp is no file of the project' found || { cat found; exit 1; }
  exit
fi
cd "$1"
check
