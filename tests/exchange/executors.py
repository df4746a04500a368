#!/usr/bin/env python3
"""What the limits of executors cost: the best schedules of machines as MSCCLang XML and mscclpp plans.

    tests/exchange/executors.py TENEX                                     print the table
    tests/exchange/executors.py TENEX experiments/executors/README.md     and put it between the marks of a page

Each row is one `tenex export` of a point: its best schedule without limits, and in as many chunks as the executor runs.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
MACHINES = {"dgx1": 8, "forestcoll_a100_2x8": 8, "mi300x": 8, "forestcoll_mi250_2x16": 16}
COLLECTIVES = ("all_gather", "all_reduce", "all_to_all")
EXECUTORS = {"mscclpp": ("--format", "mscclpp"), "rccl": ("--format", "mscclang", "--for", "rccl"),
             "azure": ("--format", "mscclang", "--for", "azure")}  # fmt: skip
SIZE = "64MiB"
#: Beside the best one: those that plan over the links of a machine.
ALGORITHMS = {"best": COLLECTIVES, "trees": COLLECTIVES[:2], "pccl": COLLECTIVES}


def export(tenex, machine, collective, algorithm, executor, out):
    words = [tenex, "export", "--topology", machine, "--collective", collective, "--size", SIZE, *EXECUTORS[executor]]
    words += ["--algorithm", algorithm]
    if executor == "mscclpp":
        words += ["--npus-per-node", str(MACHINES[machine])]
    done = subprocess.run([*words, "-o", out, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.splitlines()[0].rpartition("error: ")[2]


def microseconds(picoseconds):
    return f"{picoseconds / 1e6:,.1f} us"


def counted(chunks):
    return f"{chunks} chunk" + ("" if chunks == 1 else "s")


def row_of(machine, collective, algorithm, executor, made):
    cells = [machine, collective, algorithm, executor]
    if isinstance(made, str):
        return [*cells, made, "", "", ""]
    unlimited = made.get("without_limits_ps", made["collective_time_ps"])
    chunks = made.get("without_limits_chunks", made["chunks"])
    longer = made.get("longer_by_percent", 0.0)
    return [*cells, f"{microseconds(unlimited)}, {counted(chunks)}",
            f"{microseconds(made['collective_time_ps'])}, {made['algorithm']} in {counted(made['chunks'])}",
            f"{longer:.1f} %", f"{made['bound_ps'] / made['collective_time_ps']:.3f}"]  # fmt: skip


def main():
    tenex = sys.argv[1]
    head = ["machine", "collective", "algorithm", "executor", "without limits", "within the executor's", "longer by",
            "of the bound"]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    with tempfile.TemporaryDirectory() as folder:
        rows = [(machine, collective, algorithm, executor)
                for machine in MACHINES for collective in COLLECTIVES
                for algorithm, made in ALGORITHMS.items() if collective in made
                for executor in EXECUTORS]  # fmt: skip
        for row in rows:
            made = export(tenex, *row, Path(folder) / "schedule")
            lines.append("| " + " | ".join(row_of(*row, made)) + " |")
            print(lines[-1], flush=True)
    if len(sys.argv) > 2:
        page = Path(sys.argv[2])
        text = page.read_text(encoding="utf-8")
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        page.write_text(text[:begin] + "\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
