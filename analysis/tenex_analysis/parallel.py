"""Parallel coordinates of varying settings and of metrics, which show what the good points of a sweep have in common.

    python3 -m tenex_analysis.parallel DIR OBJECTIVE --png FILE
    python3 -m tenex_analysis.parallel DIR collective_time_seconds --metrics efficiency --where "size == 1048576" ...

Every line is a design point; dark lines are the good ones and lie on top. If a column takes few values, the lines of a
value are spread by the objective, in the direction of its own axis, so that no line hides another.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pandas
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .columns import FEW_VALUES, Column, apart, column_of, evaluated, is_larger_better, telling_settings, ticks_of
from .command import run_command
from .reader import Study, open_study
from .words import NothingToShow, broken, fitted, picture

#: At most so many lines are drawn, chosen evenly by objective.
MOST_LINES = 4000
#: Of more text values only some are labelled.
MOST_LABELS = 24
#: Longer tick texts are broken into lines.
MOST_CHARACTERS = 20
#: This share of the lines, the best, is drawn opaque.
GOOD_SHARE = 0.1
#: The spread of the lines of one value, as a share of the value's room.
SPREAD = 0.7
#: The position of absent values, below the axes' 0 to 1.
ABSENT = -0.1


def heights(column: Column, ranks: NDArray[numpy.float64]) -> tuple[NDArray[numpy.float64], list[tuple[float, str]]]:
    """Positions of a column's values between 0 and 1, and ticks with their text. `ranks`, 0 to 1, spreads equal values.

    Text and columns of few values get equal room for each value; others a linear or logarithmic scale; absent values
    lie at ABSENT.
    """
    distinct = column.distinct
    if column.is_text or 0 < len(distinct) <= FEW_VALUES:
        place = {value: (i + 0.5) / len(distinct) for i, value in enumerate(distinct)}
        middle = numpy.array([place.get(value, numpy.nan) for value in column.values])
        at = middle + (ranks - 0.5) * SPREAD / len(distinct)
        ticks = [(place[value], column.text(value)) for value in distinct[:: -(-len(distinct) // MOST_LABELS)]]
    elif distinct:

        def scale(values: Any) -> Any:
            return numpy.log10(values) if column.log else numpy.asarray(values)

        low, high = scale(distinct[0]), scale(distinct[-1])
        at = (scale(column.values) - low) / (high - low)
        ticks = [(float((scale(tick) - low) / (high - low)), column.text(tick)) for tick in ticks_of(column)]
    else:
        at, ticks = numpy.full(len(column.values), numpy.nan), []
    missing = numpy.isnan(at)
    return numpy.where(missing, ABSENT, at), ticks + ([(ABSENT, "absent")] if missing.any() else [])


def thinned(values: NDArray[numpy.float64], most: int) -> NDArray[numpy.int64]:
    """Positions of at most `most` values, evenly by rising value, always including the least and the greatest."""
    order = numpy.argsort(values, kind="stable")
    if len(order) <= most:
        return order
    kept: NDArray[numpy.int64] = order[numpy.unique(numpy.linspace(0, len(order) - 1, most).round().astype(int))]
    return kept


def draw_parallel(
    study: Study,
    objective: str,
    columns: Sequence[str] | None = None,
    metrics: Iterable[str] = (),
    rows: pandas.DataFrame | None = None,
    larger: bool | None = None,
    most: int = MOST_LINES,
    title: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draws the ok rows that have the objective: `columns` (by default `telling_settings`), then `metrics`, then the
    objective.

    `title` replaces the study's name. NothingToShow if no row has the objective, ValueError if it is text.
    """
    rows = evaluated(study, rows)
    goal = column_of(study, rows, objective)
    if goal.is_text:
        raise ValueError(f"{objective} is text (an objective needs numbers)")
    rows = rows[~numpy.isnan(goal.values)]
    if rows.empty:
        raise NothingToShow(f"no row that is ok has {objective}")
    names = list(columns if columns is not None else telling_settings(study, rows))
    names = [*dict.fromkeys([*names, *metrics, objective])]
    better = is_larger_better(objective, larger)
    goal = column_of(study, rows, objective)
    badness = -goal.values if better else goal.values
    shown = thinned(badness, most)
    rows = rows.iloc[shown]  # from the best to the worst
    drawn = [column_of(study, rows, name) for name in names]
    if axes is None:
        axes = Figure(figsize=(max(6.0, 1.75 * len(names) + 1.5), 5), dpi=110, layout="constrained").subplots()
    ranks = numpy.arange(len(rows)) / (len(rows) - 1) if len(rows) > 1 else numpy.array([0.5])
    ranks = 1 - ranks if better else ranks
    scales = [heights(column, ranks) for column in drawn]
    colours = _draw_lines(axes, numpy.stack([at for at, _ in scales], axis=1), drawn[names.index(objective)], better)
    _draw_axes(axes, drawn, [ticks for _, ticks in scales])
    bar = axes.figure.colorbar(colours, ax=axes, pad=0.02, shrink=0.8)
    _label_bar(bar, goal, better)
    of = f"{len(shown):,} point{'' if len(shown) == 1 else 's'}"
    if len(shown) < len(goal.values):
        of = f"{len(shown):,} of {len(goal.values):,} points, evenly by {goal.label}"
    axes.set_title(fitted(f"{study.name if title is None else title}: {of}", axes.figure.get_figwidth() - 1.0),
                   loc="left", pad=34)
    return axes


