#!/usr/bin/env python3
"""Imports every topology of a folder of real files, and compares it with the facts of the folder's MANIFEST.md.

    tests/exchange/corpus.py TENEX FOLDER

Prints a table in Markdown: file, what was imported or why not, whether the facts agree, seconds. Ends with 1 where a
fact differs, and with 77 where there is no such folder.
"""

import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

FOLDERS = ("nccl-topology", "astra-sim", "infragraph", "te-ccl", "forestcoll")
# What files lack, by the words that ask for it.
ANSWERS = {
    "--gpus": [],
    "--gpu-links": ["--gpu-links", "switch"],
    "--bandwidth": ["--bandwidth", "50GB/s"],
    "--alpha": ["--alpha", "1us"],
}


def facts_of(folder: Path) -> dict[str, str]:
    """The last cell of each row of the manifest, by the file's name."""
    facts = {}
    for line in (folder / "MANIFEST.md").read_text().splitlines():
        cells = line.split(" | ")
        if line.startswith("| ") and len(cells) > 3:
            facts[cells[0].removeprefix("| ").split(" (")[0]] = cells[-1].removesuffix(" |")
    return facts


def run(tenex: str, file: Path, *options: str) -> tuple[subprocess.CompletedProcess, float]:
    begin = time.perf_counter()
    done = subprocess.run([tenex, "import", "machine", file, *options], capture_output=True, text=True, check=False)
    return done, time.perf_counter() - begin


def bytes_per_second(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+)([KMGT]?i?)B/s", text).groups()
    powers = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
    return float(number) * (1024 if unit.endswith("i") else 1000) ** powers[unit.removesuffix("i")]


def links(machine: dict, kind: str) -> list[tuple[int, int, float]]:
    """Directed links of a kind: source, target, GB/s."""
    found = []
    for group in machine.get("links", []):
        if group["kind"] == kind:
            rate = bytes_per_second(group["bandwidth"]) / 1e9
            for a, b in group.get("pairs", []):
                found += [(a, b, rate), (b, a, rate)]
            found += [(a, b, rate) for a, b in group.get("directed", [])]
    return found


def nccl_differences(machine: dict, boxes: dict | None, facts: str) -> list[str]:
    wrong = []
    expected = re.search(r"(\d+) gpu", facts).group(1)
    if expected == "0":
        expected = re.search(r"(\d+) pci of class 0x03", facts).group(1)
    if machine["npus"] != int(expected):
        wrong.append(f"{machine['npus']} NPUs, not {expected}")
    nvlink = re.search(r"(\d+) nvlink, count per gpu .*, (\d+) to switches, ([0-9.]+) GB/s per gpu", facts)
    if nvlink and int(nvlink.group(2)) > 0:
        for npu in range(machine["npus"]):
            out = sum(rate for a, _, rate in links(machine, "nvlink") if a == npu)
            if abs(out - float(nvlink.group(3))) > 1e-6:
                wrong.append(f"NPU {npu} sends {out} GB/s")
    xgmi = re.search(r"(\d+) xgmi, count", facts)
    if xgmi and len(links(machine, "xgmi")) != int(xgmi.group(1)):
        wrong.append(f"{len(links(machine, 'xgmi'))} xGMI links")
    net = re.search(r"(\d+) net at ([0-9.,]+) GB/s, (\d+) guids", facts)
    if net and boxes:
        allowed = [float(rate) for rate in net.group(2).split(",")]
        for _, _, rate in links(boxes, "nic"):
            if rate not in allowed and not rate < max(allowed):  # PCI before the NIC may be slower
                wrong.append(f"a NIC of {rate} GB/s")
        if len(links(boxes, "nic")) > 4 * int(net.group(1)):
            wrong.append("more NICs than the file has")
    return wrong


