#!/usr/bin/env python3
"""Limits of synthesis: times at full size, instructions and memory traffic counted at a small size, machine bandwidth.

    /usr/bin/python3 analysis/scalability_limits.py [--tenex BINARY] [--threads N] [--repeat N] [--only WORD]
        [--skip times|counts]

Measures every case (or those whose name begins with WORD), adds the numbers to results/limits.json, and writes the
table of limits.md from that file. Times are medians. Counts come from callgrind's cache model with one thread on small
cases of the same kind. Its last-level cache is this machine's, scaled by the ratio of deliveries, so that the same
share of the work fits into it as at full size.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "analysis"))
from tenex_analysis import growth  # noqa: E402

import pandas  # noqa: E402

LINE = 64  # bytes of a cache line
# callgrind writes its counts and resets them on entering each of these functions: the second part is the synthesis, the
# third the verification.
BORDERS = ["tenex::run_synthesizer(*", "*verify_stream(*", "tenex::schedule_hash(*"]
PART = {"synthesis": 2, "verification": 3}


@dataclass(frozen=True)
class Case:
    name: str
    full: str
    small: str  # for counting the synthesis
    tiny: str  # for counting the verification
    engine: str
    collective: str = "all_gather"
    removed: float = 0  # share of a mesh's link pairs that is missing


CASES = [
    Case("mesh exact", "mesh(200,200)", "mesh(64,64)", "mesh(32,32)", "exact"),
    Case("grid exact", "grid(35,35,35)", "grid(16,16,16)", "grid(10,10,10)", "exact"),
    Case("mesh coarse", "mesh(200,200)", "mesh(64,64)", "mesh(32,32)", "coarse"),
    Case("grid coarse", "grid(35,35,35)", "grid(16,16,16)", "grid(10,10,10)", "coarse"),
    Case("mesh All-Reduce", "mesh(200,200)", "mesh(64,64)", "mesh(32,32)", "exact", "all_reduce"),
    Case("torus symmetric", "torus(100,100,100)", "torus(16,16,16)", "torus(10,10,10)", "symmetric"),
    Case("small mesh exact", "mesh(32,32)", "mesh(32,32)", "mesh(32,32)", "exact"),
    Case("uneven mesh", "mesh(199,211)", "mesh(61,67)", "mesh(31,33)", "auto"),
    Case("mesh less 1 % of links", "mesh(200,200)", "mesh(64,64)", "mesh(32,32)", "auto", removed=0.01),
]


def missing_pairs(topology: str, share: float, seed: int = 1) -> str:
    """A random share of a 2D mesh's link pairs, in the syntax of `--without`."""
    width, height = (int(n) for n in re.findall(r"\d+", topology))
    pairs = [[y * width + x, y * width + x + 1] for y in range(height) for x in range(width - 1)]
    pairs += [[y * width + x, (y + 1) * width + x] for y in range(height - 1) for x in range(width)]
    drawn = random.Random(seed).sample(pairs, round(share * len(pairs)))
    return json.dumps(drawn, separators=(",", ":"))


def command(tenex: str, case: Case, topology: str, threads: int) -> list[str]:
    words = [tenex, "synthesize", "--json", "--topology", topology, "--alpha", "0.5us", "--bandwidth", "50GB/s",
             "--size", "1GB", "--occupancy", "transfer", "--synthesizer", "tacos", "--engine", case.engine,
             "--collective", case.collective, "--threads", str(threads)]
    return words + (["--without", missing_pairs(topology, case.removed)] if case.removed else [])


