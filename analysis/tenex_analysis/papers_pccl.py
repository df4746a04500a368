"""Chapter 6 (PCCL) of the ASTRA-sim2.0 thesis beside experiments/process_groups and process_groups_large:
`tenex_analysis.papers` prints these tables.
"""

from __future__ import annotations

import pandas

from .reader import Study
from .tables import compare, geometric_mean, value, where

#: 128 MiB, alpha 0.5 us and 50 GB/s: what most points have.
COMMON = {"size": 128 * 2**20, "alpha": "500000", "bandwidth": "50000000000"}
#: Seconds that TE-CCL took on mesh(6,6), and how many times as fast PCCL was.
TE_CCL_36, FASTER_36 = 180.0, 4404.0
#: Groups of Fig. 6.16 by name.
HALVES = {
    "0-31": "four rows", "0-3,8-11,16-19,24-27,32-35,40-43,48-51,56-59": "four columns",
    "0-62:2": "every other column", "0-6:2,9-15:2,16-22:2,25-31:2,32-38:2,41-47:2,48-54:2,57-63:2": "chess board",
}  # fmt: skip


def row_of(k: int, i: int) -> str:
    """The NPUs of row i of mesh(k,k), as studies write groups."""
    return f"{i * k}-{i * k + k - 1}"


def groups_of(k: int, placed: str) -> str:
    """The groups of mesh(k,k): "first", "first and last" or "all" of its rows."""
    rows = {"first": [0], "first and last": [0, k - 1], "all": range(k)}[placed]
    return "; ".join(row_of(k, i) for i in rows)


def _canonical(groups: pandas.Series) -> pandas.Series:
    return groups.str.replace(" ", "", regex=False)


def frame_of(study: Study) -> pandas.DataFrame:
    """The ok rows with `groups` without blanks and `us`, the time in microseconds."""
    frame = study.frame(only_ok=True)
    return frame.assign(groups=_canonical(frame["groups_setting"].astype(str)), us=frame["collective_time_ps"] * 1e-6)


def times_of(frame: pandas.DataFrame, chunks: tuple[int, int], **wanted) -> tuple[float, float]:
    """Microseconds of direct and of pccl; `chunks`: of direct, of pccl.

    Of pccl the best engine and occupancy count: what is planned with links busy for alpha + beta*m is valid with
    beta*m, by which direct is simulated.
    """
    wanted = COMMON | wanted
    wanted["groups"] = wanted["groups"].replace(" ", "")
    direct = where(frame, algorithm="direct", chunks=chunks[0], occupancy="serialization", order="relative", **wanted)
    pccl = where(frame, algorithm="pccl", chunks=chunks[1], relays="any", **wanted)
    return float(direct["us"].min()), float(pccl["us"].min())


def speed_up(frame: pandas.DataFrame, chunks: tuple[int, int], **wanted) -> float:
    """Direct's time over pccl's."""
    direct, pccl = times_of(frame, chunks, **wanted)
    return direct / pccl


def _steps(frame: pandas.DataFrame) -> list[tuple]:
    """Small examples, in timesteps: alpha + beta*m of a chunk of 1 MiB."""
    step = 0.5 + 2**20 / 50e3
    rows = []

    def add(label, of, cases):
        for name, wanted in cases.items():
            rows.append((f"{label}: timesteps, {name}", None, value(of, "us", **wanted) / step))

    greedy = {"algorithm": "pccl", "improve": "none"}
    pccl, direct = {"algorithm": "pccl", "improve": "all", "relays": "any"}, {"algorithm": "direct"}
    members = {"algorithm": "pccl", "relays": "members"}
    add("Fig. 6.1, unicast from 1 to 4", where(frame, collective="conditions"), {"pccl": {"algorithm": "pccl"}})
    for shape in ("mesh(3,2)", "RI(6)"):
        add(f"Fig. 6.2 on {shape}", where(frame, topology=shape), {"pccl": pccl, "direct": direct})
    five = frame[frame["topology"].str.contains("five_npus")]
    add("Fig. 6.5, All-Gather of 1, 2, 3", five, {"pccl": pccl, "pccl, one search": greedy, "direct": direct})
    mixed = where(frame, topology="mesh(3,3)", collective="mixed")
    add("Fig. 6.13, two collectives", mixed, {"pccl": pccl, "pccl, members only": members, "direct": direct})
    return rows