def astra_differences(machine: dict, facts: str) -> list[str]:
    lists = {key: re.findall(r"[A-Za-z0-9.]+", found) for key, found in
             re.findall(r"(topology|npus_count|bandwidth|latency): \[([^]]*)\]", facts)}
    words = {"Ring": "RI", "FullyConnected": "FC", "Switch": "SW"}
    wrong = []
    if {"topology", "npus_count"} <= lists.keys():
        shape = "_".join(f"{words[b]}({n})" for b, n in zip(lists["topology"], lists["npus_count"]))
        if machine["shape"] != shape:
            wrong.append(f"{machine['shape']}, not {shape}")
    for number, rate in zip(lists.get("bandwidth", []), machine["bandwidth"].split(", ")):
        if abs(bytes_per_second(rate) - float(number) * 2**30) >= 1:
            wrong.append(f"{rate}, not {number} GiB/s")
    return wrong


def infragraph_differences(machine: dict, facts: str) -> list[str]:
    direct = int(re.search(r"(\d+) xpu directly", facts).group(1)) or int(re.search(r"xpu (\d+) xpu", facts).group(1))
    return [] if machine["npus"] == direct else [f"{machine['npus']} NPUs, not {direct}"]


def main() -> int:
    if len(sys.argv) != 3 or not (Path(sys.argv[2]) / "MANIFEST.md").is_file():
        print("no folder with a MANIFEST.md is named: nothing was imported", file=sys.stderr)
        return 77
    tenex, folder = sys.argv[1], Path(sys.argv[2])
    facts = facts_of(folder)
    wrong_files = 0
    print("| file | outcome | facts | ms |\n|---|---|---|---|")
    for name in FOLDERS:
        for file in sorted((folder / name).iterdir()):
            done, seconds = run(tenex, file)
            options: list[str] = []
            for _ in range(4):  # an answer may lead to the next question
                if done.returncode == 0 or "missing" not in done.stderr and "--gpus" not in done.stderr:
                    break
                for word, answer in ANSWERS.items():
                    if word + " " in done.stderr and word not in options:
                        listed = re.search(r"--gpus BUSID,..: (.*)", done.stderr)
                        gpus = ["--gpus", ",".join(listed.group(1).split(", ")[:8])] if listed else []
                        options += gpus if word == "--gpus" else answer
                done, _ = run(tenex, file, *options)
            if done.returncode == 2:
                first = done.stderr.splitlines()[0].rpartition("error: ")[2]
                print(f"| {name}/{file.name} | refused: {first} | - | {1000 * seconds:.0f} |")
                continue
            machine = tomllib.loads(done.stdout)
            said = facts.get(file.name, "")
            boxes = None
            if name == "nccl-topology":
                many, _ = run(tenex, file, *options, "--nodes", "2", "--fabric", "rails")
                boxes = tomllib.loads(many.stdout) if many.returncode == 0 else None
                named = "--gpus" in options
                wrong = None if named else nccl_differences(machine, boxes, said)
            elif name == "astra-sim":
                wrong = astra_differences(machine, said)
            elif name == "infragraph":
                wrong = infragraph_differences(machine, said)
            else:
                wrong = None
            wrong_files += bool(wrong)
            what = machine["shape"] if "shape" in machine else f"{machine['npus']} NPUs, " + ", ".join(
                f"{len(links(machine, kind))} {kind} at "
                + "/".join(sorted({f"{rate:g}" for _, _, rate in links(machine, kind)})) + " GB/s"
                for kind in dict.fromkeys(group["kind"] for group in machine["links"]))
            if boxes:
                what += "; NICs " + "/".join(sorted({f"{rate:g}" for _, _, rate in links(boxes, "nic")})) + " GB/s"
            verdict = "not compared" if wrong is None else "; ".join(wrong) or "agree"
            given = f" (with {' '.join(options)})" if options else ""
            print(f"| {name}/{file.name} | {what}{given} | {verdict} | {1000 * seconds:.0f} |")
    return 1 if wrong_files else 0


if __name__ == "__main__":
    sys.exit(main())
