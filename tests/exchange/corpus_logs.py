#!/usr/bin/env python3
"""Reads every log and tuner table of a folder of real files, and compares them with the facts of its MANIFEST.md.

    tests/exchange/corpus_logs.py TENEX FOLDER

Prints a table in Markdown: file, what was read or why not, whether the facts agree, seconds. Ends with 1 where a fact
differs, and with 77 where there is no such folder.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from corpus import facts_of

# What files do not say.
ANSWERS = {"mi250_2x16_allgather.log": ["--collective", "all_gather"], "osu": ["--ranks", "2"]}


def run(*words: object) -> tuple[subprocess.CompletedProcess, float]:
    begin = time.perf_counter()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return done, time.perf_counter() - begin


def log_differences(fit: dict, facts: str) -> list[str]:
    """Rows, sizes and ranks beside the manifest's."""
    wrong = []
    points = [point for table in fit["tables"] for point in table["points"]]
    rows = len(points) + len(fit["left_out"]) + len(fit["skipped"])
    said = re.search(r"(\d+) rows", facts)
    if said and rows != int(said.group(1)):
        wrong.append(f"{rows} rows, not {said.group(1)}")
    sizes = re.search(r"(\d+)\.\.(\d+)", facts)
    if sizes and points and max(point["size_bytes"] for point in points) % int(sizes.group(2)) != 0:
        wrong.append(f"the largest size is not {sizes.group(2)}")
    ratio = re.search(r"ratio ([0-9.]+)", facts)
    for table in fit["tables"] if ratio else []:
        n = table["ranks"]
        expected = 2 * (n - 1) / n if table["collective"] == "all_reduce" else (n - 1) / n
        if abs(expected - float(ratio.group(1))) > 1e-3:
            wrong.append(f"{n} ranks")
    return wrong


def log_row(tenex: str, file: Path, facts: str) -> tuple[str, list[str] | None, float]:
    answer = ANSWERS.get(file.name, ANSWERS.get(file.parent.name, []))
    done, seconds = run(tenex, "fit", file, "--json", *answer)
    if done.returncode != 0:
        return "refused: " + done.stderr.splitlines()[0].rpartition("error: ")[2], None, seconds
    fit = json.loads(done.stdout)
    what = "; ".join(
        f"{table['collective']} on {table['ranks']} ranks, {len(table['points'])} points, {len(table['pieces'])} pieces"
        for table in fit["tables"])
    what += "".join(f", {number['bytes_per_s'] / 1e9:.1f} GB/s" for number in fit["numbers"] if "bytes_per_s" in number)
    what += f"; {len(fit['left_out'])} left out, {len(fit['skipped'])} torn"
    return what, log_differences(fit, facts), seconds


def table_row(tenex: str, file: Path, facts: str) -> tuple[str, list[str] | None, float]:
    whats = []
    seconds = 0.0
    wrong: list[str] | None = None
    for reader in ("nccl", "rccl"):
        done, took = run(tenex, "verify", file, "--for", reader, "--json")
        seconds += took
        if done.returncode == 2:
            return "refused: " + done.stderr.splitlines()[0], None, seconds
        lint = json.loads(done.stdout)
        whats.append(f"{reader} keeps {lint['rules']} lines and has {len(lint['findings'])} findings")
        said = re.search(r"(\d+) lines that are not comments", facts)
        if said and lint["rules"] > int(said.group(1)):
            wrong = [f"{lint['rules']} lines of {said.group(1)}"]
    return "; ".join(whats), wrong or [], seconds


def main() -> int:
    if len(sys.argv) != 3 or not (Path(sys.argv[2]) / "MANIFEST.md").is_file():
        print("no folder with a MANIFEST.md is named: nothing was read", file=sys.stderr)
        return 77
    tenex, folder = sys.argv[1], Path(sys.argv[2])
    facts = facts_of(folder)
    wrong_files = 0
    print("| file | outcome | facts | ms |\n|---|---|---|---|")
    for name, read in (("nccl-tests", log_row), ("osu", log_row), ("tuner-csv", table_row)):
        for file in sorted((folder / name).iterdir()):
            what, wrong, seconds = read(tenex, file, facts.get(file.name, ""))
            wrong_files += bool(wrong)
            verdict = "not compared" if wrong is None else "; ".join(wrong) or "agree"
            print(f"| {name}/{file.name} | {what} | {verdict} | {1000 * seconds:.0f} |")
    return 1 if wrong_files else 0


if __name__ == "__main__":
    sys.exit(main())
