"""The papers' figures about algorithms and the simulator, from the studies baselines, utilization, themis and pipeline
of experiments/.

If a study was not run or rows are missing, the panels that lack them say so.
"""

from __future__ import annotations

from pathlib import Path

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from .columns import algorithm_styles, ink, quantity_text
from .layout import PAGE_INCHES, apart
from .link_pictures import draw_mesh, load_profile
from .papers import busy_by_dimension
from .reader import ResultError, Study, open_study
from .words import NothingToShow, bare, say

#: The algorithms of these pictures, in order.
MARKS = ["ring", "ring_unidirectional", "direct", "rhd", "dbt", "auto", "tacos"]
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
    """Fig. 2 of the TACOS paper: algorithms on four networks, the fastest first, and by size on a ring. Points instead
    of bars, because the axes are logarithmic. The bound of a network is the least of its rows' (an algorithm's own
    also counts its chunks and its phases).
    """
    rows = rows_of(study, "baselines")
    figure = Figure(figsize=(PAGE_INCHES, 4.9), dpi=110, layout="constrained")
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.25, 1)})
    _draw_shapes(left, rows[(rows["npus"] == 64) & (rows["size"] == 10**9)])
    _draw_sizes(right, rows[rows["topology"] == "RI(128)"])
    return figure


def _draw_shapes(axes: Axes, large: pandas.DataFrame) -> None:
    axes.set_title("64 NPUs, All-Reduce of 1 GB", loc="left", fontsize=10)
    names = [name for name in SHAPES if name in set(large["topology"])]
    if not names:
        say(axes, "This result has no ok row of 64 NPUs and 1 GB.")
        return
    styles = algorithm_styles([name for name in MARKS if name in set(large["algorithm"])])
    step = 0.86 / max(len(styles), 1)
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for place, name in enumerate(names):
        of = large[large["topology"] == name].sort_values("algbw_bytes_per_s", ascending=False, kind="stable")
        least = of["algbw_bytes_per_s"].min()
        bound = (of["size"] / (of["bound_ps"] * 1e-12)).max() / least
        axes.vlines(bound, place - 0.45, place + 0.45, color="black", linestyle="--", linewidth=1.2)
        if place == 0:
            axes.annotate("proven bound", (bound, place - 0.47), fontsize=8, ha="center", va="bottom")
        for i, row in enumerate(of.itertuples()):
            colour, mark = styles[row.algorithm]
            at = row.algbw_bytes_per_s / least, place + (i - (len(of) - 1) / 2) * step
            axes.plot(*at, linestyle="", marker=mark, color=colour, markersize=5)
            chosen = row.chosen_algorithm if row.algorithm == "auto" else ""
            text = f"{row.algorithm}: {chosen}" if chosen else row.algorithm
            near = at[0] > 0.25 * bound and at[0] > 4
            axes.annotate(text, at, xytext=(-6 if near else 6, 0), textcoords="offset points", fontsize=8,
                          ha="right" if near else "left", va="center", color=ink(colour),
                          path_effects=halo)  # fmt: skip
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color="#CCCCCC", linewidth=0.8, zorder=0)
    axes.set(xscale="log", ylim=(len(names) - 0.5, -0.62), xlabel="algbw, times the slowest's")
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bare(axes, "x")


def _draw_sizes(axes: Axes, ring: pandas.DataFrame) -> None:
    axes.set_title("ring of 128 NPUs, by size", loc="left", fontsize=10)
    if ring.empty:
        say(axes, "This result has no ok row of RI(128).")
        return
    whole = ring["size"].isin([10**3, 32 * 10**3, 10**6, 32 * 10**6, 10**9])
    names = [a for a in MARKS if a not in ("auto", "tacos") and a in set(ring[whole]["algorithm"])]
    styles = algorithm_styles(names)
    ends = []
    for algorithm in names:
        of = ring[whole & (ring["algorithm"] == algorithm)].sort_values("size")
        colour, mark = styles[algorithm]
        axes.plot(of["size"], of["algbw_bytes_per_s"] / 1e9, "-", marker=mark, ms=4, lw=1.2, color=colour)
        ends.append((algorithm, colour, of["algbw_bytes_per_s"].iloc[-1] / 1e9))
    halves = ring[~whole].sort_values("size")
    if len(halves):
        axes.plot(2 * halves["size"], 2 * halves["algbw_bytes_per_s"] / 1e9, "--o", ms=3, lw=1.2, color="black")
        ends.append(("ring, halves\neach way", "black", 2 * halves["algbw_bytes_per_s"].iloc[-1] / 1e9))
    axes.set(xscale="log", yscale="log", xlabel="size", ylabel="algbw (GB/s)")
    sizes = sorted(ring[whole]["size"].unique())
    axes.set_xticks(sizes, [quantity_text(float(size), "B") for size in sizes], fontsize=8)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    low, high = numpy.log(axes.get_ylim())
    heights = [(numpy.log(height) - low) / (high - low) for _, _, height in ends]
    for (text, colour, _), height in zip(ends, apart(heights, 0.065)):
        axes.annotate(text.replace("ring_uni", "ring_uni\n") if "_uni" in text else text, (1.02, height),
                      xycoords="axes fraction", fontsize=8, color=ink(colour), va="center")  # fmt: skip
    axes.grid(alpha=0.3)
    bare(axes)


