"""The other work of a machine while a result was measured. Times compare only if each point had the machine to itself.

    python3 -m tenex_analysis.conditions DIR -- COMMAND ...    runs it and adds a line to DIR/conditions.jsonl
    python3 -m tenex_analysis.conditions DIR                   prints how busy others were while each run measured
    python3 -m tenex_analysis.conditions                       says whether the machine is quiet now (exit 1: it is not)

A result file says when each point ended (`/runs`) and how long it took, but not what else ran meanwhile. A line of
conditions.jsonl holds the host, its processor and cores, the load at the start and at the end, the wall, user and
system seconds of the command, and for every half second how many cores were busy with other work (/proc/stat less the
command's own processes; time that a hypervisor took away counts as busy).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pandas

from .reader import Study, open_study

FILE = "conditions.jsonl"
#: Seconds between samples.
INTERVAL = 0.5
#: A point was measured alone if other work kept at most this share of the machine's cores busy meanwhile.
QUIET_SHARE = 0.05
_TICK = os.sysconf("SC_CLK_TCK")


def busy_seconds(stat: str) -> float:
    """CPU seconds of all cores that were not idle since the system started, from the text of /proc/stat."""
    user, nice, system, _, _, irq, soft, steal = (int(word) for word in stat.split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + soft + steal) / _TICK


def process_seconds(pids: list[int]) -> float:
    """User and system seconds of processes and of their ended children; 0 for a process that has ended."""
    total = 0
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(word) for word in words[11:15])
    return total / _TICK


def tree_of(root: int) -> list[int]:
    """A process and its living descendants; only the process if the system does not list children."""
    found = [root]
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:  # the thread has ended
                continue
    return found


def processor() -> str:
    """The processor's name as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n")
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def machine() -> dict:
    """The machine on which a command runs."""
    return {"host": platform.node(), "processor": processor(), "cores": os.cpu_count() or 1}


class Sampler:
    """Cores busy with other work, sample by sample: all CPU time less that of one process tree and of this process."""

    def __init__(self, pid: int | None):
        self.pid, self.samples = pid, []
        self._last = self._read()

    def _read(self) -> tuple[float, float, float]:
        own = resource.getrusage(resource.RUSAGE_SELF)
        mine = own.ru_utime + own.ru_stime + (process_seconds(tree_of(self.pid)) if self.pid else 0.0)
        return time.time(), busy_seconds(Path("/proc/stat").read_text()), mine

    def sample(self, ended_children: float = 0.0) -> None:
        """Adds [end of the interval in unix ms, mean cores busy with other work in it]. `ended_children`: CPU seconds
        of the tree when it has ended.
        """
        now, busy, mine = self._read()
        mine += ended_children
        then, busy_then, mine_then = self._last
        if now > then:
            others = max(0.0, (busy - busy_then - max(0.0, mine - mine_then)) / (now - then))
            self.samples.append([round(now * 1000), round(others, 3)])
        self._last = (now, busy, mine)


