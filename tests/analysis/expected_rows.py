"""Compares results with the expected.csv of their studies and with pins.csv, in one process.

    python3 expected_rows.py EXPERIMENTS [--pins pins.csv] [--results NAME=RESULT ...] [--parts NAME=RESULT ...]
        [--others NAME ...]

A result of a part of its study (part_of.py) is compared with the rows of its points, which `tenex plan --points` finds
in the study by their keys. Every study of pins.csv is among the results, the parts or the others, which are compared
elsewhere. TENEX is the binary.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import opened  # noqa: F401
import pandas
import pins

import tenex_analysis
from tenex_analysis import expected


def points_of(study: Path, result: str) -> list[int]:
    """The indices of a result's points in the whole study."""
    command = [os.environ["TENEX"], "plan", str(study), "--points", "--json"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    index = {point["key"]: i for i, point in enumerate(plan["point_list"])}
    return [index[key] for key in tenex_analysis.open_study(result).frame()["key"]]


def compare(experiments: Path, name: str, result: str, part: bool) -> bool:
    """Whether the result has the expected rows. Prints those that differ."""
    study = experiments / name
    points = points_of(study / "study.toml", result) if part else None
    rows = expected.differences(result, str(study / "expected.csv"), points)
    of = f"{len(points)} rows" if points else "all rows"
    print(f"{name}: {of} agree" if rows.empty else f"{name}:\n{rows.to_string()}")
    return rows.empty


def compare_pins(file: str, results: dict[str, str], elsewhere: list[str]) -> bool:
    """Whether the pinned studies among the results are as pinned, and all others are compared elsewhere."""
    known = pins.read_pins(file)
    lines = [pins.pin_of(name, result) for name, result in results.items() if name in known.index]
    changed = pins.differences(pandas.DataFrame(lines).set_index("study"), known)
    forgotten = sorted(set(known.index) - set(results) - set(elsewhere))
    print("\n".join([*changed.values(), *(f"{name}: pinned, and compared nowhere" for name in forgotten)])
          or f"{len(lines)} studies are as pinned")
    return not changed and not forgotten


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", type=Path)
    parser.add_argument("--results", nargs="*", default=[])
    parser.add_argument("--pins")
    parser.add_argument("--parts", nargs="*", default=[])
    parser.add_argument("--others", nargs="*", default=[])
    given = parser.parse_args(arguments)
    results, parts = (dict(pair.split("=", 1) for pair in pairs) for pairs in (given.results, given.parts))
    agree = [compare(given.experiments, name, result, False) for name, result in results.items()]
    agree += [compare(given.experiments, name, result, True) for name, result in parts.items()]
    if given.pins:
        agree.append(compare_pins(given.pins, results, [*parts, *given.others]))
    return 0 if agree and all(agree) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
