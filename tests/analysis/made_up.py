"""Artificial studies for tests: named columns in a file that the reader opens."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy
import xarray

import tenex_analysis

STATUSES = ["ok", "infeasible", "out_of_memory", "unsupported", "failed"]
UNITS = {"size": "B", "collective_time_ps": "ps", "algbw_bytes_per_s": "B/s", "evaluation_seconds": "s",
         "bandwidth": "B/s", "network_cost_usd": "USD"}
SETTINGS = {"topology", "algorithm", "size", "chunks", "seed", "bandwidth", "alpha", "unwind"}


def make_study(columns, runs=None, folder=None, study_points=None):
    """A study of the given columns (lists of equal length; `status` in words) with keys k0, k1, ...; `runs` needs a
    folder for its file.
    """
    rows = len(next(iter(columns.values())))
    columns = {"status": ["ok"] * rows, "reason": [""] * rows, "key": [f"k{i}" for i in range(rows)]} | columns
    variables = {}
    for name, values in columns.items():
        attributes = {"units": UNITS[name]} if name in UNITS else {}
        if name == "status":
            values = numpy.array([STATUSES.index(word) for word in values], dtype=numpy.int8)
            attributes = {"flag_values": numpy.arange(5, dtype=numpy.int8), "flag_meanings": " ".join(STATUSES)}
        elif isinstance(values[0], str):
            values = numpy.array(values, dtype=object)
        variables[name] = (("point", "dimension") if numpy.ndim(values) == 2 else "point", values, attributes)
    points = xarray.Dataset(variables, coords={"point": numpy.arange(rows)})
    points = points.set_coords([n for n in columns if n in SETTINGS])
    points.attrs = {"title": "made up", "study_points": str(rows if study_points is None else study_points)}
    path = Path(folder or ".") / "study.h5"
    if runs is not None:
        write_runs(path, runs)
    return tenex_analysis.Study(path, points)


def write_runs(path, runs):
    """The group /runs as tenex writes it. `runs`: (point, rank, incarnation, host, finished_unix_ms) per row."""
    with h5py.File(path, "w") as file:
        group = file.create_group("runs")
        group["entry"] = numpy.arange(len(runs))
        group["entry"].make_scale("entry")
        for i, name in enumerate(["point", "rank", "incarnation", "host", "finished_unix_ms"]):
            values = [row[i] for row in runs]
            group[name] = numpy.array(values, dtype="S8" if name == "host" else numpy.int64)
