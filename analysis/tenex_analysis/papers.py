"""Numbers printed in the papers beside the results of the studies of experiments/.

    python3 -m tenex_analysis.papers STUDY DIR                print the table of experiments/STUDY from its result
    python3 -m tenex_analysis.papers STUDY DIR --into FILE    write it between the marks in FILE
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import pandas

from . import papers_libra, papers_pccl, papers_solvers, papers_switches, papers_teccl, papers_wafer
from .command import run_command
from .markdown import as_markdown, print_or_write
from .reader import Study, open_study
from .tables import compare, geometric_mean
from .words import NothingToShow


def time_of(frame: pandas.DataFrame, **wanted) -> float:
    """Seconds of the one row with these settings; ValueError for no row or several."""
    rows = frame
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows have {wanted}")
    return float(rows["collective_time_ps"].iloc[0]) * 1e-12


def baselines(study: Study) -> pandas.DataFrame:
    """Fig. 2 of the TACOS paper: ratios of algbw on rings and fully connected networks, and who wins at which size."""
    frame = study.frame(only_ok=True)

    def at(topology, algorithm, size=10**9, chunks=1):
        return time_of(frame, topology=topology, algorithm=algorithm, size=size, chunks=chunks)

    halves = {topology: at(topology, "ring_unidirectional", 500 * 10**6) for topology in ("RI(64)", "FC(64)")}
    ring, full = at("RI(64)", "direct"), at("FC(64)", "direct")
    rows = [
        ("RI(64): Ring over Direct, halves each way round", 16.71, ring / halves["RI(64)"]),
        ("RI(64): Ring over Direct, every chunk both ways (`ring`, 2 chunks)", 16.71,
         ring / at("RI(64)", "ring", chunks=2)),
        ("RI(64): Ring over Direct, one way round", 16.71, ring / at("RI(64)", "ring_unidirectional")),
        ("FC(64): Direct over Ring, one way round", 62.63, at("FC(64)", "ring_unidirectional") / full),
        ("FC(64): Direct over Ring, halves each way round", 62.63, halves["FC(64)"] / full),
    ]
    for label, size in (("1 KB", 10**3), ("32 KB", 32 * 10**3), ("1 MB", 10**6), ("32 MB", 32 * 10**6),
                        ("1 GB", 10**9)):
        direct = at("RI(128)", "direct", size)
        rows.append((f"RI(128), {label}: Direct over Ring, halves each way round", None,
                     at("RI(128)", "ring_unidirectional", size // 2) / direct))
        rows.append((f"RI(128), {label}: Direct over Ring, every chunk both ways (`ring`)", None,
                     at("RI(128)", "ring", size, 2) / direct))
    return compare(rows)


#: Table V, normalized to TACOS.
TABLE_V = pandas.DataFrame(
    {"tacos": [1.0] * 4, "ring": [7.14, 5.10, 4.80, 4.82], "rhd": [5.27, 4.42, 5.83, 9.85],
     "direct": [4.04, 7.86, 16.84, 36.02], "ideal": [1.00, 0.72, 0.68, 0.68]}, index=[16, 32, 64, 128])  # fmt: skip

#: The bandwidths per NPU and dimension under which the table comes out, in B/s.
TABLE_V_BANDWIDTH = "200000000000,100000000000,50000000000"


def multi_node(study: Study) -> pandas.DataFrame:
    """Table V of the TACOS paper, relative to its Ideal."""
    every = study.frame(only_ok=True)
    stated = every["npu_bandwidth"] == TABLE_V_BANDWIDTH
    # Wider FC links leave the Ideal as it is printed.
    printed_ideal = every[stated].groupby(["npus", "unwind"])["paper_ideal_ps"].first()
    ideal = every.set_index(["npus", "unwind"]).index.map(printed_ideal)
    every["over_ideal"] = every["collective_time_ps"].to_numpy() / ideal.to_numpy()
    frame = every[stated]
    ratios_of_ring = TABLE_V["ring"] / TABLE_V["ideal"]
    rows = []
    for label, algorithm, unwind, printed in (
        ("Direct over Ideal, unwound", "direct", 1, "direct"), ("RHD over Ideal, unwound", "rhd", 1, "rhd"),
        ("TACOS over Ideal, unwound", "tacos", 1, "tacos"),
        ("Ring one way round over Ideal, unwound", "ring_unidirectional", 1, "ring"),
        ("Packed rings over Ideal, unwound", "rings", 1, "ring"),
        ("Ring both ways round over Ideal, on the switch", "ring", 0, "ring"),
        ("Packed rings over Ideal, on the switch", "rings", 0, "ring"),
        ("Direct over Ideal, on the switch", "direct", 0, "direct"),
    ):  # fmt: skip
        of = frame[(frame["algorithm"] == algorithm) & (frame["unwind"] == unwind)].set_index("npus")["over_ideal"]
        of = of.reindex(TABLE_V.index)
        ratios = (TABLE_V[printed] / TABLE_V["ideal"]).to_dict()
        rows += [(f"{label}, {npus} NPUs", ratios[npus], of[npus]) for npus in TABLE_V.index]
        rows.append((f"{label}, geometric mean", geometric_mean(list(ratios.values())), geometric_mean(of)))
    two_rings = every["topology"].str.contains("two_rings")
    for settings, wider in every[~stated & ~two_rings].groupby(["npu_bandwidth", "chunks", "occupancy"], sort=False):
        link = int(settings[0].split(",")[1]) // 3 // 10**9
        label = f"Ring one way round over Ideal, FC links of {link} GB/s, chunks {settings[1]}, {settings[2]}"
        of = wider.set_index("npus")["over_ideal"]
        rows += [(f"{label}, {npus} NPUs", ratios_of_ring[npus], of[npus]) for npus in TABLE_V.index]
    for settings, rings in every[two_rings].groupby(["chunks", "occupancy"], sort=False):
        of = rings.set_index("npus")["collective_time_ps"] / printed_ideal.xs(1, level="unwind")
        label = f"Two rings over Ideal, chunks {settings[0]}, {settings[1]}"
        rows += [(f"{label}, {npus} NPUs", ratios_of_ring[npus], of[npus]) for npus in TABLE_V.index]
    return compare(rows)


def _of_ideal(frame: pandas.DataFrame) -> float:
    """The mean reached share of the Ideal."""
    return float((frame["paper_ideal_ps"] / frame["collective_time_ps"]).mean())


def themis(study: Study) -> pandas.DataFrame:
    """Fig. 16 of the TACOS paper: shares of the Ideal, as means over sizes, and speed-ups."""
    frame = study.frame(only_ok=True)
    key = ["topology", "size"]
    tacos = frame[(frame["algorithm"] == "tacos")]
    best = tacos.groupby(key)["collective_time_ps"].min()
    one = tacos[tacos["chunks"] == 1]

    def of(topology, algorithm, chunks, sizes=None, window=0):
        rows = frame[(frame["topology"] == topology) & (frame["algorithm"] == algorithm) & (frame["chunks"] == chunks)]
        rows = rows[rows["window"] == window]
        return rows if sizes is None else rows[rows["size"].isin(sizes)]

    rows = [
        ("torus: TACOS of Ideal, 1 chunk", 0.9590, _of_ideal(one[one["topology"] == "torus(4,4,4)"])),
        ("torus: Themis with 64 chunks of Ideal, 1 GB", 0.9590, _of_ideal(of("torus(4,4,4)", "themis", 64, [10**9]))),
        ("torus: Themis with 64 chunks of Ideal, 1 MB", 0.6437, _of_ideal(of("torus(4,4,4)", "themis", 64, [10**6]))),
        ("torus: Themis with 4 chunks of Ideal", None, _of_ideal(of("torus(4,4,4)", "themis", 4))),
        ("torus: BlueConnect with 64 chunks of Ideal", None, _of_ideal(of("torus(4,4,4)", "blueconnect", 64))),
        ("torus: BlueConnect with 4 chunks of Ideal", None, _of_ideal(of("torus(4,4,4)", "blueconnect", 4))),
        ("grid: TACOS of Ideal, 1 chunk", 0.9810, _of_ideal(one[one["topology"] == "grid(4,4,4)"])),
        ("grid: Themis with 4 chunks of Ideal", 0.4943, _of_ideal(of("grid(4,4,4)", "themis", 4))),
        ("grid: Themis with 64 chunks of Ideal", 0.4943, _of_ideal(of("grid(4,4,4)", "themis", 64))),
    ]
    for window in sorted(set(frame.loc[frame["chunks"] == 64, "window"]) - {0}):
        for name, shape, printed in (("torus", "torus(4,4,4)", (0.6437, 0.9590)),
                                     ("grid", "grid(4,4,4)", (None, None))):
            for size, text, share in ((10**6, "1 MB", printed[0]), (10**9, "1 GB", printed[1])):
                reached = _of_ideal(of(shape, "themis", 64, [size], window))
                rows.append((f"{name}: Themis with 64 chunks, window {window}, of Ideal, {text}", share, reached))

    def speedup(window):
        """Speed-ups of TACOS over Themis with 4 chunks and with 64, for a window of so many chunks per dimension."""
        shown = (frame["chunks"] == 4) | (frame["window"] == window)
        rows = frame[(frame["algorithm"] == "themis") & shown].set_index(key)
        return geometric_mean(rows["collective_time_ps"] / rows.index.map(best))

    rows.append(("TACOS over Themis, 4 and 64 chunks, both shapes, geometric mean", 2.01, speedup(0)))
    rows.append(("the same, 64 chunks with window 8", 2.01, speedup(8)))
    return compare(rows)


def trees(study: Study) -> pandas.DataFrame:
    """Fig. 17 of the TACOS paper: MultiTree and C-Cube against TACOS and the Ideal."""
    frame = study.frame(only_ok=True)
    frame["of_ideal"] = frame["paper_ideal_ps"] / frame["collective_time_ps"]

    def pick(topology, algorithm, chunks):
        of = frame[frame["topology"].str.contains(topology, regex=False)]
        return of[(of["algorithm"] == algorithm) & (of["chunks"] == chunks)].set_index("size")["of_ideal"]

    torus, mesh, machine = "torus(8,8)", "mesh(8,8)", "dgx1"
    over = [pick(shape, "tacos", 4) / pick(shape, "multitree", 1) for shape in (torus, mesh)]
    rows = [
        ("TACOS over MultiTree, torus and mesh, geometric mean", 1.32, geometric_mean(pandas.concat(over))),
        ("torus: Themis with 64 chunks of Ideal", 0.8993, pick(torus, "themis", 64).mean()),
        ("torus: TACOS of Ideal, 1 chunk", 0.9215, pick(torus, "tacos", 1).mean()),
        ("mesh: TACOS of Ideal, 1 chunk", 0.8260, pick(mesh, "tacos", 1).mean()),
        ("DGX-1: C-Cube of Ideal, 4 chunks", 0.3263, pick(machine, "c_cube", 4).mean()),
        ("DGX-1: C-Cube of Ideal, 8 chunks", 0.3263, pick(machine, "c_cube", 8).mean()),
        ("DGX-1: C-Cube of Ideal, 64 chunks", 0.3263, pick(machine, "c_cube", 64).mean()),
        ("DGX-1: TACOS of Ideal", 0.9326, pick(machine, "tacos", 16).mean()),
        ("DGX-1: Ring in the order of ids, of Ideal", 0.9961, pick(machine, "ring", 2).mean()),
        ("DGX-1: Rings packed on the bricks, of Ideal", 0.9961, pick(machine, "rings", 6).mean()),
        ("DGX-1: Blink-style trees of Ideal", None, pick(machine, "blink", 64).mean()),
    ]
    for chunks in (4, 8):
        speedup = geometric_mean(pick(machine, "tacos", 16) / pick(machine, "c_cube", chunks))
        rows.append((f"DGX-1: TACOS over C-Cube with {chunks} chunks", 2.86, speedup))
    return compare(rows)


def utilization(study: Study) -> pandas.DataFrame:
    """Fig. 18 of the TACOS paper: shares of the Ideal, and how busy links are on average."""
    frame = study.frame(only_ok=True)
    one = frame[(frame["algorithm"] == "tacos") & (frame["chunks"] == 1)]
    rows = [("TACOS of Ideal, three shapes, mean", 0.9840, _of_ideal(one))]
    busy = study.utilization().groupby("point")["utilization"].mean()
    for point, row in frame.iterrows():
        name = f"{row['topology']}: {row['algorithm']}, {row['chunks']} chunk{'s' if row['chunks'] > 1 else ''}"
        rows.append((f"{name}: links busy on average", None, busy[point]))
    return compare(rows)


def busy_by_dimension(study: Study, point: int) -> list[float]:
    """Mean share of the time for which the links of each dimension are busy, on a product shape of direct links."""
    row = study.frame().loc[point]
    sizes = [int(block.split("(")[1].rstrip(")")) for block in row["topology"].split("_")]
    links = study.links()
    links = links[links["point"] == point]
    shares, stride = [], 1
    for size in sizes:
        moves = links["source"] // stride % size != links["destination"] // stride % size
        shares.append(float(links.loc[moves, "busy_ps"].mean() / row["collective_time_ps"]))
        stride *= size
    return shares


def pipeline(study: Study) -> pandas.DataFrame:
    """Fig. 9 of the LIBRA paper: how busy each dimension is. The paper draws the shares that the volumes allow."""
    frame = study.frame(only_ok=True)
    frame = frame[(frame["algorithm"] == "hierarchical")]
    volumes = numpy.array([16.0, 4.0, 1.0])  # by dimension, in 64ths of 3 S / 2
    rows = []
    for point, row in frame[frame["topology"].str.startswith("FC") & (frame["window"] == 0)].iterrows():
        given = numpy.array([float(b) for b in row["npu_bandwidth"].split(",")]) / 1e9
        times = volumes / (given if len(given) == 3 else numpy.repeat(given, 3))
        limits = times / times.max()
        shares = ":".join(f"{b:g}" for b in (given if len(given) == 3 else numpy.repeat(given, 3)))
        for i, share in enumerate(busy_by_dimension(study, point)):
            name = f"{shares} GB/s, {row['chunks']} chunk{'s' if row['chunks'] > 1 else ''}: dimension {i + 1} busy"
            rows.append((name, limits[i], share))
    suits = frame["npu_bandwidth"].str.startswith("160000000000,") & (frame["chunks"] == 64)
    for point, row in frame[frame["topology"].str.startswith("RI") & suits].iterrows():
        window = f"window {row['window']}" if row["window"] else "all at once"
        rows.append((f"160:40:10 GB/s, rings, 64 chunks, {window}: dimension 1 busy", 1,
                     busy_by_dimension(study, point)[0]))
    return compare(rows)


TABLES = {table.__name__: table for table in (baselines, multi_node, themis, trees, utilization, pipeline)}
TABLES |= papers_libra.TABLES | papers_wafer.TABLES | papers_pccl.TABLES | papers_switches.TABLES | papers_teccl.TABLES
TABLES |= papers_solvers.TABLES

#: Formats of numbers other than four digits: Table 3.4's times have six.
FORMATS = {"wafer_scale": ".6g"}


def table_of(name: str, study: Study) -> pandas.DataFrame:
    """The table of experiments/NAME. NothingToShow if needed rows are missing or not ok."""
    try:
        table = TABLES[name](study)
        if table.empty or ("reached" in table and table["reached"].isna().any()):
            raise ValueError("rows are missing")
        return table
    except (KeyError, ValueError, IndexError, ZeroDivisionError) as error:
        lacks = f"{type(error).__name__}: {error}"
        raise NothingToShow(
            f"{study.path}: not the whole study experiments/{name} ({lacks}) run all of its points"
        ) from error


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=TABLES)
    parser.add_argument("result")
    parser.add_argument("--into", type=Path)
    given = parser.parse_args(arguments)
    table = table_of(given.study, open_study(given.result))
    digits = FORMATS.get(given.study, ".4g")
    formats = {"printed": digits, "reached": digits, "ratio": ".3f", "bound over": ".4f", "s of": ".3g"}
    text = as_markdown(table, formats) + "\n"
    print_or_write(text, given.into)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
