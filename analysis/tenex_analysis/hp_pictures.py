"""The pictures of `hp_at_scale`: Pareto fronts, the best HP, exposed communication, efficiency, and models against each
other.

They draw the points of any study that trains. Each has a panel per number of NPUs, and raises NothingToShow where no
point is ok.
"""

from __future__ import annotations

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from . import hp_at_scale as hp
from .columns import MARKERS, PALETTE
from .layout import under_legend
from .pareto import draw_staircase
from .words import NothingToShow, broken

#: The palette of Okabe and Ito, in the order of these pictures.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"]
PHASE_COLOURS = dict(zip(hp.PHASES, PALETTE))
SCHEMES = ["equal", "perf_opt", "perf_per_cost"]
LEGEND = {"frameon": False, "fontsize": 8}


def evaluated(points: pandas.DataFrame) -> pandas.DataFrame:
    """The fastest point of every design and model; NothingToShow where no point is ok."""
    best = hp.fastest(points) if len(points) else points
    if best.empty:
        counts = points["status"].value_counts() if len(points) else {}
        told = ", ".join(f"{n:,} {status}" for status, n in counts.items()) or "no row trains a model"
        raise NothingToShow(f"No training point is ok: {told}.")
    return best


def reference(points: pandas.DataFrame) -> str:
    """The collective time model closest to the network among those that timed any point."""
    found = set(evaluated(points)["model"])
    known = [model for model in hp.MODELS if model in found]
    return known[-1] if known else sorted(found)[-1]


def of_reference(points: pandas.DataFrame) -> tuple[pandas.DataFrame, list[int]]:
    """The fastest points under the reference model, with `column` (the words of their split), and the numbers of NPUs.
    """
    best = evaluated(points)
    best = best[best["model"] == reference(points)]
    return best.assign(column=split_words(best)), sorted(best["npus"].unique())


def split_words(points: pandas.DataFrame) -> pandas.Series:
    """The name of each point's split: its scheme or its shares. All shares have one name if no topology has two of
    them.
    """
    stated = points[~points["split"].isin(SCHEMES)]
    shares = list(dict.fromkeys(stated["split"]))
    one = len(stated) == 0 or stated.groupby("topology")["split"].nunique().max() == 1
    together = "stated, " + " or ".join(shares)
    return points["split"].map(lambda split: split if split in SCHEMES else together if one else f"stated, {split}")


def columns_of(points: pandas.DataFrame) -> list[str]:
    """The names of the splits, stated ones first."""
    found = list(dict.fromkeys(points["column"]))
    return [word for word in found if word not in SCHEMES] + [scheme for scheme in SCHEMES if scheme in found]


class Shapes:
    """Topologies by family, so that the sizes of a family share a colour and a position."""

    def __init__(self, points: pandas.DataFrame):
        self.families = list(dict.fromkeys(points["topology"].map(hp.family)))

    def place(self, shape: str) -> int:
        return self.families.index(hp.family(shape))

    def ordered(self, of: pandas.DataFrame) -> list[str]:
        return sorted(of["topology"].unique(), key=self.place)

    def colour(self, shape: str) -> str:
        return COLOURS[self.place(shape) % len(COLOURS)]


def draw_pareto(points: pandas.DataFrame) -> Figure:
    """Iteration time against network cost; the line bounds the region that the size's Pareto front dominates."""
    best, sizes = of_reference(points)
    shapes, columns = Shapes(points), columns_of(best)
    lines = max(best[best["npus"] == npus]["topology"].nunique() for npus in sizes)
    handles = [
        Line2D([], [], ls="", marker=MARKERS[i % len(MARKERS)], color="grey", label=broken(word))
        for i, word in enumerate(columns)
    ]
    handles.append(Line2D([], [], color="black", lw=1.1, label="Pareto front"))
    many = under_legend(handles, max(6.5, 4.6 * len(sizes)), [4.0], len(sizes), "all", 0.6 + 0.2 * lines)
    for axes, npus in zip(many, sizes):
        _draw_designs(axes, best[best["npus"] == npus], shapes, columns)
    for axes, npus in zip(many, sizes):  # after all panels, as they share an axis
        front = hp.front(best[best["npus"] == npus].dropna(subset=["network_cost_usd", "time"]))
        if len(front):
            draw_staircase(axes, front["network_cost_usd"] / 1e6, front["time"])
    many[0].set_ylabel(f"iteration time (s), {reference(points)}")
    return many[0].figure


