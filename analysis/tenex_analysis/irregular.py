"""How near to the bound schedules are where nothing is regular, from the result of experiments/irregular.

    python3 -m tenex_analysis.irregular DIR                  print the table
    python3 -m tenex_analysis.irregular DIR --table FILE     write it between the marks in FILE
    python3 -m tenex_analysis.irregular DIR --into FOLDER    irregular.png
"""

from __future__ import annotations

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from .columns import MARKERS, PALETTE
from .command import picture_or_table, run_command
from .layout import PAGE_INCHES, under_legend
from .markdown import as_markdown
from .reader import Study
from .words import NothingToShow, bare

KEYS = ["topology", "collective", "algorithm", "chunks"]
#: The key of amounts that are cut by size; files older than it lack its column.
PIECE = "piece"
#: The family whose sizes are compared.
FAMILY = "mesh("


def shares(study: Study) -> pandas.DataFrame:
    """The rows with a time, with `share`: bound over time."""
    frame = study.frame()
    if not set(KEYS) <= set(frame.columns):
        raise NothingToShow(f"{study.path} has no collectives (experiments/irregular has them)")
    frame = frame[(frame["status"].astype(str) == "ok") & (frame["bound_ps"] > 0)]
    if not len(frame):
        raise NothingToShow(f"{study.path} has no row with a time and a bound")
    frame = frame.assign(**{key: frame[key].astype(str) for key in KEYS[:3]})
    frame[PIECE] = frame[PIECE].astype(int) if PIECE in frame else -1
    return frame.assign(share=frame["bound_ps"].to_numpy(float) / frame["collective_time_ps"].to_numpy(float))


def table(study: Study) -> pandas.DataFrame:
    """A line per network, collective, algorithm and number of chunks or size of pieces: draws of failed links, the mean
    time, and the mean and the least share of the bound.
    """
    lines = []
    for (topology, collective, algorithm, chunks, piece), of in shares(study).groupby([*KEYS, PIECE], sort=False):
        lines.append({
            "network": topology, "collective": collective, "algorithm": algorithm,
            "chunks": f"of {piece / 1e6:g} MB" if piece > 0 else str(chunks), "draws": len(of),
            "time (ms)": float(of["collective_time_ps"].mean()) / 1e9, "bound / time": float(of["share"].mean()),
            "least": float(of["share"].min()),
        })  # fmt: skip
    return pandas.DataFrame(lines)


def draw(study: Study) -> Figure:
    """Bound over time against the number of NPUs: a mark for each row, and lines through the means of the networks of
    one family.
    """
    frame = shares(study)
    collectives = list(dict.fromkeys(frame["collective"]))
    styles = {each: (PALETTE[i % len(PALETTE)], MARKERS[i % len(MARKERS)]) for i, each in enumerate(collectives)}
    handles = [Line2D([], [], color=styles[each][0], marker=styles[each][1], ms=5, label=each) for each in collectives]
    axes = under_legend(handles, PAGE_INCHES * 0.8, [2.8], 1)[0]
    of_family = frame["topology"].str.startswith(FAMILY)
    for collective in collectives:
        colour, mark = styles[collective]
        here = frame[frame["collective"] == collective]
        meshes, others = here[of_family[here.index]], here[~of_family[here.index]]
        axes.plot(meshes["npus"], meshes["share"], mark, ms=3.5, color=colour, alpha=0.5, lw=0)
        means = meshes.groupby("npus")["share"].mean()
        axes.plot(means.index.to_numpy(float), means.to_numpy(float), "-", color=colour, lw=1.4)
        axes.plot(others["npus"], others["share"], mark, ms=5, mfc="none", color=colour, lw=0)
    _name_others(axes, frame[~of_family])
    axes.set_xscale("log", base=2)
    sizes = sorted(set(frame["npus"].astype(int)))
    axes.xaxis.set_major_locator(FixedLocator([each for each in sizes if each & (each - 1) == 0]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{int(value):,}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("NPUs", fontsize=8)
    axes.set_ylabel("bound / time", fontsize=8)
    axes.set_ylim(min(0.88, float(numpy.floor(20 * frame["share"].min()) / 20)), 1.005)
    axes.tick_params(labelsize=8)
    bare(axes)
    return axes.figure


def _name_others(axes: Axes, frame: pandas.DataFrame) -> None:
    """The names of single networks beside their lowest mark."""
    for topology, of in frame.groupby("topology", sort=False):
        axes.annotate(str(topology), (float(of["npus"].iloc[0]), float(of["share"].min())), xytext=(5, -4),
                      textcoords="offset points", fontsize=8, color="#555555")  # fmt: skip


def _tables(study: Study) -> str:
    return as_markdown(table(study), {"time (ms)": ".3f", "bound / time": ".3f", "least": ".3f"}) + "\n"


def main(arguments: list[str] | None = None) -> int:
    return picture_or_table(str(__doc__), "irregular", draw, _tables, arguments)


if __name__ == "__main__":
    raise SystemExit(run_command(main))
