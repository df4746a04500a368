# Sourced by jobs/local.sh, jobs/scalability.sh and jobs/one_node.sbatch: the numbers of cores and NUMA domains, and the
# options that bind ranks and threads to them.
# shellcheck shell=bash disable=SC2034  # the arrays are for those who source this

# Runs nproc without OMP_NUM_THREADS, which it would print. Hardware threads count as cores, as for OpenMP.
available_cores() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# different COLUMN: number of different values of this column of lscpu, over the hardware threads that this shell may
# use; at least 1.
different() {
  local allowed
  allowed=$(taskset -cp $$ | sed 's/.*: //')
  lscpu --online --parse=CPU,"$1" | awk -F, -v allowed="$allowed" '
    BEGIN {
      parts = split(allowed, part, ",")
      for (i = 1; i <= parts; ++i) {
        split(part[i], end, "-")
        if (end[2] == "") end[2] = end[1]
        for (cpu = end[1] + 0; cpu <= end[2] + 0; ++cpu) may[cpu] = 1
      }
    }
    /^[0-9]/ && ($1 in may) && !seen[$2]++ { ++values }
    END { print values ? values : 1 }'
}

numa_domains() { different NODE; }
# Without hardware threads, unlike available_cores.
physical_cores() { different CORE; }

# bind_ranks RANKS THREADS: sets `binding`, options of mpirun, and OpenMP's places. Each rank gets THREADS neighbouring
# cores, so that a domain's rank stays in its domain and the memory that its threads touch first belongs to the domain.
# If there are more threads than cores, nothing is bound.
bind_ranks() {
  if [ $(($1 * $2)) -le "$(available_cores)" ]; then
    binding=(--use-hwthread-cpus --map-by "slot:PE=$2" --bind-to hwthread)
    export OMP_PLACES=${OMP_PLACES:-threads} OMP_PROC_BIND=${OMP_PROC_BIND:-close}
  else
    binding=(--oversubscribe --bind-to none)
  fi
}
