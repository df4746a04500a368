"""HP-(m,n) at scale: the fastest parallelizations, bandwidth splits and chunk counts, their cost and exposed time.

    python3 -m tenex_analysis.hp_at_scale DIR ...                print the tables of experiments/hp_at_scale
    python3 -m tenex_analysis.hp_at_scale DIR ... --into FILE    write them between the marks in FILE
    python3 -m tenex_analysis.hp_at_scale DIR --pin > FILE       write an expected.csv: what a point is, its exact times
    python3 -m tenex_analysis.hp_at_scale DIR --compare FILE     compare with it; exit 1 with the differences

Words used here. A *model* is how a collective is timed (`libra`, `pipeline`, `synthesized alone`, `synthesized
together`: TP's and DP's groups on the same links at the same time). A *design* is a topology, a bandwidth split and an
HP-(m,n); a model may time it with several algorithms and chunk counts, of which the fastest counts.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pandas

from .command import run_command
from .markdown import as_markdown, print_or_write
from .pareto import non_dominated
from .reader import open_study
from .words import NothingToShow

#: From the simplest to the closest to the network.
MODELS = ["libra", "pipeline", "synthesized alone", "synthesized together"]
TOGETHER = MODELS[-1]
DESIGN = ["npus", "topology", "split", "hp"]
PHASES = ["forward", "input_gradient", "weight_gradient"]
PINNED = [*DESIGN, "model", "algorithm", "chunks", "training_time_ps", "bound_ps", "bound_name"]
#: Bandwidths from an optimizer may differ by 1 B/s between compilers, and times with them; stated and equal ones may
#: not.
TOLERANCE = {"perf_opt": 1e-6, "perf_per_cost": 1e-6}


def read_points(results) -> pandas.DataFrame:
    """The training points of one or more results, one row each, including refused ones; or those of expected.csv, with
    the columns of `PINNED` and what follows from them.

    Beside the columns of the file: `model`, `split` (the scheme, or the given shares), `time` and the `PHASE exposed`
    in seconds, and `tensor`, the TP degree. NothingToShow without training points.
    """
    if all(str(result).endswith(".csv") for result in results):
        return pandas.concat([_pinned_points(result) for result in results], ignore_index=True)
    frame = pandas.concat([open_study(result).frame() for result in results], ignore_index=True)
    if "workload" not in frame or not (frame["workload"].astype(str) != "").any():
        raise NothingToShow("no row trains a model (no point of the study has a `workload`)")
    frame = frame[frame["workload"].fillna("") != ""].drop_duplicates("key").reset_index(drop=True)
    for column in ("status", "verified", "bound_name"):
        frame[column] = frame[column].astype(str)
    word = frame["collective_time_setting"].where(
        frame["collective_time_setting"] != "synthesized",
        "synthesized " + frame["contention"].map({"none": "alone", "links": "together"}).fillna(""),
    )
    columns = {
        "model": word,
        "split": frame["scheme"].where(frame["scheme"] != "given", frame["split"]),
        "time": seconds(frame["training_time_ps"]),
        "compute": sum(seconds(frame[f"{phase}_compute_ps"]) for phase in PHASES),
        "tensor": frame["hp"].str.split(",").str[0].astype(int),
    }
    columns |= {f"{phase} exposed": seconds(frame[f"{phase}_exposed_ps"]) for phase in PHASES}
    return frame.assign(**columns)


def _pinned_points(path) -> pandas.DataFrame:
    """The points of an expected.csv (`--pin`), with `status`, `time`, `efficiency` and `tensor`."""
    frame = pandas.read_csv(path, keep_default_na=False)
    if list(frame.columns) != PINNED:
        raise NothingToShow(f"{path} has not the columns that `--pin` writes")
    ok = frame["training_time_ps"] > 0
    return frame.assign(
        status=ok.map({True: "ok", False: "infeasible"}),
        time=seconds(frame["training_time_ps"]),
        efficiency=(frame["bound_ps"] / frame["training_time_ps"]).where(ok),
        tensor=frame["hp"].str.split(",").str[0].astype(int),
    )


def seconds(picoseconds: pandas.Series) -> pandas.Series:
    """Seconds; NaN where absent."""
    return picoseconds.where(picoseconds >= 0) * 1e-12


def fastest(points: pandas.DataFrame, per=(*DESIGN, "model")) -> pandas.DataFrame:
    """The fastest evaluated point of each combination of `per`; the first among equals."""
    ok = points[points["status"] == "ok"]
    return ok.loc[ok.groupby(list(per), sort=False)["time"].idxmin()].reset_index(drop=True)


def front(points: pandas.DataFrame, cost: str = "network_cost_usd", value: str = "time") -> pandas.DataFrame:
    """The Pareto front of two columns (less is better), by rising cost; of equal points the first."""
    front = points[non_dominated(points[cost], points[value])]
    return front.sort_values(cost, kind="stable").drop_duplicates([cost, value])


def contention(points: pandas.DataFrame) -> pandas.DataFrame:
    """Pairs of points that differ only in whether two streams share links.

    `slowdown` is the time together over alone.
    """
    ok = points[points["status"] == "ok"]
    same = [*DESIGN, "algorithm", "chunks"]
    pairs = [ok[ok["model"] == model].set_index(same)["time"] for model in ("synthesized alone", TOGETHER)]
    both = pandas.concat(pairs, axis=1, keys=["alone", "together"]).dropna().reset_index()
    return both.assign(slowdown=both["together"] / both["alone"])


def best_designs(points: pandas.DataFrame, model: str = TOGETHER) -> pandas.DataFrame:
    """The fastest HP per topology and split under `model`, with its settings."""
    best = fastest(points[points["model"] == model], ("npus", "topology", "split"))
    exposed = best[[f"{phase} exposed" for phase in PHASES]].sum(axis=1)
    return pandas.DataFrame(
        {
            "NPUs": best["npus"],
            "topology": best["topology"],
            "split": best["split"],
            "best HP": "HP-(" + best["hp"] + ")",
            "algorithm": best["algorithm"],
            "chunks": best["chunks"],
            "iteration s": best["time"],
            "exposed %": exposed / best["time"] * 100,
            "cost M$": best["network_cost_usd"] / 1e6,
            "of bound": best["efficiency"],
        }
    )


def model_ratios(points: pandas.DataFrame) -> pandas.DataFrame:
    """Iteration times of every model over those of `synthesized together`, by size: median, least and greatest over
    designs.

    Only designs timed by both models count.
    """
    table = fastest(points).pivot_table(index=DESIGN, columns="model", values="time", sort=False)
    rows = []
    for npus, of in table.groupby("npus"):
        for model in MODELS[:-1]:
            if model not in of or TOGETHER not in of:
                continue
            ratio = (of[model] / of[TOGETHER]).dropna()
            if len(ratio):
                rows.append([npus, model, len(ratio), ratio.median(), ratio.min(), ratio.max()])
    return pandas.DataFrame(rows, columns=["NPUs", "model", "designs", "median", "least", "greatest"])


def effort(points: pandas.DataFrame) -> pandas.DataFrame:
    """Measured seconds and planned memory by size, model and chunks. Refused points are counted separately."""
    rows = []
    for (npus, model, chunks), of in points.groupby(["npus", "model", "chunks"]):
        ok = of[of["status"] == "ok"]
        rows.append(
            {
                "NPUs": npus,
                "model": model,
                "chunks": "" if chunks < 0 else str(chunks),
                "points": len(ok),
                "not evaluated": len(of) - len(ok),
                "median s": ok["evaluation_seconds"].median(),
                "largest s": ok["evaluation_seconds"].max(),
                "largest GB": ok["memory_planned_bytes"].max() / 1e9,
                "verified": (ok["verified"] == "yes").sum(),
            }
        )
    return pandas.DataFrame(rows)


def short_shape(topology: str) -> str:
    """A shape for the labels of a picture: "RI 4 x FC 8 x SW 32" for "RI(4)_FC(8)_SW(32)"."""
    return " x ".join(block.replace("(", " ").rstrip(")") for block in topology.split("_"))


def family(topology: str) -> str:
    """The family of a shape, which is the same for all sizes: "RI_FC_SW" for "RI(4)_FC(8)_SW(32)"."""
    return re.sub(r"\(\d+\)", "", topology)


def differences(points: pandas.DataFrame, wanted: pandas.DataFrame) -> pandas.DataFrame:
    """Rows whose times differ from expected.csv, with both times; empty if none. ValueError if the points differ."""
    key = [name for name in PINNED if not name.endswith("_ps") and name != "bound_name"]
    found = points[PINNED].reset_index(drop=True)
    if not found[key].astype(str).equals(wanted[key].astype(str)):
        raise ValueError(f"{len(wanted)} rows for {len(found)} points, or rows of other points")
    allowed = found["split"].map(TOLERANCE).fillna(0.0)
    apart = found["bound_name"].astype(str) != wanted["bound_name"].astype(str)
    for name in ("training_time_ps", "bound_ps"):
        apart |= (found[name] - wanted[name]).abs() > allowed * wanted[name]
    return found[apart].merge(wanted, on=key, suffixes=("", " expected"))


def described(row) -> str:
    """A design and its timing as text."""
    how = f", {row['algorithm']}, {row['chunks']} chunk{'s' if row['chunks'] > 1 else ''}" if row["algorithm"] else ""
    return f"{row['topology']}, {row['split']}, HP-({row['hp']}){how}"


def timed_and_priced(row) -> str:
    return f"{described(row)}: {row['time']:.2f} s for ${row['network_cost_usd'] / 1e6:.1f} M"


def fastest_sentence(of: pandas.DataFrame, npus: int) -> str:
    """The fastest of the designs `of` one size, and the cheapest that is nearly as fast."""
    leader = of.loc[of["time"].idxmin()]
    near = of[of["time"] <= 1.05 * leader["time"]]
    cheap = near.loc[near["network_cost_usd"].idxmin()]
    text = f"At {npus:,} NPUs the fastest is {timed_and_priced(leader)}"
    if cheap.name == leader.name:
        return text + "; nothing within 5 % of it is cheaper."
    return text + f". Within 5 % of it the cheapest is {timed_and_priced(cheap)}."


def split_sentence(best: pandas.DataFrame, npus: int) -> str:
    """How often the best split by LIBRA's formula is faster than equal shares, by model; "" if no design has both."""
    counts = []
    for model in MODELS:
        of = best[best["model"] == model].pivot_table(index=["topology", "hp"], columns="split", values="time")
        if not {"equal", "perf_opt"} <= set(of):
            continue
        of = of.dropna(subset=["equal", "perf_opt"])
        counts.append(f"{(of['perf_opt'] < of['equal']).sum()} of {len(of)} under {model}")
    return f"At {npus:,} NPUs perf_opt is faster than equal shares for {', '.join(counts)}." if counts else ""


