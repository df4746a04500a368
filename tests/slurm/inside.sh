# Sourced by the tests inside a private cluster (cluster.sh): functions that submit and wait. Every wait is limited.
# shellcheck shell=bash
# The test sets STUDY and OUT (its folder). Scripts run at the top of the checkout, where users submit.

# submit FILE [sbatch options] -- [arguments]: submits a job and prints its number. The options fit the small nodes
# here.
submit() {
  local file=$1 options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  sbatch --parsable --cpus-per-task=1 --mem=1000 --output="$OUT/%x-%j.log" "${options[@]}" "jobs/$file" "${@:2}"
}

field() {
  scontrol --oneliner show job "$1" | grep --only-matching --max-count=1 "\b$2=[^ ]*" | head -n 1 | cut -d= -f2
}

# until_true SECONDS COMMAND...
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || { echo "waited in vain for: $*" >&2; return 1; }
    sleep 0.1
  done
}

# Whether no task of the job is running or waiting any more.
has_ended() {
  ! scontrol --oneliner show job "$1" |
    grep -qE 'JobState=(PENDING|CONFIGURING|RUNNING|COMPLETING|REQUEUED|SUSPENDED)'
}

# ended JOB: waits, then prints "STATE exit code" of the job (of each task of an array).
ended() {
  until_true 200 has_ended "$1" || { scontrol show job "$1" >&2; return 1; }
  scontrol --oneliner show job "$1" | sed -E 's/.*JobState=([A-Z_]*).* ExitCode=([0-9]*):.*/\1 \2/'
}

restarts_are() { [ "$(field "$1" Restarts)" = "$2" ]; }
has_rows() { cat "$1"/journal/*.log 2>/dev/null | grep -q '^commit '; }
# Whether the run has taken its folder: ranks are about to evaluate.
has_begun() { [ -s "$1/lock" ]; }
# have_begun FOLDER RANK...: whether rank 0 knows each of these ranks, too, and each has a journal of its own.
have_begun() {
  local folder=$1 rank
  shift
  for rank in "$@"; do compgen -G "$folder/journal/*-$rank.log" >/dev/null || return 1; done
}

# The process of a rank that mpirun has started, on any host.
process_of() {
  local process
  for process in /proc/[0-9]*; do
    if grep -qx tenex "$process/comm" 2>/dev/null &&
      grep -qzx "OMPI_COMM_WORLD_RANK=$1" "$process/environ" 2>/dev/null; then
      echo "${process#/proc/}"
      return
    fi
  done
  echo "no process of rank $1" >&2
  return 1
}

# kill_ranks RANK...
kill_ranks() {
  local rank processes=()
  for rank in "$@"; do processes+=("$(process_of "$rank")"); done
  kill -KILL "${processes[@]}"
}

# Ends all processes on a host (of a cluster of `hosts`) at once, with its node daemon; Slurm notices.
lose_host() {
  local process space
  space=$(readlink "/proc/$(cat "/run/hosts/$1")/ns/net")
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/ns/net" 2>/dev/null)" = "$space" ]; then
      kill -KILL "${process#/proc/}" 2>/dev/null || true
    fi
  done
  scontrol update NodeName="$1" State=DOWN Reason=lost
}
