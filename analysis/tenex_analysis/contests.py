"""What competes in a study of any shape, and who wins.

Words used here. A *contest* is one kind of work of the study: its collectives, or the models that it trains. A *task*
is a collective on a network at one size, or a model on a network under one HP-(m,n). Its *competitors* are the
algorithms, or the schemes that chose the bandwidths. Of several rows of a competitor at a task (numbers of chunks,
attempts, ...) the fastest counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

import numpy
import pandas

from .columns import column_of, natural_order, quantity_text, settings_that_vary
from .reader import Study

COLLECTIVES = {
    "all_gather": "All-Gather",
    "reduce_scatter": "Reduce-Scatter",
    "all_reduce": "All-Reduce",
    "all_to_all": "All-to-All",
    "broadcast": "Broadcast",
    "reduce": "Reduce",
}
#: Settings that a contest shows by its axes and names. Every other setting makes separate tasks of a topology: if some
#: topology has several values of it, it stands beside the topologies' names.
SHOWN = {
    *("topology", "unwind", "collective", "size", "chunks", "algorithm", "overlap", "attempts", "engine_setting"),
    *("window", "order", "simulation_engine_setting", "workload", "hp", "scheme", "optimize_with", "optimize_for"),
    *("split", "constraints", "cost_model", "price_level", "seed"),
}
#: Settings that the name of a network leaves out.
USUAL = {"", "(none)", "none", "all", "congestion_aware", "serialization"}


@dataclass(frozen=True)
class Contest:
    """The ok rows of one kind of work. Columns of `rows`: `panel`, `network`, `npus`, `at`, `who`, `seconds`,
    `bound_seconds`, `efficiency`, `reached` and `allowed` (in `unit`: the algbw of the point and of its bound; for
    training points the two times), `unwound`, `key`. A schedule for unwound switches that was played on the switches
    counts with its time and bound there; only others are `unwound`.
    """

    study: str
    #: The names of its pictures: {"reached": "bandwidth", ...}.
    files: dict[str, str]
    rows: pandas.DataFrame
    unit: str
    #: The meaning of `at`, and the text of each of its values in order.
    at: str
    texts: dict
    #: Competitors in the order of the study.
    who: list[str]

    def networks(self, rows: pandas.DataFrame | None = None) -> list[str]:
        """By the number of NPUs, then by name."""
        of = (self.rows if rows is None else rows).drop_duplicates("network")
        return [
            network for _, _, network in sorted((n, natural_order(w), w) for n, w in zip(of["npus"], of["network"]))
        ]

    def fastest(self, rows: pandas.DataFrame, per: list[str]) -> pandas.DataFrame:
        """The fastest row of each combination of `per`; the first of equals."""
        return rows.loc[rows.groupby(per, sort=False)["seconds"].idxmin()]


def contests(study: Study) -> list[Contest]:
    """The contests of a study: its collectives and the models that it trains, if any of their rows is ok."""
    rows = study.frame()
    rows = rows[rows["status"] == "ok"]
    found = [_collectives(study, rows), _training(study, rows)]
    return [contest for contest in found if contest is not None]


def _collectives(study: Study, rows: pandas.DataFrame) -> Contest | None:
    rows = rows[(rows["collective"].astype(str) != "") & (rows["collective_time_ps"] > 0)]
    if rows.empty:
        return None
    time, limit, unwound = rows["collective_time_ps"], _present(rows["bound_ps"]), _unwound(rows)
    efficiency = rows["efficiency"]
    if "switched_time_ps" in rows:
        # A schedule for unwound switches was played on the switches, too: there it compares with the others.
        played = rows["switched_time_ps"] > 0
        time = time.where(~played, rows["switched_time_ps"])
        limit = limit.where(~played, rows["switched_bound_ps"])
        efficiency = efficiency.where(~played, limit / time)
        unwound &= ~played
    seconds, bound = time * 1e-12, limit * 1e-12
    if "backend" in rows:  # the bound does not hold for the congestion-unaware backend
        bound = bound.where(rows["backend"].astype(str) != "congestion_unaware")
    algorithm = rows["algorithm"].astype(str)
    own = {
        "panel": rows["collective"].astype(str).map(lambda word: COLLECTIVES.get(word, word)),
        "at": rows["size"],
        "who": algorithm,
        "seconds": seconds,
        "bound_seconds": bound,
        "reached": rows["size"] / seconds / 1e9,
        "allowed": rows["size"] / bound / 1e9,
        "efficiency": efficiency,
        "unwound": unwound,
    }
    files = {"reached": "bandwidth", "efficiency": "efficiency", "winners": "winners"}
    texts = {size: quantity_text(int(size), "B") for size in sorted(rows["size"].unique())}
    return Contest(study.name, files, _common(study, rows, own), "algbw (GB/s)", "size", texts, _names(algorithm))


def _training(study: Study, rows: pandas.DataFrame) -> Contest | None:
    if "workload" not in rows:
        return None
    rows = rows[(rows["workload"].astype(str) != "") & (rows["training_time_ps"] > 0)]
    if rows.empty:
        return None
    seconds, bound = rows["training_time_ps"] * 1e-12, _present(rows["bound_ps"]) * 1e-12
    scheme = rows["scheme"].astype(str)
    own = {
        "panel": rows["workload"].astype(str).str.replace(".toml", "", regex=False),
        "at": rows["hp"].astype(str),
        "who": scheme,
        "seconds": seconds,
        "bound_seconds": bound,
        "reached": seconds,
        "allowed": bound,
    }
    files = {"reached": "training_time", "efficiency": "training_efficiency", "winners": "training_winners"}
    texts = {hp: f"HP-({hp})" for hp in sorted(own["at"].unique(), key=natural_order)}
    return Contest(study.name, files, _common(study, rows, own), "iteration (s)", "HP-(m,n)", texts, _names(scheme))


def _names(column: pandas.Series) -> list[str]:
    return list(dict.fromkeys(column))


def _present(picoseconds: pandas.Series) -> pandas.Series:
    return picoseconds.where(picoseconds > 0)


def _common(study: Study, rows: pandas.DataFrame, own: dict[str, pandas.Series]) -> pandas.DataFrame:
    """Adds the columns that both kinds of work have."""
    common = {
        "network": _networks(study, rows),
        "npus": rows["npus"],
        "efficiency": rows["efficiency"],
        "unwound": _unwound(rows),
        "key": rows["key"],
    }
    return pandas.DataFrame(common | own, index=rows.index)


def _unwound(rows: pandas.DataFrame) -> pandas.Series:
    return rows["unwind"] > 0 if "unwind" in rows else pandas.Series(False, index=rows.index)


def _networks(study: Study, rows: pandas.DataFrame) -> pandas.Series:
    """A name for each row's network: its topology, and the values of settings that vary on one topology."""
    names = rows["topology"].astype(str)
    for setting in settings_that_vary(study, rows):
        if setting in SHOWN or rows.groupby("topology", observed=True)[setting].nunique(dropna=False).max() < 2:
            continue
        column = column_of(study, rows, setting)
        texts = [column.text(v) if column.is_text or not numpy.isnan(v) else "" for v in column.values]
        if setting == "overhead":  # a second time beside alpha; none is usual
            texts = [f"overhead {text}" if value > 0 else "" for value, text in zip(column.values, texts)]
        names = names.str.cat([f", {text}" if text not in USUAL else "" for text in texts])
    return names


