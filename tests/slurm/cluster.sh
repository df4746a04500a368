#!/usr/bin/env bash
# A private Slurm of virtual nodes for the duration of one command. Controller, node daemons and munge run in their own
# namespaces (processes, network, mounts, host name). So their ports, files and processes do not meet those of the
# machine, and nothing survives.
#   cluster.sh DIR KIND NODES CPUS COMMAND...
# KIND virtual: all nodes are one host, on its loopback. KIND hosts: each node is a host with its own network namespace,
# host name and /dev/shm, and hosts use TCP over a bridge. DIR gets configuration, spool and logs. COMMAND runs inside
# with SLURM_CONF set, on the first host. Its exit code is returned, or 125 if Slurm did not start (the reason is on
# stderr). Needs the slurm_packages of jobs/packages.sh, and root with CAP_SYS_ADMIN (also in a chroot) or a user who
# may make user namespaces and has subordinate ids.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin

# no_slurm REASON REMEDY
no_slurm() {
  echo "no Slurm here ($1) $2" >&2
  exit 125
}
# may WHAT COMMAND...: runs the command, or ends with the system's reason for refusing it.
may() {
  local what=$1 answer
  shift
  answer=$("$@" 2>&1) || no_slurm "$what is refused to user $(id -u): ${answer##*$'\n'}" "$remedy"
}

