"""Pins results that a change of code must not change: canonical texts, times, bounds, schedule hashes of studies.

    python3 pins.py pins.csv NAME=RESULT ...            compares; exit 1 names the studies that differ, and in what
    python3 pins.py --write pins.csv NAME=RESULT ...    writes the file; allowed only if `physics` was raised

expected_rows.py compares, too. A study is one line: its points, and a digest of each kind of column in study order.
expected.csv beside each study has the rows.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pandas

import tenex_analysis

#: Columns that are digested together; columns that a study does not have are left out.
KINDS = {
    "canonical": ["canonical"],
    "times": ["collective_time_ps", "training_time_ps", "time_with_overlap_ps", "time_without_overlap_ps"],
    "bounds": ["bound_ps", "bound_name"],
    "schedules": ["schedule_hash", "sends"],
}


def pin_of(name: str, result: str) -> dict[str, str]:
    """The line of a study."""
    study = tenex_analysis.open_study(result)
    frame = study.frame()
    line = {"study": name, "physics": str(study.points.attrs["physics"]), "points": str(len(frame))}
    for kind, columns in KINDS.items():
        text = frame[[c for c in columns if c in frame]].to_csv(index=False)
        line[kind] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return line


def read_pins(file: str) -> pandas.DataFrame:
    """The lines of the file, by study."""
    return pandas.read_csv(file, dtype=str).set_index("study")


def differences(found: pandas.DataFrame, known: pandas.DataFrame) -> dict[str, str]:
    """What differs, by study that is in both."""
    lines = {}
    for name in found.index.intersection(known.index):
        if not found.loc[name].equals(known.loc[name]):
            differ = [kind for kind in found.columns if found.loc[name, kind] != known.loc[name, kind]]
            lines[name] = (f"{name}: {', '.join(differ)} changed "
                           f"(known: {known.loc[name].to_dict()}; found: {found.loc[name].to_dict()})")
    return lines


def main(arguments: list[str]) -> int:
    write = arguments[:1] == ["--write"]
    file, *pairs = arguments[write:]
    found = pandas.DataFrame([pin_of(*pair.split("=", 1)) for pair in pairs]).set_index("study")
    known = read_pins(file) if Path(file).exists() else found.iloc[:0]
    changed = differences(found, known)
    for line in changed.values():
        print(line)
    if write:
        same_physics = [name for name in changed if found.loc[name, "physics"] == known.loc[name, "physics"]]
        if same_physics:
            print(f"not written: {', '.join(same_physics)} changed at the same physics (results may change only when "
                  "it rises)")
            return 1
        found.to_csv(file)
        return 0
    missing = sorted(set(found.index) ^ set(known.index))
    if missing:
        print(f"only in one of the two: {', '.join(missing)}")
    return 1 if changed or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
