"""The Pareto front of any two columns of a sweep, as a table and as a picture.

    python3 -m tenex_analysis.pareto DIR X Y                   print the front, say of total_links algbw_bytes_per_s
    python3 -m tenex_analysis.pareto DIR X Y --png FILE        and draw it
    python3 -m tenex_analysis.pareto DIR X Y --where "size == 1073741824 and npus == 16"

A point dominates another one if it is at least as good in both columns and better in one. The picture's numbers refer
to the table. Compare only points that do the same work: choose them with `rows` (or --where).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from .columns import (
    Column,
    class_colour,
    class_marker,
    classes_of,
    colouring_setting,
    column_of,
    evaluated,
    is_larger_better,
    pale,
    set_scale,
    telling_settings,
)
from .command import run_command
from .reader import Study, open_study
from .words import NothingToShow, broken, fitted, picture

#: Up to this many points of the front are numbered.
MOST_NUMBERS = 20
#: Points of the front that are closer than this in both directions share a label.
CROWDED_PIXELS = (48.0, 16.0)


def non_dominated(x: ArrayLike, y: ArrayLike, larger_x: bool = False, larger_y: bool = False) -> NDArray[numpy.bool_]:
    """True for points that no other point dominates (is as good in both coordinates and better in one). O(n log n).

    Less is better unless `larger_x`, `larger_y` say otherwise. Equal points do not dominate each other; a point with a
    NaN is never on the front.
    """
    a = numpy.asarray(x, dtype=float) * (-1 if larger_x else 1)
    b = numpy.asarray(y, dtype=float) * (-1 if larger_y else 1)
    front = numpy.zeros(len(a), dtype=numpy.bool_)
    present = numpy.flatnonzero(~(numpy.isnan(a) | numpy.isnan(b)))
    order = present[numpy.lexsort((b[present], a[present]))]
    best = numpy.inf  # the least y among points of smaller x
    i = 0
    while i < len(order):
        j = i
        while j < len(order) and a[order[j]] == a[order[i]]:
            j += 1
        least = b[order[i]]
        if least < best:
            same = order[i:j]
            front[same[b[same] == least]] = True
            best = least
        i = j
    return front


def front_table(
    study: Study,
    x: str,
    y: str,
    rows: pandas.DataFrame | None = None,
    larger_x: bool | None = None,
    larger_y: bool | None = None,
) -> pandas.DataFrame:
    """The front by x, numbered from 1: the settings that distinguish `rows`, x and y (times in seconds), key, and
    `alike`.

    Points with the same x and y share the row of the first in study order; `alike` counts them. NothingToShow if no row
    has both columns.
    """
    rows, columns = _both(study, rows, x, y)
    x, y = (column.name for column in columns)
    mask = _front(columns, larger_x, larger_y)
    front = rows.loc[mask, [name for name in telling_settings(study, rows) if name not in (x, y)]]
    front = front.assign(**{column.name: column.values[mask] for column in columns}, key=rows.loc[mask, "key"])
    front["alike"] = front.groupby([x, y])["key"].transform("size")
    front = front.reset_index().drop_duplicates([x, y]).sort_values([x, y], kind="stable").reset_index(drop=True)
    front.index = pandas.RangeIndex(1, len(front) + 1, name="front")
    return front


def draw_pareto(
    study: Study,
    x: str,
    y: str,
    rows: pandas.DataFrame | None = None,
    by: str | None = None,
    larger_x: bool | None = None,
    larger_y: bool | None = None,
    title: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draws two columns of the ok rows: the front strong and numbered as in `front_table`, dominated points pale.

    The line is the border of the region that the front dominates. `by` is the setting shown by colours and markers;
    without it one that varies is chosen. `title` replaces the study's name. NothingToShow if no row has both columns.
    """
    rows, columns = _both(study, rows, x, y)
    x, y = (column.name for column in columns)
    if axes is None:
        axes = Figure(figsize=(7.5, 4.5), dpi=110, layout="constrained").subplots()
    by = colouring_setting(study, rows) if by is None else by
    classes, names = _classes(study, rows, by)
    mask = _front(columns, larger_x, larger_y)
    xs, ys = columns[0].values, columns[1].values
    for number in range(len(names)):
        colour = class_colour(number)
        for of, style in ((~mask, {"color": pale(colour), "s": 22, "linewidths": 0, "alpha": 0.8}),
                          (mask, {"color": colour, "s": 42, "edgecolors": "black", "linewidths": 0.8,
                                  "zorder": 3})):  # fmt: skip
            of = of & (classes == number)
            axes.scatter(xs[of], ys[of], marker=class_marker(number), **style)
    for side, column in ((axes.xaxis, columns[0]), (axes.yaxis, columns[1])):
        set_scale(side, column)
    _label_sides(axes, columns, larger_x, larger_y)
    _draw_front(axes, front_table(study, x, y, rows, larger_x, larger_y), x, y, is_larger_better(x, larger_x),
                is_larger_better(y, larger_y))
    _draw_legend(axes, names, by, int(mask.sum()), int((~mask).sum()))
    axes.set_title(fitted(study.name if title is None else title, axes.figure.get_figwidth() - 1.6), loc="left")
    return axes