def run_once(words: list[str]) -> dict:
    """tenex's own report, and the user CPU of the process."""
    small_parent = ["bash", "-c", '"$@"; exit "$?"', "bash"]  # a process inherits its parent's peak memory
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(small_parent + words, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read().decode()
    if status != 0:
        raise SystemExit(f"{' '.join(words)[:300]}: status {status}\n{text}")
    return json.loads(text) | {"user_seconds": usage.ru_utime}


def measure(tenex: str, case: Case, threads: int, repeat: int) -> dict:
    rows = [run_once(command(tenex, case, case.full, threads)) for _ in range(repeat)]
    median = {name: statistics.median(row[name] for row in rows)
              for name in ("synthesis_seconds", "verification_seconds", "user_seconds", "peak_rss_bytes")}
    same = {name: rows[0].get(name) for name in ("npus", "sends", "engine", "efficiency", "verified")}
    return median | same | {"threads": threads, "repeat": repeat}


def last_level_cache() -> int:
    """Bytes of the last-level cache that the first core shares; 32 MiB if the system does not say."""
    sizes = [(int(p.parent.joinpath("level").read_text()), int(p.read_text().strip()[:-1]) << 10)
             for p in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
             if p.read_text().strip().endswith("K")]
    return max(sizes)[1] if sizes else 32 << 20


def read_part(file: Path) -> dict | None:
    """The totals of one part of a profile by event; None while the part is being written."""
    text = file.read_text() if file.exists() else ""
    totals = re.search(r"^totals: ([\d ]+)\n", text, re.MULTILINE)
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    if not totals:
        return None
    names = events.group(1).split()
    # Zeros at the end are left out.
    return dict.fromkeys(names, 0) | dict(zip(names, map(int, totals.group(1).split())))


def count_part(words: list[str], word: str, cache: int) -> dict:
    """Instructions, data accesses and memory traffic of a run's synthesis or verification; then ends the run."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        tool = ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--simulate-wb=yes", f"--LL={cache},16,{LINE}",
                f"--callgrind-out-file={profile}"] + [f"--dump-before={border}" for border in BORDERS]
        with open(f"{folder}/log", "w+") as log:
            process = subprocess.Popen(tool + words, stdout=log, stderr=log)
            while (counts := read_part(Path(f"{profile}.{PART[word]}"))) is None:
                if process.poll() is not None:
                    log.seek(0)
                    raise SystemExit(
                        f"{' '.join(words)[:300]}: ended with {process.returncode} before its {word} did\n{log.read()}"
                    )
                time.sleep(0.2)
            process.kill()
            process.wait()
    lines = counts["DLmr"] + counts["DLmw"] + counts["DLdmr"] + counts["DLdmw"]  # filled, and written back
    return {"instructions": counts["Ir"], "accesses": counts["Dr"] + counts["Dw"], "bytes": LINE * lines}


def deliveries(topology: str, collective: str) -> int:
    npus = numpy.prod([int(n) for n in re.findall(r"\d+", topology)], dtype=int)
    return int(npus * (npus - 1) * (2 if collective == "all_reduce" else 1))


def work(topology: str, case: Case) -> int:
    """The divisor of counts: deliveries, or NPUs for the engine whose work grows with NPUs alone."""
    if case.engine != "symmetric":
        return deliveries(topology, case.collective)
    return int(numpy.prod([int(n) for n in re.findall(r"\d+", topology)]))


def count(tenex: str, case: Case) -> dict:
    """Synthesis and verification per delivery (or NPU)."""
    result = {}
    for word, topology in (("synthesis", case.small), ("verification", case.tiny)):
        if word == "verification" and case.engine == "symmetric":
            continue  # at this size it would be verified by replay; the full case is verified by orbits
        scale = deliveries(topology, case.collective) / deliveries(case.full, case.collective)
        cache = max(1 << 16, 1 << round(numpy.log2(last_level_cache() * scale)))
        counts = count_part(command(tenex, case, topology, 1), word, cache)
        result |= {f"{word}_{name}": value / work(topology, case) for name, value in counts.items()}
    return result


def copy_bandwidth(threads: int, size: int = 1 << 28, seconds: float = 1.0) -> float:
    """Bytes read and written per second by `threads` threads that copy arrays far larger than the caches."""
    arrays = [(numpy.ones(size, numpy.uint8), numpy.empty(size, numpy.uint8)) for _ in range(threads)]
    for source, target in arrays:
        numpy.copyto(target, source)
    done = [0] * threads
    end = time.perf_counter() + seconds

    def copy(index):
        while time.perf_counter() < end:
            numpy.copyto(arrays[index][1], arrays[index][0])
            done[index] += 2 * size

    workers = [threading.Thread(target=copy, args=(index,)) for index in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - start)


def limit_of(share_of_bandwidth: float, instructions_per_ns: float) -> str:
    """The limit as text; limits.md explains the two thresholds."""
    if share_of_bandwidth > 0.5:
        return "bandwidth"
    return "instructions" if instructions_per_ns > 4 else "latency"


def table(found: dict) -> pandas.DataFrame:
    lines = []
    for case in CASES:
        row = found["cases"].get(case.name, {})
        if "synthesis_seconds" not in row or "synthesis_bytes" not in row:
            continue
        rate = work(case.full, case) / row["synthesis_seconds"]
        share = row["synthesis_bytes"] * rate / found["copy_bytes_per_s"][str(row["threads"])]
        speed = row["synthesis_instructions"] * rate / row["threads"] * 1e-9
        lines.append({
            "case": f"{case.full}{', 1 % of its links missing' if case.removed else ''}, {case.collective}",
            "engine": row["engine"], "efficiency": row["efficiency"],
            "synthesis s": row["synthesis_seconds"], "verification s": row["verification_seconds"],
            "user CPU s": row["user_seconds"], "peak GB": row["peak_rss_bytes"] * 1e-9,
            "instructions": row["synthesis_instructions"], "accesses": row["synthesis_accesses"],
            "bytes of memory": row["synthesis_bytes"], "instructions per ns and core": speed,
            "share of bandwidth": share,
            "instructions of verification": row.get("verification_instructions", numpy.nan),
            "limit": limit_of(share, speed)})
    return pandas.DataFrame(lines)


def page(found: dict) -> str:
    bandwidth = ", ".join(f"{value * 1e-9:.1f} GB/s on {plural(int(n))}"
                          for n, value in sorted(found["copy_bytes_per_s"].items()))
    if table(found).empty:
        return "Nothing has been measured and counted yet.\n"
    formats = {"efficiency": ".4f", "synthesis": ".3g", "verification s": ".3g", "user": ".3g", "peak": ".3g",
               "instructions": ".3g", "accesses": ".3g", "bytes": ".3g", "share": ".0%"}
    copies = f"Copying large arrays (read and written bytes): {bandwidth}."
    return f"{copies}\n\n{growth.as_markdown(table(found), formats)}\n"


def plural(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenex", default=str(TOP / "build/release/bin/tenex"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", choices=["times", "counts"])
    parser.add_argument("--results", type=Path, default=TOP / "results/limits.json")
    parser.add_argument("--page", type=Path, default=TOP / "experiments" / "scalability" / "limits.md")
    given = parser.parse_args()
    found = json.loads(given.results.read_text()) if given.results.exists() else {"cases": {}, "copy_bytes_per_s": {}}
    for case in CASES:
        if not case.name.startswith(given.only):
            continue
        row = found["cases"].setdefault(case.name, {})
        if given.skip != "times":
            for threads in {1, given.threads}:
                if str(threads) not in found["copy_bytes_per_s"]:
                    found["copy_bytes_per_s"][str(threads)] = copy_bandwidth(threads)
            row.update(measure(given.tenex, case, given.threads, given.repeat))
        if given.skip != "counts":
            row.update(count(given.tenex, replace(case, engine=row.get("engine", case.engine))))  # of full size
        given.results.parent.mkdir(parents=True, exist_ok=True)
        given.results.write_text(json.dumps(found, indent=1) + "\n")
        print(case.name, json.dumps(row), flush=True)
    growth.write_between_marks(given.page, page(found))
    print(page(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
