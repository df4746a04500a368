# Sourced by scripts that run tests: what Open MPI wants to hear from root, and from machines with few cores.
# shellcheck shell=bash
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMPI_MCA_rmaps_base_oversubscribe=1