if [ -z "${TENEX_CLUSTER_INSIDE:-}" ]; then
  [ $# -ge 5 ] || { sed -n '4,8s/^# *//p' "$0" >&2; exit 2; }
  for program in slurmctld slurmd sbatch munged unshare ip; do
    command -v "$program" >/dev/null || no_slurm "$program is missing" "install the slurm_packages of jobs/packages.sh"
  done
  # Root makes namespaces directly: in a chroot the kernel refuses a user namespace, even to root. Other users first
  # need a user namespace, in which they are root; Slurm's daemons set their groups, which the kernel allows only with
  # subordinate ids.
  user=() remedy="run this where root has CAP_SYS_ADMIN (a container may lack it)"
  if [ "$(id -u)" -ne 0 ]; then
    remedy="run this as root, or outside of chroots and containers"
    may "the user namespace" unshare --user true
    remedy="run this as root, or with subordinate ids (package uidmap, /etc/subuid and /etc/subgid)"
    user=(--map-root-user --map-auto)
    may "the user namespace with several ids" unshare "${user[@]}" true
  fi
  # Propagation: unshare would change that of /, which fails in a chroot where / is no mount (see own_mounts).
  for kind in mount net pid uts ipc; do
    may "the $kind namespace" unshare "${user[@]}" --propagation unchanged "--$kind" true
  done
  mkdir -p "$1"
  export TENEX_CLUSTER_INSIDE=namespaces
  # --kill-child: killing this script ends the cluster too. The init of a process namespace takes all its processes
  # along when it ends.
  exec unshare "${user[@]}" --pid --fork --kill-child --mount --propagation unchanged --net --uts --ipc "$0" "$@"
fi

# Mounts made here do not propagate to the machine. If / is not a mount (a chroot into a plain folder), its propagation
# cannot be set. Then the cluster uses a copy of all mounts, made on /proc, which is always a mount.
remedy="run this where root may mount (a container may forbid it)"
own_mounts() {
  mount --make-rprivate / 2>/dev/null && return 0
  may "making /proc private" mount --make-rprivate /proc
  may "a tmpfs on /proc" mount -t tmpfs none /proc
  mkdir /proc/root
  may "a copy of all mounts" mount --rbind / /proc/root
  may "making a copy of all mounts private" mount --make-rprivate /proc/root
  export TENEX_CLUSTER_INSIDE=copy
  # shellcheck disable=SC2016  # for the inner shell
  exec chroot /proc/root bash -c 'cd "$0" && exec "$@"' "$PWD" "$0" "$@"
}
if [ "$TENEX_CLUSTER_INSIDE" = namespaces ]; then own_mounts "$@"; fi
unset TENEX_CLUSTER_INSIDE
may "mounting /proc" mount -t proc none /proc

dir=$(cd "$1" && pwd)
kind=$2 nodes=$3 cpus=$4
shift 4
mkdir -p "$dir"/{etc,state,log,spool,run,tmp}
export SLURM_CONF=$dir/etc/slurm.conf TMPDIR=$dir/tmp
# Tasks that start at once on the host `head` share Open MPI's session folder, and the second one to make it fails. It
# removes the folder where that is empty.
mkdir -p "$dir/tmp/ompi.head.$(id -u)" && touch "$dir/tmp/ompi.head.$(id -u)/kept"
may "a tmpfs on /run" mount -t tmpfs none /run  # names of network namespaces, munge's and PMIx's files
ip link set lo up

# Hosts are the network namespaces n1, n2, ... on a bridge in its own namespace; a virtual cluster has only the host
# `head`.
make_hosts() {
  local i
  ip netns add switch
  ip -n switch link add bridge type bridge
  ip -n switch link set bridge up
  echo "127.0.0.1 localhost" >"$dir/etc/hosts"
  for ((i = 1; i <= nodes; ++i)); do
    ip netns add "n$i"
    ip -n switch link add "port$i" type veth peer name eth0 netns "n$i"
    ip -n switch link set "port$i" master bridge up
    ip -n "n$i" addr add "10.77.0.$i/24" dev eth0
    ip -n "n$i" link set eth0 up
    ip -n "n$i" link set lo up
    echo "10.77.0.$i n$i" >>"$dir/etc/hosts"
  done
  mount --bind "$dir/etc/hosts" /etc/hosts
}

# on HOST COMMAND...: runs a command on a host. remote_shell HOST WORDS...: the same through a shell, as mpirun's
# plm_rsh_agent must do. --root, because entering only a host's mounts would leave a chroot.
write_shells() {
  cat >"$dir/on" <<END
#!/usr/bin/env bash
host=\$1
shift
export SLURM_CONF=$SLURM_CONF
exec nsenter --target="\$(cat "/run/hosts/\$host")" --net --uts --ipc --root --mount --wd="\$PWD" -- "\$@"
END
  cat >"$dir/remote_shell" <<END
#!/usr/bin/env bash
host=\$1
shift
exec "$dir/on" "\$host" bash -c "\$*"
END
  chmod +x "$dir/on" "$dir/remote_shell"
}

# A host is a sleeping process with the host's namespaces.
start_host() {
  local host=$1
  # shellcheck disable=SC2016  # $0 and $$ are those of the inner shell
  nsenter --net="/run/netns/$host" unshare --uts --ipc --mount bash -c 'hostname "$0" && mount -t tmpfs none /dev/shm &&
    mount -t tmpfs none /run/pmix && echo $$ >"/run/hosts/$0" && exec sleep infinity' "$host" &
  while [ ! -s "/run/hosts/$host" ] && [ "$SECONDS" -lt 100 ]; do sleep 0.02; done
}

write_configuration() {
  local head=$1 address=$2 authority=$dir/run/munge.socket
  head -c 1024 /dev/urandom >"$dir/etc/munge.key"
  chmod 400 "$dir/etc/munge.key"
  # cred_expire: without it a requeued job would wait 120 s for its credential to expire (Slurm accepts 5 s, but not 2
  # s). Intervals are 1 s, so that tests with jobs of seconds take seconds.
  cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$head($address)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$authority,cred_expire=5
CredType=cred/munge
MpiDefault=none
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MinJobAge=300
JobRequeue=1
PropagateResourceLimits=NONE
SlurmdTimeout=30
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  if [ "$kind" = hosts ]; then
    echo "NodeName=n[1-$nodes] NodeAddr=10.77.0.[1-$nodes] CPUs=$cpus RealMemory=4000" >>"$SLURM_CONF"
  else
    echo "NodeName=n[1-$nodes] NodeHostname=$head NodeAddr=$address Port=[17001-$((17000 + nodes))] CPUs=$cpus" \
      "RealMemory=4000" >>"$SLURM_CONF"
  fi
  printf 'CgroupPlugin=cgroup/v1\nConstrainCores=no\nConstrainRAMSpace=no\n' >"$dir/etc/cgroup.conf"
  echo "PMIxCliTmpDirBase=/run/pmix" >"$dir/etc/mpi.conf"
}

start() {
  local i head=head address=10.77.0.1
  hostname head
  mkdir -p /run/pmix
  write_shells
  if [ "$kind" = hosts ]; then
    make_hosts
    mkdir -p /run/hosts
    for ((i = 1; i <= nodes; ++i)); do start_host "n$i"; done
    head=n1
    on=("$dir/on" n1)
  else
    # A host that has only a loopback cannot resolve names for Slurm, and gives mpirun no interface for its own
    # messages.
    ip link add eth0 type veth peer name eth1
    ip addr add "$address/24" dev eth0
    ip link set eth0 up
    ip link set eth1 up
    printf '127.0.0.1 localhost\n%s head\n' "$address" >"$dir/etc/hosts"
    mount --bind "$dir/etc/hosts" /etc/hosts
    on=()
  fi
  write_configuration "$head" "$address"
  munged --force --key-file="$dir/etc/munge.key" --socket="$dir/run/munge.socket" --pid-file="$dir/run/munged.pid" \
    --log-file="$dir/log/munged.log" --seed-file="$dir/run/munge.seed" 2>/dev/null
  "${on[@]}" slurmctld -c
  for ((i = 1; i <= nodes; ++i)); do
    mkdir -p "$dir/spool/n$i"
    if [ "$kind" = hosts ]; then "$dir/on" "n$i" slurmd -N "n$i"; else slurmd -N "n$i"; fi
  done
  while [ "$SECONDS" -lt 100 ]; do
    [ "$("${on[@]}" timeout 2 sinfo --noheader --states=idle --format=%D 2>/dev/null)" = "$nodes" ] && return 0
    sleep 0.1
  done
  return 1
}

start >"$dir/log/start.log" 2>&1 </dev/null || {
  echo "no Slurm here (its daemons did not start, see $dir/log)" >&2
  tail -n 5 "$dir"/log/*.log >&2
  exit 125
}
code=0
"${on[@]}" "$@" || code=$?
exit $code
