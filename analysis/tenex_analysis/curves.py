"""Bus bandwidth over message size: a line per algorithm, a panel per network and collective, the proven bound dashed.

    python3 -m tenex_analysis.curves DIR                      print a table: who is fastest where, and how close
    python3 -m tenex_analysis.curves DIR --png FILE           and draw the curves
    python3 -m tenex_analysis.curves DIR --where CONDITION    only of rows for which it holds (analysis/conditions.md)

Bus bandwidth is that of nccl-tests: size over time, times 2(n-1)/n for an All-Reduce, (n-1)/n for All-Gather,
Reduce-Scatter and All-to-All. Of several rows of an algorithm at a size (chunks, attempts, ...) the fastest counts. The
bound of a panel is the least of its rows: no algorithm of the panel can be above it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator, PercentFormatter

from .columns import algorithm_styles, ink, quantity_text
from .command import run_command
from .contests import Contest, contests, panel_name
from .layout import PAGE_INCHES, apart, save, under_legend
from .markdown import as_markdown
from .outcome import no_contest
from .reader import Study, open_study
from .words import NothingToShow, bare, broken, fitted, picture, reached

#: At most so many networks and collectives have a panel; further ones are counted in the title.
MOST_PANELS = 12
#: Heights in inches: bandwidth, share of the bound.
HEIGHTS = (1.9, 0.85)
#: At most so many ticks stand under a panel.
MOST_TICKS = 6
#: A longer name takes the room of ticks from its panel.
LONG_NAME = 14
#: Curves are named at their right ends if all have room, otherwise in a legend.
MOST_NAMES = 7


def curves(study: Study, rows: pandas.DataFrame | None = None) -> pandas.DataFrame:
    """A row per network, collective, algorithm and size: `network`, `collective`, `who`, `size`, `busbw` and `bound`
    (of the network and size) in B/s, and `efficiency`, the one over the other. Networks by NPUs and name, algorithms in
    the order of the study. Of rows on an unwound topology, which is another network, `unwound` is added to its name.
    NothingToShow where no collective is ok.
    """
    contest = next((each for each in contests(study) if each.at == "size"), None)
    if contest is None:
        raise NothingToShow(no_contest(study))
    of = _with_bus(study, contest, rows)
    if of.empty:
        raise NothingToShow("Nothing to show: no collective that is ok fulfils the condition.")
    keys = ["network", "panel", "at"]
    best = of.loc[of.groupby([*keys, "who"], sort=False)["busbw"].idxmax()]
    bound = of.groupby(keys)["bound"].max().rename("bound").reset_index()
    best = best.drop(columns="bound").merge(bound, on=keys, how="left")
    best = best.assign(efficiency=best["busbw"] / best["bound"])
    order = {"network": contest.networks(of), "panel": list(dict.fromkeys(of["panel"])), "who": contest.who}
    places = best.assign(**{name: best[name].map(words.index) for name, words in order.items()})
    best = best.loc[places.sort_values([*order, "at"], kind="stable").index].reset_index(drop=True)
    names = {"panel": "collective", "at": "size"}
    return best.rename(columns=names)[["network", "collective", "who", "size", "busbw", "bound", "efficiency"]]


def _with_bus(study: Study, contest: Contest, rows: pandas.DataFrame | None) -> pandas.DataFrame:
    """The rows of a contest with `busbw` and `bound` in B/s."""
    of = contest.rows if rows is None else contest.rows[contest.rows.index.isin(rows.index)]
    frame = study.frame().loc[of.index]
    factor = frame["busbw_bytes_per_s"] / frame["algbw_bytes_per_s"]  # one by collective and members of a group
    of = of[factor.notna()]
    names = of["network"].where(~of["unwound"], of["network"] + ", unwound")
    return of.assign(network=names, busbw=of["reached"] * 1e9 * factor, bound=of["allowed"] * 1e9 * factor)


def size_text(size: float) -> str:
    """A size as studies write it: "64KiB", "1GB"."""
    return quantity_text(float(size), "B").replace(" ", "")


def table(found: pandas.DataFrame) -> pandas.DataFrame:
    """A line per curve: where it is the fastest (ties count for all), the size from which on it has half of its
    greatest bandwidth, and bus bandwidth and share of the bound at its largest size.
    """
    keys = ["network", "collective"]
    most = found.groupby([*keys, "size"])["busbw"].transform("max")
    lines = []
    for names, of in found.assign(wins=found["busbw"] == most).groupby([*keys, "who"], sort=False):
        sizes = sorted(found.loc[(found[keys] == list(names[:2])).all(axis=1), "size"].unique())
        last = of.iloc[-1]
        fastest = ranges(sizes, set(of.loc[of["wins"], "size"]))
        lines.append([panel_name(names[0]), *names[1:], fastest, size_text(_half(of)),
                      size_text(last["size"]), last["busbw"] / 1e9, reached(last["efficiency"], 3)])  # fmt: skip
    return pandas.DataFrame(lines, columns=[*keys, "algorithm", "fastest at", "half speed from", "largest size",
                                            "busbw GB/s", "of bound"])  # fmt: skip


def ranges(sizes: list, chosen: set) -> str:
    """ "1KiB-64KiB, 1GiB": the chosen ones of the sizes, neighbours together."""
    parts: list[list] = []
    for place, size in enumerate(sizes):
        if size not in chosen:
            continue
        if parts and sizes[place - 1] == parts[-1][-1]:
            parts[-1].append(size)
        else:
            parts.append([size])
    return ", ".join(size_text(p[0]) + (f"-{size_text(p[-1])}" if len(p) > 1 else "") for p in parts)


def _half(curve: pandas.DataFrame) -> float:
    """The least size of a curve at and after which it stays at or above half of its greatest bandwidth."""
    below = numpy.flatnonzero((curve["busbw"] < curve["busbw"].max() / 2).to_numpy())
    return float(curve["size"].iloc[below[-1] + 1 if len(below) and below[-1] + 1 < len(curve) else
                                    0 if not len(below) else -1])  # fmt: skip


def draw_curves(study: Study, rows: pandas.DataFrame | None = None) -> Figure:
    """The curves of the rows (all of them by default). NothingToShow where `curves` has none."""
    found = curves(study, rows)
    panels = list(found.groupby(["network", "collective"], sort=False))
    shown = panels[:MOST_PANELS]
    styles = algorithm_styles(list(dict.fromkeys(found["who"])))
    columns = min(2, len(shown))
    lines = -(-len(shown) // columns)
    named = max(of["who"].nunique() for _, of in shown) <= MOST_NAMES
    width = PAGE_INCHES if columns > 1 else 0.62 * PAGE_INCHES
    handles = [Line2D([], [], color=c, marker=m, ms=4, label=broken(who)) for who, (c, m) in styles.items()]
    handles = [] if named else handles
    height = sum(HEIGHTS) + 0.75
    spaces = under_legend(handles, width, [height] * lines, columns, extra=0.5)
    figure = spaces[0].figure
    collectives = found["collective"].nunique()
    for axes in spaces:
        axes.remove()
    for space, ((network, collective), of) in zip(spaces, shown):
        title = f"{panel_name(network)}, {collective}" if collectives > 1 else panel_name(network)
        _draw_panel(figure, space.get_subplotspec(), of, styles, broken(title, 44), named)
    what = f"{study.name}: bus bandwidth by size"
    what += f", {found['collective'].iloc[0]}" if collectives == 1 else ""
    what += "; dashed: the proven bound; under it: the share of the bound that is reached"
    if len(shown) < len(panels):
        what += f"; the first {len(shown)} of {len(panels)} networks and collectives"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=10)
    return figure


def _draw_panel(figure: Figure, place: SubplotSpec, of: pandas.DataFrame, styles, title: str, named: bool) -> None:
    inner = place.subgridspec(2, 1, height_ratios=HEIGHTS)
    above = figure.add_subplot(inner[0])
    below = figure.add_subplot(inner[1], sharex=above)
    bound = of.drop_duplicates("size").sort_values("size")
    above.plot(bound["size"], bound["bound"] / 1e9, "--", color="black", lw=1.0, zorder=1)
    ends = []
    for who, curve in of.groupby("who", sort=False):
        colour, marker = styles[who]
        style = {"color": colour, "marker": marker, "ms": 3.5, "lw": 1.3, "label": who}
        above.plot(curve["size"], curve["busbw"] / 1e9, **style)
        below.plot(curve["size"], curve["efficiency"], **style)
        ends.append((who, colour, float(curve["busbw"].iloc[-1]) / 1e9, float(curve["efficiency"].iloc[-1])))
    _scales(above, below, of)
    above.set_title(title, loc="left", fontsize=9)
    if named:
        _name(above, ends)


def _scales(above: Axes, below: Axes, of: pandas.DataFrame) -> None:
    above.set_xscale("log", base=2)
    above.set_yscale("log")
    few = of["busbw"].max() < 100 * of["busbw"].min()
    above.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=12))
    above.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    above.yaxis.set_minor_formatter(NullFormatter())
    above.set_ylabel("busbw (GB/s)", fontsize=8)
    above.tick_params(labelbottom=False, labelsize=8)
    crowded = of["who"].map(len).max() > LONG_NAME
    below.set_xticks(size_ticks(sorted(of["size"].unique()), MOST_TICKS - 2 if crowded else MOST_TICKS))
    below.xaxis.set_minor_locator(NullLocator())
    below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    below.set_ylim(0, 1.08)
    below.set_yticks([0, 0.5, 1])
    below.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    below.axhline(1, ls="--", lw=1.0, color="black", zorder=1)
    below.set_ylabel("of bound", fontsize=8)
    below.tick_params(labelsize=8)
    for axes in (above, below):
        bare(axes)


def size_ticks(sizes: Sequence[float], most: int = MOST_TICKS) -> list[float]:
    """Every k-th of the sizes, from the least on, so that at most `most` have a tick; the largest has one."""
    step = max(1, -(-(len(sizes) - 1) // (most - 1))) if len(sizes) > 1 else 1
    ticks = list(sizes[::step])
    if ticks[-1] != sizes[-1]:
        ticks = ticks[:-1] if len(sizes) - 1 - sizes.index(ticks[-1]) < (step + 1) // 2 else ticks
        ticks.append(sizes[-1])
    return ticks


def _name(axes: Axes, ends: list[tuple[str, str, float, float]]) -> None:
    """Names at the right ends of the curves, with their shares of the bound, moved apart where they would overlap."""
    low, high = numpy.log(axes.get_ylim())
    heights = [(numpy.log(y) - low) / (high - low) for _, _, y, _ in ends]
    line = 0.135 / HEIGHTS[0]  # of a text of 8 pt
    for (who, colour, _, share), height in zip(ends, apart(heights, line, most=1.0)):  # below the title
        text = who if numpy.isnan(share) else f"{who} {100 * reached(share, 3):.{1 if 0.99 < share < 1 else 0}f} %"
        axes.annotate(text, (1.02, height), xycoords="axes fraction", fontsize=8, color=ink(colour), va="center",
                      annotation_clip=False)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--where", help="only rows for which this condition holds (analysis/conditions.md)")
    parser.add_argument("--png", type=Path)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    rows = study.where(given.where) if given.where else None
    try:
        print(as_markdown(table(curves(study, rows)), {"busbw": ".4g", "of bound": ".3f"}))
    except NothingToShow as nothing:
        print(nothing)
    if given.png:
        save(picture(draw_curves, study, rows), given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