def panel_name(network: str) -> str:
    """A network's name for a picture: without the folder and ending of a machine's file, equal quantities counted
    ("3 x 50 GB/s"), and no line break between a number and its unit.
    """
    head, comma, rest = network.partition(".toml")
    parts = (f"{head.rsplit('/', 1)[-1]}{rest}" if comma else network).split(", ")
    alike = [list(of) for _, of in groupby(parts)]
    counted = ", ".join(of[0] if len(of) == 1 else f"{len(of)} x {of[0]}" for of in alike)
    return re.sub(r"(?<=\d) (?=x |[kMGTP]?i?B|[munp]?s\b)|(?<= x) (?=\d)", "\u00a0", counted)


def winners(contest: Contest) -> pandas.DataFrame:
    """The fastest competitors per task (several if they tie); `lead` is how much slower the next one is, NaN without
    one.

    `unwound` says whether all of the fastest ran on the unwound topology.
    """
    best = contest.fastest(contest.rows, ["panel", "network", "at", "who"])
    lines = []
    for (panel, network, at), of in best.groupby(["panel", "network", "at"], sort=False):
        least = of["seconds"].min()
        tied = of[of["seconds"] == least]
        rest = of["seconds"][of["seconds"] > least]
        names = [who for who in contest.who if who in set(tied["who"])]
        lines.append(
            [panel, network, at, names, rest.min() / least if len(rest) else numpy.nan, bool(tied["unwound"].all())]
        )
    return pandas.DataFrame(lines, columns=["panel", "network", "at", "fastest", "lead", "unwound"])
