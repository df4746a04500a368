"""What changed between two states of the studies' expected.csv: rows of the same settings, their times and bounds.

    git worktree add ../before 09bf70d
    python3 -m tenex_analysis.changes ../before/experiments experiments        a Markdown table, a line per study

Rows are matched by their settings; of rows with the same settings, the first with the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas

from .command import run_command
from .expected import COLUMNS, TRAINING_COLUMNS

TIMES = ["collective_time_ps", "training_time_ps"]
RESULTS = [*TIMES, *COLUMNS[5:], "chosen_bandwidth_bytes_per_s", "network_cost_usd"]
HEAD = ["study", "rows", "shorter", "longer", "time, least and most", "bound higher", "lower", "bound, least and most"]

assert set(RESULTS) < {*COLUMNS, *TRAINING_COLUMNS}


def read(path: Path) -> pandas.DataFrame:
    return pandas.read_csv(path, dtype=str, keep_default_na=False)


def matched(before: pandas.DataFrame, after: pandas.DataFrame) -> pandas.DataFrame:
    """The rows that both have; results have the suffixes _before and _after."""
    settings = [column for column in after if column in before and column not in RESULTS]
    place = "place among equal settings"
    numbered = [frame.assign(**{place: frame.groupby(settings).cumcount()}) for frame in (before, after)]
    return numbered[0].merge(numbered[1], on=[*settings, place], suffixes=("_before", "_after"))


def ratios(rows: pandas.DataFrame, column: str) -> pandas.Series:
    """After over before, where both have a positive number."""
    pair = [pandas.to_numeric(rows[f"{column}_{when}"], errors="coerce") for when in ("before", "after")]
    return (pair[1] / pair[0])[(pair[0] > 0) & (pair[1] > 0)]


def line_of(study: str, before: pandas.DataFrame, after: pandas.DataFrame) -> list[str]:
    both = [name for name in TIMES if name in before and name in after]
    if not both:
        return [study, str(len(after)), *["other columns"] + [""] * (len(HEAD) - 3)]
    rows = matched(before, after)
    cells = [study, f"{len(rows)} of {len(after)}" if len(rows) < len(after) else str(len(after))]
    for column, words in ((both[0], ("shorter", "longer")), ("bound_ps", ("higher", "lower"))):
        ratio = ratios(rows, column)
        counts = {"shorter": (ratio < 1).sum(), "longer": (ratio > 1).sum()}
        counts |= {"higher": counts["longer"], "lower": counts["shorter"]}
        same = ratio.empty or (ratio == 1).all()
        cells += [str(counts[word]) for word in words] + ["" if same else f"{ratio.min():.3f} to {ratio.max():.3f}"]
    return cells


def table(before: Path, after: Path) -> str:
    """The studies of which some row changed, and those that are new."""
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    new, same = [], []
    for path in sorted(after.glob("*/expected.csv")):
        study, former = path.parent.name, before / path.parent.name / "expected.csv"
        if not former.exists():
            new.append(study)
            continue
        cells = line_of(study, read(former), read(path))
        if cells[2:4] == ["0", "0"] and cells[5:7] == ["0", "0"]:
            same.append(study)
        else:
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f"Without a change: {', '.join(same) or 'none'}. New: {', '.join(new) or 'none'}."]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    print(table(Path(arguments[0]), Path(arguments[1])))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
