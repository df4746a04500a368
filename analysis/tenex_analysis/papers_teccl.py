"""TE-CCL's tables beside experiments/teccl_large: the table that `tenex_analysis.papers teccl_large` prints.

Printed times of TE-CCL, Tables 7 and 8, and a verdict: a printed time below a proven bound is refuted.
"""

from __future__ import annotations

import numpy
import pandas

from .papers_switches import NDV2, text_of
from .reader import Study
from .tables import where

#: TE-CCL, Table 8, All-to-All on two NDv2 chassis with the optimal epoch: bytes of the output to microseconds.
NDV2_PAIRS = {
    1000: 4.24, 4000: 4.64, 16000: 7.27, 64000: 23.30, 256000: 85.52, 1_000_000: 325.28, 4_000_000: 1296.25,
    16_000_000: 5123.77, 64_000_000: 20495.09, 256_000_000: 82000.0, 1_000_000_000: 320235.81,
}  # fmt: skip
#: TE-CCL, Table 7: chunks to epochs of 1 us, in which a brick takes a chunk of 25 KB.
EPOCHS = {"all_gather": {chunks: chunks + 1 for chunks in range(1, 7)}, "all_to_all": {1: 3, 3: 8, 8: 30}}
NAMES = {"all_gather": "All-Gather", "all_to_all": "All-to-All"}
MACHINES = {
    "../machines/ndv2_2ch.toml": "NDv2 x2", "dgx1_no_alpha.toml": "DGX-1 without latency",
    "../machines/dgx1.toml": "DGX-1", "../machines/dgx2_1ch.toml": "DGX-2", "../machines/dgx2_2ch.toml": "DGX-2 x2",
    "../machines/amd_1ch.toml": "MI250", "../machines/ndv2_2ch_switch.toml": "NDv2 x2 over a switch",
}  # fmt: skip
#: Machines of which several numbers of chunks were run, and the best one counts.
ANY_CHUNKS = ("../machines/dgx2_2ch.toml", "../machines/amd_1ch.toml")
#: The size for which epochs are compared.
OF_EPOCHS = 4_000_000
OTHERS = ("tacos", "pccl", "trees", "taccl", "sccl")


def _proven(rows: pandas.DataFrame) -> pandas.Series:
    """The best bound of each row in microseconds: of tenex, or what a solver proved."""
    solved = rows["us"] * (1 - rows["optimality_gap"].fillna(1))
    return numpy.maximum(rows["bound_ps"] * 1e-6, solved)


def _verdict(printed: float | None, best: float, bound: float) -> str:
    if printed is None:
        return "optimal" if best <= bound * (1 + 1e-9) else f"gap {100 * (1 - bound / best):.2g} %"
    if printed < bound * (1 - 1e-6):
        return "printed time refuted"
    reached = "beaten" if best < printed * (1 - 1e-4) else "matched" if best <= printed * (1 + 1e-4) else "not reached"
    return f"{reached}, optimal" if best <= bound * (1 + 1e-9) else f"{reached}, gap {100 * (1 - bound / best):.2g} %"


def _line(label: str, printed: float | None, rows: pandas.DataFrame) -> dict:
    """A line of the table: the best time of each synthesizer, over all these rows."""
    solved = rows[rows["algorithm"] == "te_ccl"]
    line = {"what": label, "printed, us": printed if printed is not None else numpy.nan,
            "te_ccl": solved["us"].min()}
    for other in OTHERS:
        line[other] = rows[rows["algorithm"] == other]["us"].min()
    bound = rows.groupby("chunks")["proven"].max().min()  # every number of chunks may be chosen
    line["bound, us"] = bound
    line["verdict"] = _verdict(printed, rows["us"].min(), bound)
    line["s of solvers"] = solved["solver_seconds"].clip(lower=0).sum()
    return line


def _published(frame: pandas.DataFrame) -> list[dict]:
    lines = []
    plain = where(frame, topology="../machines/ndv2_2ch.toml")
    for collective, printed_times in (("all_gather", NDV2), ("all_to_all", NDV2_PAIRS)):
        for size, printed in printed_times.items():
            label = f"NDv2 x2, {NAMES[collective]}, {text_of(size)}"
            lines.append(_line(label, printed, where(plain, collective=collective, size=size)))
    for collective, by_chunks in EPOCHS.items():
        for chunks, epochs in by_chunks.items():
            rows = where(frame, topology="dgx1_no_alpha.toml", collective=collective, chunks=chunks)
            counted = f"{chunks} chunk{'s' if chunks > 1 else ''} of 25 KB"
            lines.append(_line(f"DGX-1 without latency, {NAMES[collective]}, {counted}", epochs, rows))
    return lines


def _others(frame: pandas.DataFrame) -> list[dict]:
    """The machines, meshes and ablations, of which TE-CCL prints pictures: a line for each point, all synthesizers."""
    published = (frame["topology"] == "dgx1_no_alpha.toml") | (frame["topology"] == "../machines/ndv2_2ch.toml")
    epochs = (frame["algorithm"] == "te_ccl") & (frame["size"] == OF_EPOCHS) & (frame["chunks"] == 1)
    rows = frame[~published | (epochs & (frame["topology"] == "../machines/ndv2_2ch.toml"))]
    any_chunks = rows["topology"].isin(ANY_CHUNKS)
    rows = rows.assign(counted=rows["chunks"].where(~any_chunks, 0))
    keys = ["topology", "collective", "size", "counted", "epoch", "switch_buffer", "formulation"]
    limits = rows.groupby("topology")["switch_buffer"].nunique()
    lines = []
    for (topology, collective, size, chunks, epoch, buffer, formulation), group in rows.groupby(keys, sort=False):
        label = f"{MACHINES.get(topology, topology)}, {NAMES[collective]}, {text_of(int(size))}"
        label += f", {chunks} chunks" if chunks > 1 else ""
        label += f", 1 to {group['chunks'].max()} chunks" if group["chunks"].max() > max(chunks, 1) else ""
        label += f", epoch {epoch}" if size == OF_EPOCHS else ""
        if limits[topology] > 1 and (topology == "SW(6)" or buffer != "as_built"):
            label += f", buffer {buffer.replace('as_built', 'unlimited')}"
        label += {"milp": ", NPUs with buffers", "unbuffered": ", NPUs without buffers"}.get(formulation, "")
        lines.append(_line(label, None, group))
    return lines


def teccl_large(study: Study) -> pandas.DataFrame:
    """TE-CCL's Tables 7 and 8 and further machines: times of all synthesizers in us, the proven bound, a verdict."""
    frame = study.frame(only_ok=True)
    frame = frame.assign(us=frame["collective_time_ps"] * 1e-6)
    for text in ("topology", "collective", "algorithm", "epoch", "switch_buffer", "formulation"):
        frame[text] = frame[text].astype(str)
    frame["epoch"] = frame["epoch"].where(frame["size"] == OF_EPOCHS, "fastest")
    frame["proven"] = _proven(frame)
    return pandas.DataFrame(_published(frame) + _others(frame))


TABLES = {"teccl_large": teccl_large}
