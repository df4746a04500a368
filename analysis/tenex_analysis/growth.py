"""How synthesis time grows with the deliveries of a schedule: fits, and the table of experiments/scalability.

    python3 -m tenex_analysis.growth DIR ...                print the fits and the largest points of one or more results
    python3 -m tenex_analysis.growth DIR ... --into FILE    write them between the marks in FILE

Results are runs of one study that differ in the number of threads. Times compare only among points that were measured
alone on one machine by one build of tenex (see `tenex_analysis.conditions`). If there are none, only the points of the
run with the most threads are shown. The marks are those of markdown.py.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

import numpy
import pandas

from .command import run_command
from .conditions import QUIET_SHARE, conditions_of, is_alone
from .markdown import as_markdown, print_or_write
from .reader import open_study
from .words import NothingToShow

#: Section VI-C of the TACOS paper: All-Reduce on 64 threads. Its Fig. 19 says O(n^2) in between.
PAPER = pandas.DataFrame(
    {"shape": ["2D mesh", "3D grid"], "npus": [40_000, 43_000], "seconds": [2.52 * 3600, 3.29 * 3600]}
)

#: Shorter times are left out: they measure the clock, cold caches and the start of threads more than growth.
LEAST_SECONDS = 0.001

TIMES = ["synthesis_seconds", "verification_seconds"]



@dataclass(frozen=True)
class Growth:
    """time = factor * deliveries ** exponent, by least squares on logarithms."""

    exponent: float
    #: Standard error of the exponent; NaN with two points.
    error: float
    factor: float
    points: int


def fit_growth(deliveries, seconds) -> Growth:
    """Fits a power law to two or more points of different deliveries; ValueError for fewer."""
    x = numpy.log(numpy.asarray(deliveries, dtype=float))
    y = numpy.log(numpy.asarray(seconds, dtype=float))
    if len(numpy.unique(x)) < 2:
        raise ValueError("growth needs points of two sizes")
    slope, intercept = numpy.polyfit(x, y, 1)
    spread = ((x - x.mean()) ** 2).sum()
    rest = ((y - slope * x - intercept) ** 2).sum()
    error = numpy.sqrt(rest / (len(x) - 2) / spread) if len(x) > 2 else numpy.nan
    return Growth(float(slope), float(error), float(numpy.exp(intercept)), len(x))


def shape_of(topology: str) -> str:
    """ "2D mesh" for "mesh(64,64)"; for a product its blocks, "RI_SW" for "RI(4)_SW(8)"."""
    if topology.count("(") != 1:
        return re.sub(r"\([^)]*\)", "", topology)
    name, numbers = topology.split("(")
    return f"{numbers.count(',') + 1}D {name}"


def read_runs(results) -> pandas.DataFrame:
    """The ok rows of synthesizers from several results. Beside the columns of the file: `shape`; `run_threads`, the
    threads of the run; `others`, the mean number of cores that were busy with other work (NaN: not recorded), and
    `cores`; `machine` and `build`.

    If several runs had the same number of threads, a point has one row with the medians of its times, over the runs
    that measured it alone if there are any. NothingToShow without synthesized rows.
    """
    frames = []
    for result in results:
        study = open_study(result)
        frame = study.frame(only_ok=True)
        frame = frame[(frame["sends"] > 0) & (frame["synthesis_seconds"] > 0)]
        if frame.empty:
            continue
        frame = frame.join(conditions_of(study))
        build = f"{study.points.attrs.get('version', '')} {study.points.attrs.get('git_revision', '')}".strip()
        frames.append(frame.assign(run_threads=frame["threads"].max(), build=build))
    if not frames:
        raise NothingToShow("no row that is ok was synthesized: there are no synthesis times to show")
    rows = pandas.concat(frames, ignore_index=True)
    point = ["key", "run_threads"]
    alone = is_alone(rows["others"], rows["cores"])
    rows = rows[alone | ~alone.groupby([rows[name] for name in point]).transform("any")].reset_index(drop=True)
    rows[TIMES] = rows.groupby(point)[TIMES].transform("median")
    rows = rows.drop_duplicates(point).reset_index(drop=True)
    for column in ("engine", "collective", "verified"):
        rows[column] = rows[column].astype(str)
    return rows.assign(shape=rows["topology"].map(shape_of))


def comparable(rows: pandas.DataFrame) -> tuple[pandas.DataFrame, list[str]]:
    """The rows of read_runs() whose times compare, and sentences about the others.

    These are the rows measured alone, on one machine, by one build; of several such sets the largest. If no row was
    measured alone, they are the rows of the run with the most threads, which compare with no others.
    """
    alone = rows[is_alone(rows["others"], rows["cores"])]
    if len(alone):
        best = max(alone.groupby(["machine", "build"]), key=lambda of: len(of[1]))[1]
        kept, notes = best, []
    else:
        kept = rows[rows["run_threads"] == rows["run_threads"].max()]
        notes = [
            "No point was measured alone, so no times compare. These are the times of "
            f"{plural(kept['run_threads'].max(), 'thread')}, "
            f"{measured(kept)}."
        ]
    for threads, of in rows.drop(kept.index).groupby("run_threads"):
        why = measured(of) or "on another machine or by another build of tenex"
        notes.append(f"Left out: {plural(len(of), 'point')} on {plural(threads, 'thread')}, {why}.")
    return kept, notes


def measured(rows: pandas.DataFrame) -> str:
    """The conditions under which rows were measured, as text; "" if each had the machine to itself."""
    words = []
    if rows["others"].isna().any():
        words.append("whose conditions were not recorded")
    disturbed = rows[rows["others"] > QUIET_SHARE * rows["cores"]]
    if len(disturbed):
        words.append(
            f"beside other work on up to {disturbed['others'].max():.1f} of {int(disturbed['cores'].max())} cores"
        )
    return " or ".join(words)


def plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def speed_ups(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The speed-ups of comparable rows: for each point of the largest size of its shape, the time with the fewest
    threads over that with more.

    NothingToShow if no point was measured alone with two numbers of threads.
    """
    rows = rows[is_alone(rows["others"], rows["cores"])]
    large = rows[rows["npus"] == rows.groupby("shape")["npus"].transform("max")]
    found = []
    for (collective, engine, shape), of in large.groupby(["collective", "engine", "shape"]):
        of = of.sort_values("run_threads")
        if of["run_threads"].nunique() < 2 or of["key"].nunique() > 1:
            continue
        first = of.iloc[0]
        for row in of.itertuples():
            found.append(
                [
                    collective,
                    engine,
                    shape,
                    row.topology,
                    first["run_threads"],
                    row.run_threads,
                    first["synthesis_seconds"] / row.synthesis_seconds,
                ]
            )
    if not found:
        raise NothingToShow(
            "Speed-ups are not drawn: no large point was measured alone with two numbers of threads. "
            "Run jobs/scalability.sh on a quiet machine."
        )
    return pandas.DataFrame(
        found, columns=["collective", "engine", "shape", "topology", "fewest", "threads", "speed_up"]
    )


