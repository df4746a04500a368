"""How collectives slow down as links and NPUs fail, from the result of experiments/faults or faults_large.

    python3 -m tenex_analysis.faults DIR                  print the tables
    python3 -m tenex_analysis.faults DIR --table FILE     write them between the marks in FILE
    python3 -m tenex_analysis.faults DIR --into FOLDER    faults.png
"""

from __future__ import annotations

import re

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .columns import algorithm_styles, ink
from .command import picture_or_table, run_command
from .layout import PAGE_INCHES
from .markdown import as_markdown
from .reader import Study
from .words import NothingToShow, fitted

DRAWN = re.compile(r"(?:switch_)?links (?P<share>[\d.]+)% draw (?P<draw>\d+)")
DEAD = re.compile(r"(?:npus? [^;]*)(?:; npus? [^;]*)*")
NAMES = {"all_reduce": "All-Reduce", "all_to_all": "All-to-All", "all_gather": "All-Gather"}
KEY = ["topology", "collective", "algorithm"]


def shares(study: Study) -> pandas.DataFrame:
    """The rows without faults (share 0) and with drawn links: with `share` in percent, `draw`, `connected`, and
    `slower` and `least`: time and bound over the time of the same point without faults.
    """
    frame = study.frame()
    texts = frame["faults"].astype(str) if "faults" in frame else pandas.Series(dtype=str)
    found = texts.str.extract(f"^{DRAWN.pattern}$")
    kept = (texts == "none") | found["share"].notna()
    if not found["share"].notna().any():
        raise NothingToShow(f"{study.path} has no drawn links (experiments/faults has them)")
    frame = frame[kept].assign(
        share=found["share"].astype(float).fillna(0.0), draw=found["draw"].astype(float).fillna(0).astype(int)
    )
    drawn = frame["topology"].isin(set(frame.loc[frame["share"] > 0, "topology"]))
    return _over_whole(frame[drawn], study)


def dead(study: Study) -> pandas.DataFrame:
    """The rows without faults and with dead NPUs, named or drawn, of networks and algorithms that have both: with
    `slower`, `least` and `connected` as in shares(). Empty where there are none.
    """
    frame = study.frame()
    texts = frame["faults"].astype(str) if "faults" in frame else pandas.Series("none", index=frame.index)
    frame = frame.assign(faults=texts, dead=texts.str.fullmatch(DEAD.pattern))
    frame = frame[frame["dead"] | (texts == "none")]
    keys = frame[KEY].astype(str).agg("|".join, axis=1)
    both = set(keys[frame["dead"]]) & set(keys[~frame["dead"]])
    return _over_whole(frame[keys.isin(both)], study)


def _over_whole(frame: pandas.DataFrame, study: Study) -> pandas.DataFrame:
    """The rows with `connected`, `slower` and `least`. ValueError for two rows without faults where one is meant."""
    frame = frame.assign(connected=frame["status"].astype(str) == "ok")
    for name in KEY:
        frame[name] = frame[name].astype(str)
    whole = frame[(frame["faults"].astype(str) == "none") & frame["connected"]].set_index(KEY)
    if not whole.index.is_unique:
        raise ValueError(f"{study.path} has several rows without faults for one network, collective and algorithm")
    index = pandas.MultiIndex.from_frame(frame[KEY])
    before = whole["collective_time_ps"].reindex(index).to_numpy(float)
    for name, column in (("slower", "collective_time_ps"), ("least", "bound_ps")):
        ratio = frame[column].to_numpy(float) / before
        frame[name] = numpy.where(frame["connected"], ratio, numpy.nan)
    return frame


def table(study: Study) -> pandas.DataFrame:
    """For every network, collective and algorithm: the time without faults in microseconds, how many times as long the
    connected draws of each share take on average (and the longest), and their mean bound over the same time.
    """
    frame = shares(study)
    lines = []
    for names, of in frame.groupby(KEY, sort=False):
        whole = of[of["share"] == 0].iloc[0]
        line = _line(names, whole) | {"0 %": f"1, bound {whole['least']:.2f}"}
        for share in sorted(set(frame["share"]) - {0.0}):
            draws = of[(of["share"] == share) & of["connected"]]
            line[f"{share:g} %"] = _cell(draws, int((of["share"] == share).sum()))
        lines.append(line)
    return pandas.DataFrame(lines)


