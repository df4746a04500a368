"""The seconds of units of work (src/base/work.cpp), fitted to measured rows; and plans against what was measured.

    tenex plan STUDY.toml --points --json > PLAN.json
    tenex run STUDY.toml --threads 1 --out RESULT
    python3 -m tenex_analysis.work_prices PLAN.json RESULT [PLAN.json RESULT ...]          the table of studies
    python3 -m tenex_analysis.work_prices --fit PLAN.json RESULT [...]                     and the fitted prices

A plan counts the units of every point, and names the prices. A row has the seconds of synthesis, simulation and
verification; the rest of its evaluation is the part `rest`. Every unit belongs to one part, so that each part is fitted
alone. Rows should come from one thread on an otherwise idle machine.

A unit's price is multiplied with the ratio of measured to expected seconds, summed over all points in whose part the
unit makes up at least half of what is expected, until no price changes. The ratios of studies are averaged as
logarithms, each with the weight of the share of its study's seconds that these points took: a plan shall be right for
every study, large or small. Points that took ten times as long as most are left out, as machines have pauses. A unit
that makes up half of no point keeps its price.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

import numpy
import pandas

from .command import run_command
from .reader import open_study

PARTS = ["synthesis", "simulation", "verification", "rest"]
ROUNDS = 60
LEAST_SHARE = 0.5  #: of a point's expected seconds, for the point to tell of a unit
LEAST_SECONDS = 1e-3  #: studies in which a unit takes less tell of the clock
PAUSE = 10  #: times what most points of a unit take


class Prices(NamedTuple):
    seconds: pandas.Series  #: by unit
    part: pandas.Series  #: by unit


class Measured(NamedTuple):
    counts: pandas.DataFrame  #: points x units
    seconds: pandas.DataFrame  #: points x parts
    study: pandas.Series  #: of each point
    bytes: pandas.DataFrame = pandas.DataFrame()  #: points x planned, peak


def read_prices(plan: dict) -> Prices:
    """The prices of the binary that made a plan."""
    lines = pandas.DataFrame(plan["work_prices"]).set_index("unit")
    return Prices(lines["seconds"].astype(float), lines["part"])


def read_measured(plan: dict, result: str) -> Measured:
    """The points of a plan that have a row that is ok."""
    frame = pandas.DataFrame(open_study(result).frame()).reset_index()
    frame = frame.set_index(frame["key"].astype(str))
    frame = frame[frame["status"] == "ok"]
    points = {point["key"]: point["work"] for point in plan["point_list"] if point["key"] in frame.index}
    counts = pandas.DataFrame.from_dict(points, orient="index").fillna(0.0)
    rows = frame.loc[counts.index]
    seconds = pandas.DataFrame({part: rows[f"{part}_seconds"] for part in PARTS[:-1]})
    seconds["rest"] = (rows["evaluation_seconds"] - seconds.sum(axis=1)).clip(lower=0)
    planned = {point["key"]: point["memory_planned_bytes"] for point in plan["point_list"]}
    peak = rows["peak_rss_bytes"].where(rows["peak_rss_bytes"] > 0)  # -1: the point had not the process to itself
    sizes = pandas.DataFrame({"planned": counts.index.map(planned), "peak": peak}, counts.index)
    return Measured(counts, seconds, pandas.Series(plan["study"], counts.index), sizes)


def join(parts: list[Measured], units: list[str]) -> Measured:
    counts = pandas.concat([part.counts for part in parts], ignore_index=True)
    return Measured(
        counts.reindex(columns=units, fill_value=0.0).fillna(0.0),
        pandas.concat([part.seconds for part in parts], ignore_index=True),
        pandas.concat([part.study for part in parts], ignore_index=True),
        pandas.concat([part.bytes for part in parts], ignore_index=True),
    )


def weighted_median(values: numpy.ndarray, weights: numpy.ndarray) -> float:
    order = numpy.argsort(values)
    reached = numpy.cumsum(weights[order])
    return float(values[order][numpy.searchsorted(reached, reached[-1] / 2)])


def mean_ratio(points: pandas.DataFrame) -> float:
    """The mean over studies of measured by expected seconds. Columns: measured, expected, study, and the seconds of
    the whole study.
    """
    ratio = (points["measured"] / points["expected"]).to_numpy()
    usual = weighted_median(ratio, points["expected"].to_numpy())
    if usual > 0:
        points = points[ratio <= PAUSE * usual]
    sums = points.groupby("study").agg(
        measured=("measured", "sum"), expected=("expected", "sum"), whole=("whole", "first"))  # fmt: skip
    sums = sums[sums["measured"] >= LEAST_SECONDS]
    if sums.empty:
        return 1.0
    logarithms = numpy.log(sums["measured"] / sums["expected"])
    return float(numpy.exp(numpy.average(logarithms, weights=sums["measured"] / sums["whole"])))


def fit_part(counts: pandas.DataFrame, measured: Measured, part: str, prices: pandas.Series) -> pandas.Series:
    """The prices of one part's units."""
    prices = prices.copy()
    points = pandas.DataFrame({"measured": measured.seconds[part], "study": measured.study})
    points["whole"] = measured.seconds.sum(axis=1).groupby(measured.study).transform("sum")
    for _ in range(ROUNDS):
        costs = counts * prices
        points["expected"] = costs.sum(axis=1)
        before = prices.copy()
        for unit in prices.index:
            of_unit = (costs[unit] > 0) & (costs[unit] >= LEAST_SHARE * points["expected"])
            if of_unit.any():
                prices[unit] *= mean_ratio(points[of_unit])
        if numpy.allclose(prices, before, rtol=1e-3):
            break
    return prices


