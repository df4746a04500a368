#!/usr/bin/env python3
"""Judges every public schedule of a folder with a MANIFEST.md: valid or why not, and its time beside tenex's best.

    tests/exchange/referee.py TENEX FOLDER                                 print the table
    tests/exchange/referee.py TENEX FOLDER experiments/referee/README.md   and put it between the marks of a page

The files are those of other projects: a row names the project, the path there and its commit. Ends with 1 where a
verdict is not the manifest's, with 77 where there is no such folder. Files compressed by xz are unpacked.
"""

import json
import lzma
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
LINKS = ("--alpha", "0.7us", "--bandwidth", "50GB/s")
#: Folders of the manifest, and the network that the schedules of a file are for, by the beginning of its name.
NETWORKS = {
    "mscclang-xml": {"astra": ("RI(8)", *LINKS), "ncv4": ("FC(4)", *LINKS), "ndv4": ("dgx_a100",),
                     "forestcoll": ("forestcoll_a100_1x8",), "rccl_unit": ("FC(16)", *LINKS), "rccl": ("mi300x",),
                     "tools_simple": ("FC(4)", *LINKS), "tools": ("dgx_a100",)},
    "mscclpp-plan": {"": None},
    "forestcoll": {"a100_1x8": ("forestcoll_a100_1x8",), "a100_2x8": ("forestcoll_a100_2x8",)},
    "te-ccl": {"mesh_4": ("mesh_4x4_100GBps",)},
    "chakra-et": {"custom_allreduce.0": ("RI(8)", *LINKS)},
}  # fmt: skip
#: Of mscclpp's plans, by NPUs: boxes of fully connected GPUs.
BOXES = {2: ("FC(2)", *LINKS), 4: ("FC(4)", *LINKS), 8: ("FC(8)", *LINKS), 16: ("FC(16)", *LINKS)}


def manifest(folder):
    """Rows of the manifest by file: (project, path there, commit, facts)."""
    rows = {}
    section = ""
    for line in (folder / "MANIFEST.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        origin = re.match(r"(\S+) `(.*?)` ?(\w*)", cells[1]) if len(cells) >= 5 else None
        if line.startswith("| ") and origin:
            rows[f"{section}/{cells[0].split(' (')[0]}"] = (*origin.groups(), cells[4])
    return rows


def network_of(section, name, npus):
    for beginning, words in NETWORKS[section].items():
        if name.startswith(beginning):
            return words or BOXES.get(npus)
    return None


def verify(tenex, file, *options):
    done = subprocess.run([tenex, "verify", file, "--json", *options], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr.splitlines()[0]


def in_words(report):
    """Verdict, size, time over the bound, and tenex's best."""
    size = report["size_bytes"]
    unit = next(unit for unit in (1 << 20, 1 << 10, 1) if size % unit == 0 and size >= unit)
    size = f"{size // unit:,}{ {1 << 20: 'MiB', 1 << 10: 'KiB', 1: 'B'}[unit] }"
    own, best = report["times_the_bound"], report.get("best_times_the_bound")
    if best is None:
        return size, f"{own:.2f}", "-"
    faster = own / best
    gain = f"{report['best_algorithm']} is {faster:.2f} times as fast" if faster > 1.005 else (
        "as fast" if faster > 0.995 else f"{report['best_algorithm']} takes {1 / faster:.2f} times as long")
    return size, f"{own:.2f}", gain


def judged(tenex, section, file, npus_of_facts):
    """The cells behind the origin of a row, and whether the file is valid; None: it is no schedule."""
    alone = verify(tenex, file)
    if isinstance(alone, str):
        said = alone.rpartition("error: ")[2]
        return [f"refused: {said}", "-", "-", "-", "-"], False
    if not alone["verified"]:
        return [f"not valid: {alone['findings'][0]['message']}", "-", "-", "-", "-"], False
    network = network_of(section, file.name, npus_of_facts or alone["npus"])
    if network is None:
        return ["valid", "-", "-", "-", "-"], True
    report = verify(tenex, file, "--topology", *network)
    if isinstance(report, str):
        return ["valid", network[0], "-", report.rpartition("error: ")[2], "-"], True
    if "times_the_bound" not in report:
        said = report["verdict"].removeprefix("not valid on this network: ")
        missing = "" if said == "valid" else f", but not on this network: {said}"
        return [f"valid{missing}", network[0], "-", "-", "-"], True
    return ["valid", network[0], *in_words(report)], True


def main():
    if len(sys.argv) < 3 or not (Path(sys.argv[2]) / "MANIFEST.md").is_file():
        print("no folder with a MANIFEST.md is named: nothing was judged", file=sys.stderr)
        return 77
    tenex, folder = sys.argv[1], Path(sys.argv[2])
    lines = ["| file | where it is public | verdict | network | size | over the bound | tenex's best |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    other = 0
    with tempfile.TemporaryDirectory() as scratch:
        for key, (project, path, commit, facts) in manifest(folder).items():
            section, name = key.split("/", 1)
            file = folder / key
            schedules = section in NETWORKS and ("VALID" in facts or "every tree" in facts or facts.startswith("output")
                                                 or name.endswith("custom_allreduce.0.et"))
            if not schedules:
                continue
            if file.suffix == ".xz":
                unpacked = Path(scratch) / file.stem
                unpacked.write_bytes(lzma.decompress(file.read_bytes()))
                file = unpacked
            npus = re.search(r"npus=(\d+)", facts)
            cells, valid = judged(tenex, section, file, int(npus[1]) if npus else None)
            expected = not facts.startswith("INVALID")
            wrong = valid != expected and "not checked" not in facts
            other += wrong
            mark = " (**the manifest says otherwise**)" if wrong else ""
            # "made by ..." is a program there that was run; a path is the file.
            where = f"{project} `{path}` {commit}"
            lines.append(f"| {file.name} | {where} | {cells[0]}{mark} | {' | '.join(cells[1:])} |")
    table = "\n".join(lines)
    print(table)
    if len(sys.argv) > 3:
        page = Path(sys.argv[3])
        text = page.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN, 1)
        page.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