def _both(
    study: Study, rows: pandas.DataFrame | None, x: str, y: str
) -> tuple[pandas.DataFrame, tuple[Column, Column]]:
    """The ok rows that have x and y, and these two columns of them."""
    rows = evaluated(study, rows)
    present = numpy.ones(len(rows), dtype=numpy.bool_)
    for column in (column_of(study, rows, x), column_of(study, rows, y)):
        if column.is_text:
            raise ValueError(f"{column.name} is text (a front needs two columns of numbers)")
        present &= ~numpy.isnan(column.values)
    if not present.any():
        raise NothingToShow(f"no row that is ok has both {x} and {y}")
    rows = rows[present]
    return rows, (column_of(study, rows, x), column_of(study, rows, y))


def _front(columns: tuple[Column, Column], larger_x: bool | None, larger_y: bool | None) -> NDArray[numpy.bool_]:
    x, y = columns
    return non_dominated(x.values, y.values, is_larger_better(x.name, larger_x), is_larger_better(y.name, larger_y))


def _classes(study: Study, rows: pandas.DataFrame, by: str | None) -> tuple[NDArray[numpy.int64], list[str]]:
    if by is None:
        return numpy.zeros(len(rows), dtype=numpy.int64), ["points"]
    return classes_of(column_of(study, rows, by))


def _label_sides(axes: Axes, columns: tuple[Column, Column], larger_x: bool | None, larger_y: bool | None) -> None:
    for side, column, larger in ((axes.xaxis, columns[0], larger_x), (axes.yaxis, columns[1], larger_y)):
        side.set_label_text(f"{column.label} ({'more' if is_larger_better(column.name, larger) else 'less'} is better)")
        side.grid(True, alpha=0.25)
    axes.set_axisbelow(True)
    for name in ("top", "right"):
        axes.spines[name].set_visible(False)


def _draw_front(axes: Axes, front: pandas.DataFrame, x: str, y: str, larger_x: bool, larger_y: bool) -> None:
    """Draws the border of the region that the front dominates, and the numbers of its points."""
    axes.margins(0.08)
    draw_staircase(axes, front[x], front[y], larger_x, larger_y)
    if len(front) > MOST_NUMBERS:
        return
    # Beyond the front, where there is no point.
    offset = (5 if larger_x else -5, 5 if larger_y else -5)
    for first, last in _crowds(axes, front, x, y):
        axes.annotate(f"{first}" if first == last else f"{first}–{last}", (front.loc[first, x], front.loc[first, y]),
                      xytext=offset, textcoords="offset points", fontsize=8, ha="left" if larger_x else "right",
                      va="bottom" if larger_y else "top", zorder=4)  # fmt: skip