def _synthesis(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    copied = where(frame, algorithm="pccl", occupancy="transfer", groups="all")
    for engine in ("grid", "paths"):
        seconds = value(copied, "synthesis_seconds", topology="mesh(6,6)", chunks=1, engine_setting=engine)
        rows.append((f"Fig. 6.9, mesh(6,6): ms of synthesis, `{engine}`", TE_CCL_36 / FASTER_36 * 1e3, seconds * 1e3))
        rows.append((f"Fig. 6.9, mesh(6,6): times as fast as TE-CCL's 3 minutes, `{engine}`", FASTER_36,
                     TE_CCL_36 / seconds))
    for shape in ("mesh(8,8)", "grid(4,4,4)"):
        for engine in ("grid", "paths"):
            seconds = value(copied, "synthesis_seconds", topology=shape, size=2**29, chunks=64, engine_setting=engine)
            rows.append((f"Fig. 6.10, {shape}, 512 MiB: s of synthesis, `{engine}`",
                         109.8 if shape == "grid(4,4,4)" else None, seconds))
    return rows


def _switches(frame: pandas.DataFrame, chunk_counts: tuple[int, ...], npus: str) -> list[tuple]:
    rows = []
    switched = frame[frame["topology"].str.startswith("SW") & (frame["unwind"] > 0)]
    for given in ("50000000000", "100000000000,50000000000", "400000000000,50000000000"):
        of = where(switched, npu_bandwidth=given)
        gb = ":".join(f"{float(b) / 1e9:g}" for b in (given.split(",") * 2)[:2])
        for degree, label in ((1, "degree 1"), (2, "degree 2"), (31, "to all NPUs")):
            for chunks in chunk_counts if degree > 1 else (1,):
                ratios = []
                for _, shape in of[of["chunks"] == chunks].groupby("topology", observed=True):
                    at = shape[shape["unwind"] == min(degree, shape["unwind"].max())]
                    direct = where(at, algorithm="direct", occupancy="serialization")["us"].min()
                    ratios.append(direct / where(at, algorithm="pccl")["us"].min())
                rows.append((f"Fig. 6.11, {gb} GB/s, unwound {label}, {_counted(chunks)}: over direct, {npus} NPUs",
                             1.33, geometric_mean(ratios)))
    return rows


def _counted(chunks: int) -> str:
    return f"{chunks} chunk{'s' if chunks > 1 else ''}"


def _all_npus(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    for chunks in (1, 8):
        for k in (3, 4, 6, 8, 10):
            reached = speed_up(frame, (chunks, chunks), topology=f"mesh({k},{k})", groups="all")
            rows.append((f"Fig. 6.12, mesh({k},{k}), {_counted(chunks)}: over direct", None, reached))
    return rows


def _within_groups(frame: pandas.DataFrame) -> list[tuple]:
    rows = []

    def add(label, printed, chunks, k, groups):
        rows.append((label, printed, speed_up(frame, chunks, topology=f"mesh({k},{k})", groups=groups)))

    for placed in ("first", "first and last", "all"):
        for chunks in ((1, 1), (1, 16), (16, 16)) if placed == "first" else ((16, 16),):
            of = [speed_up(frame, chunks, topology=f"mesh({k},{k})", groups=groups_of(k, placed)) for k in range(4, 9)]
            label = f"Fig. 6.14, {placed} row{'' if placed == 'first' else 's'}, {chunks[0]} and {_counted(chunks[1])}"
            rows += [(f"{label}: mesh(4,4)", 2.33, of[0]), (f"{label}: mesh(8,8)", 3.03, of[-1]),
                     (f"{label}: mean of mesh(4,4) to mesh(8,8)", 2.68, sum(of) / len(of))]
    for k in (6, 7, 8):
        add(f"Fig. 6.15, first and last row of mesh({k},{k}), 16 chunks", 2.8, (16, 16), k,
            groups_of(k, "first and last"))
    for chunks in (1, 16):
        add(f"Fig. 6.16, group of 64, {_counted(chunks)}", None, (chunks, chunks), 8, "all")
        for groups, name in HALVES.items():
            add(f"Fig. 6.16, group of 32, {name}, {_counted(chunks)}", 1.88, (chunks, chunks), 8, groups)
    for count in range(1, 9):
        add(f"Fig. 6.17, {count} group{'s' if count > 1 else ''} of 8 in the first rows, 16 chunks",
            3.05 if count == 1 else None, (16, 16), 8, "; ".join(row_of(8, i) for i in range(count)))
    return rows


def _open_settings(frame: pandas.DataFrame) -> list[tuple]:
    """What the figures leave open, one setting at a time: one group of 8 on mesh(8,8)."""
    rows = []
    for name, wanted in {
        "alpha 0": {"alpha": "0"}, "alpha 5 us": {"alpha": "5000000"}, "400 GB/s": {"bandwidth": "400000000000"},
        "1 MiB": {"size": 2**20},
    }.items():  # fmt: skip
        reached = speed_up(frame, (16, 16), topology="mesh(8,8)", groups="0-7", **wanted)
        rows.append((f"Fig. 6.17, 1 group of 8, 16 chunks, but {name}", 3.05, reached))
    return rows


def process_groups(study: Study) -> pandas.DataFrame:
    """Fig. 6.1 to 6.17: timesteps of the examples, seconds of synthesis, speed-ups over direct."""
    frame = frame_of(study)
    rows = _steps(frame) + _synthesis(frame) + _switches(frame, (1, 4), "16 to 64")
    return compare(rows + _all_npus(frame) + _within_groups(frame) + _open_settings(frame))


def process_groups_large(study: Study) -> pandas.DataFrame:
    """Section 6.6.1: seconds of the largest syntheses; Fig. 6.11 for 128 and 256 NPUs."""
    frame = frame_of(study)
    rows = []
    for shape, npus, printed in (("grid(8,8,8)", "512", 700.8), ("grid(10,10,10)", "1,000", 7236.0),
                                 ("mesh(64,64)", "4,096", None), ("torus(200,200)", "40,000", None)):
        for _, row in where(frame, topology=shape).iterrows():
            label = f"{npus} NPUs, {shape}, `{row['engine']}`"
            rows += [(f"{label}: s of synthesis", printed, row["synthesis_seconds"]),
                     (f"{label}: bound over time", None, row["efficiency"])]
    return compare(rows + _switches(frame, (1,), "128 and 256"))


TABLES = {"process_groups": process_groups, "process_groups_large": process_groups_large}
