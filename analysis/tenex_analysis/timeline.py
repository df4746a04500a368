"""The timeline of a run: a sweep's points on the threads of its ranks, idle gaps, and the utilization of threads.

    python3 -m tenex_analysis.timeline DIR               print the use of every rank and the longest idle gaps
    python3 -m tenex_analysis.timeline DIR --png FILE    and draw them

All data come from the result file: `/runs` has the rank and end of every point (in whole milliseconds),
`evaluation_seconds` its duration and `threads` its threads. The file does not name a point's thread within the rank:
points are assigned to the threads that they prove, and a thread without points does not appear. A *run* is one start of
the command on the folder (its incarnation). The time before a run's first point and after its last one is not in the
file. If several folders were merged, their runs with equal numbers appear as one.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from .columns import class_colour, classes_of, column_of, colouring_setting
from .command import run_command
from .reader import Study, open_study
from .words import NothingToShow, broken, fitted, picture

#: `/runs` has whole milliseconds.
RESOLUTION = 0.001
#: More points than this are drawn as shares of time instead of one by one.
MOST_BARS = 3000
#: The columns of such a picture.
BINS = 800
#: The width of the gap between two runs, as a share of the whole width.
RUN_GAP = 0.02
#: Of more ranks only some are labelled.
MOST_LABELS = 24
#: The height of a thread.
ROW_INCHES = 0.17
IDLE_COLOUR = "#EDEDED"

_WHO = ["run", "host", "rank"]


def read_spans(study: Study) -> pandas.DataFrame:
    """One row per evaluated point: `point`, `run`, `host`, `rank`, `start` and `end` in seconds since the run's first
    point began, `seconds`, its `threads`, `lane` (the thread of its rank, from 0; also 0 if it had all) and `status`.
    In order of run, rank and end.
    """
    runs = study.runs()
    rows = study.frame()
    if runs.empty:
        return pandas.DataFrame(columns=["point", *_WHO, "start", "end", "seconds", "threads", "lane", "status"])
    of = rows.loc[runs["point"]].reset_index(drop=True)
    threads = of["threads"].clip(lower=1) if "threads" in of else pandas.Series(1, index=of.index)
    end = (runs["finished_unix_ms"] - runs["finished_unix_ms"].min()) / 1000.0
    spans = pandas.DataFrame(
        {"point": runs["point"], "run": runs["incarnation"], "host": runs["host"], "rank": runs["rank"], "end": end,
         "seconds": of["evaluation_seconds"].fillna(0.0).clip(lower=0.0), "threads": threads,
         "status": of["status"].astype(str)}
    )  # fmt: skip
    spans["start"] = spans["end"] - spans["seconds"]
    first = spans.groupby("run")["start"].transform("min")
    spans["start"] -= first
    spans["end"] -= first
    spans = spans.sort_values([*_WHO, "end", "start"], kind="stable").reset_index(drop=True)
    spans["lane"] = 0
    for _, one in spans[spans["threads"] == 1].groupby(_WHO):
        spans.loc[one.index, "lane"] = lay_on_threads(one["start"].to_numpy(), one["end"].to_numpy())
    return spans[["point", *_WHO, "start", "end", "seconds", "threads", "lane", "status"]]


def lay_on_threads(start: NDArray[numpy.float64], end: NDArray[numpy.float64],
                   resolution: float = RESOLUTION) -> list[int]:
    """A thread for each span: never more threads than the spans ran on (`least_threads`).

    A true end is up to `resolution` later than the given one, so spans of one thread may seem to overlap. What a span
    surely covers, `core`, is free of that: cores that meet were on different threads. Spans are placed in the order in
    which their cores begin. Each takes, of the threads whose cores have ended, the one with the earliest end of work.
    So two spans of one thread overlap by at most the resolution. O(n log n).
    """
    threads = least_threads(start, end, resolution)
    begins, ends = start.tolist(), end.tolist()
    free = [-numpy.inf] * threads  # the end of a thread's spans if each begins only after the one before
    ready = [(-numpy.inf, lane) for lane in range(threads)]
    in_core: list[tuple[float, int]] = []
    lanes = [0] * len(begins)
    for span in numpy.lexsort((end, start)).tolist():
        core = begins[span] + resolution
        while in_core and in_core[0][0] <= core:
            lane = heapq.heappop(in_core)[1]
            heapq.heappush(ready, (free[lane], lane))
        # Every thread may be in a core only for a span without one: it ran before a span that seems to begin first.
        lane = heapq.heappop(ready)[1] if ready else None
        lanes[span] = in_core[0][1] if lane is None else lane
        free[lanes[span]] = max(free[lanes[span]], begins[span]) + ends[span] - begins[span]
        if core < ends[span]:
            heapq.heappush(in_core, (ends[span], lanes[span]))
        elif lane is not None:
            heapq.heappush(ready, (free[lane], lane))
    return lanes


def least_threads(start: NDArray[numpy.float64], end: NDArray[numpy.float64], resolution: float = RESOLUTION) -> int:
    """The number of threads that these spans proved to need. True begins and ends are up to `resolution` later than the
    given ones. O(n log n * log of the spans' length in resolutions).

    Two proofs, of which the larger number counts. A span certainly covers its core, from its latest begin to its
    earliest end, and every core at an instant has a thread. And what covers a window by the given times lies, by the
    true ones, in the window lengthened by the resolution; a thread has no more time than that.
    """
    if len(start) == 0:
        return 1
    core = start + resolution < end
    begins, ends = numpy.sort(start[core] + resolution), numpy.sort(end[core])
    together = numpy.arange(1, len(begins) + 1) - numpy.searchsorted(ends, begins, side="right")
    threads = int(together.max(initial=1))
    covered = _covered_until(start, end)
    until = numpy.unique(end)
    window = resolution / 4
    while 0 < window < 2 * float(end.max() - start.min()):
        work = float((covered(until) - covered(until - window)).max())
        threads = max(threads, int(numpy.ceil(work / (window + resolution) - 1e-6)))  # less what sums may be wrong by
        window *= 2
    return threads


def _covered_until(start: NDArray[numpy.float64],
                   end: NDArray[numpy.float64]) -> Callable[[NDArray[numpy.float64]], NDArray[numpy.float64]]:
    """The seconds that the spans cover before given times; overlaps count repeatedly."""

    def elapsed_since(times: NDArray[numpy.float64]) -> Callable[[NDArray[numpy.float64]], NDArray[numpy.float64]]:
        times = numpy.sort(times)
        sums = numpy.concatenate([[0.0], numpy.cumsum(times)])

        def elapsed(at: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
            count = numpy.searchsorted(times, at)
            return numpy.asarray(count * at - sums[count], dtype=float)

        return elapsed

    since_start, since_end = elapsed_since(start), elapsed_since(end)
    return lambda at: since_start(at) - since_end(at)


def rank_threads(spans: pandas.DataFrame) -> pandas.Series:
    """By run, host and rank: the number of threads that had points."""
    most = spans.assign(seen=numpy.maximum(spans["lane"] + 1, spans["threads"]))
    return most.groupby(_WHO)["seen"].max()


def utilization_table(spans: pandas.DataFrame) -> pandas.DataFrame:
    """By run, host and rank: `points`, `threads`, `busy` and `idle` in thread-seconds, and `utilization` =
    busy / (busy + idle).

    Time is counted from the start of the run's first point to the end of its last on any rank. A point with several
    threads counts as keeping all of them busy.
    """
    threads = rank_threads(spans)
    grouped = spans.assign(busy=spans["seconds"] * spans["threads"]).groupby(_WHO)
    table = pandas.DataFrame({"points": grouped.size(), "threads": threads, "busy": grouped["busy"].sum()})
    length = spans.groupby("run")["end"].max() - spans.groupby("run")["start"].min()
    all_time = table["threads"] * table.index.get_level_values("run").map(length)
    table["idle"] = (all_time - table["busy"]).clip(lower=0.0)
    table["utilization"] = (table["busy"] / all_time.where(all_time > 0)).clip(upper=1.0)
    return table.reset_index()


def total_utilization(spans: pandas.DataFrame) -> float:
    """Busy thread-seconds over the thread-seconds of all runs; NaN if nothing took time."""
    table = utilization_table(spans)
    whole = float((table["busy"] + table["idle"]).sum())
    return float(table["busy"].sum()) / whole if whole > 0 else float("nan")


def idle_gaps(spans: pandas.DataFrame, least_seconds: float = 0.0) -> pandas.DataFrame:
    """The gaps in which a thread had no point: run, host, rank, lane, `start`, `end`, `seconds`; the longest first.

    Gaps up to the file's resolution, or shorter than `least_seconds`, are left out. Gaps at a run's begin and end
    count.
    """
    length = spans.groupby("run")["end"].max()
    gaps = []
    for who, of in _expanded(spans).groupby([*_WHO, "lane"]):
        of = of.sort_values("start")
        before = numpy.concatenate([[0.0], numpy.maximum.accumulate(of["end"].to_numpy())])
        after = numpy.append(of["start"].to_numpy(), length[who[0]])
        for i in numpy.flatnonzero(after - before > max(RESOLUTION, least_seconds)):
            gaps.append([*who, before[i], after[i], after[i] - before[i]])
    table = pandas.DataFrame(gaps, columns=[*_WHO, "lane", "start", "end", "seconds"])
    return table.sort_values("seconds", ascending=False, kind="stable").reset_index(drop=True)


def _expanded(spans: pandas.DataFrame) -> pandas.DataFrame:
    """One row per point and thread of it."""
    many = spans[spans["threads"] > 1]
    parts = [spans[spans["threads"] == 1]]
    parts += [many[many["threads"] > lane].assign(lane=lane)
              for lane in range(int(many["threads"].max()) if len(many) else 0)]
    return pandas.concat(parts)


def busy_seconds(start: Any, end: Any, edges: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """Seconds of each bin between `edges` that the spans cover; overlaps count repeatedly. O((n + bins) log n)."""
    start, end = numpy.asarray(start, dtype=float), numpy.asarray(end, dtype=float)
    return numpy.diff(_covered_until(start, end)(edges))


@dataclass(frozen=True)
class _Layout:
    """Positions of ranks and runs in the picture: y counts threads from the top, x is in `unit` seconds with gaps
    between runs.
    """

    offset: pandas.Series  # offset of each run, in seconds
    length: pandas.Series
    top: pandas.Series  # y of the first thread, by run, host, rank
    threads: pandas.Series
    height: float
    unit: float

    def x(self, spans: pandas.DataFrame, column: str) -> NDArray[numpy.float64]:
        return numpy.asarray((spans[column] + spans["run"].map(self.offset)) / self.unit, dtype=float)


def _lay_out(spans: pandas.DataFrame) -> _Layout:
    length = spans.groupby("run")["end"].max().clip(lower=RESOLUTION)
    gap = RUN_GAP * float(length.sum())
    offset = (length + gap).cumsum().shift(fill_value=0.0)
    threads = rank_threads(spans)
    who = threads.groupby(["host", "rank"]).max()  # a rank has one position in all runs
    tops = (who + 0.5).cumsum().shift(fill_value=0.0)
    top = pandas.Series([tops[index[1:]] for index in threads.index], index=threads.index)
    whole = float(length.sum())
    unit = 3600.0 if whole > 3 * 3600 else 60.0 if whole > 600 else 1.0
    return _Layout(offset, length, top, threads, float((who + 0.5).sum()) - 0.5, unit)


def draw_timeline(study: Study, by: str | None = None) -> Figure:
    """Above: every point on a thread of its rank, coloured by a setting (`by`, or one that varies); grey is idle, "x" a
    point that is not ok. Below: the share of the threads that were busy.

    With more than MOST_BARS points, the picture shows the setting that took most of each moment, the paler the more the
    thread was idle. NothingToShow if the file has no rows.
    """
    spans = read_spans(study)
    if spans.empty:
        raise NothingToShow(f"{study.path}: no point was evaluated")
    rows = study.frame()
    by = colouring_setting(study, rows) if by is None else by
    classes, names = numpy.zeros(len(rows), dtype=int), ["points"]
    if by is not None:
        classes, names = classes_of(column_of(study, rows, by))
    spans["class"] = pandas.Series(classes, index=rows.index).loc[spans["point"]].to_numpy()
    layout = _lay_out(spans)
    figure = Figure(figsize=(10, min(14.0, 2.5 + ROW_INCHES * max(layout.height, 3))), dpi=110, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True,
                                   gridspec_kw={"height_ratios": [max(0.6, ROW_INCHES * layout.height), 1.0]})
    _draw_idle(above, layout)
    (_draw_bars if len(spans) <= MOST_BARS else _draw_shares)(above, spans, layout)
    handles = [Patch(color=class_colour(i), label=broken(name))
               for i, name in enumerate(names)] + [Patch(color=IDLE_COLOUR, label="idle")]
    handles += _draw_not_ok(above, spans, layout)
    above.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(8, len(handles)), frameon=False,
                 fontsize=8, handlelength=1.2, columnspacing=1.2)  # fmt: skip
    _label_ranks(above, spans, layout)
    _draw_busy(below, spans, layout)
    _label_runs(below, layout)
    coloured = f", coloured by {by.replace('_', ' ')}" if by else ""
    title = (f"{study.name}: {_count(len(spans), 'point')} on "
             f"{_count(spans.groupby(['host', 'rank']).ngroups, 'rank')}{coloured}; "
             f"threads busy {100 * total_utilization(spans):.0f} % of the time")  # fmt: skip
    figure.suptitle(fitted(title, 10), x=0.01, ha="left", fontsize=11)
    return figure


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _boxes(
    x0: Iterable[float], x1: Iterable[float], y0: Iterable[float], y1: Iterable[float]
) -> NDArray[numpy.float64]:
    a, b, c, d = (numpy.asarray(v, dtype=float) for v in (x0, x1, y0, y1))
    return numpy.stack([numpy.stack([a, c], -1), numpy.stack([b, c], -1), numpy.stack([b, d], -1),
                        numpy.stack([a, d], -1)], axis=1)


def _draw_idle(axes: Axes, layout: _Layout) -> None:
    """A grey strip per rank and run, on which the points are drawn."""
    runs = layout.threads.index.get_level_values("run")
    x0 = runs.map(layout.offset) / layout.unit
    x1 = x0 + runs.map(layout.length) / layout.unit
    axes.add_collection(PolyCollection(_boxes(x0, x1, layout.top, layout.top + layout.threads), facecolors=IDLE_COLOUR,
                                       edgecolors="none"))
    axes.set_xlim(0, max(x1))
    axes.set_ylim(layout.height + 0.1, -0.1)


def _draw_bars(axes: Axes, spans: pandas.DataFrame, layout: _Layout) -> None:
    """One box per point, as high as its threads."""
    top = layout.top.loc[pandas.MultiIndex.from_frame(spans[_WHO])].to_numpy() + spans["lane"].to_numpy()
    boxes = _boxes(layout.x(spans, "start"), layout.x(spans, "end"), top + 0.06,
                   top + spans["threads"].to_numpy() - 0.06)
    # White edges separate neighbours; narrow points have none, as the edges would cover them.
    wide = (spans["end"] - spans["start"]) > 0.006 * float(layout.length.sum())
    colours = [class_colour(number) for number in spans["class"]]
    axes.add_collection(PolyCollection(boxes, facecolors=colours, linewidths=numpy.where(wide, 0.6, 0.0),
                                       edgecolors="white"))


def _draw_shares(axes: Axes, spans: pandas.DataFrame, layout: _Layout) -> None:
    """Per thread and moment the class that took most of it, mixed with the colour of idleness by the idle share."""
    idle = numpy.array(to_rgb(IDLE_COLOUR))
    many = _expanded(spans)
    for run, of_run in many.groupby("run"):
        bins = max(1, int(BINS * layout.length[run] / layout.length.sum()))
        edges = numpy.linspace(0.0, layout.length[run], bins + 1)
        x = (edges + layout.offset[run]) / layout.unit
        for who, of in of_run.groupby(["host", "rank", "lane"]):
            numbers = sorted(of["class"].unique())
            parts = [of[of["class"] == number] for number in numbers]
            busy = numpy.stack([busy_seconds(part["start"], part["end"], edges) for part in parts])
            share = numpy.clip(busy.sum(axis=0) / (edges[1] - edges[0]), 0, 1)[:, None]
            colours = numpy.array([to_rgb(class_colour(n)) for n in numbers])[busy.argmax(axis=0)]
            y = layout.top[(run, *who[:2])] + who[2]
            image = (share * colours + (1 - share) * idle)[None, :, :]
            axes.imshow(image, extent=(x[0], x[-1], y + 0.94, y + 0.06), aspect="auto", interpolation="nearest",
                        zorder=1.5)
    axes.set_xlim(0, (layout.offset.iloc[-1] + layout.length.iloc[-1]) / layout.unit)
    axes.set_ylim(layout.height + 0.1, -0.1)


def _draw_not_ok(axes: Axes, spans: pandas.DataFrame, layout: _Layout) -> list[Any]:
    """A cross at the end of each point that is not ok; returns the legend's handle if there is any."""
    bad = spans[spans["status"] != "ok"]
    if bad.empty:
        return []
    top = layout.top.loc[pandas.MultiIndex.from_frame(bad[_WHO])].to_numpy()
    y = top + bad["lane"].to_numpy() + bad["threads"].to_numpy() / 2
    size = 18 if len(bad) <= 200 else 5
    return [axes.scatter(layout.x(bad, "end"), y, marker="x", color="black", s=size, linewidths=0.9, zorder=3,
                         clip_on=False, label=f"not ok ({len(bad):,})")]  # fmt: skip


def _label_ranks(axes: Axes, spans: pandas.DataFrame, layout: _Layout) -> None:
    """Ranks on the left, the busy share of their threads' time on the right."""
    table = utilization_table(spans).groupby(["host", "rank"], sort=False)[["busy", "idle"]].sum()
    top = layout.top.groupby(["host", "rank"]).first()
    threads = layout.threads.groupby(["host", "rank"]).max()
    several = top.index.get_level_values("host").nunique() > 1
    step = -(-len(top) // MOST_LABELS)
    ticks, labels = [], []
    for who in top.index[::step]:
        middle = top[who] + threads[who] / 2
        busy, idle = table.loc[who]
        ticks.append(middle)
        labels.append((f"{who[0]}, " if several else "") + f"rank {who[1]}")
        axes.text(1.012, middle, f"{100 * busy / (busy + idle):.0f} %" if busy + idle > 0 else "–",
                  transform=axes.get_yaxis_transform(), va="center", fontsize=8)  # fmt: skip
    axes.text(1.012, 1.01, "busy", transform=axes.transAxes, va="bottom", fontsize=8, fontweight="bold")
    axes.set_yticks(ticks, labels, fontsize=8)
    axes.tick_params(axis="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _draw_busy(axes: Axes, spans: pandas.DataFrame, layout: _Layout) -> None:
    """The share of a run's threads that are busy, over time, and its mean."""
    many = _expanded(spans)
    for run, of in many.groupby("run"):
        bins = max(1, int(200 * layout.length[run] / layout.length.sum()))
        edges = numpy.linspace(0.0, layout.length[run], bins + 1)
        threads = layout.threads[run].sum()
        share = 100 * numpy.clip(busy_seconds(of["start"], of["end"], edges) / ((edges[1] - edges[0]) * threads), 0, 1)
        x = (edges + layout.offset[run]) / layout.unit
        axes.stairs(share, x, fill=True, color="#8FB8D8")
        axes.hlines(share.mean(), x[0], x[-1], color="black", linewidth=0.9, linestyle="--")
    axes.text(1.012, 0.98, "dashed:\nmean", transform=axes.transAxes, va="top", fontsize=8)
    axes.set_ylim(0, 104)
    axes.set_ylabel("threads\nbusy (%)")
    for name in ("top", "right"):
        axes.spines[name].set_visible(False)


def _label_runs(axes: Axes, layout: _Layout) -> None:
    """The time axis and, for several runs, their numbers where these fit."""
    word = {1.0: "s", 60.0: "min", 3600.0: "h"}[layout.unit]
    whole = float(layout.length.sum())
    if len(layout.length) == 1:
        axes.set_xlabel(f"time since the first point began ({word})")
        return
    for run, length in layout.length.items():
        if length > 0.06 * whole:
            axes.text((layout.offset[run] + length / 2) / layout.unit, 101, f"run {run}", ha="center", va="bottom",
                      fontsize=8, clip_on=False)
    axes.set_xlabel(f"time at work ({word}); between runs, which a gap separates, it stands still")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--by", help="the column to colour by")
    parser.add_argument("--png", type=Path)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    spans = read_spans(study)
    if spans.empty:
        print("no point was evaluated")
        if given.png:
            picture(draw_timeline, study, given.by).savefig(given.png)
        return 0
    print(utilization_table(spans).to_string(index=False, float_format="%.3f"))
    print(f"\nall threads: {100 * total_utilization(spans):.1f} % busy\n\nlongest idle gaps:")
    print(idle_gaps(spans).head(10).to_string(index=False, float_format="%.3f"))
    if given.png:
        draw_timeline(study, given.by).savefig(given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
