"""The papers' figures about algorithms and the simulator, from the studies baselines, utilization, themis and pipeline
of experiments/.

If a study was not run or rows are missing, the panels that lack them say so.
"""

from __future__ import annotations

from pathlib import Path

import numpy
import pandas
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .papers import busy_by_dimension
from .reader import ResultError, Study, open_study
from .words import NothingToShow, bare, say

COLOURS = {
    "tacos": "#1b6ca8",
    "ring": "#e08e2b",
    "ring_unidirectional": "#f0c080",
    "direct": "#5a9e6f",
    "rhd": "#8a5aa8",
    "dbt": "#b03030",
    "themis": "#5a9e6f",
    "blueconnect": "#8a5aa8",
    "auto": "black",
}
MARKS = {"ring": "s", "ring_unidirectional": "D", "direct": "^", "rhd": "v", "dbt": "P", "auto": "x", "tacos": "o"}
SHAPES = ["RI(64)", "FC(64)", "mesh(8,8)", "grid(4,4,4)"]
STYLE = {"fontsize": 8, "frameon": False}


def open_results(folder: Path, names: list[str]) -> dict[str, Study | None]:
    """The results in a folder of result folders; None for a study that was not run."""
    found: dict[str, Study | None] = {}
    for name in names:
        try:
            found[name] = open_study(folder / name)
        except ResultError:
            found[name] = None
    return found


def rows_of(study: Study | None, name: str) -> pandas.DataFrame:
    """The ok rows of a study of experiments/; NothingToShow if it was not run or no row is ok."""
    if study is None:
        raise NothingToShow(f"{name} was not run: jobs/local.sh experiments/{name}/study.toml")
    rows = study.frame()
    if not (rows["status"] == "ok").any():
        raise NothingToShow(f"no row of {study.path} is ok")
    return rows[rows["status"] == "ok"]


def draw_baselines(study: Study | None) -> Figure:
    """Fig. 2 of the TACOS paper, with points instead of bars because the axis is logarithmic; a tick is the point's own
    bound.
    """
    rows = rows_of(study, "baselines")
    figure = Figure(figsize=(11, 4.0), dpi=110, layout="constrained")
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.5, 1)})
    _draw_shapes(left, rows[(rows["npus"] == 64) & (rows["size"] == 10**9)])
    _draw_sizes(right, rows[rows["topology"] == "RI(128)"])
    return figure


def _draw_shapes(axes: Axes, large: pandas.DataFrame) -> None:
    axes.set_title("64 NPUs, 1 GB", loc="left", fontsize=10)
    names = [name for name in SHAPES if name in set(large["topology"])]
    if not names:
        say(axes, "This result has no ok row of 64 NPUs and 1 GB.")
        return
    order = [algorithm for algorithm in MARKS if algorithm in set(large["algorithm"])]
    least = large.groupby("topology")["algbw_bytes_per_s"].min()
    step = 0.8 / len(order)
    for i, algorithm in enumerate(order):
        of = large[(large["algorithm"] == algorithm) & large["topology"].isin(names)]
        x = numpy.array([names.index(name) for name in of["topology"]]) + (i - (len(order) - 1) / 2) * step
        floor = of["topology"].map(least)
        bound = of["size"] / (of["bound_ps"] * 1e-12) / floor
        axes.hlines(bound, x - 0.42 * step, x + 0.42 * step, color=COLOURS[algorithm], linewidth=1.6)
        axes.plot(
            x,
            of["algbw_bytes_per_s"] / floor,
            linestyle="",
            marker=MARKS[algorithm],
            color=COLOURS[algorithm],
            markersize=6,
            label=algorithm,
        )
        if algorithm == "auto":
            for at, chosen, height in zip(x, of["chosen_algorithm"], of["algbw_bytes_per_s"] / floor):
                axes.annotate(
                    chosen,
                    (at, height),
                    xytext=(0, -7),
                    textcoords="offset points",
                    ha="center",
                    va="top",
                    fontsize=7,
                    rotation=90,
                )
    for place in range(1, len(names)):
        axes.axvline(place - 0.5, color="#E4E4E4", linewidth=0.8, zorder=0)
    axes.set(yscale="log", xlim=(-0.5, len(names) - 0.5), ylabel="All-Reduce algbw over the slowest's")
    axes.set_xticks(range(len(names)), names)
    handles = axes.get_legend_handles_labels()[0] + [
        Line2D([], [], color="#555555", linewidth=1.6, label="proven bound of the point")
    ]
    axes.legend(handles=handles, ncols=4, loc="lower left", bbox_to_anchor=(0, 1.07), **STYLE)
    bare(axes)


