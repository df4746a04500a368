"""Tables of the papers' numbers beside the reached ones, and functions that select rows of a result."""

from __future__ import annotations

import numpy
import pandas

from .reader import Study

COLUMNS = ["what", "printed", "reached", "ratio"]

#: Compute rates of the studies in FLOP/s: the workloads' own, and one from the papers.
SHIPPED, FAST = -1, 234 * 10**12
#: Names of models in tables.
RATES = {SHIPPED: "66 TFLOPS", FAST: "234 TFLOPS"}


def geometric_mean(values) -> float:
    """The geometric mean, for ratios. ValueError without values."""
    if not len(values):
        raise ValueError("no rows to take a mean of")
    return float(numpy.exp(numpy.log(numpy.asarray(values, dtype=float)).mean()))


def compare(rows) -> pandas.DataFrame:
    """A table of (what, printed or None, reached) with a column reached / printed."""
    frame = pandas.DataFrame(rows, columns=COLUMNS[:3])
    frame["printed"] = frame["printed"].astype(float)
    return frame.assign(ratio=frame["reached"] / frame["printed"])


def where(frame: pandas.DataFrame, **wanted) -> pandas.DataFrame:
    """The rows with these settings; a list allows any of its values. ValueError if there are none."""
    rows = frame
    for name, value in wanted.items():
        rows = rows[rows[name].isin(value) if isinstance(value, (list, tuple)) else rows[name] == value]
    if not len(rows):
        raise ValueError(f"no row has {wanted}")
    return rows


def value(frame: pandas.DataFrame, column: str, **wanted):
    """A column's value in the one row with these settings; ValueError for no row or several."""
    rows = where(frame, **wanted)
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows have {wanted}")
    return rows[column].iloc[0]


def training_frame(study: Study) -> pandas.DataFrame:
    """A result's rows with `seconds` and `compute_seconds` of an iteration, `bound_seconds`, and `model` and `rate` as
    text.
    """
    frame = study.frame(only_ok=True)
    if len(frame) != len(study.frame()):
        raise ValueError("not all points of the study are ok")
    phases = ["forward_compute_ps", "input_gradient_compute_ps", "weight_gradient_compute_ps"]
    return frame.assign(
        seconds=frame["training_time_ps"] * 1e-12,
        compute_seconds=frame[phases].sum(axis=1) * 1e-12,
        bound_seconds=frame["bound_ps"] * 1e-12,
        model=frame["workload"].str.replace(".toml", "", regex=False),
        rate=frame["compute"].map(RATES),
        scheme=frame["scheme"].astype(str),
        times=frame["collective_time_setting"].astype(str),
    )


def over_equal(frame: pandas.DataFrame, keys: list[str]) -> pandas.DataFrame:
    """Per combination of `keys` and scheme: speed-up and perf per cost over the scheme `equal`, with the cost in
    dollars.
    """
    equal = frame[frame["scheme"] == "equal"].set_index(keys)
    if equal.index.has_duplicates:
        raise ValueError(f"several rows of equal shares have the same {keys}")
    base = equal.loc[pandas.MultiIndex.from_frame(frame[keys])]
    speedup = base["seconds"].to_numpy() / frame["seconds"].to_numpy()
    cheaper = base["network_cost_usd"].to_numpy() / frame["network_cost_usd"].to_numpy()
    return frame.assign(speedup=speedup, cheaper=cheaper, per_cost=speedup * cheaper)
