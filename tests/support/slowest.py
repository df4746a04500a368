"""Prints the slowest tests of a ctest run and the sums per label (tests/slowest.sh).

    ctest --show-only=json-v1 | python3 slowest.py LastTest.log COUNT
    python3 slowest.py --self-test

A test with several labels counts for each. A test of the log that ctest does not list any more has the label "gone".
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict


def read_times(log: str) -> dict[str, float]:
    """Seconds by test. The last time of a test's section is ctest's own; its output may hold the same words."""
    times, name = {}, None
    for line in log.splitlines():
        if begun := re.fullmatch(r"\d+/\d+ Testing: (.+)", line):
            name = begun[1]
        elif name and (ended := re.fullmatch(r"Test time = +([0-9.]+) sec", line)):
            times[name] = float(ended[1])
    return times


def read_labels(listing: str) -> dict[str, list[str]]:
    """Labels by test, from ctest's JSON."""
    return {test["name"]: next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), ["none"])
            for test in json.loads(listing)["tests"]}


def tables(times: dict[str, float], labels: dict[str, list[str]], count: int) -> str:
    """The slowest tests, and per label the tests, their sum and its share of all."""
    lines = []
    for name in sorted(times, key=lambda name: (-times[name], name))[:count]:
        lines.append(f"{times[name]:9.2f} s  {name}  [{', '.join(labels.get(name, ['gone']))}]")
    of_label = defaultdict(list)
    for name, seconds in times.items():
        for label in labels.get(name, ["gone"]):
            of_label[label].append(seconds)
    whole = sum(times.values())
    lines += ["", "      sum   tests    mean  share  label"]
    by_sum = sorted(of_label.items(), key=lambda of: (-sum(of[1]), of[0]))
    for label, seconds in [*by_sum, ("all", list(times.values()))]:
        total = sum(seconds)
        share = 100 * total / whole if whole else 0.0
        lines.append(f"{total:9.2f}  {len(seconds):6}  {total / len(seconds):6.2f}  {share:3.0f} %  {label}")
    return "\n".join(lines)


LOG = """Start testing: Jan 01 00:00 UTC
----------------------------------------------------------
1/3 Testing: quick
1/3 Test: quick
Output:
----------------------------------------------------------
Test time =   9.00 sec
<end of output>
Test time =   0.50 sec
----------------------------------------------------------
Test Passed.
2/3 Testing: slow/case  # GetParam() = 1
Test time =   3.00 sec
3/3 Testing: removed
Test time =   0.50 sec
"""
LISTING = json.dumps({"tests": [
    {"name": "quick", "properties": [{"name": "LABELS", "value": ["base"]}]},
    {"name": "slow/case  # GetParam() = 1", "properties": [{"name": "LABELS", "value": ["mpi", "base"]}]},
    {"name": "did not run"},
]})  # fmt: skip
# Sums: base 0.5 + 3 of 4 seconds, mpi 3, gone 0.5.
TABLES = """     3.00 s  slow/case  # GetParam() = 1  [mpi, base]
     0.50 s  quick  [base]

      sum   tests    mean  share  label
     3.50       2    1.75   88 %  base
     3.00       1    3.00   75 %  mpi
     0.50       1    0.50   12 %  gone
     4.00       3    1.33  100 %  all"""


def self_test() -> int:
    found = tables(read_times(LOG), read_labels(LISTING), 2)
    print("as expected" if found == TABLES else found)
    return 0 if found == TABLES else 1


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        return self_test()
    with open(arguments[0], encoding="utf-8", errors="replace") as log:
        times = read_times(log.read())
    if not times:
        print(f"{arguments[0]}: no test has a time", file=sys.stderr)
        return 2
    print(tables(times, read_labels(sys.stdin.read()), int(arguments[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