def _draw_sizes(axes: Axes, ring: pandas.DataFrame) -> None:
    axes.set_title("ring of 128 NPUs", loc="left", fontsize=10)
    if ring.empty:
        say(axes, "This result has no ok row of RI(128).")
        return
    whole = ring["size"].isin([10**3, 32 * 10**3, 10**6, 32 * 10**6, 10**9])
    for algorithm in [a for a in MARKS if a not in ("auto", "tacos")]:
        of = ring[whole & (ring["algorithm"] == algorithm)].sort_values("size")
        if len(of):
            axes.plot(
                of["size"],
                of["algbw_bytes_per_s"] / 1e9,
                "-",
                marker=MARKS[algorithm],
                ms=4,
                lw=1.2,
                color=COLOURS[algorithm],
                label=algorithm,
            )
    halves = ring[~whole].sort_values("size")
    if len(halves):
        axes.plot(
            2 * halves["size"],
            2 * halves["algbw_bytes_per_s"] / 1e9,
            "--o",
            ms=3,
            lw=1.2,
            color="black",
            label="ring, halves each way round",
        )
    axes.set(xscale="log", yscale="log", xlabel="collective size (B)", ylabel="algbw (GB/s)")
    axes.legend(**STYLE)
    axes.grid(alpha=0.3)
    bare(axes)


def draw_heat_maps(study: Study | None) -> Figure:
    """Fig. 1 of the TACOS paper: source by destination; the hottest link of a topology is 1, grey is no link."""
    rows = rows_of(study, "baselines")
    large = rows[(rows["npus"] == 64) & (rows["size"] == 10**9)]
    shown = ["direct", "rhd", "ring", "tacos"]
    maps = {
        (name, algorithm): heat
        for name in SHAPES
        for algorithm in shown
        if (heat := _heat_map(study, large, name, algorithm)) is not None
    }
    if not maps:
        raise NothingToShow(f"{study.path} holds no link loads of 64 NPUs and 1 GB (experiments/baselines stores them)")
    figure = Figure(figsize=(9, 8.6), dpi=110, layout="constrained")
    many = figure.subplots(len(shown), len(SHAPES))
    palette = colormaps["inferno"].copy()
    palette.set_bad("#e8e8e8")
    image = None
    for column, name in enumerate(SHAPES):
        hottest = max((numpy.nanmax(heat) for (of, _), heat in maps.items() if of == name), default=1.0)
        many[0, column].set_title(name)
        for row, algorithm in enumerate(shown):
            axes = many[row, column]
            if (name, algorithm) not in maps:
                say(axes, f"{algorithm}: not in this result")
                continue
            image = axes.imshow(
                maps[name, algorithm] / hottest, cmap=palette, norm=PowerNorm(0.5, 0, 1), interpolation="nearest"
            )
            axes.set_xticks([0, 63])
            axes.set_yticks([0, 63])
            axes.set_ylabel(f"{algorithm}\nsource" if column == 0 else "")
            axes.set_xlabel("destination" if row == len(shown) - 1 else "")
    figure.colorbar(image, ax=many, shrink=0.6, label="bytes over those of the hottest link of the topology")
    return figure


def _heat_map(study: Study, large: pandas.DataFrame, name: str, algorithm: str):
    points = large.index[(large["topology"] == name) & (large["algorithm"] == algorithm)]
    try:
        return study.heat_map(int(points[0])) if len(points) else None
    except ValueError:
        return None


def draw_utilization(utilization: Study | None, themis: Study | None) -> Figure:
    """Fig. 18 and 16(b) of the TACOS paper: the share of busy links; time as a multiple of TACOS's."""
    figure = Figure(figsize=(11, 5.6), dpi=110, layout="constrained")
    many = figure.subplots(2, 3, sharey=True)
    _draw_row(
        many[0], utilization, "utilization", "Fig. 18", lambda rows: rows, lambda r: "--" if r["chunks"] == 1 else "-"
    )
    _draw_row(
        many[1],
        themis,
        "themis",
        "Fig. 16(b)",
        lambda rows: rows[
            (rows["size"] == 10**9) & (rows["window"] == 0) & ~((rows["algorithm"] == "tacos") & (rows["chunks"] == 1))
        ],
        lambda r: "-" if r["chunks"] == 64 or r["algorithm"] == "tacos" else "--",
    )
    for axes in many[:, 0]:
        axes.set_ylabel("links busy (%)")
    return figure