def _draw_designs(axes: Axes, of: pandas.DataFrame, shapes: Shapes, columns: list[str]) -> None:
    front = hp.front(of.dropna(subset=["network_cost_usd", "time"]))
    for (shape, column), group in of.groupby(["topology", "column"], sort=False):
        on = group.index.isin(front.index)
        for part, alpha in ((group[~on], 0.35), (group[on], 1.0)):
            axes.scatter(
                part["network_cost_usd"] / 1e6,
                part["time"],
                marker=MARKERS[columns.index(column) % len(MARKERS)],
                s=34,
                color=shapes.colour(shape),
                alpha=alpha,
                edgecolor="none" if alpha < 1 else "black",
                lw=0.7,
                zorder=2,
            )
    axes.set(xscale="log", yscale="log", xlabel="network cost (million $)")
    axes.set_title(f"{of['npus'].iloc[0]:,} NPUs", loc="left", fontsize=10)
    for scale, values in ((axes.xaxis, of["network_cost_usd"] / 1e6), (axes.yaxis, of["time"])):
        scale.set_major_locator(
            LogLocator(subs=(1, 1.5, 2, 3, 5, 7) if values.max() / values.min() < 8 else (1, 2, 5), numticks=12)
        )
        scale.set_major_formatter(FormatStrFormatter("%g"))
        scale.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    handles = [
        Line2D([], [], ls="", marker="o", color=shapes.colour(s), label=broken(hp.short_shape(s), 40))
        for s in shapes.ordered(of)
    ]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.14), **LEGEND)


def draw_best(points: pandas.DataFrame) -> Figure:
    """The best HP of every topology and split; colour is its time over that of the fastest design of its size."""
    best, sizes = of_reference(points)
    shapes, columns = Shapes(points), columns_of(best)
    winners = hp.fastest(best, ("npus", "topology", "split"))
    rows = [winners[winners["npus"] == npus]["topology"].nunique() for npus in sizes]
    height = max(2.6, 0.62 * sum(rows) + 0.75 * len(sizes) + 0.3)
    figure = Figure(figsize=(max(5.5, 2.4 + 1.35 * len(columns)), height), dpi=110, layout="constrained")
    many = figure.subplots(len(sizes), 1, squeeze=False, gridspec_kw={"height_ratios": rows})[:, 0]
    for axes, npus in zip(many, sizes):
        image = _draw_table(axes, winners[winners["npus"] == npus], shapes, columns)
    figure.colorbar(image, ax=list(many), label="time over this size's fastest", extend="max", shrink=0.9)
    return figure


def _draw_table(axes: Axes, of: pandas.DataFrame, shapes: Shapes, columns: list[str]):
    names, least = shapes.ordered(of), of["time"].min()
    grid = numpy.full((len(names), len(columns)), numpy.nan)
    for row in of.itertuples():
        at = names.index(row.topology), columns.index(row.column)
        grid[at] = row.time / least
        axes.text(
            at[1],
            at[0],
            f"HP-({row.hp.replace(',', ', ')})\n{row.time:.3g} s",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if grid[at] > 1.35 else "black",
        )
    for row, column in numpy.argwhere(numpy.isnan(grid)):
        axes.text(column, row, "not run", ha="center", va="center", fontsize=8, color="grey")
    image = axes.imshow(grid, cmap="cividis_r", vmin=1, vmax=1.8, aspect="auto")
    axes.set_facecolor("#f0f0f0")
    axes.set_xticks(range(len(columns)), [broken(word, 16) for word in columns], fontsize=8)
    axes.set_yticks(range(len(names)), [broken(hp.short_shape(s), 32) for s in names], fontsize=8)
    axes.set_title(f"{of['npus'].iloc[0]:,} NPUs", fontsize=10)
    return image


