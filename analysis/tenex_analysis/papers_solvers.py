"""The papers' comparisons with solvers beside experiments/solvers: what `tenex_analysis.papers solvers` prints.

TACOS beside TACCL (TACOS, Fig. 15, Table V, Fig. 19), TE-CCL beside TACCL (TE-CCL, Table 8, of which Fig. 5 and 6 draw
ratios) and beside SCCL (TE-CCL, Tables 3 and 7).
"""

from __future__ import annotations

import numpy
import pandas

from .papers_switches import NDV2, text_of
from .papers_teccl import EPOCHS, NAMES, NDV2_PAIRS
from .reader import Study
from .tables import where

NDV2_FILE, DGX1_FILE = "../machines/ndv2_2ch.toml", "../machines/dgx1.toml"
DGX1_NO_ALPHA = "../teccl_large/dgx1_no_alpha.toml"
#: TACOS, Fig. 15(a): the networks of its text; no number is printed.
FIG_15 = {"dragonfly(4,5)": "DragonFly, 4 x 5", "SW(8)_SW(4)": "2D Switch, 8 x 4",
          "RI(2)_FC(4)_SW(8)": "3D-RFS, 2 x 4 x 8"}  # fmt: skip
#: TACOS, Table V: TACCL's All-Reduce time over TACOS's, and TACCL's seconds of synthesis, by network.
TABLE_V = {"RI(2)_FC(4)_SW(2)": (2.89, 790), "RI(2)_FC(4)_SW(4)": (4.10, 2001), "RI(2)_FC(4)_SW(8)": (4.27, 7016)}
#: TACOS, Fig. 19: meshes and grids up to 36 NPUs.
FIG_19 = {"mesh": ["mesh(2,2)", "mesh(3,3)", "mesh(4,4)", "mesh(5,5)", "mesh(6,6)"],
          "grid": ["grid(2,2,2)", "grid(3,3,3)"]}  # fmt: skip
#: TE-CCL, Table 8: TACCL's microseconds and seconds by bytes of the output. There is no line for 16 MB.
TACCL = {
    "all_gather": {
        1000: (10.16, 3.02), 4000: (11.85, 4.30), 16000: (12.68, 6.34), 64000: (13.08, 3.66), 256000: (25.26, 11.17),
        1_000_000: (62.15, 62.65), 4_000_000: (216.50, 8.37), 64_000_000: (3133.20, 8.27),
        256_000_000: (12494.60, 6.56), 1_000_000_000: (53766.70, 7.01),
    },
    "all_to_all": {
        1000: (36.80, 27.66), 4000: (32.16, 31.14), 16000: (35.76, 86.03), 64000: (50.34, 860.88),
        256000: (115.72, 1221.78), 1_000_000: (359.0, 1213.52),
    },
}  # fmt: skip
#: TE-CCL's seconds with optimal epochs: All-Gather with the early stop at 30 %, All-to-All to the end.
TECCL_SECONDS = {
    "all_gather": {1000: 42.94, 4000: 10.17, 16000: 12.98, 64000: 3.94, 256000: 2.83, 1_000_000: 4.32, 4_000_000: 2.40,
                   16_000_000: 2.42, 64_000_000: 2.45, 256_000_000: 2.37, 1_000_000_000: 2.66},
    "all_to_all": {1000: 196.72, 4000: 69.58, 16000: 182.08, 64000: 161.99, 256000: 218.50, 1_000_000: 189.47},
}  # fmt: skip
TECCL = {"all_gather": NDV2, "all_to_all": NDV2_PAIRS}
#: TE-CCL, Table 3: MSCCL's and TE-CCL's microseconds by collective and chunks.
TABLE_3 = {("all_gather", 1): (3.4, 4.0), ("all_gather", 2): (5.1, 5.0), ("all_gather", 3): (8.0, 6.1),
           ("all_to_all", 1): (3.4, 4.0)}  # fmt: skip
#: TE-CCL, Table 7: SCCL's seconds, and by which share of SCCL's time TE-CCL's is shorter.
TABLE_7 = {("all_gather", 1): (0.3, 0), ("all_gather", 2): (0.7, 0), ("all_gather", 3): (1.8, 0),
           ("all_gather", 4): (4.1, 0), ("all_gather", 5): (11.2, 0), ("all_gather", 6): (27.7, 0),
           ("all_to_all", 1): (8.8, 0.33)}  # fmt: skip
SYNTHESIZERS = ("taccl", "sccl", "te_ccl", "tacos", "pccl", "trees")


def printed_of_steps(file: str, collective: str, chunks: int) -> tuple[float, float]:
    """Microseconds of SCCL and of TE-CCL on a DGX-1 (Tables 3 and 7): the rounds of SCCL's instance are epochs of 1 us.
    """
    if file == DGX1_FILE:
        return TABLE_3[collective, chunks]
    rounds = EPOCHS[collective][chunks]
    return rounds, rounds * (1 - TABLE_7[collective, chunks][1])