def _draw_lines(axes: Axes, at: NDArray[numpy.float64], goal: Column, larger: bool) -> ScalarMappable:
    """One line per row, the best last; returns the data for the colour bar."""
    low, high = goal.distinct[0], goal.distinct[-1]
    norm = LogNorm(low, high) if goal.log else Normalize(low, high)
    colours = ScalarMappable(norm, colormaps["cividis_r" if larger else "cividis"])
    x = numpy.arange(at.shape[1])
    segments = [numpy.column_stack([x, line]) for line in at[::-1]]
    rgba = colours.to_rgba(goal.values[::-1])
    good = numpy.linspace(0, 1, len(segments)) > 1 - GOOD_SHARE
    rgba[:, 3] = numpy.where(good, 0.9, 0.6 if len(segments) <= 100 else 0.25)
    width = 1.2 if len(segments) <= 100 else 0.8
    if at.shape[1] == 1:  # one column has no lines
        axes.scatter(numpy.zeros(len(at)), at[::-1, 0], color=rgba, zorder=4)
    axes.add_collection(LineCollection(segments, colors=rgba, linewidths=width, rasterized=len(segments) > 1000))
    return colours


def _draw_axes(axes: Axes, columns: list[Column], ticks: list[list[tuple[float, str]]]) -> None:
    """A vertical axis per column, with its name above and its ticks' text on the left."""
    halo = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for x, (column, marks) in enumerate(zip(columns, ticks)):
        axes.axvline(x, ymin=0.0, color="black", linewidth=0.9, zorder=3)
        axes.text(x, 1.06, column.label.replace(" ", "\n", 1), ha="center", va="bottom", fontsize=9, fontweight="bold")
        size = 8 if len(marks) <= 12 else 6.5
        for at, text in marks:
            axes.plot([x - 0.025, x + 0.025], [at, at], color="black", linewidth=0.9, zorder=3)
            axes.text(x - 0.05, at, broken(text, MOST_CHARACTERS), ha="right", va="center", fontsize=size, bbox=halo,
                      zorder=4)
    lowest = min(at for marks in ticks for at, _ in marks)
    axes.set_xlim(-0.75, len(columns) - 1 + 0.1)
    axes.set_ylim(min(-0.02, lowest - 0.04), 1.02)
    axes.set_axis_off()


def _label_bar(bar: Any, goal: Column, larger: bool) -> None:
    bar.set_label(f"{goal.label} (dark: {'more' if larger else 'less'} is better)", labelpad=10)
    bar.minorticks_off()
    ticks = apart(goal) if len(goal.distinct) <= FEW_VALUES else ticks_of(goal)
    bar.set_ticks(ticks, labels=[goal.text(tick) for tick in ticks])
    if not larger:
        bar.ax.invert_yaxis()  # the good end is always at the top


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("objective")
    parser.add_argument("--columns", nargs="+", help="instead of all settings that vary")
    parser.add_argument("--metrics", nargs="+", default=[])
    parser.add_argument("--where", help="only rows for which this condition holds (analysis/conditions.md)")
    parser.add_argument("--png", type=Path, required=True)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    rows = study.where(given.where) if given.where else None
    picture(draw_parallel, study, given.objective, given.columns, given.metrics, rows).savefig(given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