def draw_exposed(points: pandas.DataFrame) -> Figure:
    """Exposed communication by phase and model, for the topology and split of each size's fastest design."""
    best = evaluated(points)
    together, sizes = of_reference(points)
    models = [model for model in hp.MODELS if model in set(best["model"])] or [reference(points)]
    handles = [Patch(color=PHASE_COLOURS[p], label=p.replace("_", " ")) for p in hp.PHASES]
    handles.append(Line2D([], [], ls="--", color="black", lw=0.9, label="compute"))
    panels = under_legend(handles, max(6.5, 2.9 * len(models)), [2.9] * len(sizes), len(models), "row", 0.5)
    for line, npus in enumerate(sizes):
        row = panels[line * len(models) : (line + 1) * len(models)]
        leader = together.loc[together[together["npus"] == npus]["time"].idxmin()]
        of = best[
            (best["topology"] == leader["topology"]) & (best["split"] == leader["split"]) & (best["npus"] == npus)
        ]
        degrees = list(of.sort_values("tensor")["hp"].unique())
        for axes, model in zip(row, models):
            _draw_phases(axes, of[of["model"] == model], degrees)
            if npus == sizes[0]:
                axes.set_title(model, fontsize=10)
            if npus == sizes[-1]:
                axes.set_xlabel("TP degree over DP degree")
        shape = broken(hp.short_shape(leader["topology"]), 30)
        row[0].set_ylabel(f"{npus:,} NPUs, {leader['split']}\n{shape}\nexposed communication (s)", fontsize=8)
    return panels[0].figure


def _draw_phases(axes: Axes, of: pandas.DataFrame, degrees: list[str]) -> None:
    bottom = numpy.zeros(len(degrees))
    by_hp = of.sort_values("time").drop_duplicates("hp").set_index("hp")
    for phase in hp.PHASES:
        wait = by_hp[f"{phase} exposed"].reindex(degrees).to_numpy()
        axes.bar(
            range(len(degrees)),
            wait,
            bottom=bottom,
            width=0.72,
            color=PHASE_COLOURS[phase],
            label=phase.replace("_", " "),
        )
        bottom += wait
    for place in numpy.flatnonzero(numpy.isnan(bottom)):
        _not_run(axes, place)
    if len(of):
        axes.axhline(of["compute"].max(), ls="--", lw=0.9, color="black")
    axes.set_xticks(range(len(degrees)), [degree.replace(",", "\n") for degree in degrees], fontsize=8)
    axes.set_xlim(-0.6, len(degrees) - 0.4)
    axes.grid(axis="y", alpha=0.3)


def _not_run(axes: Axes, place: float) -> None:
    axes.text(
        place,
        0.02,
        "not run",
        rotation=90,
        ha="center",
        va="bottom",
        fontsize=8,
        color="grey",
        transform=axes.get_xaxis_transform(),
    )


def draw_efficiency(points: pandas.DataFrame) -> Figure:
    """Bound over time of every point whose collectives are simulated or synthesized, by chunks."""
    evaluated(points)
    ok = points[(points["status"] == "ok") & (points["chunks"] > 0) & points["efficiency"].notna()]
    if ok.empty:
        raise NothingToShow("No training point that is ok has chunks and an efficiency (LIBRA's formula has neither).")
    kinds = [
        ("pipeline", None, "pipeline: multi-rail of one group", COLOURS[1]),
        (hp.TOGETHER, "auto", "together: best baseline (auto)", COLOURS[2]),
        (hp.TOGETHER, "tacos", "together: synthesized (tacos)", COLOURS[0]),
        ("synthesized alone", "tacos", "alone: synthesized (tacos)", COLOURS[3]),
    ]
    kinds = [kind for kind in kinds[: 3 if hp.TOGETHER in set(ok["model"]) else 4] if len(_of_kind(ok, kind))]
    if not kinds:
        raise NothingToShow("No training point that is ok is timed by a pipeline, `auto` or `tacos`.")
    sizes, counts = sorted(ok["npus"].unique()), sorted(ok["chunks"].unique())
    handles = [Patch(facecolor=colour, alpha=0.8, edgecolor="black", label=label) for _, _, label, colour in kinds]
    many = under_legend(handles, max(6.5, 4.2 * len(sizes)), [3.6], len(sizes), "all", 0.5)
    for axes, npus in zip(many, sizes):
        _draw_boxes(axes, ok[ok["npus"] == npus], counts, kinds)
        axes.set_title(f"{npus:,} NPUs", fontsize=10)
    many[0].set_ylabel("efficiency: bound over time\n(box: middle half, whiskers: all)")
    return many[0].figure