def draw_heat_maps(study: Study | None) -> Figure:
    """What Fig. 1 of the TACOS paper shows: the bytes of every link over those of the hottest link of the network.
    Above on the plane of mesh(8,8), below for each network all links in order of their load.
    """
    rows = rows_of(study, "baselines")
    large = rows[(rows["npus"] == 64) & (rows["size"] == 10**9)]
    shown = ["direct", "rhd", "ring", "tacos"]
    found = study.links()
    loads = {}
    for name in SHAPES:
        for algorithm in shown:
            points = large.index[(large["topology"] == name) & (large["algorithm"] == algorithm)]
            of = found[found["point"] == points[0]] if len(points) and len(found) else found.iloc[:0]
            if len(of):
                loads[name, algorithm] = of
    if not loads:
        raise NothingToShow(f"{study.path} holds no link loads of 64 NPUs and 1 GB (experiments/baselines stores them)")
    names = [name for name in SHAPES if any(of == name for of, _ in loads)]
    hottest = {name: max(of["bytes"].max() for (n, _), of in loads.items() if n == name) for name in names}
    figure = Figure(figsize=(PAGE_INCHES, 5.2), dpi=110, layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    _draw_planes(above, {a: loads["mesh(8,8)", a] for a in shown if ("mesh(8,8)", a) in loads}, hottest)
    styles = algorithm_styles(shown)
    many = below.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(many, names):
        for i, algorithm in enumerate(a for a in shown if (name, a) in loads):
            colour, _ = styles[algorithm]
            share, ordered = load_profile(loads[name, algorithm]["bytes"].to_numpy() / hottest[name])
            axes.step([0, *share], [ordered[0], *ordered], where="pre", color=colour, lw=3.4 - 0.7 * i,
                      label=algorithm)  # a thinner line leaves an equal one in sight  # fmt: skip
        axes.set_title(name, loc="left", fontsize=9)
        axes.set(xlim=(0, 1), ylim=(0, 1.03))
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.set_xticks([0, 0.5, 1])
        axes.tick_params(labelsize=8)
        axes.set_xlabel("of the links", fontsize=8)
        bare(axes)
    many[0].set_ylabel("bytes / hottest link's", fontsize=8)
    free = many[names.index("FC(64)") if "FC(64)" in names else -1]  # most of its links carry little
    handles = [Line2D([], [], color=styles[a][0], lw=1.6, label=a) for a in shown]
    free.legend(handles=handles, loc="upper right", **STYLE)
    below.suptitle("all links by their load: flat is good, low is good", fontsize=9, x=0.01, ha="left")
    return figure


def _draw_planes(figure, loads: dict[str, pandas.DataFrame], hottest: dict[str, float]) -> None:
    """mesh(8,8) once per algorithm."""
    many = figure.subplots(1, max(len(loads), 1), squeeze=False)[0]
    if not loads:
        say(many[0], "This result has no link loads of mesh(8,8).", 60)
        return
    image = None
    for axes, (algorithm, of) in zip(many, loads.items()):
        share = of["bytes"] / hottest["mesh(8,8)"]
        image = draw_mesh(axes, of, share, (), 1.7)
        axes.set_title(f"{algorithm}\nmean {share.mean():.2f}, most {share.max():.2f}", fontsize=9)
    figure.suptitle("mesh(8,8): bytes of each link over those of the hottest link", fontsize=9, x=0.01, ha="left")
    bar = figure.colorbar(image, ax=list(many), shrink=0.75, aspect=15)
    bar.ax.tick_params(labelsize=8)


def draw_utilization(utilization: Study | None, themis: Study | None) -> Figure:
    """Fig. 18 and 16(b) of the TACOS paper: the share of busy links; time as a multiple of TACOS's."""
    figure = Figure(figsize=(PAGE_INCHES, 4.8), dpi=110, layout="constrained")
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
    styles = algorithm_styles(list(dict.fromkeys(rows["algorithm"].astype(str))))
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
                color=styles[row["algorithm"]][0],
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
        "equal": "equal: dim 1 starves the rest",
        "190": "dim 2 starves the rest",
        "160": "16 : 4 : 1 suits the volumes",
    }
    figure = Figure(figsize=(PAGE_INCHES, 3.0), dpi=110, layout="constrained")
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
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_ylim(0, 108)
        bare(axes)
    many[0].set_ylabel("links busy (%)")
    many[0].legend(loc="upper right", **STYLE)
    return figure
