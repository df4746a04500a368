"""The pictures of `overview`: results beside the bounds of their own networks, efficiency, and the fastest competitors.
"""

from __future__ import annotations

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .columns import LOG_RATIO, MARKERS, PALETTE, REST_COLOUR, pale
from .contests import Contest, contests, winners
from .layout import under_legend
from .outcome import no_contest
from .reader import Study
from .words import bare, broken, figure_of_words, fitted

#: At most so many networks are drawn; the largest are left out first, and the picture says so.
MOST_NETWORKS = 24
#: At most so many competitors have their own panel.
MOST_PANELS = 12


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
    """The results at the largest size (for training: of the fastest HP), each beside the proven bound of its own
    network.
    """
    rows = contest.rows
    collectives = contest.at == "size"
    if collectives:
        rows = rows[rows["at"] == rows.groupby("panel")["at"].transform("max")]
    best = contest.fastest(rows, ["panel", "network", "who"])
    names = contest.networks(best)
    shown = names[:MOST_NETWORKS]
    best = best[best["network"].isin(shown)]
    panels = list(dict.fromkeys(best["panel"]))
    width = min(16.0, max(6.5, 2.5 + len(shown) * max(0.45, 0.13 * len(contest.who))))
    many = under_legend(_legend(contest, best), width, [2.5] * len(panels), 1, extra=1.1)
    figure = many[0].figure
    for axes, panel in zip(many, panels):
        of = best[best["panel"] == panel]
        _draw_points(axes, contest, of, shown)
        axes.set_title(
            f"{panel}, {contest.texts[of['at'].iloc[0]]}" if collectives else f"{panel}, the fastest HP of each",
            loc="left",
            fontsize=10,
        )
        axes.set_ylabel(contest.unit)
        axes.set_xticks(
            range(len(shown)),
            [broken(name) for name in shown] if axes is many[-1] else [""] * len(shown),
            rotation=30,
            ha="right",
            rotation_mode="anchor",
        )
        axes.set_xlim(-0.6, len(shown) - 0.4)
    what = f"{contest.study}: {'more' if collectives else 'less'} is better"
    if len(shown) < len(names):
        what += f"; the {len(shown)} smallest of {len(names)} networks"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=11)
    return figure


def _draw_points(axes: Axes, contest: Contest, of: pandas.DataFrame, names: list[str]) -> None:
    """A point per competitor and network, and a line to the bound of its network."""
    step = 0.8 / len(contest.who)
    for number, who in enumerate(contest.who):
        mine = of[of["who"] == who]
        x = (
            numpy.array([names.index(network) for network in mine["network"]])
            + (number - (len(contest.who) - 1) / 2) * step
        )
        colour = colour_of(number)
        axes.vlines(x, mine["reached"], mine["allowed"].fillna(mine["reached"]), color=colour, linewidth=0.8, alpha=0.6)
        for unwound, style in ((False, "solid"), (True, (0, (1.2, 0.8)))):
            at = (mine["unwound"] == unwound).to_numpy()
            axes.hlines(
                mine["allowed"][at],
                x[at] - 0.42 * step,
                x[at] + 0.42 * step,
                color=colour,
                linewidth=1.8,
                linestyle=style,
            )
            axes.plot(
                x[at],
                mine["reached"][at],
                linestyle="",
                marker=marker_of(number),
                markersize=5,
                color=colour,
                markerfacecolor="white" if unwound else colour,
            )
    for place in range(1, len(names)):
        axes.axvline(place - 0.5, color="#E4E4E4", linewidth=0.8, zorder=0)
    _scale(axes.yaxis, pandas.concat([of["reached"], of["allowed"]]).dropna())
    bare(axes)


def _legend(contest: Contest, best: pandas.DataFrame) -> list[Line2D]:
    handles = [
        Line2D([], [], linestyle="", marker=marker_of(i), color=colour_of(i), label=broken(who))
        for i, who in enumerate(contest.who)
        if who in set(best["who"])
    ]
    handles.append(Line2D([], [], color="#555555", linewidth=1.8, label="proven bound of the point"))
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
    width = max(6.5, 3.3 * columns)
    figure = Figure(figsize=(width, 2.6 * lines + 1.0), dpi=110, layout="constrained")
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
    """The fastest competitor at every task by colour (tied ones side by side), and how much slower the next one is."""
    table = winners(contest)
    names = contest.networks()
    shown = names[:MOST_NETWORKS]
    panels = list(dict.fromkeys(table["panel"]))
    places = list(contest.texts)
    width = min(18.0, max(6.5, 2.6 + len(panels) * max(1.7, 0.5 * len(places))))
    height = max(1.4, 0.34 * len(shown))
    won = [i for i, who in enumerate(contest.who) if any(who in names for names in table["fastest"])]
    many = under_legend(
        [Patch(color=colour_of(i), label=broken(contest.who[i])) for i in won], width, [height], len(panels), extra=1.1
    )
    figure = many[0].figure
    for axes, panel in zip(many, panels):
        of = table[(table["panel"] == panel) & table["network"].isin(shown)]
        for row in of.itertuples():
            _draw_cell(axes, contest, row, places.index(row.at), shown.index(row.network))
        axes.set_xlim(-0.5, len(places) - 0.5)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        _label_places(axes.xaxis, contest)
        axes.set_title(panel, loc="left", fontsize=10)
        axes.set_facecolor("#F4F4F4")
        axes.set_yticks(range(len(shown)), [broken(name, 40) for name in shown] if axes is many[0] else [])
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
    what = f"{contest.study}: the fastest, and the next one's time over its; grey: not evaluated"
    if table["unwound"].any():
        what += "; *: on the unwound topology"
    if len(shown) < len(names):
        what += f"; the {len(shown)} smallest of {len(names)} networks"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=10)
    return figure


def _draw_cell(axes: Axes, contest: Contest, row, x: int, y: int) -> None:
    part = 1 / len(row.fastest)
    for i, who in enumerate(row.fastest):
        colour = colour_of(contest.who.index(who))
        axes.add_patch(
            Rectangle((x - 0.5 + i * part, y - 0.5), part, 1, facecolor=colour, edgecolor="white", linewidth=0.5)
        )
    text = "" if numpy.isnan(row.lead) else f"{row.lead:.{2 if row.lead < 1.1 else 1 if row.lead < 100 else 0}f}x"
    halo = [withStroke(linewidth=2, foreground="white")]  # legible on every colour
    axes.text(x, y, text + ("*" if row.unwound else ""), ha="center", va="center", fontsize=8, path_effects=halo)


def _label_places(axis: Axis, contest: Contest) -> None:
    """Labels of sizes or of HP-(m,n), as many as fit."""
    texts = list(contest.texts.values())
    step = -(-len(texts) // 12)
    axis.axes.set_xticks(
        range(0, len(texts), step), texts[::step], rotation=30, ha="right", rotation_mode="anchor", fontsize=8
    )


def _scale(axis: Axis, values: pandas.Series) -> None:
    """An axis from 0 if the values are similar, otherwise logarithmic: points, unlike bars, have no length that a cut
    axis would falsify.
    """
    if len(values) and values.min() > 0 and values.max() / values.min() > LOG_RATIO:
        axis.axes.set_yscale("log")
        axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0) if values.max() / values.min() < 1e3 else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    elif len(values):
        axis.axes.set_ylim(0, 1.08 * values.max())