def fit(measured: Measured, prices: Prices) -> pandas.Series:
    """The seconds of every unit."""
    fitted = prices.seconds.copy()
    for part in PARTS:
        units = prices.part.index[prices.part == part]
        fitted[units] = fit_part(measured.counts[units], measured, part, fitted[units])
    return fitted


def study_table(measured: Measured, prices: pandas.Series) -> pandas.DataFrame:
    """Planned and measured seconds of every study; the planned MB of its largest point, and the MB that the process
    has had at its peak, which is that of all points before, too."""
    rows = {}
    for name, index in measured.study.groupby(measured.study).groups.items():
        planned = float((measured.counts.loc[index] * prices).sum().sum())
        took = float(measured.seconds.loc[index].sum().sum())
        rows[name] = {"points": len(index), "planned_s": planned, "measured_s": took, "ratio": planned / took}
        if not measured.bytes.empty:
            largest = measured.bytes.loc[index].max() / 1e6
            rows[name] |= {"planned_MB": largest["planned"], "peak_MB": largest["peak"]}
    return pandas.DataFrame.from_dict(rows, orient="index").sort_index()


def price_lines(prices: Prices, fitted: pandas.Series) -> str:
    """The fitted seconds by unit, as src/base/work.cpp has them."""
    return "\n".join(f"{unit:24} {prices.seconds[unit]:.3g} -> {fitted[unit]:.3g}" for unit in fitted.index)


def main() -> int:
    arguments = sys.argv[1:]
    fits = "--fit" in arguments
    names = [argument for argument in arguments if argument != "--fit"]
    if not names or len(names) % 2:
        print(__doc__, file=sys.stderr)
        return 2
    prices = None
    parts = []
    for plan_name, result in zip(names[::2], names[1::2]):
        with open(plan_name, encoding="utf-8") as file:
            plan = json.load(file)
        prices = read_prices(plan)
        parts.append(read_measured(plan, result))
    measured = join(parts, list(prices.seconds.index))
    print(study_table(measured, prices.seconds).round(2).to_string())
    if fits:
        fitted = fit(measured, prices)
        print(study_table(measured, fitted).round(2).to_string())
        print(price_lines(prices, fitted))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