def contention_sentence(pairs: pandas.DataFrame, npus: int) -> str:
    """The designs for which shared links cost time, and the largest slowdown; `pairs` is the result of contention()."""
    slower = pairs[pairs["slowdown"] > 1]
    if slower.empty:
        return f"At {npus:,} NPUs sharing the links slows none of {len(pairs)} pairs of points."
    worst = slower.loc[slower["slowdown"].idxmax()]
    return (f"At {npus:,} NPUs sharing the links slows {len(slower)} of {len(pairs)} pairs of points, "
            f"at most by {(worst['slowdown'] - 1) * 100:.1f} % ({described(worst)}).")


def sentences(points: pandas.DataFrame) -> list[str]:
    """The findings, size by size."""
    best = fastest(points)
    together, pairs = best[best["model"] == TOGETHER], contention(points)
    by_size = [
        [
            fastest_sentence(together[together["npus"] == npus], npus),
            split_sentence(best[best["npus"] == npus], npus),
            contention_sentence(pairs[pairs["npus"] == npus], npus),
        ]
        for npus in sorted(together["npus"].unique())
    ]
    return [line for kind in zip(*by_size) for line in kind if line]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--into", type=Path)
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args(arguments)
    points = read_points(given.results)
    if given.pin:
        points[PINNED].to_csv(sys.stdout, index=False)
        return 0
    if given.compare:
        rows = differences(points, pandas.read_csv(given.compare, keep_default_na=False))
        print(f"all rows agree with {given.compare}" if rows.empty else rows.to_string())
        return 0 if rows.empty else 1
    return print_tables(points, given.into)


def print_tables(points: pandas.DataFrame, into: Path | None) -> int:
    """Prints the tables of experiments/hp_at_scale, or writes them between the marks in a file."""
    text = "".join(f"- {line}\n" for line in sentences(points))
    text += "\nBest HP of every topology and split, collectives together on the links:\n\n"
    text += as_markdown(best_designs(points),
                        {"iteration": ".3f", "exposed": ".1f", "cost": ".2f", "of bound": ".3f"}) + "\n"
    text += "\nIteration times of the other models over these:\n\n"
    text += as_markdown(model_ratios(points), {"median": ".3f", "least": ".3f", "greatest": ".3f"}) + "\n"
    text += "\nCosts of the points:\n\n"
    text += as_markdown(effort(points), {"median": ".3g", "largest s": ".3g", "largest GB": ".3g"}) + "\n"
    print_or_write(text, into)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
