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
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter, PercentFormatter

from . import hp_at_scale as hp
from .columns import MARKERS, PALETTE
from .layout import PAGE_INCHES, under_legend
from .pareto import draw_staircase
from .words import NothingToShow, bare, broken, say

#: The palette of Okabe and Ito, in the order of these pictures.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"]
PHASE_COLOURS = dict(zip(hp.PHASES, PALETTE))
SCHEMES = ["equal", "perf_opt", "perf_per_cost"]
LEGEND = {"frameon": False, "fontsize": 8}
#: A line of `draw_efficiency`: its label, colour and efficiencies.
Line = tuple[str, str, pandas.Series]


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
    width = max(6.5, min(PAGE_INCHES, 4.6 * len(sizes)))
    many = under_legend(handles, width, [3.2], len(sizes), "all", 0.6 + 0.2 * lines)
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
    columns = [word for word in columns if word in set(of["column"])]  # only what was run
    grid = numpy.full((len(names), len(columns)), numpy.nan)
    for row in of.itertuples():
        at = names.index(row.topology), columns.index(row.column)
        grid[at] = row.time / least
        axes.text(
            at[1],
            at[0],
            f"HP-({row.hp.replace(',', ', ')})\n{row.time:#.3g} s",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if grid[at] > 1.35 else "black",
        )
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
    width = max(6.5, min(PAGE_INCHES, 2.9 * len(models)))
    panels = under_legend(handles, width, [2.2] * len(sizes), len(models), "row", 0.5)
    for line, npus in enumerate(sizes):
        row = panels[line * len(models) : (line + 1) * len(models)]
        leader = together.loc[together[together["npus"] == npus]["time"].idxmin()]
        of = best[
            (best["topology"] == leader["topology"]) & (best["split"] == leader["split"]) & (best["npus"] == npus)
        ]
        for axes, model in zip(row, models):
            _draw_phases(axes, of[of["model"] == model])
            left_out = [each for each in of["hp"].unique() if each not in set(of[of["model"] == model]["hp"])]
            if npus == sizes[0]:
                axes.set_title(model, fontsize=9)
            if npus == sizes[-1]:
                axes.set_xlabel("TP over DP degree", fontsize=8)
            if left_out:
                told = "; ".join(f"HP-({each})" for each in left_out)
                _say_below(axes, f"not run: {told}")
        shape = broken(hp.short_shape(leader["topology"]), 30)
        row[0].set_ylabel(f"{npus:,} NPUs, {leader['split']}\n{shape}\nexposed communication (s)", fontsize=8)
    return panels[0].figure


def _draw_phases(axes: Axes, of: pandas.DataFrame) -> None:
    """The bars of the degrees that were run, the least TP degree first."""
    of = of.sort_values("time").drop_duplicates("hp").sort_values("tensor")
    bottom = numpy.zeros(len(of))
    for phase in hp.PHASES:
        wait = of[f"{phase} exposed"].to_numpy()
        axes.bar(range(len(of)), wait, bottom=bottom, width=0.72, color=PHASE_COLOURS[phase])
        bottom += wait
    if of.empty:
        say(axes, "no design of this topology and split was timed so", 18)
        return
    axes.axhline(of["compute"].max(), ls="--", lw=0.9, color="black")
    axes.set_xticks(range(len(of)), [degree.replace(",", "\n") for degree in of["hp"]], fontsize=8)
    axes.set_xlim(-0.6, len(of) - 0.4)
    axes.tick_params(axis="y", labelsize=8)
    axes.grid(axis="y", alpha=0.3)


def _say_below(axes: Axes, text: str) -> None:
    """Text at the lower right, below an axes' ticks and label."""
    axes.annotate(broken(text, 24), (1, 0), xytext=(0, -42), xycoords="axes fraction", textcoords="offset points",
                  fontsize=8, ha="right", va="top")  # fmt: skip


def draw_efficiency(points: pandas.DataFrame) -> Figure:
    """Bound over time of every point whose collectives are simulated or synthesized: a line for each size, number of
    chunks and way of timing that was run, with the middle half as a box and the median beside it.
    """
    evaluated(points)
    ok = points[(points["status"] == "ok") & (points["chunks"] > 0) & points["efficiency"].notna()]
    if ok.empty:
        raise NothingToShow("No training point that is ok has chunks and an efficiency (LIBRA's formula has neither).")
    kinds = [
        ("pipeline", None, "pipeline", COLOURS[1]),
        (hp.TOGETHER, "auto", "together, auto", COLOURS[2]),
        (hp.TOGETHER, "tacos", "together, tacos", COLOURS[0]),
        ("synthesized alone", "tacos", "alone, tacos", COLOURS[3]),
    ]
    kinds = [kind for kind in kinds[: 3 if hp.TOGETHER in set(ok["model"]) else 4] if len(_of_kind(ok, kind))]
    if not kinds:
        raise NothingToShow("No training point that is ok is timed by a pipeline, `auto` or `tacos`.")
    groups = efficiency_groups(ok, kinds)
    figure = Figure(figsize=(PAGE_INCHES, 0.26 * sum(1 + len(of) for _, of in groups) + 1.1), dpi=110,
                    layout="constrained")  # fmt: skip
    axes = figure.subplots()
    _draw_boxes(axes, groups)
    axes.set(xlim=(0, 1), xlabel="efficiency: bound over time (box: the middle half, line: all)")
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.set_title("together, alone: collectives synthesized with and without the others on the links; "
                   "auto: the best textbook algorithm", loc="left", fontsize=8)  # fmt: skip
    bare(axes, "x")
    return figure


def _of_kind(rows: pandas.DataFrame, kind: tuple) -> pandas.DataFrame:
    model, algorithm, _, _ = kind
    return rows[(rows["model"] == model) & ((rows["algorithm"] == algorithm) | (algorithm is None))]


