"""The figures of chapter 6 (PCCL) of the ASTRA-sim2.0 thesis, from the result of experiments/process_groups.

    python3 -m tenex_analysis.pccl_pictures DIR --into FOLDER     speed_ups.png, link_use.png, busy_links.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import pandas
from matplotlib.figure import Figure

from .columns import PALETTE
from .command import run_command
from .layout import PAGE_INCHES, save
from .link_pictures import draw_mesh
from .papers_pccl import COMMON, HALVES, frame_of, groups_of, row_of, speed_up
from .reader import Study, open_study
from .words import NothingToShow, bare, picture, say

COLOURS = {"pccl": PALETTE[0], "direct": PALETTE[1]}
#: Placements of Fig. 6.14 with their colours and markers.
PLACED = {"first": (PALETTE[0], "o"), "first and last": (PALETTE[2], "s"), "all": (PALETTE[3], "^")}
STYLE = {"fontsize": 8, "frameon": False}


def spread_rows(k: int, count: int) -> str:
    """`count` rows of mesh(k,k), the first and the last among them and the others evenly between."""
    return "; ".join(row_of(k, round(i * (k - 1) / (count - 1)) if count > 1 else 0) for i in range(count))


def blocks(count: int) -> str:
    """Groups of 8 as blocks of 4 x 2 in mesh(8,8), row by row."""
    corner = [16 * (i // 2) + 4 * (i % 2) for i in range(count)]
    return "; ".join(f"{at}-{at + 3},{at + 8}-{at + 11}" for at in corner)


def _ratio(frame: pandas.DataFrame, chunks: int, **wanted) -> float:
    """The speed-up over direct, NaN without these rows."""
    try:
        return speed_up(frame, (chunks, chunks), **wanted)
    except ValueError:
        return float("nan")


def draw_speed_ups(study: Study) -> Figure:
    """Fig. 6.14 and 6.17: speed-ups over direct by size of the mesh and by number of groups, 16 chunks each."""
    frame = frame_of(study)
    figure = Figure(figsize=(PAGE_INCHES, 3.4), dpi=110, layout="constrained")
    left, right = figure.subplots(1, 2)
    sizes = range(3, 11)
    for placed, (colour, mark) in PLACED.items():
        line = [_ratio(frame, 16, topology=f"mesh({k},{k})", groups=groups_of(k, placed)) for k in sizes]
        label = f"{placed} row{'' if placed == 'first' else 's'}"
        left.plot(sizes, line, "-", marker=mark, color=colour, label=label)
    left.axhspan(2.33, 3.03, color="#dddddd", zorder=0, label="printed range")
    left.axhline(2.68, color="#888888", lw=1, ls="--", label="printed mean")
    left.set(title="Fig. 6.14: groups of k NPUs on mesh(k,k)", xlabel="k", ylabel="times as fast as direct")
    counts = range(1, 9)
    for name, groups, colour, mark in (
        ("rows from the first on", lambda g: "; ".join(row_of(8, i) for i in range(g)), PALETTE[0], "o"),
        ("rows far apart", lambda g: spread_rows(8, g), PALETTE[2], "s"), ("blocks of 4 x 2", blocks, PALETTE[4], "D"),
    ):  # fmt: skip
        line = numpy.array([_ratio(frame, 16, topology="mesh(8,8)", groups=groups(g)) for g in counts])
        known = ~numpy.isnan(line)
        right.plot(numpy.array(counts)[known], line[known], "-", marker=mark, color=colour, label=name)
    right.plot([1], [3.05], "x", color="black", ms=9, mew=2, label="printed")
    right.set(title="Fig. 6.17: groups of 8 on mesh(8,8)", xlabel="groups")
    for axes in (left, right):
        axes.set_ylim(0, 4)
        axes.axhline(1, color="black", lw=0.6)
        bare(axes)
        axes.legend(loc="upper right" if axes is right else "upper left", ncols=2 if axes is left else 1,
                    columnspacing=1, **STYLE)  # fmt: skip
    if not any(numpy.isfinite(line.get_ydata()).any() for line in left.lines[:3]):
        raise NothingToShow(f"{study.path} has no All-to-All in process groups (experiments/process_groups has them)")
    return figure


def _best(frame: pandas.DataFrame, algorithm: str, groups: str) -> int:
    """The fastest point of mesh(8,8) with 16 chunks that has these groups. NothingToShow without one."""
    wanted = COMMON | {"topology": "mesh(8,8)", "chunks": 16, "algorithm": algorithm, "groups": groups.replace(" ", "")}
    rows = frame
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    if algorithm == "direct":
        rows = rows[rows["occupancy"] == "serialization"]
    rows = rows[rows["link_count"] > 0] if "link_count" in rows else rows
    if rows.empty:
        raise NothingToShow(f"no stored links of {algorithm} on mesh(8,8) with groups {groups}")
    return int(rows["us"].idxmin())


def draw_link_use(study: Study) -> Figure:
    """Fig. 6.15: how long each link of mesh(8,8) is busy, over the time of the point, for two groups."""
    frame = frame_of(study)
    figure = Figure(figsize=(PAGE_INCHES, 4.0), dpi=110, layout="constrained")
    many = figure.subplots(1, 2)
    groups = groups_of(8, "first and last")
    drawn = None
    for axes, algorithm in zip(many, ("direct", "pccl")):
        try:
            point = _best(frame, algorithm, groups)
            links = study.links()
            if links.empty:
                raise NothingToShow(f"{study.path} holds no link loads")
        except NothingToShow as nothing:
            say(axes, str(nothing))
            continue
        row = frame.loc[point]
        of = links[links["point"] == point]
        drawn = draw_mesh(axes, of, of["busy_ps"] / row["collective_time_ps"], set([*range(8), *range(56, 64)]))
        share = float((of["busy_ps"] / row["collective_time_ps"]).mean())
        axes.set_title(f"{algorithm}: {row['us'] / 1e3:.2f} ms, links busy {100 * share:.0f} %", fontsize=10)
    if drawn is None:
        raise NothingToShow(f"{study.path} holds no link loads of two groups on mesh(8,8)")
    figure.colorbar(drawn, ax=many, shrink=0.8, label="share of the time for which the link is busy")
    return figure


def draw_busy_links(study: Study) -> Figure:
    """Fig. 6.16: the share of busy links of mesh(8,8) over time, for a group of 64 and groups of 32."""
    frame = frame_of(study)
    bins = study.utilization()
    if bins.empty:
        raise NothingToShow(f"{study.path} holds no utilization over time")
    shown = {"all": "64 NPUs", "0-62:2": f"32 NPUs: {HALVES['0-62:2']}", "0-31": f"32 NPUs: {HALVES['0-31']}"}
    figure = Figure(figsize=(PAGE_INCHES, 2.8), dpi=110, layout="constrained")
    many = figure.subplots(1, len(shown), sharey=True)
    for axes, (groups, title) in zip(many, shown.items()):
        axes.set_title(title, loc="left", fontsize=10)
        for algorithm, colour in COLOURS.items():
            try:
                point = _best(frame, algorithm, groups)
            except NothingToShow as nothing:
                say(axes, str(nothing))
                break
            of = bins[bins["point"] == point]
            end = frame.loc[point, "us"] / 1e3
            label = f"{algorithm}, {end:.2f} ms"
            axes.plot(of["time"] * 1e3, 100 * of["utilization"], color=colour, lw=1.2, label=label)
            axes.axvline(end, color=colour, lw=0.8, ls=":")
        else:
            axes.set(ylim=(0, 138), xlim=(0, None), xlabel="ms", yticks=range(0, 101, 20))
            axes.legend(loc="upper right", **STYLE)  # above all lines
            bare(axes)
    many[0].set_ylabel("links busy (%)")
    return figure


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--into", type=Path, required=True)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    given.into.mkdir(parents=True, exist_ok=True)
    for name, draw in (("speed_ups", draw_speed_ups), ("link_use", draw_link_use), ("busy_links", draw_busy_links)):
        save(picture(draw, study), given.into / f"{name}.png")
        print(f"drawn: {given.into / name}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