def _draw_row(many, study: Study | None, study_name: str, title: str, choose, style) -> None:
    """A panel for each topology of a study; the remaining panels hold the legend, or say what is missing."""
    for axes in many:
        axes.set_axis_off()
    try:
        rows = choose(rows_of(study, study_name))
        bins = study.utilization()
        if bins.empty or rows.empty:
            raise NothingToShow(f"{study.path} holds no utilization over time")
    except NothingToShow as nothing:
        say(many[1], f"{title}: {nothing}", 90)
        return
    handles: dict[str, Line2D] = {}
    for axes, name in zip(many, rows["topology"].unique()):
        axes.set_axis_on()
        of = rows[rows["topology"] == name]
        axes.set_title(f"{title}: {name}", loc="left", fontsize=10)
        tacos = of[of["algorithm"] == "tacos"].sort_values("chunks")
        if tacos.empty:
            say(axes, "no row of TACOS, whose time is the unit")
            continue
        for point, row in of.iterrows():
            part = bins[bins["point"] == point]
            label = f"{row['algorithm']}, {row['chunks']} chunk{'s' if row['chunks'] > 1 else ''}"
            (line,) = axes.plot(
                part["time"] / tacos["collective_time_seconds"].iloc[-1],
                100 * part["utilization"],
                lw=1.1,
                ls=style(row),
                color=COLOURS.get(row["algorithm"], "#555555"),
            )
            handles.setdefault(label, line)
        axes.set_ylim(0, 104)
        axes.set_xlim(left=0)
        axes.set_xlabel("time / TACOS's time")
        axes.grid(alpha=0.3)
        bare(axes)
    where = many[-1] if not many[-1].axison else many[0]
    where.legend(handles.values(), handles.keys(), loc="center left" if where is many[-1] else "upper right", **STYLE)


def draw_pipeline(study: Study | None) -> Figure:
    """Fig. 9 of the LIBRA paper: how busy each dimension is, and the limit from the volumes."""
    rows = rows_of(study, "pipeline")
    rows = rows[(rows["algorithm"] == "hierarchical") & rows["topology"].str.startswith("FC") & (rows["window"] == 0)]
    cases = list(rows["npu_bandwidth"].unique())[:3]
    if not cases or study.links().empty:
        raise NothingToShow(
            f"{study.path} holds no link loads of `hierarchical` on three FC dimensions "
            "(experiments/pipeline stores them)"
        )
    titles = {
        "equal": "equal: dimension 1 starves the others",
        "190": "dimension 2 starves the others",
        "160": "16 : 4 : 1 suits the volumes",
    }
    figure = Figure(figsize=(10, 3.4), dpi=110, layout="constrained")
    many = figure.subplots(1, len(cases), sharey=True, squeeze=False)[0]
    shades = {1: "#c9d9e8", 4: "#6f9fc8", 64: "#1b6ca8"}
    for axes, case in zip(many, cases):
        given = numpy.array([float(b) for b in case.split(",")])
        title = titles.get("equal" if len(given) == 1 else f"{given[0] / 1e9:g}", "")
        given = numpy.repeat(given, 3) if len(given) == 1 else given
        limits = numpy.array([16.0, 4.0, 1.0]) / given
        for i, (chunks, shade) in enumerate(shades.items()):
            points = rows.index[(rows["npu_bandwidth"] == case) & (rows["chunks"] == chunks)]
            if len(points):
                axes.bar(
                    numpy.arange(3) + (i - 1) * 0.27,
                    100 * numpy.array(busy_by_dimension(study, points[0])),
                    0.25,
                    color=shade,
                    label=f"{chunks} chunk{'s' if chunks > 1 else ''}",
                )
        axes.hlines(
            100 * limits / limits.max(),
            numpy.arange(3) - 0.42,
            numpy.arange(3) + 0.42,
            color="black",
            lw=1.2,
            label="the volumes allow",
        )
        axes.set_xticks(range(3), [f"dim {i + 1}\n{g / 1e9:g} GB/s" for i, g in enumerate(given)])
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylim(0, 108)
        bare(axes)
    many[0].set_ylabel("links busy (%)")
    many[0].legend(loc="upper right", **STYLE)
    return figure