def growth_table(rows: pandas.DataFrame, least_seconds: float = LEAST_SECONDS) -> pandas.DataFrame:
    """Fits per collective, engine, shape and threads, if three sizes or more take over `least_seconds`."""
    long_enough = rows[rows["synthesis_seconds"] > least_seconds]
    fits = []
    for key, of in long_enough.groupby(["collective", "engine", "shape", "run_threads"]):
        if of["sends"].nunique() < 3:
            continue
        fit = fit_growth(of["sends"], of["synthesis_seconds"])
        last = of.loc[of["sends"].idxmax()]
        fits.append([*key, fit.points, fit.exponent, fit.error, last["synthesis_seconds"] / last["sends"] * 1e9])
    names = ["collective", "engine", "shape", "threads", "points", "exponent", "error", "ns_per_delivery_at_largest"]
    return pandas.DataFrame(fits, columns=names)


def largest_points(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The largest point per collective, engine and shape, with the synthesis time of each number of threads."""
    columns = []
    for key, of in rows.groupby(["collective", "engine", "shape"]):
        of = of[of["sends"] == of["sends"].max()].sort_values("run_threads")
        times = {f"s, {t} thread{'s' if t > 1 else ''}": s for t, s in zip(of["run_threads"], of["synthesis_seconds"])}
        last = of.iloc[-1]
        columns.append(
            {"topology": last["topology"], "collective": key[0], "engine": key[1], "deliveries": last["sends"]}
            | times
            | {
                "verification s": last["verification_seconds"],
                "efficiency": last["efficiency"],
                "verified": last["verified"],
            }
        )
    frame = pandas.DataFrame(columns)
    after = ["verification s", "efficiency", "verified"]  # after the times, also if a first row lacks some of them
    return frame[[c for c in frame if c not in after] + after]


def against_paper(rows: pandas.DataFrame) -> list[str]:
    """A sentence per shape of the paper's two largest All-Reduces if the rows hold one with 90 % of its NPUs."""
    sentences = []
    for given in PAPER.itertuples():
        ours = rows[
            (rows["shape"] == given.shape) & (rows["collective"] == "all_reduce") & (rows["npus"] >= 0.9 * given.npus)
        ]
        if ours.empty:
            continue
        best = ours.loc[ours["synthesis_seconds"].idxmin()]
        sentences.append(
            f"All-Reduce, {given.shape}: {given.seconds / 3600:.2f} h for {given.npus:,} NPUs on 64 threads in the "
            f"paper; here {best['synthesis_seconds']:.3g} s for {best['npus']:,} on {best['run_threads']}, "
            f"{given.seconds / best['synthesis_seconds']:.0f} times less."
        )
    return sentences


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--into", type=Path)
    given = parser.parse_args(arguments)
    rows, notes = comparable(read_runs(given.results))
    text = as_markdown(largest_points(rows), {"s,": ".3g", "verification": ".3g", "efficiency": ".4f"}) + "\n"
    fits = growth_table(rows)
    if len(fits):
        text += f"\ntime = factor * deliveries^exponent, over the points above {LEAST_SECONDS * 1000:g} ms:\n\n"
        text += as_markdown(fits, {"exponent": ".3f", "error": ".3f"}) + "\n"
    text += "".join(f"\n{sentence}\n" for sentence in [*against_paper(rows), *notes])
    print_or_write(text, given.into)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
