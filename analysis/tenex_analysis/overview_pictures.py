"""The pictures of `overview`: results beside the bounds of their own networks, efficiency, and the fastest competitors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .columns import LOG_RATIO, MARKERS, PALETTE, REST_COLOUR, natural_order, pale
from .contests import Contest, contests, panel_name, winners
from .layout import PAGE_INCHES, under_legend
from .outcome import no_contest
from .reader import Study
from .words import bare, broken, figure_of_words, fitted

#: At most so many networks are drawn; the largest are left out first, and the picture says so.
MOST_NETWORKS = 24
#: At most so many competitors have their own panel.
MOST_PANELS = 12
#: At most so many panels stand side by side.
MOST_COLUMNS = 3
#: A cell of `winners` that is narrower (in inches) says no lead of its own; those with one winner have one text.
LEAST_CELL = 0.42


def draw_overview(study: Study, kind: str) -> dict[str, Figure]:
    """The pictures of a kind ("reached", "efficiency" or "winners") by name: one for each contest of the study, or one
    that says why there is none.
    """
    draw = {"reached": draw_reached, "efficiency": draw_efficiency, "winners": draw_winners}[kind]
    found = contests(study)
    if not found:
        name = {"reached": "bandwidth"}.get(kind, kind)
        return {name: figure_of_words(no_contest(study), study.name)}
    return {contest.files[kind]: draw(contest) for contest in found}


def colour_of(number: int) -> object:
    """The colours of a contest's competitors: six strong colours, six pale ones, then grey."""
    if number < len(PALETTE):
        return PALETTE[number]
    return pale(PALETTE[number - len(PALETTE)]) if number < 2 * len(PALETTE) else REST_COLOUR


