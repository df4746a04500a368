# Sourced by jobs/local.sh and tests/run.sh: installs missing Debian packages. Only for that it needs root or sudo.
# shellcheck shell=bash disable=SC2034  # the arrays are for those who source this

build_packages=(cmake ninja-build g++ pkg-config git openmpi-bin libopenmpi-dev libhdf5-dev zlib1g-dev libfmt-dev
  libxxhash-dev libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libpugixml-dev libyaml-cpp-dev
  libprotozero-dev coinor-libclp-dev coinor-libcbc-dev libz3-dev node-d3)
test_packages=(clang-format-14 libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libnlopt-dev
  libnlopt-cxx-dev libsimgrid-dev shellcheck dpkg-dev groff-base zsh chromium fonts-dejavu-core)
# clang with its sanitizers and libFuzzer, OpenMP's runtime with Archer, names in reports, the faster linker
sanitizer_packages=(clang-14 libclang-rt-14-dev libomp-14-dev llvm-14 lld-14)
slurm_packages=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge iproute2 util-linux uidmap)
notebook_packages=(jupyter-nbconvert python3-nbconvert python3-nbclient python3-ipykernel python3-matplotlib
  python3-h5py python3-h5netcdf python3-xarray python3-pandas python3-venv python3-setuptools python3-wheel)

install_missing() {
  local package missing=() as_root=()
  for package in "$@"; do
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "missing packages: ${missing[*]} (neither root nor sudo here) install them and run this again" >&2
      return 2
    }
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}
