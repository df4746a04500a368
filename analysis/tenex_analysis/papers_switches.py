"""Switches in the papers beside experiments/switches, and the rows of experiments/switches_large: the tables that
`tenex_analysis.papers switches` and `switches_large` print.

SyCCL (SIGCOMM 2025) names its networks, not its times; TE-CCL, Table 8; LIBRA's All-Reduce inside a switch.
"""

from __future__ import annotations

import pandas

from .reader import Study
from .tables import compare, value, where
from .words import NothingToShow

#: TE-CCL, Table 8, All-Gather on two NDv2 chassis with the optimal epoch: bytes of the output to microseconds.
NDV2 = {
    1000: 4.135, 4000: 4.24, 16000: 4.44, 64000: 6.08, 256000: 14.72, 1_000_000: 48.75, 4_000_000: 190.0,
    16_000_000: 700.0, 64_000_000: 2800.0, 256_000_000: 11200.0, 1_000_000_000: 43750.0,
}  # fmt: skip
#: Two DGX-2 chassis, 1 GB: 31 chunk times over the NVSwitch.
DGX2 = {1_000_000_000: 7750.0}


def text_of(size: int) -> str:
    """A size as the table writes it: 64 KB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def _boxes(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    for collective, name in (("all_to_all", "All-to-All"), ("all_gather", "All-Gather")):
        best = where(frame, topology="SW(8)_SW(64)", collective=collective).sort_values("efficiency").iloc[-1]
        label = f"SW(8)_SW(64), 512 NPUs, {name}"
        rows += [(f"{label}: bound over time", None, best["efficiency"]),
                 (f"{label}: s of synthesis", None, best["synthesis_seconds"])]
    return rows


def _machines(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    for size, printed in NDV2.items():
        runs = where(frame, topology="../machines/ndv2_2ch.toml", size=size)
        rows.append((f"NDv2 x2, All-Gather {text_of(size)}: us, best of 1 to 8 chunks", printed, runs["us"].min()))
    for forwarding in ("cut_through", "store_and_forward"):
        runs = where(frame, topology="../machines/dgx2_2ch.toml", forwarding=forwarding)
        for size in sorted(runs["size"].unique()):
            printed = DGX2.get(int(size)) if forwarding == "cut_through" else None
            rows.append((f"DGX-2 x2, All-Gather {text_of(int(size))}, {forwarding}: us", printed,
                         where(runs, size=size)["us"].min()))
    return rows


def _in_network(frame: pandas.DataFrame) -> list[tuple]:
    """Times over S/B, which is LIBRA's formula for an All-Reduce inside the switch."""
    runs = where(frame, topology="SW(8)", collective="all_reduce")
    rows = []
    for able, formula in (("yes", 1.0), ("no", 2 * 7 / 8)):
        for forwarding in ("store_and_forward", "cut_through"):
            for chunks in (1, 8, 64):
                row = where(runs, switch_reduce=able, forwarding=forwarding, chunks=chunks)
                what = "in the switch" if able == "yes" else "by NPUs"
                time = value(row, "us") / (value(row, "size") / 50e9 * 1e6)
                rows.append((f"SW(8), All-Reduce {what}, {forwarding}, {chunks} chunks: time over S/B", formula, time))
    return rows


def _unwound(frame: pandas.DataFrame) -> list[tuple]:
    """TACOS on the unwound switches, and its schedule on the real ones, over pccl there."""
    runs = where(frame, topology="SW(8)_SW(8)")
    rows = []
    for forwarding in ("store_and_forward", "cut_through"):
        for collective, name in (("all_gather", "All-Gather"), ("all_reduce", "All-Reduce")):
            of = {algorithm: where(runs, forwarding=forwarding, collective=collective, algorithm=algorithm)
                  for algorithm in ("pccl", "tacos", "direct")}
            pccl = value(of["pccl"], "us")
            label = f"SW(8)_SW(8), {name}, {forwarding}"
            rows += [(f"{label}: TACOS's schedule on the switches over pccl's", None,
                      value(of["tacos"], "switched_time_ps") * 1e-6 / pccl),
                     (f"{label}: direct over pccl", None, value(of["direct"], "us") / pccl)]
    return rows


def switches(study: Study) -> pandas.DataFrame:
    """512 GPUs in boxes and rails, TE-CCL's machines, All-Reduce inside a switch, unwound schedules on switches."""
    frame = study.frame(only_ok=True)
    frame = frame.assign(us=frame["collective_time_ps"] * 1e-6)
    return compare(_boxes(frame) + _machines(frame) + _in_network(frame) + _unwound(frame))


def switches_large(study: Study) -> pandas.DataFrame:
    """All-to-Alls of 1,024 NPUs, of which no paper has times: time, bound and seconds of synthesis of every row."""
    names = {"all_to_all": "All-to-All", "all_gather": "All-Gather"}
    frame = study.frame(only_ok=True)
    frame = frame[frame["npus"] >= 1024]
    if frame.empty:
        raise NothingToShow("the study has no rows of 1,024 NPUs")
    return pandas.DataFrame({
        "network": frame["topology"].astype(str), "NPUs": frame["npus"].astype(int),
        "collective": [names[str(each)] for each in frame["collective"]],
        "algorithm": frame["algorithm"].astype(str), "us": frame["collective_time_ps"] * 1e-6,
        "bound, us": frame["bound_ps"] * 1e-6, "bound": frame["bound_name"].astype(str),
        "bound over time": frame["efficiency"],
        "s of synthesis": frame["synthesis_seconds"].where(frame["algorithm"].astype(str) == "pccl"),
    })  # fmt: skip


TABLES = {"switches": switches, "switches_large": switches_large}
