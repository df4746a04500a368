"""The pictures of `growth`: synthesis time against NPUs beside the TACOS paper's two points, cost of a delivery, speed-
up by threads.

They take comparable rows (`growth.comparable`).
"""

from __future__ import annotations

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from . import growth
from .columns import MARKERS, PALETTE, ink, natural_order
from .growth import plural
from .layout import PAGE_INCHES, apart
from .words import NothingToShow, bare, broken, say

COLOURS = {"exact": PALETTE[0], "coarse": PALETTE[2], "event_driven": PALETTE[1], "symmetric": PALETTE[4]}
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
    figure = Figure(figsize=(max(6.5, min(PAGE_INCHES, 5 * len(shapes))), 4.6), dpi=110, layout="constrained")
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
    """Above: core time of one delivery. Below: speed-ups, or the reason why there are none."""
    figure = Figure(figsize=(6.5, 7.4), dpi=110, layout="constrained")
    cost, speed = figure.subplots(2, 1)
    _draw_deliveries(cost, rows)
    try:
        _draw_speed_ups(speed, growth.speed_ups(rows))
    except NothingToShow as nothing:
        speed.set_title("speed-up of the largest points", fontsize=9, loc="left")
        say(speed, str(nothing))
    return figure


def _draw_deliveries(axes: Axes, rows: pandas.DataFrame) -> None:
    most = rows["run_threads"].max()
    rows = rows[rows["run_threads"] == most]
    rows = rows[
        rows["collective"] == ("all_gather" if "all_gather" in set(rows["collective"]) else rows["collective"].iloc[0])
    ]
    ends = []
    for (engine, shape), of in rows.groupby(["engine", "shape"]):
        of = of.sort_values("sends")
        cost = of["threads"] * of["synthesis_seconds"] / of["sends"] * 1e9
        axes.plot(of["sends"], cost, "-", marker="^" if shape.startswith("3D") else "o", markersize=4, lw=1,
                  color=colour(engine), alpha=0.6 if shape.startswith("3D") else 1)  # fmt: skip
        ends.append((f"{WORDS.get(engine, engine)}, {shape}", colour(engine), float(cost.iloc[-1])))
    title = f"{WORDS.get(rows['collective'].iloc[0], rows['collective'].iloc[0])}, {plural(most, 'thread')}"
    axes.set(xscale="log", yscale="log", xlabel="deliveries", ylabel="core time per delivery (ns)")
    axes.set_title(title, fontsize=9, loc="left")
    axes.tick_params(labelsize=8)
    low, high = numpy.log(axes.get_ylim())
    heights = [(numpy.log(height) - low) / (high - low) for _, _, height in ends]
    for (text, shade, _), height in zip(ends, apart(heights, 0.045)):
        axes.annotate(text, (1.02, height), xycoords="axes fraction", fontsize=8, color=ink(shade), va="center")
    axes.grid(alpha=0.3)
    axes.figure.suptitle(_conditions(rows).removeprefix("; "), fontsize=9)


def speed_up_lines(table: pandas.DataFrame) -> list[tuple[str, str, pandas.DataFrame]]:
    """(words, engine, rows) of each collective, engine and shape, the largest speed-up with the most threads first."""
    lines = [
        (f"{WORDS.get(engine, engine)}, {WORDS.get(collective, collective)}, {shape}",
         engine, of.sort_values("threads"))
        for (collective, engine, shape), of in table.groupby(["collective", "engine", "shape"])
    ]
    return sorted(lines, key=lambda line: -float(line[2]["speed_up"].iloc[-1]))


def _draw_speed_ups(axes: Axes, table: pandas.DataFrame) -> None:
    """A line of text per collective, engine and shape; its speed-ups are points, one for each number of threads."""
    table = table[table["threads"] > table["fewest"]]
    lines, threads = speed_up_lines(table), sorted(set(table["threads"]))
    for place, (_, engine, of) in enumerate(lines):
        axes.plot([1, of["speed_up"].iloc[-1]], [place, place], "-", color=colour(engine), lw=1.2, alpha=0.6)
        for row in of.itertuples():
            axes.plot([row.speed_up], [place], MARKERS[threads.index(row.threads) % len(MARKERS)], ms=6,
                      color=colour(engine))  # fmt: skip
        axes.annotate(f"{of['speed_up'].iloc[-1]:.2f}", (of["speed_up"].iloc[-1], place), xytext=(6, 0),
                      textcoords="offset points", fontsize=8, va="center",
                      path_effects=[withStroke(linewidth=2.5, foreground="white")])  # fmt: skip
    fewest = int(table["fewest"].min())
    ideal = threads[-1] / fewest
    axes.axvline(1, color="black", lw=0.8)
    axes.axvline(ideal, color="black", lw=1, ls="--")
    axes.annotate("ideal", (ideal, -0.55), fontsize=8, ha="center", va="bottom")
    told = " and ".join(map(str, threads))
    axes.set_title(f"the largest points: {told} threads over {fewest}", fontsize=9, loc="left", pad=12)
    if len(threads) > 1:
        handles = [Line2D([], [], ls="", color="grey", marker=MARKERS[i % len(MARKERS)], label=plural(count, "thread"))
                   for i, count in enumerate(threads)]  # fmt: skip
        axes.legend(handles=handles, loc="lower right", **LEGEND)
    axes.set(xlabel="speed-up", xlim=(0, 1.18 * max(ideal, table["speed_up"].max())), ylim=(len(lines) - 0.4, -0.6))
    axes.set_yticks(range(len(lines)), [broken(text, 40) for text, _, _ in lines], fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    bare(axes, "x")
