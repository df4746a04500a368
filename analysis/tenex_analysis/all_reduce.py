"""From which size on an All-Reduce by trees is the fastest, from the result of experiments/all_reduce.

    python3 -m tenex_analysis.all_reduce DIR                  print the table
    python3 -m tenex_analysis.all_reduce DIR --table FILE     write it between the marks in FILE
    python3 -m tenex_analysis.all_reduce DIR --into FOLDER    all_reduce.png
"""

from __future__ import annotations

from pathlib import Path

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from .columns import algorithm_styles
from .command import picture_or_table, run_command
from .layout import PAGE_INCHES, under_legend
from .markdown import as_markdown
from .reader import Study
from .words import NothingToShow, bare

#: The order of the legend.
ORDER = ("trees", "tacos", "ring", "rings", "direct", "themis")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def times(study: Study) -> pandas.DataFrame:
    """The All-Reduces of networks that have rows of trees and of another algorithm: with `network`, `name` (of the
    algorithm), `ps` (the best time of the algorithm at the size) and `share`: the least bound of the network and size
    over that time.
    """
    frame = study.frame()
    if "collective" not in frame or "algorithm" not in frame:
        raise NothingToShow(f"{study.path} has no collectives (experiments/all_reduce has them)")
    frame = frame[(frame["collective"].astype(str) == "all_reduce") & (frame["status"].astype(str) == "ok")]
    frame = frame.assign(network=[Path(each).stem if str(each).endswith(".toml") else str(each)
                                  for each in frame["topology"]], name=frame["algorithm"].astype(str))  # fmt: skip
    by_network = frame.groupby("network")["name"].agg(set)
    kept = [network for network, names in by_network.items() if "trees" in names and len(names) > 1]
    frame = frame[frame["network"].isin(kept)]
    if not len(frame):
        raise NothingToShow(f"{study.path} has no All-Reduce by trees beside others (experiments/all_reduce has them)")
    keys = ["network", "size"]
    least = frame.groupby(keys)["bound_ps"].min()
    best = frame.groupby([*keys, "name"], sort=False)["collective_time_ps"].min().rename("ps").reset_index()
    bounds = least.reindex(pandas.MultiIndex.from_frame(best[keys])).to_numpy(float)
    return best.assign(share=bounds / best["ps"].to_numpy(float))


def table(study: Study) -> pandas.DataFrame:
    """A line per network: the least size from which on trees are the fastest (of the sizes that the study has), how
    much faster than TACOS and than the best other algorithm they are at the largest size, and their share of the bound.
    """
    frame = times(study)
    lines = []
    for network, of in frame.groupby("network", sort=False):
        wide = of.pivot(index="size", columns="name", values="ps").sort_index()
        others = wide.drop(columns="trees").min(axis=1)
        gain = others / wide["trees"]
        shares = of[of["name"] == "trees"].set_index("size")["share"].sort_index()
        tacos = wide["tacos"] / wide["trees"] if "tacos" in wide else pandas.Series(numpy.nan, index=wide.index)
        lines.append({
            "network": network, "trees win from": _from(gain),
            "TACOS / trees": float(tacos.iloc[-1]), "best other / trees": float(gain.iloc[-1]),
            "trees, of the bound": float(shares.iloc[-1]), "at": size_text(int(wide.index[-1])),
        })  # fmt: skip
    return pandas.DataFrame(lines)


def _from(gain: pandas.Series) -> str:
    """The least size from which on every gain is above 1."""
    wins = (gain > 1).to_numpy(bool)
    if not wins[-1]:
        return "never"
    first = len(wins) - int(numpy.argmin(wins[::-1])) if not wins.all() else 0
    return size_text(int(gain.index[first]))


def size_text(size: int) -> str:
    """ "64KiB": the largest unit in which the size is whole."""
    power = 0
    while power + 1 < len(UNITS) and size % 1024 == 0 and size > 0:
        size //= 1024
        power += 1
    return f"{size}{UNITS[power]}"


def draw(study: Study) -> Figure:
    """The bound over the time of each algorithm against the size, a picture per network, under a common legend."""
    frame = times(study)
    networks = list(dict.fromkeys(frame["network"]))
    found = list(dict.fromkeys(frame["name"]))
    names = [each for each in ORDER if each in found] + [each for each in found if each not in ORDER]
    styles = algorithm_styles(names)
    handles = [Line2D([], [], color=styles[name][0], marker=styles[name][1], ms=5, label=name) for name in names]
    columns = min(3, len(networks))
    rows = -(-len(networks) // columns)
    many = under_legend(handles, min(PAGE_INCHES, max(4.0, 2.7 * columns)), [1.85] * rows, columns, "all", 0.3)
    for axes in many[len(networks) :]:
        axes.set_axis_off()
    for place, (axes, network) in enumerate(zip(many, networks)):
        _draw_one(axes, frame[frame["network"] == network], styles)
        axes.set_title(network, fontsize=9, loc="left")
        if place % columns == 0:
            axes.set_ylabel("bound / time", fontsize=8)
        axes.tick_params(labelbottom=place + columns >= len(networks))
    return many[0].figure


def _draw_one(axes: Axes, frame: pandas.DataFrame, styles: dict[str, tuple[str, str]]) -> None:
    for name, of in frame.groupby("name", sort=False):
        of = of.sort_values("size")
        colour, mark = styles[str(name)]
        axes.plot(of["size"].to_numpy(float), of["share"], "-", marker=mark, ms=4, lw=1.2, color=colour,
                  zorder=3 if name == "trees" else 2)  # fmt: skip
    axes.set_xscale("log", base=2)
    sizes = sorted(set(frame["size"].astype(int)))
    shown = sizes[::2] if len(sizes) > 3 else sizes
    axes.set_xticks(shown, [size_text(each) for each in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(0, 1.05)
    axes.axhline(1, color="#666666", lw=0.8, ls="--")
    axes.tick_params(labelsize=8)
    bare(axes)


def _tables(study: Study) -> str:
    kinds = {"TACOS / trees": ".2f", "best other / trees": ".2f", "trees, of the bound": ".3f"}
    return as_markdown(table(study), kinds) + "\n"


def main(arguments: list[str] | None = None) -> int:
    return picture_or_table(str(__doc__), "all_reduce", draw, _tables, arguments)


if __name__ == "__main__":
    raise SystemExit(run_command(main))
