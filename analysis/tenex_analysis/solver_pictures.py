"""The papers' comparisons with solvers (TACOS, Fig. 15, Table V, Fig. 19; TE-CCL, Fig. 5 and 6, Tables 3 and 7), from
the result of experiments/solvers.

    python3 -m tenex_analysis.solver_pictures DIR --into FOLDER     solvers.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import papers_solvers as papers
from .command import run_command
from .reader import Study, open_study
from .tables import where
from .words import NothingToShow, bare, picture, say

COLOURS = {
    "ring": "#e08e2b", "direct": "#5a9e6f", "taccl": "#b03030", "te_ccl": "#333333", "pccl": "#8a5aa8",
    "trees": "#4fb0c6", "tacos": "#1b6ca8",
}  # fmt: skip
MARKS = {"ring": "s", "direct": "^", "taccl": "X", "te_ccl": "D", "pccl": "v", "trees": "P", "tacos": "o"}
STYLE = {"fontsize": 8, "frameon": False}


def _bandwidths(axes: Axes, frame: pandas.DataFrame) -> None:
    """Fig. 15(a): the All-Reduce bandwidth of the best number of chunks, over the least bound."""
    axes.set_title("TACOS, Fig. 15: All-Reduce, 1 GB", loc="left", fontsize=10)
    step = 0.8 / len(MARKS)
    for place, topology in enumerate(papers.FIG_15):
        rows = where(frame, topology=topology)
        bound = rows.groupby("chunks")["proven"].max().min()
        for i, (algorithm, mark) in enumerate(MARKS.items()):
            time = papers.fastest(rows, algorithm)
            label = algorithm if place == 0 else None
            axes.plot(place + (i - (len(MARKS) - 1) / 2) * step, bound / time, mark, color=COLOURS[algorithm], ms=6,
                      label=label)  # fmt: skip
    axes.axhline(1, color="#555555", lw=1.2, label="bound")
    for place in range(1, len(papers.FIG_15)):
        axes.axvline(place - 0.5, color="#E4E4E4", lw=0.8, zorder=0)
    names = [name.replace(", ", "\n") for name in papers.FIG_15.values()]
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(ylim=(0, 1.45), ylabel="algbw over the bound's")
    axes.legend(ncols=4, loc="upper left", **STYLE)


def _over_tacos(axes: Axes, frame: pandas.DataFrame) -> None:
    """Table V: TACCL's time over TACOS's."""
    axes.set_title("TACOS, Table V: time of TACCL over TACOS", loc="left", fontsize=10)
    npus, printed, best, one = [], [], [], []
    for topology, (ratio, _) in papers.TABLE_V.items():
        rows = where(frame, topology=topology)
        npus.append(int(rows["npus"].iloc[0]))
        printed.append(ratio)
        best.append(papers.fastest(rows, "taccl") / papers.fastest(rows, "tacos"))
        alike = where(rows, chunks=1)
        one.append(papers.fastest(alike, "taccl") / papers.fastest(alike, "tacos"))
    axes.plot(npus, printed, "x--", color="black", ms=8, label="printed")
    axes.plot(npus, best, "o-", color=COLOURS["tacos"], label="here, best numbers of chunks")
    axes.plot(npus, one, "s-", color=COLOURS["pccl"], label="here, one chunk each")
    axes.axhline(1, color="black", lw=0.6)
    axes.set_xscale("log", base=2)
    axes.set_xticks(npus, [str(each) for each in npus])
    axes.set(ylim=(0, 5.5), xlabel="NPUs")
    axes.legend(loc="upper left", **STYLE)


def _synthesis(axes: Axes, frame: pandas.DataFrame) -> None:
    """Fig. 19: seconds of synthesis by NPUs."""
    axes.set_title("TACOS, Fig. 19: seconds of synthesis", loc="left", fontsize=10)
    for algorithm in ("taccl", "tacos"):
        for shape, line in (("mesh", "-"), ("grid", "--")):
            rows = where(frame, topology=papers.FIG_19[shape], algorithm=algorithm)
            times = {int(npus): papers.seconds(of, algorithm) for npus, of in rows.groupby("npus")}
            name = f"{algorithm}, {'2D Mesh' if shape == 'mesh' else '3D Hypercube'}"
            axes.plot(list(times), list(times.values()), line, marker=MARKS[algorithm], ms=5,
                      color=COLOURS[algorithm], label=name)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="NPUs")
    axes.set_xticks([4, 9, 16, 25, 36], ["4", "9", "16", "25", "36"])
    axes.minorticks_off()
    axes.legend(loc="upper left", **STYLE)


def _table_8(frame: pandas.DataFrame, collective: str) -> pandas.DataFrame:
    """By size: TACCL over TE-CCL in time and in seconds, printed and here."""
    rows = where(frame, topology=papers.NDV2_FILE, collective=collective)
    lines = []
    for size in sorted(rows["size"].unique()):
        of = where(rows, size=size)
        us, took = papers.TACCL[collective].get(int(size), (numpy.nan, numpy.nan))
        lines.append({
            "size": size, "printed": us / papers.TECCL[collective][int(size)],
            "here": papers.fastest(of, "taccl") / papers.fastest(of, "te_ccl"),
            "printed s": took / papers.TECCL_SECONDS[collective][int(size)],
            "here s": papers.seconds(of, "taccl") / papers.seconds(of, "te_ccl"),
        })  # fmt: skip
    return pandas.DataFrame(lines)


def _over_teccl(axes: Axes, frame: pandas.DataFrame, seconds: bool) -> None:
    """Fig. 5 and 6, of which Table 8 prints two NDv2 chassis."""
    what = "Fig. 6: seconds of TACCL over TE-CCL" if seconds else "Fig. 5: time of TACCL over TE-CCL"
    axes.set_title(f"TE-CCL, {what}, NDv2 x2", loc="left", fontsize=10)
    suffix = " s" if seconds else ""
    for collective, colour, mark in (("all_gather", "#1b6ca8", "o"), ("all_to_all", "#e08e2b", "s")):
        lines = _table_8(frame, collective)
        name = papers.NAMES[collective]
        axes.plot(lines["size"], lines["printed" + suffix], "--", marker="x", color=colour, label=f"{name}, printed")
        axes.plot(lines["size"], lines["here" + suffix], "-", marker=mark, ms=4, color=colour, label=f"{name}, here")
    axes.axhline(1, color="black", lw=0.6)
    axes.set(xscale="log", yscale="log", xlabel="output buffer (B)")
    if not seconds:
        axes.set_ylim(0.9, 12)
        axes.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
        axes.minorticks_off()
    axes.legend(loc="best", **STYLE)


def _steps(axes: Axes, frame: pandas.DataFrame) -> None:
    """Tables 3 and 7: SCCL and TE-CCL over the bound, printed and here."""
    axes.set_title("TE-CCL, Tables 3 and 7: DGX-1, chunks of 25 KB", loc="left", fontsize=10)
    names, ratios = [], []
    tables = ((papers.DGX1_FILE, papers.TABLE_3, ""), (papers.DGX1_NO_ALPHA, papers.TABLE_7, "\nno α"))
    for file, cases, latency in tables:
        for collective, chunks in cases:
            rows = where(frame, topology=file, collective=collective, chunks=chunks)
            bound = float(rows["proven"].max())
            printed = papers.printed_of_steps(file, collective, chunks)
            of = (printed[0], papers.fastest(rows, "sccl"), printed[1], papers.fastest(rows, "te_ccl"))
            ratios.append([each / bound for each in of])
            names.append(f"{'AG' if collective == 'all_gather' else 'A2A'} {chunks}{latency}")
    styles = (("SCCL, printed", "x", "#b03030"), ("sccl", "X", "#b03030"), ("TE-CCL, printed", "+", "#1b6ca8"),
              ("te_ccl", "o", "#1b6ca8"))  # fmt: skip
    for i, (label, mark, colour) in enumerate(styles):
        places = numpy.arange(len(names)) + (i - 1.5) * 0.17
        axes.plot(places, [line[i] for line in ratios], mark, ms=6, color=colour, label=label)
    axes.axhline(1, color="#555555", lw=1.2, label="bound")
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(ylim=(0.5, 2), ylabel="time over the proven bound")
    axes.legend(ncols=2, loc="upper right", **STYLE)


def draw_solvers(study: Study) -> Figure:
    """Six panels: Fig. 15, Table V and Fig. 19 of TACOS, Fig. 5 and 6 and Tables 3 and 7 of TE-CCL."""
    frame = papers.frame_of(study)
    figure = Figure(figsize=(15, 8), dpi=110, layout="constrained")
    many = figure.subplots(2, 3).flat
    panels = (
        _bandwidths, _over_tacos, _synthesis, lambda axes, rows: _over_teccl(axes, rows, False),
        lambda axes, rows: _over_teccl(axes, rows, True), _steps,
    )  # fmt: skip
    lacks = 0
    for draw, axes in zip(panels, many):
        try:
            draw(axes, frame)
            bare(axes)
        except ValueError as error:
            lacks += 1
            axes.clear()
            say(axes, f"Rows of experiments/solvers are missing: {error}")
    if lacks == len(panels):
        raise NothingToShow(f"{study.path} has no rows of experiments/solvers")
    return figure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args(arguments)
    given.into.mkdir(parents=True, exist_ok=True)
    picture(draw_solvers, open_study(given.result)).savefig(given.into / "solvers.png")
    print(f"drawn: {given.into / 'solvers.png'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