def frame_of(study: Study) -> pandas.DataFrame:
    """The ok rows, with `us`, and in `proven` the best bound in microseconds, of tenex or of a solver."""
    frame = study.frame(only_ok=True)
    frame = frame.assign(us=frame["collective_time_ps"] * 1e-6)
    for text in ("topology", "collective", "algorithm"):
        frame[text] = frame[text].astype(str)
    solved = frame["us"] * (1 - frame["optimality_gap"].fillna(1))
    return frame.assign(proven=numpy.maximum(frame["bound_ps"] * 1e-6, solved))


def fastest(rows: pandas.DataFrame, algorithm: str) -> float:
    """The least microseconds of an algorithm in any number of chunks; NaN without rows."""
    return float(rows.loc[rows["algorithm"] == algorithm, "us"].min())


def seconds(rows: pandas.DataFrame, algorithm: str) -> float:
    """The most seconds of an algorithm in these rows, in its solvers where it has some (others may keep them waiting),
    otherwise of synthesis; NaN without rows.
    """
    of = rows[rows["algorithm"] == algorithm]
    return float(of["solver_seconds"].where(of["solver_seconds"] > 0, of["synthesis_seconds"]).max())


def _line(what: str, rows: pandas.DataFrame, pair: tuple[str, str], **printed: float) -> dict:
    """A line: the least times of all synthesizers, and the solver of the pair over the paper's own method."""
    solver, method = pair
    line = {"what": what, "printed, us": printed.get("us", numpy.nan)}
    line |= {name: fastest(rows, name) for name in SYNTHESIZERS}
    line["bound, us"] = rows.groupby("chunks")["proven"].max().min()  # every number of chunks may be chosen
    line["printed ratio"] = printed.get("ratio", numpy.nan)
    line["ratio"] = line[solver] / line[method]
    line["printed s"] = printed.get("s", numpy.nan)
    line["s of solver"] = seconds(rows, solver)
    line["s of method"] = seconds(rows, method)
    return line


def _tacos(frame: pandas.DataFrame) -> list[dict]:
    lines = []
    pair = ("taccl", "tacos")
    for topology, name in FIG_15.items():
        lines.append(_line(f"TACOS, Fig. 15: {name}, All-Reduce, 1 GB", where(frame, topology=topology), pair))
    for topology, (ratio, took) in TABLE_V.items():
        rows = where(frame, topology=topology)
        npus = int(rows["npus"].iloc[0])
        lines.append(_line(f"TACOS, Table V: {npus} NPUs, any chunks", rows, pair, ratio=ratio, s=took))
        lines.append(_line(f"TACOS, Table V: {npus} NPUs, one chunk", where(rows, chunks=1), pair, ratio=ratio, s=took))
    for topology in FIG_19["mesh"] + FIG_19["grid"]:
        lines.append(_line(f"TACOS, Fig. 19: {topology}", where(frame, topology=topology), pair))
    return lines


def _teccl(frame: pandas.DataFrame) -> list[dict]:
    lines = []
    for collective, by_size in TACCL.items():
        rows = where(frame, topology=NDV2_FILE, collective=collective)
        for size in sorted(rows["size"].unique()):
            us, took = by_size.get(int(size), (numpy.nan, numpy.nan))
            label = f"TE-CCL, Table 8: {NAMES[collective]}, {text_of(int(size))}"
            of = where(rows, size=size)
            printed = us / TECCL[collective][int(size)]
            lines.append(_line(label, of, ("taccl", "te_ccl"), us=us, ratio=printed, s=took))
    for file, cases, table in ((DGX1_FILE, TABLE_3, "Table 3"), (DGX1_NO_ALPHA, TABLE_7, "Table 7")):
        for collective, chunks in cases:
            rows = where(frame, topology=file, collective=collective, chunks=chunks)
            us, own = printed_of_steps(file, collective, chunks)
            took = TABLE_7[collective, chunks][0] if table == "Table 7" else numpy.nan
            label = f"TE-CCL, {table}: {NAMES[collective]}, {chunks} x 25 KB"
            lines.append(_line(label, rows, ("sccl", "te_ccl"), us=us, ratio=us / own, s=took))
    return lines


def solvers(study: Study) -> pandas.DataFrame:
    """TACCL-like and SCCL-like schedules beside TACOS's and TE-CCL's: printed times of TACCL and SCCL in us, those of
    tenex, the best proven bound, and the solver over the paper's own method (printed and here), with seconds.
    """
    frame = frame_of(study)
    return pandas.DataFrame(_tacos(frame) + _teccl(frame))


TABLES = {"solvers": solvers}
