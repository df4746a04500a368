"""The columns of a result that a study's expected.csv pins: a point's settings and its exact times.

    python3 -m tenex_analysis.expected DIR > experiments/STUDY/expected.csv      write
    python3 -m tenex_analysis.expected DIR experiments/STUDY/expected.csv        compare; exit 1 with the differences
"""

from __future__ import annotations

import sys

import pandas

from .command import run_command
from .reader import open_study

COLUMNS = ["topology", "collective", "algorithm", "size", "chunks", "collective_time_ps", "bound_ps", "bound_name"]

#: For studies with training points: bandwidths in whole B/s per NPU and dimension, costs to the cent.
TRAINING_COLUMNS = [
    "topology", "workload", "hp", "compute", "collective_time_setting", "scheme", "training_time_ps", "bound_ps",
    "bound_name", "chosen_bandwidth_bytes_per_s", "network_cost_usd",
]  # fmt: skip


def expected_frame(result: str) -> pandas.DataFrame:
    """The pinned columns of a result, in study order."""
    frame = open_study(result).frame()
    if "network_cost_usd" in frame:
        frame["network_cost_usd"] = frame["network_cost_usd"].map("{:.2f}".format)
    if "compute" in frame:
        frame["compute"] = frame["compute"].astype(str).replace("-1", "shipped")
    columns = TRAINING_COLUMNS if "workload" in frame else COLUMNS
    if columns is COLUMNS:
        more = ["piece"] if "piece" in frame and (frame["piece"] >= 0).any() else []
        if "window" in frame and (frame["window"] > 0).any():
            more += ["window"]
        elif "faults" in frame and (frame["faults"] != "none").any():
            more += ["faults", "failed_links"]
        if "overhead" in frame and (frame["overhead"] > 0).any():
            more += ["overhead"]
        if "link_protocol" in frame and (frame["link_protocol"] != "none").any():
            more += ["link_protocol"]
        columns = [*COLUMNS[:5], *more, *COLUMNS[5:]]
    return pandas.DataFrame(frame[columns].astype(str))


def differences(result: str, expected: str, points: list[int] | None = None) -> pandas.DataFrame:
    """Rows that differ from expected.csv, with both values; empty when all agree. `points`: which of its rows the
    result has, if it is not the whole study.
    """
    found = expected_frame(result).reset_index(drop=True)
    wanted = pandas.read_csv(expected, dtype=str, keep_default_na=False)
    if points is not None:
        wanted = wanted.iloc[points].reset_index(drop=True)
    if list(wanted.columns) != list(found.columns) or len(wanted) != len(found):
        raise SystemExit(f"{expected}: {len(wanted)} rows for {len(found)} points, columns {list(wanted.columns)}")
    return wanted.compare(found, result_names=("expected", "found"))


def main(arguments: list[str]) -> int:
    if len(arguments) == 1:
        expected_frame(arguments[0]).to_csv(sys.stdout, index=False)
        return 0
    if len(arguments) == 2:
        rows = differences(*arguments)
        if rows.empty:
            print(f"all rows agree with {arguments[1]}")
            return 0
        print(rows.to_string())
        return 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(run_command(lambda: main(sys.argv[1:])))
