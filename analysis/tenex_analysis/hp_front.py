"""A search of parallelizations as a picture: time of an iteration against memory of an NPU, with their front.

    tenex optimize --workload W --npus N --npu-memory M --json --most 100000 > FOUND.json
    python3 -m tenex_analysis.hp_front FOUND.json               print the front as a table
    python3 -m tenex_analysis.hp_front FOUND.json --png FILE    and draw it

Every answer of the file is a point, coloured by its stages. The front joins those that no other answer beats in both;
each of its parallelizations is named once, where it takes the shortest time.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from .command import run_command
from .layout import PAGE_INCHES, save
from .markdown import as_markdown
from .words import bare

#: At most so many parallelizations of the front are named.
MOST_NAMES = 9
#: Times longer than this many times the shortest are left out of the picture, and counted.
LONGEST = 4.0


def read(path: Path) -> tuple[dict, pandas.DataFrame, pandas.DataFrame]:
    """What a search says: all of it, its answers, and those of them on the front, by memory. Times are in seconds,
    memory in GB. ValueError for a file that is no search.
    """
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        answers, front = (_answers(said[name]) for name in ("fastest", "front"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not what `tenex optimize --npus N --json` prints: {error!r}") from None
    return said, answers, front.sort_values("memory", kind="stable").reset_index(drop=True)


def _answers(listed: list[dict]) -> pandas.DataFrame:
    found = pandas.DataFrame(listed)
    degrees = found["hp"].str.extract(r"HP-\((\d+),(\d+)(?:,(\d+))?").fillna(1).astype(int)
    return found.assign(time=found["training_time_ps"] / 1e12, memory=found["memory_per_npu_bytes"] / 1e9,
                        stages=degrees[2])  # fmt: skip


def table(front: pandas.DataFrame) -> pandas.DataFrame:
    """The front, from the shortest time on."""
    columns = ["hp", "zero_stage", "recomputation", "microbatches", "pipeline_schedule", "time", "memory"]
    return front.sort_values("time", kind="stable")[columns].rename(columns={"time": "time s", "memory": "memory GB"})


def draw(said: dict, answers: pandas.DataFrame, front: pandas.DataFrame) -> Figure:
    """Time over memory."""
    most = LONGEST * front["time"].min()
    shown = answers[answers["time"] <= most]
    line = front[front["time"] <= most]
    figure = Figure(figsize=(PAGE_INCHES, 4.2), dpi=150, layout="constrained")
    axes = figure.subplots()
    kinds = sorted(shown["stages"].unique())
    colours = colormaps["viridis"]
    for place, stages in enumerate(kinds):
        of = shown[shown["stages"] == stages]
        axes.scatter(of["memory"], of["time"], s=3, lw=0, alpha=0.5, rasterized=True,
                     color=colours(0.92 * place / max(1, len(kinds) - 1)),
                     label=f"{stages} stage{'s' if stages > 1 else ''}")  # fmt: skip
    axes.step(line["memory"], line["time"], where="post", color="black", lw=1.2, marker="o", ms=3, label="the front")
    _name(axes, line)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("memory of an NPU (GB)", fontsize=9)
    axes.set_ylabel("time of an iteration (s)", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8, markerscale=2, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_ylim(0.88 * line["time"].min(), 1.03 * most)
    axes.set_title(f"{said['npus']:,} NPUs: {said['fitting']:,} of {said['considered']:,} parallelizations fit; of "
                   f"{len(answers):,} that differ {len(shown):,} take up to {LONGEST:g} times the shortest",
                   loc="left", fontsize=9)  # fmt: skip
    bare(axes)
    return figure


def _name(axes: Axes, line: pandas.DataFrame) -> None:
    """Names the parallelizations of the front, the fastest first, as many as have room to their left."""
    named = line.loc[line.groupby("hp")["time"].idxmin()].sort_values("time", kind="stable")
    width = line["memory"].max() - line["memory"].min() or 1.0
    taken = [line["memory"].min()] if len(line) > MOST_NAMES else []
    for _, row in named.iterrows():
        if len(taken) == MOST_NAMES:
            break
        if any(abs(row["memory"] - each) < 0.14 * width for each in taken):
            continue
        taken.append(row["memory"])
        axes.annotate(row["hp"], (row["memory"], row["time"]), xytext=(-2, -7), textcoords="offset points", fontsize=8,
                      ha="right", va="top")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("found", type=Path)
    parser.add_argument("--png", type=Path)
    given = parser.parse_args(arguments)
    said, answers, front = read(given.found)
    print(as_markdown(table(front), {"time s": ".4g", "memory GB": ".3g"}))
    if given.png:
        save(draw(said, answers, front), given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