def efficiency_groups(ok: pandas.DataFrame, kinds: list[tuple]) -> list[tuple[str, list[Line]]]:
    """What was run, and only that: per size and number of chunks its words, and (label, colour, efficiencies) of each
    way of timing that has points.
    """
    groups = []
    for (npus, chunks), of in ok.groupby(["npus", "chunks"]):
        found = [(kind[2], kind[3], _of_kind(of, kind)["efficiency"]) for kind in kinds]
        head = f"{npus:,} NPUs, {chunks} chunk{'s' if chunks > 1 else ''}"
        groups.append((head, [line for line in found if len(line[2])]))
    return [group for group in groups if group[1]]


def _draw_boxes(axes: Axes, groups: list[tuple[str, list[Line]]]) -> None:
    """A line of text and a box for each entry, and a gap between groups."""
    place, ticks, texts = 0.0, [], []
    for head, entries in groups:
        axes.text(0.005, place, head, fontsize=8, va="center", fontweight="bold")
        place += 1
        for label, colour, values in entries:
            least, low, middle, high, most = numpy.quantile(values, [0, 0.25, 0.5, 0.75, 1])
            axes.plot([least, most], [place, place], "-", color=colour, lw=1.2)
            axes.barh(place, high - low, left=low, height=0.66, color=colour, alpha=0.85)
            axes.plot([middle, middle], [place - 0.33, place + 0.33], "-", color="black", lw=1.4)
            axes.annotate(f"{100 * middle:.0f} %", (1.01, place), xycoords=("axes fraction", "data"), fontsize=8,
                          va="center")  # fmt: skip
            ticks.append(place)
            texts.append(f"{label} ({len(values)})")
            place += 1
    axes.annotate("median", (1.01, -0.1), xycoords=("axes fraction", "data"), fontsize=8, va="center")
    axes.set_yticks(ticks, texts, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylim(place - 0.3, -0.7)


def draw_models(points: pandas.DataFrame) -> Figure:
    """Iteration time by each simpler model over that of the reference model, design by design: a panel for each size,
    with the TP degrees that both timed.
    """
    best, last = evaluated(points), reference(points)
    models = [model for model in hp.MODELS if model != last and model in set(best["model"])]
    table = best.pivot_table(index=hp.DESIGN, columns="model", values="time", sort=False)
    ratios = {npus: model_degrees(of, last, models) for npus, of in table.groupby("npus")}
    ratios = {npus: found for npus, found in ratios.items() if found}
    if not models or not ratios:
        raise NothingToShow(f"Nothing to compare: no other model timed the designs of `{last}`.")
    handles = [Line2D([], [], ls="", marker=mark, color=_model_colour(model), label=model)
               for model, mark in zip(models, MARKERS)]  # fmt: skip
    figure = Figure(figsize=(PAGE_INCHES, 3.4), dpi=110, layout="constrained")
    grid = figure.add_gridspec(2, len(ratios), height_ratios=(0.08, 1),
                               width_ratios=[max(2, len(found)) for found in ratios.values()])  # fmt: skip
    above = figure.add_subplot(grid[0, :])
    above.set_axis_off()
    above.legend(handles=handles, ncols=len(handles), loc="center left", **LEGEND)
    first = None
    for place, (npus, found) in enumerate(ratios.items()):
        axes = figure.add_subplot(grid[1, place], sharey=first)
        _draw_ratios(axes, found, models)
        axes.set_xlabel("TP degree", fontsize=8)
        left_out = sorted(set(best[best["npus"] == npus]["tensor"]) - set(found))
        axes.set_title(f"{npus:,} NPUs", fontsize=9, loc="left")
        if left_out:
            _say_below(axes, f"not run: TP {', '.join(map(str, left_out))}")
        axes.tick_params(labelsize=8, labelleft=first is None)
        first = first or axes
    first.set_ylim(bottom=0)  # after all panels, as they share the axis
    first.set_ylabel(f"time over that of\n{last}", fontsize=8)
    return figure


def model_degrees(table: pandas.DataFrame, last: str, models: list[str]) -> dict[int, dict[str, pandas.Series]]:
    """Per TP degree that was run: each model's times over those of the model `last`, without models of no design."""
    found: dict[int, dict[str, pandas.Series]] = {}
    for model in models:
        if not {last, model} <= set(table):
            continue
        ratio = (table[model] / table[last]).dropna()
        degrees = [int(each.split(",")[0]) for each in ratio.index.get_level_values("hp")]
        for degree, of in ratio.groupby(numpy.array(degrees, dtype=int)):
            found.setdefault(int(degree), {})[model] = of
    return dict(sorted(found.items()))


def _model_colour(model: str) -> str:
    return COLOURS[(1, 3, 0)[hp.MODELS.index(model) % 3]]


def _draw_ratios(axes: Axes, found: dict[int, dict[str, pandas.Series]], models: list[str]) -> None:
    for place, by_model in enumerate(found.values()):
        for at, (model, mark) in enumerate(zip(models, MARKERS)):
            ratio = by_model.get(model, pandas.Series(dtype=float))
            spread = numpy.linspace(-0.09, 0.09, len(ratio)) if len(ratio) > 1 else numpy.zeros(len(ratio))
            x = place + (at - (len(models) - 1) / 2) * 0.27 + spread
            axes.scatter(x, ratio, s=12, marker=mark, color=_model_colour(model), alpha=0.75, edgecolor="none")
    axes.axhline(1, color="black", lw=0.8)
    axes.set_xticks(range(len(found)), list(found))
    axes.set_xlim(-0.5, len(found) - 0.5)
    bare(axes)