def run_under_watch(command: list[str], folder: Path) -> int:
    """Runs a command, passes signals on to it, and adds its conditions to the folder's file. Returns its exit code."""
    line = machine() | {
        "command": command,
        "start_ms": round(time.time() * 1000),
        "load_at_start": list(os.getloadavg()),
    }
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []  # signals that come before there is a process to pass them on to

    def pass_on(number: int, _: object) -> None:
        if process is None:
            early.append(number)
        else:
            process.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, pass_on)
    process = subprocess.Popen(command)
    for number in early:
        process.send_signal(number)
    sampler = Sampler(process.pid)
    while True:
        try:
            process.wait(INTERVAL)
        except subprocess.TimeoutExpired:
            sampler.sample()
            continue
        break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    sampler.sample(used.ru_utime + used.ru_stime)
    end = round(time.time() * 1000)
    line |= {
        "end_ms": end,
        "wall_seconds": (end - line["start_ms"]) / 1000,
        "user_seconds": round(used.ru_utime, 3),
        "system_seconds": round(used.ru_stime, 3),
        "load_at_end": list(os.getloadavg()),
        "samples": sampler.samples,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / FILE, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def read_conditions(folder: Path) -> list[dict]:
    """The lines of a folder's file, in the order of writing; none without a file."""
    file = folder / FILE
    return (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        if file.exists()
        else []
    )


def others_between(line: dict, start_ms: float, end_ms: float) -> float:
    """Mean cores busy with other work from start to end, over the samples that overlap; NaN without such samples.

    0 for a line with `exclusive`, which a job writes that had its nodes alone.
    """
    if "exclusive" in line:
        return 0.0
    samples = numpy.array(line["samples"], dtype=float).reshape(-1, 2)
    begins = numpy.concatenate([[float(line["start_ms"])], samples[:, 0]])[: len(samples)]
    shared = numpy.minimum(samples[:, 0], end_ms) - numpy.maximum(begins, start_ms)
    over = shared >= 0
    if not over.any():
        return float("nan")
    return float(numpy.average(samples[over, 1], weights=numpy.maximum(shared[over], 1e-9)))


def conditions_of(study: Study) -> pandas.DataFrame:
    """By point: `others`, the mean number of cores busy with other work while it was evaluated (NaN: not recorded),
    `cores`, and `machine`.
    """
    lines = read_conditions(study.path.parent)
    seconds = (
        study.points["evaluation_seconds"].to_series()
        if "evaluation_seconds" in study.points
        else pandas.Series(dtype=float)
    )
    found = []
    for run in study.runs().itertuples():
        # Ends are whole milliseconds, cut off.
        end = run.finished_unix_ms + 1
        start = end - 1 - 1000 * max(0.0, float(numpy.nan_to_num(seconds.get(run.point, 0.0))))
        line = next((of for of in lines if of["start_ms"] <= end and end <= of.get("end_ms", numpy.inf) + 1), None)
        if line is None:
            found.append([run.point, numpy.nan, 0, str(run.host)])
        else:
            found.append([run.point, others_between(line, start, end), line["cores"], machine_text(line)])
    frame = pandas.DataFrame(found, columns=["point", "others", "cores", "machine"])
    return frame.drop_duplicates("point", keep="last").set_index("point").reindex(study.points["point"].values)


def machine_text(line: dict) -> str:
    """The machine's data that must be equal for times to compare. Nodes that a job had alone count as alike."""
    where = f"{line.get('nodes', 1)} nodes" if "exclusive" in line else line["host"]
    return f"{where}, {line['processor']}, {line['cores']} cores"


def is_alone(others, cores):
    """Whether a point was measured alone, from the cores busy with other work; not if they are unknown."""
    return others <= QUIET_SHARE * cores


def quiet_now(seconds: float = 2.0) -> tuple[bool, str]:
    """Whether the machine is quiet at this moment, and the cores busy with other work as text."""
    sampler = Sampler(None)
    time.sleep(seconds)
    sampler.sample()
    others, cores = sampler.samples[-1][1], os.cpu_count() or 1
    quiet = bool(is_alone(others, cores))
    return (
        quiet,
        f"{others:.2f} of {cores} cores are busy with other work: the machine is {'quiet' if quiet else 'not quiet'}",
    )


def print_conditions(folder: Path) -> int:
    for line in read_conditions(folder):
        if "exclusive" in line:
            print(f"{line['exclusive']} on {line['host']}: had its nodes alone")
            continue
        others = [share for _, share in line["samples"]]
        told = (
            f"others {numpy.mean(others):.2f} cores on average, {max(others):.2f} at most"
            if others
            else "too short to sample"
        )
        print(
            f"{line['host']}, {line['cores']} cores: {line['wall_seconds']:.1f} s wall, "
            f"{line['user_seconds']:.1f} s user; {told}; "
            f"load at start {line['load_at_start'][0]:.2f}"
        )
    alone = conditions_of(open_study(folder))
    print(f"{int(is_alone(alone['others'], alone['cores']).sum())} of {len(alone)} points were measured alone")
    return 0


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    command = given[given.index("--") + 1 :] if "--" in given else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parsed = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    if parsed.folder is None:
        quiet, told = quiet_now()
        print(told)
        return 0 if quiet else 1
    return run_under_watch(command, parsed.folder) if command else print_conditions(parsed.folder)


if __name__ == "__main__":
    from .command import run_command

    raise SystemExit(run_command(main))
