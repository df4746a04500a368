"""Table 3.4, Fig. 3.17 and 3.18 of the dissertation on ASTRA-sim 2.0 beside experiments/wafer_scale."""

from __future__ import annotations

import pandas

from .reader import Study
from .tables import RATES, compare, training_frame, value, where

#: Table 3.4: microseconds for 1 GiB by the sizes of the dimensions.
TABLE_3_4 = {
    (2, 8, 8, 4): 4392.85, (2, 8, 8, 8): 4392.85, (2, 8, 8, 16): 4392.85, (2, 8, 8, 32): 4392.85,
    (4, 8, 8, 4): 2212.60, (8, 8, 8, 4): 1753.48, (16, 8, 8, 4): 1879.17,
}  # fmt: skip
SCALING = "1073741824000,214748364800,107374182400,53687091200"  # 1000, 200, 100, 50 GiB/s

#: Table 3.3: shape and GiB/s of each dimension, by name.
SYSTEMS = {
    "W-1D-350": ("SW(512)", (350,)), "W-1D-500": ("SW(512)", (500,)), "W-1D-600": ("SW(512)", (600,)),
    "W-2D": ("SW(32)_SW(16)", (250, 250)), "Conv-3D": ("RI(16)_FC(8)_SW(4)", (200, 100, 50)),
    "Conv-4D": ("RI(2)_FC(8)_RI(8)_SW(4)", (250, 200, 100, 50)),
    "Conv-3D in one step": ("FC(16)_FC(8)_FC(4)", (200, 100, 50)),
    "Conv-4D in one step": ("FC(2)_FC(8)_FC(8)_FC(4)", (250, 200, 100, 50)),
}  # fmt: skip


def _bandwidths(numbers) -> str:
    """Bandwidths as results list them; one number if all are equal."""
    texts = [str(number * 2**30) for number in numbers]
    return texts[0] if len(set(texts)) == 1 else ",".join(texts)


def _of_system(frame: pandas.DataFrame, name: str, **wanted) -> float:
    topology, numbers = SYSTEMS[name]
    return value(frame, "seconds", topology=topology, npu_bandwidth=_bandwidths(numbers), **wanted)


def _table_3_4(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    for sizes, printed in TABLE_3_4.items():
        name = "_".join(map(str, sizes))
        shape = "RI({})_FC({})_RI({})_SW({})".format(*sizes)
        for times in ("libra", "pipeline"):
            rows.append((f"Table 3.4, {name}: us, `{times}`", printed,
                         value(frame, "seconds", topology=shape, times=times) * 1e6))
        if sizes[0] == 4:
            reached = value(frame, "seconds", topology=shape.replace("RI", "FC", 1), times="pipeline") * 1e6
            rows.append((f"Table 3.4, {name}: us, `pipeline`, dimension 1 in one step", printed, reached))
    for times in ("libra", "pipeline"):
        slow, fast = (value(frame, "seconds", topology=shape, times=times)
                      for shape in ("RI(2)_FC(8)_RI(8)_SW(16)", "RI(8)_FC(8)_RI(8)_SW(4)"))
        rows.append((f"Table 3.4, 2,048 NPUs: scaling over the wafer, speed-up, `{times}`", 2.51, slow / fast))
    return rows


def _fig_3_17(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    loads = [("all_reduce_1gib", "All-Reduce", None), ("dlrm", "DLRM", None), ("gpt3", "GPT-3", None),
             ("msft_1t", "MSFT-1T", None)]
    for model, label, _ in loads:
        for compute, rate in RATES.items():
            of = frame[(frame["model"] == model) & (frame["compute"] == compute) & (frame["npu_bandwidth"] != SCALING)]
            if not len(of):
                continue
            at = label if model == "all_reduce_1gib" else f"{label}, {rate}"
            for system, wafer in (("Conv-3D", "W-1D-350"), ("Conv-4D", "W-1D-600"), ("W-2D", "W-1D-500")):
                for times in ("libra", "pipeline", "themis"):
                    same = times == "themis" and system != "W-2D" and model in ("all_reduce_1gib", "dlrm")
                    ratio = _of_system(of, system, times=times) / _of_system(of, wafer, times=times)
                    rows.append((f"Fig. 3.17, {at}: {system} over {wafer}, `{times}`", 1.0 if same else None, ratio))
            ratio = _of_system(of, "Conv-4D", times="pipeline") / _of_system(of, "W-1D-350", times="pipeline")
            rows.append((f"Fig. 3.17, {at}: Conv-4D over W-1D-350, `pipeline`", None, ratio))
    themis = where(frame, times="themis", model="all_reduce_1gib")
    for system, wafer, chunks in (("Conv-3D", "W-1D-350", 64), ("Conv-4D", "W-1D-600", 64),
                                  ("Conv-4D", "W-1D-600", 256)):
        ratio = _of_system(themis, f"{system} in one step", chunks=chunks) / _of_system(themis, wafer)
        design = f"{system}, dimensions in one step, {chunks} chunks, over {wafer}"
        rows.append((f"Fig. 3.17, All-Reduce: {design}, `themis`", 1.0, ratio))
    return rows


def _fig_3_18(frame: pandas.DataFrame) -> list[tuple]:
    rows = []
    of_scaling = where(frame, npu_bandwidth=SCALING, model=["gpt3", "msft_1t"])
    for model, label in (("gpt3", "GPT-3"), ("msft_1t", "MSFT-1T")):
        for compute, rate in RATES.items():
            for times in ("libra", "libra_derated", "pipeline"):
                of = where(of_scaling, model=model, compute=compute, times=times)
                base = value(of, "seconds", topology="RI(2)_FC(8)_RI(8)_SW(4)")
                for npus, wide in ((1024, 4), (2048, 8), (4096, 16)):
                    over = [value(of, "seconds", topology=shape) / base for shape in
                            (f"RI(2)_FC(8)_RI(8)_SW({npus // 128})", f"RI({wide})_FC(8)_RI(8)_SW(4)")]  # fmt: skip
                    rows += [(f"Fig. 3.18, {label}, {rate}, `{times}`: {name}-{npus} over Base-512", None, ratio)
                             for name, ratio in zip(("Conv", "W"), over)]  # fmt: skip
    return rows


def wafer_scale(study: Study) -> pandas.DataFrame:
    """Times of 1 GiB in microseconds; ratios of systems with equal bandwidth; ratios to the system of 512 NPUs."""
    frame = training_frame(study)
    frame["npu_bandwidth"] = frame["npu_bandwidth"].astype(str)
    scaling = where(frame, npu_bandwidth=SCALING, model="all_reduce_1gib")
    return compare(_table_3_4(scaling) + _fig_3_17(frame) + _fig_3_18(frame))


TABLES = {wafer_scale.__name__: wafer_scale}