def draw_staircase(axes: Axes, x: ArrayLike, y: ArrayLike, larger_x: bool = False, larger_y: bool = False) -> None:
    """The border of the region that a front dominates: steps through its points, and on to the edges of the axes at
    both ends.

    A slanted line between two points would suggest that points on it exist. `x` and `y` are the front by rising x. Call
    this after all points are drawn: it keeps the limits of the axes.
    """
    x, y = numpy.asarray(x, dtype=float), numpy.asarray(y, dtype=float)
    axes.autoscale_view()
    limits = axes.get_xlim(), axes.get_ylim()
    far_x, far_y = limits[0][0 if larger_x else 1], limits[1][0 if larger_y else 1]
    # A point between two neighbours of the front is dominated if it is not better in y than the neighbour with the
    # better x.
    if larger_x:
        xs, ys = [far_x, *x, x[-1]], [y[0], *y, far_y]
    else:
        xs, ys = [x[0], *x, far_x], [far_y, *y, y[-1]]
    axes.step(xs, ys, where="pre" if larger_x else "post", color="black", linewidth=1.1, zorder=2)
    corners = list(zip(numpy.repeat(xs, 2)[:-1], numpy.repeat(ys, 2)[1:]) if larger_x
                   else zip(numpy.repeat(xs, 2)[1:], numpy.repeat(ys, 2)[:-1]))
    axes.fill(*zip(*corners, (far_x, far_y)), color="black", alpha=0.05, linewidth=0, zorder=0)
    axes.set(xlim=limits[0], ylim=limits[1])


def _crowds(axes: Axes, front: pandas.DataFrame, x: str, y: str) -> list[tuple[int, int]]:
    """Ranges of the front's numbers, first and last, that share a label because they lie too close together."""
    axes.autoscale_view()
    places = axes.transData.transform(front[[x, y]].to_numpy(dtype=float))
    crowds: list[tuple[int, int]] = []
    start = None
    for number, place in zip(front.index, places):
        if start is not None and (numpy.abs(place - start) < CROWDED_PIXELS).all():
            crowds[-1] = (crowds[-1][0], int(number))
        else:
            crowds.append((int(number), int(number)))
            start = place
    return crowds


def _draw_legend(axes: Axes, names: list[str], by: str | None, front: int, dominated: int) -> None:
    """Draws the legend outside the axes, so that it hides no point."""
    handles = [
        Line2D([], [], linestyle="", marker=class_marker(i), color=class_colour(i), label=broken(name))
        for i, name in enumerate(names)
    ] if by else []  # fmt: skip
    strong = {"linestyle": "-", "linewidth": 1.1, "color": "black", "marker": "o", "markeredgecolor": "black",
              "markerfacecolor": "white"}
    handles.append(Line2D([], [], label=f"front ({front:,})", **strong))
    handles.append(Line2D([], [], linestyle="", marker="o", color=pale("black"), label=f"dominated ({dominated:,})",
                          markeredgewidth=0))
    axes.legend(handles=handles, title=by.replace("_", " ") if by else None, loc="upper left",
                bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8, alignment="left")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("x")
    parser.add_argument("y")
    parser.add_argument("--where", help="only rows for which this condition holds (analysis/conditions.md)")
    parser.add_argument("--by", help="the column to colour by")
    parser.add_argument("--png", type=Path)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    rows = study.where(given.where) if given.where else None
    try:
        front = front_table(study, given.x, given.y, rows)
        columns = [column_of(study, front, name) for name in (given.x, given.y)]
        print(front.rename(columns={each.name: each.heading for each in columns}).to_string())
    except NothingToShow as nothing:
        print(nothing)
    if given.png:
        picture(draw_pareto, study, given.x, given.y, rows, given.by).savefig(given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
