#!/usr/bin/env bash
# The Debian packages: their fields and files, and a study that runs from them alone and is opened in Python from them
# alone.
#   package.sh BUILD VERSION STUDY
# With TENEX_CHROOT=FOLDER (root and debootstrap are needed) in a fresh Debian without a compiler, where apt installs
# the packages; FOLDER keeps the base system for the next time. Otherwise from the unpacked files on this machine.
set -euo pipefail
build=$(cd "$1" && pwd) version=$2 study=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

(cd "$build" && cpack -G DEB -B "$work" >"$work/log" 2>&1) || fail "$(cat "$work/log")"
architecture=$(dpkg --print-architecture)
program=$work/tenex_${version}_$architecture.deb
development=$work/tenex-dev_${version}_$architecture.deb
python=$work/python3-tenex-analysis_${version}_all.deb
for file in "$program" "$development" "$python"; do [ -f "$file" ] || fail "$file is missing: $(ls "$work")"; done

# Every library that the program is linked with belongs to a package that it depends on.
depends=$(dpkg-deb --field "$program" Depends)
for library in libc6 libstdc++6 libgomp1 libhdf5 libopenmpi libfmt; do
  [[ $depends = *"$library"* ]] || fail "the program does not depend on $library: $depends"
done
[[ $depends != *-dev* ]] || fail "the program depends on files of compilers: $depends"
[[ $(dpkg-deb --field "$python" Depends) = *python3-xarray* ]] || fail "Python's package lacks a dependency"
[[ $(dpkg-deb --field "$development" Depends) = *"tenex (= $version)"* ]] || fail "tenex-dev is of no version"
files=$(dpkg-deb --fsys-tarfile "$program" | tar -t)
licences=./usr/share/doc/tenex/copyright
# Built with d3, the program carries its scripts, and the package their licences.
if [ -f "$build/src/page_libraries/licences.txt" ]; then licences="$licences $licences.d3"; fi
for path in $licences ./usr/bin/tenex ./usr/share/man/man1/tenex.1 ./usr/share/bash-completion/completions/tenex \
  ./usr/share/zsh/vendor-completions/_tenex; do
  [[ $'\n'$files$'\n' = *$'\n'$path$'\n'* ]] || fail "the package lacks $path"
done

# On a fresh Debian: apt installs them, a study runs, and Python opens the result. Its repositories are this machine's.
if [ -n "${TENEX_CHROOT:-}" ]; then
  if [ ! -d "$TENEX_CHROOT/usr" ]; then
    debootstrap --variant=minbase bookworm "$TENEX_CHROOT" >"$work/log" 2>&1 || fail "$(tail "$work/log")"
  fi
  root=$work/root
  cp -a "$TENEX_CHROOT" "$root"
  rm -r "$root/etc/apt"
  cp -r /etc/apt "$root/etc"
  cp /etc/resolv.conf /etc/hosts "$root/etc"
  cp "$program" "$python" "$root/root"
  cp "$study" "$root/root/study.toml"
  mount -t proc proc "$root/proc"
  trap 'umount "$root/proc"; rm -rf "$work"' EXIT
  chroot "$root" apt-get update -qq
  # shellcheck disable=SC2016  # for the inner shell
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive bash -euc 'cd /root
    for compiler in cc c++ gcc g++ clang; do if command -v $compiler; then exit 1; fi; done
    SECONDS=0
    apt-get install -y -qq --no-install-recommends ./tenex_*.deb ./python3-tenex-analysis_*.deb >log 2>&1 || cat log
    echo "installed after $SECONDS s"
    tenex run study.toml --out out --quiet >log || cat log
    echo "study done after $SECONDS s"
    python3 -c "import tenex_analysis; print(len(tenex_analysis.open_study(\"out\").frame()), \"rows\")"
    echo "opened after $SECONDS s"'
  exit
fi

# Unpacked: nothing of the build, no compiler, and no Python files but the system's.
dpkg -x "$program" "$work/root"
dpkg -x "$python" "$work/root"
if readelf -d "$work/root/usr/bin/tenex" | grep -E 'RPATH|RUNPATH'; then fail "the program has a path of the build"; fi
[ ! -e "$work/root/usr/include" ] || fail "the program's package has headers"
cp "$study" "$work/study.toml"
cd "$work"
alone=(env -i PATH="$work/root/usr/bin" HOME="$work")
[ "$("${alone[@]}" tenex --version | head -n 1 | cut -d' ' -f1-2)" = "tenex $version" ] || fail "no version"
"${alone[@]}" OMP_NUM_THREADS=1 tenex run study.toml --out out --quiet >"$work/log" || fail "$(cat "$work/log")"
rows=$("${alone[@]}" PYTHONPATH="$work/root/usr/lib/python3/dist-packages" /usr/bin/python3 -c \
  'import tenex_analysis; print(tenex_analysis.__file__, len(tenex_analysis.open_study("out").frame()), "rows")')
[[ $rows = "$work/root/"* ]] || fail "Python found another reader: $rows"
echo "unpacked on this machine (no TENEX_CHROOT): ${rows#* }"