def _of_kind(rows: pandas.DataFrame, kind: tuple) -> pandas.DataFrame:
    model, algorithm, _, _ = kind
    return rows[(rows["model"] == model) & ((rows["algorithm"] == algorithm) | (algorithm is None))]


def _draw_boxes(axes: Axes, of: pandas.DataFrame, counts: list[int], kinds: list[tuple]) -> None:
    for place, chunks in enumerate(counts):
        drawn = False
        for at, kind in enumerate(kinds):
            values = _of_kind(of[of["chunks"] == chunks], kind)["efficiency"]
            if values.empty:
                continue
            drawn = True
            box = axes.boxplot(
                [values],
                positions=[place + (at - (len(kinds) - 1) / 2) * 0.27],
                widths=0.22,
                patch_artist=True,
                whis=(0, 100),
                manage_ticks=False,
                medianprops={"color": "black"},
            )
            box["boxes"][0].set(facecolor=kind[3], alpha=0.8)
        if not drawn:
            _not_run(axes, place)
    axes.set_xticks(range(len(counts)), counts)
    axes.set(xlabel="chunks per NPU", xlim=(-0.5, len(counts) - 0.5), ylim=(0, 1))
    axes.grid(axis="y", alpha=0.3)


def draw_models(points: pandas.DataFrame) -> Figure:
    """Iteration time by each simpler model over that of the reference model, design by design."""
    best, last = evaluated(points), reference(points)
    models = [model for model in hp.MODELS if model != last and model in set(best["model"])]
    table = best.pivot_table(index=hp.DESIGN, columns="model", values="time", sort=False)
    if not models or not any((table[model] / table[last]).notna().any() for model in models):
        raise NothingToShow(f"Nothing to compare: no other model timed the designs of `{last}`.")
    sizes = sorted(best["npus"].unique())
    handles = [Line2D([], [], ls="", marker="o", color=_model_colour(model), label=model) for model in models]
    many = under_legend(handles, max(6.5, 4.2 * len(sizes)), [3.6], len(sizes), "all", 0.5)
    for axes, npus in zip(many, sizes):
        of = best[best["npus"] == npus]
        ratios = table[table.index.get_level_values("npus") == npus]
        _draw_ratios(axes, ratios, last, models, sorted(of["tensor"].unique()))
        axes.set(xlabel="TP degree")
        axes.set_title(f"{npus:,} NPUs", fontsize=10)
    many[0].set_ylim(bottom=0)  # after all panels, as they share the axis
    many[0].set_ylabel(f"time over that of\n{last}")
    return many[0].figure


def _model_colour(model: str) -> str:
    return COLOURS[(1, 3, 0)[hp.MODELS.index(model) % 3]]


def _draw_ratios(axes: Axes, table: pandas.DataFrame, last: str, models: list[str], degrees: list[int]) -> None:
    seen = set()
    for at, model in enumerate(models):
        ratio = (table[model] / table[last]).dropna()
        tensor = ratio.index.get_level_values("hp").str.split(",").str[0].astype(int)
        seen |= set(tensor)
        spread = numpy.linspace(-0.09, 0.09, len(ratio)) if len(ratio) > 1 else numpy.zeros(len(ratio))
        x = numpy.array([degrees.index(t) for t in tensor], dtype=float) + (at - (len(models) - 1) / 2) * 0.27 + spread
        axes.scatter(x, ratio, s=12, color=_model_colour(model), alpha=0.75, edgecolor="none", label=model)
    for place, degree in enumerate(degrees):
        if degree not in seen:
            _not_run(axes, place)
    axes.axhline(1, color="black", lw=0.8)
    axes.set_xticks(range(len(degrees)), degrees)
    axes.set_xlim(-0.5, len(degrees) - 0.5)
    axes.grid(axis="y", alpha=0.3)