def marker_of(number: int) -> str:
    """Competitors of one colour have different marks."""
    return MARKERS[(number + number // len(MARKERS)) % len(MARKERS)]


def draw_reached(contest: Contest) -> Figure:
    """The results at the largest size (for training: of the fastest HP) beside the proven bounds of their networks: a
    line per network, those with the best bound first. The fastest has a ring, and its share of the bound beside it.
    """
    rows = contest.rows
    collectives = contest.at == "size"
    if collectives:
        rows = rows[rows["at"] == rows.groupby("panel")["at"].transform("max")]
    best = contest.fastest(rows, ["panel", "network", "who"])
    names = contest.networks(best)
    best = best[best["network"].isin(names[:MOST_NETWORKS])]
    shown = by_bound(best, larger=collectives)
    panels = list(dict.fromkeys(best["panel"]))
    columns = min(len(panels), MOST_COLUMNS)
    lines = -(-len(panels) // columns)
    height = len(shown) * min(2.2, max(0.3, 0.1 * len(contest.who)))
    width = PAGE_INCHES if columns > 1 else 0.78 * PAGE_INCHES
    many = under_legend(_legend(contest, best), width, [height + 0.5] * lines, columns, extra=0.45)
    figure = many[0].figure
    for axes in many[len(panels) :]:
        axes.set_axis_off()
    for place, (axes, panel) in enumerate(zip(many, panels)):
        of = best[best["panel"] == panel]
        _draw_points(axes, contest, of, shown)
        axes.set_title(
            f"{panel}, {contest.texts[of['at'].iloc[0]]}" if collectives else broken(f"{panel}, the fastest HP", 30),
            loc="left",
            fontsize=10,
        )
        axes.set_xlabel(contest.unit, fontsize=9)
        names_here = [broken(panel_name(name), 24) for name in shown]
        axes.set_yticks(range(len(shown)), names_here if place % columns == 0 else [""] * len(shown), fontsize=8)
        axes.tick_params(axis="x", labelsize=8)
        axes.set_ylim(len(shown) - 0.4, -0.6)
    what = f"{contest.study}: {'more' if collectives else 'less'} is better; "
    what += "ringed: the fastest, with its share of the bound"
    if len(shown) < len(names):
        what += f"; the {len(shown)} smallest of {len(names)} networks"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=10)
    return figure


def by_bound(best: pandas.DataFrame, larger: bool) -> list[str]:
    """The networks by the bound of their rows in the first panel that has them, the best first; without bounds last."""
    bound = {}
    for _, of in best.groupby("panel", sort=False):
        for network, allowed in of.groupby("network", sort=False)["allowed"]:
            bound.setdefault(network, allowed.max() if larger else allowed.min())
    worst = -numpy.inf if larger else numpy.inf
    key = {name: worst if numpy.isnan(value) else value for name, value in bound.items()}
    return sorted(key, key=lambda name: (-key[name] if larger else key[name], natural_order(name)))


def has_one_bound(of: pandas.DataFrame) -> bool:
    """Whether the rows of a network have the same bound to within a percent, so that one line shows it."""
    known = of["allowed"].dropna()
    return not of["unwound"].any() and len(known) == len(of) and known.max() <= 1.01 * known.min()


def _draw_points(axes: Axes, contest: Contest, of: pandas.DataFrame, names: list[str]) -> None:
    """A point per competitor and network, and a line to the bound of its network."""
    step = 0.8 / len(contest.who)
    better = of.loc[of.groupby("network")["seconds"].idxmin()].set_index("network")
    single = {network for network, rows in of.groupby("network") if has_one_bound(rows)}
    for network in single:
        allowed = of[of["network"] == network]["allowed"]
        place = names.index(network)
        axes.vlines(allowed.max(), place - 0.42, place + 0.42, color="#333333", linewidth=1.8)
    for number, who in enumerate(contest.who):
        mine = of[of["who"] == who]
        y = (
            numpy.array([names.index(network) for network in mine["network"]])
            + (number - (len(contest.who) - 1) / 2) * step
        )
        colour, marker = colour_of(number), marker_of(number)
        axes.hlines(y, mine["reached"], mine["allowed"].fillna(mine["reached"]), color=colour, linewidth=0.8, alpha=0.6)
        own = ~mine["network"].isin(single).to_numpy()
        for unwound, style in ((False, "solid"), (True, (0, (1.2, 0.8)))):
            at = (mine["unwound"] == unwound).to_numpy()
            axes.vlines(
                mine["allowed"][at & own],
                y[at & own] - 0.42 * step,
                y[at & own] + 0.42 * step,
                color=colour,
                linewidth=1.8,
                linestyle=style,
            )
            axes.plot(
                mine["reached"][at],
                y[at],
                linestyle="",
                marker=marker,
                markersize=5,
                color=colour,
                markerfacecolor="white" if unwound else colour,
            )
        _ring(axes, mine, y, better, names)
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color="#E4E4E4", linewidth=0.8, zorder=0)
    _scale(axes.xaxis, pandas.concat([of["reached"], of["allowed"]]).dropna())
    bare(axes, "x")


def _ring(axes: Axes, mine: pandas.DataFrame, y: numpy.ndarray, better: pandas.DataFrame, names: list[str]) -> None:
    """Rings around a competitor's rows that are the fastest of their networks, with the share of the bound."""
    for row, height in zip(mine.itertuples(), y):
        if row.seconds > better.loc[row.network, "seconds"]:
            continue
        axes.plot([row.reached], [height], "o", ms=10, mfc="none", mec="black", mew=1.1, zorder=4)
        if row.key == better.loc[row.network, "key"] and not numpy.isnan(row.efficiency):
            axes.annotate(f"{100 * row.efficiency:.0f} %", (1.01, names.index(row.network)),
                          xycoords=("axes fraction", "data"), fontsize=8, va="center")  # fmt: skip


def _legend(contest: Contest, best: pandas.DataFrame) -> list[Line2D]:
    handles = [
        Line2D([], [], linestyle="", marker=marker_of(i), color=colour_of(i), label=broken(who))
        for i, who in enumerate(contest.who)
        if who in set(best["who"])
    ]
    shared = [has_one_bound(of) for _, of in best.groupby(["panel", "network"])]
    bound = {"linestyle": "", "marker": "|", "markersize": 12, "markeredgewidth": 1.8}
    if any(shared):
        handles.append(Line2D([], [], color="#333333", label="proven bound of the network", **bound))
    if not all(shared):
        handles.append(Line2D([], [], color=colour_of(0), label="proven bound of that point", **bound))
    if best["unwound"].any():
        handles.append(
            Line2D(
                [],
                [],
                color="#555555",
                linewidth=1.8,
                linestyle=(0, (1.2, 0.8)),
                marker="o",
                markerfacecolor="white",
                label="on the unwound topology, with its bound",
            )
        )
    return handles


def draw_efficiency(contest: Contest) -> Figure:
    """Efficiency (bound over time) of every point by size (for training: by HP), a panel per competitor; lines are
    medians.
    """
    shown = contest.who[:MOST_PANELS]
    places = {at: i for i, at in enumerate(contest.texts)}
    columns = min(len(shown), 3)
    lines = -(-len(shown) // columns)
    width = max(6.5, min(PAGE_INCHES, 3.3 * columns))
    figure = Figure(figsize=(width, 2.3 * lines + 1.0), dpi=110, layout="constrained")
    many = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    random = numpy.random.default_rng(0)
    for number, (axes, who) in enumerate(zip(many, shown)):
        of = contest.rows[(contest.rows["who"] == who) & contest.rows["efficiency"].notna()]
        axes.set_title(broken(who), loc="left", fontsize=10)
        axes.set_ylim(0, 1.05)
        axes.set_xlim(-0.6, len(places) - 0.4)
        if of.empty:
            axes.text(
                0.5,
                0.5,
                "no row has an efficiency",
                ha="center",
                va="center",
                fontsize=8,
                color="#555555",
                transform=axes.transAxes,
            )
            continue
        x = of["at"].map(places) + random.uniform(-0.25, 0.25, len(of))
        axes.scatter(x, of["efficiency"], s=12, color=[colour_of(number)], alpha=0.6, linewidths=0)
        medians = of.groupby(of["at"].map(places))["efficiency"].median()
        axes.hlines(medians, medians.index - 0.35, medians.index + 0.35, color="black", linewidth=1.5)
        bare(axes)
    for axes in many[len(shown) :]:
        axes.set_axis_off()
    for axes in many[: len(shown)][-columns:]:  # the lowest of each column
        _label_places(axes.xaxis, contest)
        axes.tick_params(labelbottom=True)
    for axes in many.reshape(lines, columns)[:, 0]:
        axes.set_ylabel("bound / time")
    what = f"{contest.study}: efficiency against the bound of the point's own network, by {contest.at}; line: median"
    if len(shown) < len(contest.who):
        what += f"; {len(shown)} of {len(contest.who)} competitors"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=11)
    return figure


def draw_winners(contest: Contest) -> Figure:
    """The fastest competitor at every task by colour (tied ones one above the other), and how much slower the next one
    is. Where cells are too narrow for a text each, neighbours with one winner share one: the range of their leads.
    """
    table = winners(contest)
    names = contest.networks()
    shown = names[:MOST_NETWORKS]
    panels = list(dict.fromkeys(table["panel"]))
    places = list(contest.texts)
    label = 0.075 * max(len(line) for name in shown for line in broken(panel_name(name), 24).split("\n")) + 0.3
    columns = next(
        (c for c in range(min(MOST_COLUMNS, len(panels)), 0, -1) if _cell(c, label, len(places)) >= LEAST_CELL), 1
    )
    cell = min(1.2, _cell(columns, label, len(places)))
    width = max(6.5, min(PAGE_INCHES, label + columns * (cell * len(places) + 0.1)))
    lines = -(-len(panels) // columns)
    height = max(1.4, 0.34 * len(shown) + 0.4)
    won = [i for i, who in enumerate(contest.who) if any(who in names for names in table["fastest"])]
    many = under_legend(
        [Patch(color=colour_of(i), label=broken(contest.who[i])) for i in won],
        width,
        [height] * lines,
        columns,
        extra=1.0,
    )
    figure = many[0].figure
    for axes in many[len(panels) :]:
        axes.set_axis_off()
    for place, (axes, panel) in enumerate(zip(many, panels)):
        of = table[(table["panel"] == panel) & table["network"].isin(shown)]
        for row in runs(of, places) if cell < LEAST_CELL else runs(of, places, most=1):
            _draw_run(axes, contest, row, shown.index(row.network), cell)
        axes.set_xlim(-0.5, len(places) - 0.5)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        _label_places(axes.xaxis, contest, cell)
        axes.set_title(panel, loc="left", fontsize=10)
        axes.set_facecolor("#F4F4F4")
        axes.set_yticks(range(len(shown)), [broken(panel_name(name), 24) for name in shown], fontsize=8)
        axes.tick_params(length=0, labelleft=place % columns == 0)
        for side in axes.spines.values():
            side.set_visible(False)
    what = f"{contest.study}: the fastest, and the next one's time over its; grey: not evaluated"
    if table["unwound"].any():
        what += "; *: on the unwound topology"
    if len(shown) < len(names):
        what += f"; the {len(shown)} smallest of {len(names)} networks"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=10)
    return figure


def _cell(columns: int, label: float, places: int) -> float:
    """The width of a cell in inches, with so many panels side by side."""
    return (PAGE_INCHES - label - 0.2 * columns) / columns / places


@dataclass(frozen=True)
class Run:
    """Neighbouring places of a network with the same fastest competitors; leads are NaN where nobody else competes."""

    network: str
    fastest: list[str]
    first: int
    last: int
    least: float
    greatest: float
    unwound: bool

    @property
    def text(self) -> str:
        """ "1.2x", "1.2-3x", with a star for what ran on the unwound topology."""
        low, high = (f"{x:.{2 if x < 1.1 else 1 if x < 100 else 0}f}" for x in (self.least, self.greatest))
        told = "" if numpy.isnan(self.least) else f"{low}x" if low == high else f"{low}-{high}x"
        return told + ("*" if self.unwound else "")


def runs(table: pandas.DataFrame, places: list, most: int | None = None) -> list[Run]:
    """The runs of a panel's rows of `winners`, network by network, each over at most `most` places."""
    found: list[Run] = []
    where = {at: i for i, at in enumerate(places)}
    for network, of in table.assign(place=table["at"].map(where)).groupby("network", sort=False):
        for row in of.sort_values("place").itertuples():
            new = Run(network, row.fastest, row.place, row.place, row.lead, row.lead, bool(row.unwound))
            old = found[-1] if found else None
            if (old is not None and (old.network, old.fastest, old.unwound) == (network, new.fastest, new.unwound)
                    and old.last + 1 == new.first and (most is None or new.last - old.first < most)):  # fmt: skip
                leads = [old.least, old.greatest, new.least]
                low, high = (numpy.nan,) * 2 if numpy.isnan(leads).all() else (numpy.nanmin(leads), numpy.nanmax(leads))
                found[-1] = replace(old, last=new.last, least=float(low), greatest=float(high))
            else:
                found.append(new)
    return found


def _draw_run(axes: Axes, contest: Contest, run: Run, y: int, cell: float) -> None:
    wide = run.last - run.first + 1
    part = 1 / len(run.fastest)
    for i, who in enumerate(run.fastest):
        colour = colour_of(contest.who.index(who))
        axes.add_patch(
            Rectangle(
                (run.first - 0.5, y - 0.5 + i * part), wide, part, facecolor=colour, edgecolor="white", linewidth=0.5
            )
        )
    halo = [withStroke(linewidth=2, foreground="white")]  # legible on every colour
    if 0.075 * len(run.text) <= wide * cell:
        axes.text((run.first + run.last) / 2, y, run.text, ha="center", va="center", fontsize=8, path_effects=halo)


def _label_places(axis: Axis, contest: Contest, cell: float = 1.0) -> None:
    """The texts of the sizes (or HPs), every k-th where all have no room."""
    texts = [text.replace(" ", "") for text in contest.texts.values()]
    step = max(1, int(numpy.ceil(0.2 / cell)))
    kept = range(0, len(texts), step)
    axis.set_ticks(kept, [texts[i] for i in kept], rotation=45, ha="right", rotation_mode="anchor", fontsize=8)


def _scale(axis: Axis, values: pandas.Series) -> None:
    """An axis from 0 if the values are similar, otherwise logarithmic: points, unlike bars, have no length that a cut
    axis would falsify.
    """
    if len(values) and values.min() > 0 and values.max() / values.min() > LOG_RATIO:
        axis.axes.set_xscale("log")
        axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0) if values.max() / values.min() < 1e3 else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    elif len(values):
        axis.axes.set_xlim(0, 1.08 * values.max())
