"""The pictures of `growth`: synthesis time against NPUs beside the TACOS paper's two points, cost of a delivery, speed-
up by threads.

They take comparable rows (`growth.comparable`).
"""

from __future__ import annotations

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import growth
from .columns import MARKERS, natural_order
from .growth import plural
from .words import NothingToShow, broken, say

COLOURS = {"exact": "#1b6ca8", "coarse": "#5a9e6f", "event_driven": "#e08e2b", "symmetric": "#8a5aa8"}
WORDS = {
    "all_reduce": "All-Reduce",
    "all_gather": "All-Gather",
    "reduce_scatter": "Reduce-Scatter",
    "event_driven": "event-driven",
}
#: At most so many shapes have a panel.
MOST_SHAPES = 4
LEGEND = {"frameon": False, "fontsize": 8}


def colour(engine: str) -> str:
    return COLOURS.get(engine, "#b03030")


def draw_growth(rows: pandas.DataFrame) -> Figure:
    """Fig. 19: a panel per shape, the paper's shapes if there are any."""
    shapes = sorted(rows["shape"].unique(), key=natural_order)
    shapes = [shape for shape in growth.PAPER["shape"] if shape in shapes] or shapes[:MOST_SHAPES]
    threads = sorted(rows["run_threads"].unique())
    figure = Figure(figsize=(max(6.5, 5 * len(shapes)), 5.2), dpi=110, layout="constrained")
    for axes, shape in zip(figure.subplots(1, len(shapes), sharey=True, squeeze=False)[0], shapes):
        _draw_shape(axes, rows[rows["shape"] == shape], threads)
        _draw_paper(axes, shape)
        axes.set(xscale="log", yscale="log", xlabel="NPUs", title=shape)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", **LEGEND)
    figure.axes[0].set_ylabel("synthesis time (s)")
    dotted = f", dotted: {plural(threads[0], 'thread')}" if len(threads) > 1 else ""
    figure.suptitle(f"solid: {plural(threads[-1], 'thread')}{dotted}{_conditions(rows)}", fontsize=9)
    return figure


def _conditions(rows: pandas.DataFrame) -> str:
    told = growth.measured(rows)
    return f"; times {told}" if told else ""


def _draw_shape(axes: Axes, rows: pandas.DataFrame, threads: list[int]) -> None:
    for collective, engine in sorted(set(zip(rows["collective"], rows["engine"]))):
        of = rows[(rows["collective"] == collective) & (rows["engine"] == engine)]
        mark = (
            "D" if collective == "all_reduce" else {"exact": "o", "event_driven": "^", "coarse": "s"}.get(engine, "v")
        )
        for count in dict.fromkeys((threads[-1], threads[0])):
            line = of[of["run_threads"] == count].sort_values("npus")
            label = (
                f"{WORDS.get(engine, engine)}, {WORDS.get(collective, collective)}" if count == threads[-1] else None
            )
            axes.plot(
                line["npus"],
                line["synthesis_seconds"],
                "-" if count == threads[-1] else ":",
                color=colour(engine),
                lw=1.2,
                marker=mark,
                markersize=5,
                markerfacecolor="white" if collective == "all_reduce" else colour(engine),
                label=label,
            )


def _draw_paper(axes: Axes, shape: str) -> None:
    """The paper prints one time per shape; the line to smaller networks is marked as an extrapolation."""
    for star in growth.PAPER[growth.PAPER["shape"] == shape].itertuples():
        axes.plot(
            star.npus,
            star.seconds,
            "*",
            color="#b03030",
            markersize=12,
            linestyle="",
            label=f"TACOS paper, All-Reduce,\n64 threads: {star.seconds / 3600:.2f} h",
        )
        npus = numpy.geomspace(64, star.npus, 2)
        axes.plot(
            npus,
            star.seconds * (npus / star.npus) ** 2,
            "--",
            color="#b03030",
            lw=0.9,
            label="extrapolated from that one point\nby the paper's O(n²), not measured",
        )


def draw_cost(rows: pandas.DataFrame) -> Figure:
    """Left: core time of one delivery. Right: speed-ups, or the reason why there are none."""
    figure = Figure(figsize=(10, 4.4), dpi=110, layout="constrained")
    cost, speed = figure.subplots(1, 2)
    _draw_deliveries(cost, rows)
    speed.set_title("the largest points", fontsize=10)
    try:
        _draw_speed_ups(speed, growth.speed_ups(rows))
    except NothingToShow as nothing:
        say(speed, str(nothing))
    return figure


def _draw_deliveries(axes: Axes, rows: pandas.DataFrame) -> None:
    most = rows["run_threads"].max()
    rows = rows[rows["run_threads"] == most]
    rows = rows[
        rows["collective"] == ("all_gather" if "all_gather" in set(rows["collective"]) else rows["collective"].iloc[0])
    ]
    shapes = sorted(rows["shape"].unique(), key=natural_order)
    for (engine, shape), of in rows.groupby(["engine", "shape"]):
        of = of.sort_values("sends")
        axes.plot(
            of["sends"],
            of["threads"] * of["synthesis_seconds"] / of["sends"] * 1e9,
            "-",
            marker=MARKERS[shapes.index(shape) % len(MARKERS)],
            markersize=4,
            lw=1,
            color=colour(engine),
            alpha=0.5 if shape.startswith("3D") else 1,
            label=broken(f"{WORDS.get(engine, engine)}, {shape}"),
        )
    title = f"{WORDS.get(rows['collective'].iloc[0], rows['collective'].iloc[0])}, {plural(most, 'thread')}"
    axes.set(xscale="log", yscale="log", xlabel="deliveries", ylabel="core time per delivery (ns)")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=7)
    axes.figure.suptitle(_conditions(rows).removeprefix("; "), fontsize=9)


def _draw_speed_ups(axes: Axes, table: pandas.DataFrame) -> None:
    shapes = sorted(table["shape"].unique(), key=natural_order)
    for (collective, engine, shape), of in table.groupby(["collective", "engine", "shape"]):
        axes.plot(
            of["threads"],
            of["speed_up"],
            "-",
            marker="D" if collective == "all_reduce" else MARKERS[shapes.index(shape) % len(MARKERS)],
            markersize=5,
            lw=1,
            color=colour(engine),
            alpha=0.5 if shape.startswith("3D") else 1,
            label=broken(f"{WORDS.get(engine, engine)}, {WORDS.get(collective, collective)}, {shape}", 40),
        )
    threads = sorted({*table["threads"], *table["fewest"]})
    fewest = threads[0]
    axes.plot(threads, [t / fewest for t in threads], "--", color="grey", lw=0.8, label="ideal")
    axes.plot(threads, [0.6 * t / fewest for t in threads], ":", color="grey", lw=0.8, label="60 % of it")
    axes.set(xlabel="threads", ylabel=f"speed-up over {plural(fewest, 'thread')}", xticks=threads, ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=7)
