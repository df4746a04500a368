# Functions of jobs, sourced by the sbatch files and copied into those that `tenex plan --sbatch` writes: they choose
# the binary, the launcher and the threads of a rank, pass signals on, and requeue the job at the time limit.
# shellcheck shell=bash
# From the environment:
#   TENEX     the binary (build/release/bin/tenex of the folder that the job was submitted from)
#   LAUNCHER  what starts the ranks, {threads} replaced (mpirun of Open MPI 4, srun with PMI-2 for MPICH, else srun with
#             PMIx, else any mpirun)

tenex=${TENEX:-${SLURM_SUBMIT_DIR:-$PWD}/build/release/bin/tenex}
threads=${SLURM_CPUS_PER_TASK:-1}

refuse() {
  echo "$*" >&2
  exit 2
}

# need_job SCRIPT COMMAND: only inside of a job; COMMAND submits it.
need_job() {
  [ -n "${SLURM_JOB_ID:-}" ] || refuse "$1 was not started by Slurm (it runs inside a job) submit it: $2"
}

# need_study SCRIPT [STUDY]: reports errors before a node is kept busy.
need_study() {
  need_job "$1" "sbatch jobs/$1 STUDY.toml DIR"
  [ $# -ge 2 ] || refuse "$1 was given no study (it is the first word after the script) sbatch jobs/$1 STUDY.toml DIR"
  [ -f "$2" ] || refuse "$2: no such study (looked for in $PWD, where the job was submitted) give its path from there"
  need_binary
}

need_binary() {
  [ -x "$tenex" ] ||
    refuse "$tenex: no such program (it is looked for on ${HOSTNAME:-this node}) set TENEX to the binary, or run" \
      "jobs/build.sh and submit from the top of the checkout"
}

# says WORDS COMMAND...: whether the command prints the words. (grep -q would not do: the command might die of the
# closed pipe, which pipefail would report.)
says() { [[ $("${@:2}" 2>&1 || true) = *"$1"* ]]; }

# Whether mpirun continues without ranks that are killed: Open MPI 4 does; on several nodes it must be built for Slurm.
survives_lost_ranks() {
  says '(Open MPI) 4.' mpirun --version || return
  [ "${SLURM_JOB_NUM_NODES:-1}" -eq 1 ] || says mca:plm:slurm: ompi_info --parsable
}

# Sets `launch`. A rank's threads get neighbouring cores; nodes are filled one after another. srun needs no mpirun that
# is built for Slurm, but with PMIx it ends all ranks when one of them is killed, even with --kill-on-bad-exit=0.
choose_launcher() {
  local bound=(--cpus-per-task="$threads" --cpu-bind=cores --mem-bind=local --distribution=block:cyclic)
  if [ -n "${LAUNCHER:-}" ]; then
    read -ra launch <<<"${LAUNCHER//\{threads\}/$threads}"
  elif survives_lost_ranks; then
    launch=(mpirun --enable-recovery --map-by "slot:PE=$threads" --bind-to core)
  elif says HYDRA mpirun --version && says pmi2 srun --mpi=list; then  # MPICH
    launch=(srun --mpi=pmi2 "${bound[@]}")
  elif says pmix srun --mpi=list; then
    launch=(srun --mpi=pmix "${bound[@]}")
  elif says '(Open MPI)' mpirun --version; then
    launch=(mpirun --map-by "slot:PE=$threads" --bind-to core)  # of another version
  elif command -v mpirun >/dev/null; then
    launch=(mpirun -n "${SLURM_NTASKS:-1}")
  else
    refuse "no launcher (srun has no PMIx here, and there is no mpirun) load the module of the MPI that tenex was" \
      "built with, or set LAUNCHER"
  fi
}

# use_whole_node CORES DOMAINS: if the user chose neither ranks nor threads, a rank per NUMA domain, and the cores of a
# domain as its threads. Slurm's variables tell srun and mpirun.
use_whole_node() {
  [ -z "${SLURM_NTASKS:-}${SLURM_NTASKS_PER_NODE:-}${SLURM_CPUS_PER_TASK:-}" ] || return 0
  threads=$(($1 / $2))
  [ "$threads" -gt 0 ] || threads=1
  export SLURM_NTASKS=$2 SLURM_NPROCS=$2 SLURM_NTASKS_PER_NODE=$2 SLURM_TASKS_PER_NODE=$2 SLURM_CPUS_PER_TASK=$threads
}

# run_ranks WORDS...: runs `tenex WORDS` on every rank of the job; returns its exit code. Slurm sends USR1 only to the
# batch script. The script passes it to the launcher, which passes it to the ranks; these end their current points,
# commit and leave with 3. `wait` returns early when a trap has run. mpirun --enable-recovery ends with 0 whatever the
# ranks' exit codes are. So rank 0, which is on this node, writes its code to a file; without the file rank 0 was killed
# and the code is 3. Once the file is written, a rank that hangs is not waited for.
run_ranks() {
  local launch told code outcome='' watch=''
  choose_launcher
  if [[ " ${launch[*]} " = *" --enable-recovery "* ]]; then
    outcome=$(mktemp)
  fi
  export OMP_NUM_THREADS=$threads OMP_PLACES=${OMP_PLACES:-cores} OMP_PROC_BIND=${OMP_PROC_BIND:-close}
  TENEX_EXIT_CODE=$outcome "${launch[@]}" "$tenex" "$@" </dev/null &
  local ranks=$!
  if [ -n "$outcome" ]; then
    { until [ -s "$outcome" ]; do sleep 1; done; sleep 5; kill -TERM "$ranks"; } 2>/dev/null &
    watch=$!
  fi
  trap 'told=1; kill -USR1 "$ranks" 2>/dev/null' USR1
  trap 'told=1; kill -TERM "$ranks" 2>/dev/null' TERM
  told=1
  while [ "$told" = 1 ]; do
    told=0
    code=0
    wait "$ranks" || code=$?
  done
  trap - USR1 TERM
  if [ -n "$outcome" ]; then
    kill "$watch" 2>/dev/null || true
    if [ -s "$outcome" ]; then code=$(<"$outcome"); elif [ "$code" -eq 0 ]; then code=3; fi
    rm -f "$outcome"
  fi
  return "$code"
}

committed_shards() { cat "$1"/journal/*.log 2>/dev/null | grep -c '^commit ' || true; }

# A turn that was killed together with its host has left its lock behind. tenex takes such a lock over 30 s after its
# last heartbeat by the file server's clock, and a lock of this host at once. If the lock still gets heartbeats, tenex
# refuses to run.
wait_for_lock_of_lost_host() {
  local holder probe=$1/lock.tmp-$$-0 tries
  { [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && IFS=/ read -r holder _ 2>/dev/null <"$1/lock"; } || return 0
  for ((tries = 0; tries < 40; ++tries)); do
    { [ "$holder" != "$(hostname)" ] && touch "$probe" && [ -e "$1/lock" ]; } || break
    [ $(($(stat -c %Y "$probe") - $(stat -c %Y "$1/lock"))) -le 31 ] || break
    rm -f "$probe"
    sleep 1
  done
  rm -f "$probe"
}

# run_in_turns DIR WORDS...: as run_ranks. If the run was interrupted (3), the job is requeued to continue, as long as
# each turn adds rows: with a full disk, or a point that takes longer than the time limit, turns would not end.
run_in_turns() {
  local dir=$1 before code=0
  shift
  wait_for_lock_of_lost_host "$dir"
  before=$(committed_shards "$dir")
  run_ranks "$@" || code=$?
  [ "$code" -eq 3 ] || return "$code"
  if [ "$(committed_shards "$dir")" -le "$before" ]; then
    echo "not queued again (this turn added no row) see above, or give the job a longer --time" >&2
    return 3
  fi
  echo "queued again: turn $((${SLURM_RESTART_COUNT:-0} + 2)) of job $SLURM_JOB_ID continues $dir" >&2
  scontrol requeue "$SLURM_JOB_ID" || echo "not queued again (Slurm refused) submit the same command" >&2
  return 3
}
