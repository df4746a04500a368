"""A time-expanded network (TEN), and a schedule on it, for the guide.

    python3 -m tenex_analysis.ten_pictures SCHEDULE --into FOLDER    ten.svg and ten_schedule.svg

SCHEDULE is a small list (`tenex synthesize ... --out s.json`) whose sends all take one timestep: equal links and
chunks. A row is an NPU, a column an instant; an edge is a link during a step, a dashed one waiting.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .command import run_command
from .schedule import Schedule, open_schedule

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")  # Okabe and Ito's
MOST_VERTICES, MOST_STEPS = 8, 6


def steps_of(schedule: Schedule) -> list[int]:
    """The instants between steps, in ps. ValueError where sends do not take equal steps, or are too many to draw."""
    sends = schedule.sends
    length = int((sends["arrival_ps"] - sends["start_ps"]).iloc[0])
    instants = range(0, int(sends["arrival_ps"].max()) + 1, length)
    if ((sends["arrival_ps"] - sends["start_ps"]) != length).any() or (sends["start_ps"] % length).any():
        raise ValueError("its sends do not take steps of equal length (choose alpha 0us and equal links)")
    if len(instants) > MOST_STEPS + 1:
        raise ValueError(f"{len(instants) - 1} steps are too many to draw (at most {MOST_STEPS})")
    return list(instants)


def _prepare(axes: Axes, vertices: int, instants: list[int]) -> None:
    for step in range(len(instants)):
        axes.plot([step] * vertices, range(vertices), "o", ms=15, mfc="white", mec="#333333", zorder=3)
        for vertex in range(vertices):
            axes.text(step, vertex, str(vertex), ha="center", va="center", fontsize=9, zorder=4)
    axes.set_xticks(range(len(instants)), ["start"] + [f"after step {i}" for i in range(1, len(instants))])
    axes.set_yticks(range(vertices), [f"NPU {i}" for i in range(vertices)])
    axes.invert_yaxis()
    axes.set_xlim(-0.35, len(instants) - 0.65)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _arrow(axes: Axes, step: float, source: float, target: float, **style) -> None:
    axes.annotate("", (step + 1, target), (step, source),
                  arrowprops={"arrowstyle": "-|>", "shrinkA": 9, "shrinkB": 9, **style})


def draw_network(schedule: Schedule) -> Figure:
    """All edges of the TEN."""
    figure = Figure(figsize=(4.2, 3.6), layout="constrained")
    axes = figure.subplots()
    instants = steps_of(schedule)
    vertices = int(schedule.links[["source", "target"]].to_numpy().max()) + 1
    if vertices > MOST_VERTICES:
        raise ValueError(f"{vertices} vertices are too many to draw (at most {MOST_VERTICES})")
    for step in range(len(instants) - 1):
        for vertex in range(vertices):
            _arrow(axes, step, vertex, vertex, color="#aaaaaa", ls=(0, (3, 2)), lw=1)
        for link in schedule.links.itertuples():
            _arrow(axes, step, link.source, link.target, color="#555555", lw=1.1)
    _prepare(axes, vertices, instants)
    axes.set_title("a time-expanded network", fontsize=10)
    return figure


def draw_schedule(schedule: Schedule) -> Figure:
    """The edges that the sends use, a colour for each chunk."""
    figure = Figure(figsize=(4.2, 3.6), layout="constrained")
    axes = figure.subplots()
    instants = steps_of(schedule)
    vertices = int(schedule.links[["source", "target"]].to_numpy().max()) + 1
    chunks = sorted(set(schedule.sends["chunk"]))
    for send in schedule.sends.itertuples():
        step = instants.index(send.start_ps)
        _arrow(axes, step, send.source, send.target, color=COLOURS[chunks.index(send.chunk) % len(COLOURS)], lw=2)
    _prepare(axes, vertices, instants)
    for i, chunk in enumerate(chunks):
        axes.plot([], [], color=COLOURS[i % len(COLOURS)], lw=2, label=f"chunk {chunk}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=len(chunks), frameon=False, fontsize=8,
                columnspacing=1, handlelength=1.2)
    axes.set_title("an All-Gather on it: a colour per chunk", fontsize=10)
    return figure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedule", type=Path)
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args(arguments)
    schedule = open_schedule(given.schedule)
    with matplotlib.rc_context({"svg.hashsalt": "tenex", "svg.fonttype": "none"}):
        for name, draw in (("ten", draw_network), ("ten_schedule", draw_schedule)):
            draw(schedule).savefig(given.into / f"{name}.svg", metadata={"Date": None})
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