def dead_table(study: Study) -> pandas.DataFrame:
    """For every network, collective and algorithm with dead NPUs: the time without faults in microseconds, and how many
    times as long the named and the drawn ones take, with the bound over the same time; draws of one amount together.
    """
    frame = dead(study)
    frame["amount"] = frame["faults"].str.replace(r" draw \d+", "", regex=True)
    lines = []
    for names, of in frame.groupby(KEY, sort=False):
        whole = of[~of["dead"]].iloc[0]
        line = _line(names, whole) | {"none": f"1, bound {whole['least']:.2f}"}
        for amount in dict.fromkeys(frame.loc[frame["dead"], "amount"]):
            rows = of[of["amount"] == amount]
            line[amount] = _cell(rows[rows["connected"]], len(rows))
        lines.append(line)
    return pandas.DataFrame(lines)


def _line(names: tuple[str, str, str], whole: pandas.Series) -> dict[str, str | float]:
    """The columns that tell which row this is, and its time without faults."""
    topology, collective, algorithm = names
    return {"network": topology, "collective": NAMES.get(collective, collective), "algorithm": algorithm,
            "us": float(whole["collective_time_ps"]) * 1e-6}  # fmt: skip


def _cell(draws: pandas.DataFrame, drawn: int) -> str:
    """ "1.20 (1.45), bound 1.10": the mean (and the largest) of times and the mean of bounds; the connected draws."""
    if not len(draws):
        return f"none of {drawn} connected" if drawn else ""
    longest = f" ({draws['slower'].max():.2f})" if drawn > 1 else ""
    text = f"{draws['slower'].mean():.2f}{longest}, bound {draws['least'].mean():.2f}"
    return text if len(draws) == drawn else f"{text}; {len(draws)} of {drawn} connected"


def draw(study: Study) -> Figure:
    """Times and bounds over the time without faults against the share of lost links: a row of pictures per
    network, a column per collective. Lines are means over connected draws, bands reach from the least to the largest.
    """
    frame = shares(study)
    networks = list(dict.fromkeys(frame["topology"]))
    collectives = [each for each in NAMES if each in set(frame["collective"])]
    styles = algorithm_styles(list(dict.fromkeys(frame["algorithm"])))
    size = (min(PAGE_INCHES, 4.0 * len(collectives)), 1.85 * len(networks) + 0.5)
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    many = figure.subplots(len(networks), len(collectives), squeeze=False, sharex=True, sharey=True)
    for row, topology in zip(many, networks):
        for axes, collective in zip(row, collectives):
            of = frame[(frame["collective"] == collective) & (frame["topology"] == topology)]
            if not len(of):
                axes.set_axis_off()
                continue
            _draw_one(axes, of, styles)
            axes.set_title(f"{topology}, {NAMES[collective]}", fontsize=9, loc="left")
        row[0].set_ylabel("times as long", fontsize=8)
    for axes in many[-1]:
        axes.set_xlabel("lost links (%)", fontsize=8)
    figure.suptitle(fitted("times as long as without faults: mean and range over the draws that leave the network "
                           "connected; dashed: the mean bound", size[0]), fontsize=10, x=0.01, ha="left")  # fmt: skip
    return figure


def _draw_one(axes: Axes, frame: pandas.DataFrame, styles: dict[str, tuple[str, str]]) -> None:
    ends = []
    for algorithm, of in frame[frame["connected"]].groupby("algorithm"):
        by_share = of.groupby("share")
        time, bound = by_share["slower"], by_share["least"]
        colour, mark = styles[algorithm]
        at = time.mean().index
        axes.fill_between(at, time.min(), time.max(), color=colour, alpha=0.2, lw=0)
        axes.plot(at, time.mean(), "-", marker=mark, ms=4, color=colour, label=algorithm)
        axes.plot(at, bound.mean(), "--", lw=1, color=colour, label=f"bound of {algorithm}")
        ends.append((algorithm, colour, float(at[-1]), float(time.mean().iloc[-1])))
    for algorithm, colour, share, height in ends:
        axes.annotate(f" {algorithm} {height:.2f}x", (share, height), xytext=(5, 0), textcoords="offset points",
                      fontsize=8, color=ink(colour), va="center", annotation_clip=False)  # fmt: skip
    asked = frame.groupby("share")["connected"].mean()
    lost = [f"{share:g} %: {100 * connected:.0f} %" for share, connected in asked[asked < 1].items()]
    if lost:
        axes.text(0.02, 0.97, "of the draws connected at\n" + ", ".join(lost), fontsize=8, va="top",
                  transform=axes.transAxes)  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _tables(study: Study) -> str:
    text = as_markdown(table(study), {"us": ".1f"}) + "\n"
    if len(killed := dead_table(study)):
        text += "\nDead NPUs, in the same way:\n\n" + as_markdown(killed, {"us": ".1f"}) + "\n"
    return text


def main(arguments: list[str] | None = None) -> int:
    return picture_or_table(str(__doc__), "faults", draw, _tables, arguments)


if __name__ == "__main__":
    raise SystemExit(run_command(main))
