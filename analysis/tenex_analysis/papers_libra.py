"""The LIBRA paper's numbers beside those of experiments/libra_*: `tenex_analysis.papers` prints these tables."""

from __future__ import annotations

import re

import pandas

from .reader import Study
from .tables import FAST, RATES, SHIPPED, compare, over_equal, training_frame, value, where

D3, D4 = "RI(16)_FC(8)_SW(32)", "RI(4)_FC(8)_RI(4)_SW(32)"
NAMES = {D3: "3D-4K", D4: "4D-4K", "SW(16)_SW(8)_SW(4)": "3D-512", "FC(8)_RI(16)_SW(8)": "3D-1K",
         "RI(4)_SW(4)_SW(8)_SW(16)": "4D-2K"}
MODELS = {"turing_nlg": "Turing-NLG", "gpt3": "GPT-3", "msft_1t": "MSFT-1T", "resnet50": "ResNet-50", "dlrm": "DLRM"}
LANGUAGE = ["turing_nlg", "gpt3", "msft_1t"]
PER_COST = "perf_per_cost_per_s_usd"


def _reached_of_spanned(mapping: str, scope: str) -> float:
    """Share of the bandwidth of a group's dimensions, all equal, that an All-Reduce of the group uses.

    With sizes g_1, g_2, ... dimension i carries (g_i - 1) / (g_1 ... g_i) of the buffer, and the largest sets the time.
    """
    part = next(text for text in mapping.split("; ") if text.startswith(scope))
    sizes = [int(size) for size in re.findall(r"(\d+) of \d+ in dimension", part)]
    carried, product = [], 1
    for size in sizes:
        product *= size
        carried.append((size - 1) / product)
    return sum(carried) / (len(carried) * max(carried))


def _used(row: pandas.Series) -> tuple[float, float]:
    """Mean shares of the bandwidth that communication uses: of the total, and of the dimensions that groups span."""
    waiting = row["seconds"] - row["compute_seconds"]
    tensor = (row["forward_exposed_ps"] + row["input_gradient_exposed_ps"]) * 1e-12 / waiting
    reached = {group: _reached_of_spanned(row["mapping"], group) for group in ("tensor", "data")}
    spanned = tensor * reached["tensor"] + (1 - tensor) * reached["data"]
    return (row["bound_seconds"] - row["compute_seconds"]) / waiting, spanned


def libra_utilization(study: Study) -> pandas.DataFrame:
    """Fig. 10: utilization with equal shares, and the speed-up if all bandwidth were used."""
    frame = training_frame(study)
    rows = []
    for dimensions, printed, speedup in ((2, 0.5753, 1.39), (3, 0.3902, 1.83), (4, 0.6674, 1.29)):
        of = frame[frame["topology"].str.count("_") == dimensions - 1]
        for topology in of["topology"].unique():
            shapes = where(of, topology=topology)
            total, spanned = _used(where(shapes, times="libra").iloc[0])
            rows += [(f"{dimensions}D, {topology}: used of all dimensions", printed, total),
                     (f"{dimensions}D, {topology}: used of the dimensions that a group spans", printed,
                      spanned)]  # fmt: skip
            for compute, rate in RATES.items():
                libra = where(shapes, times="libra", compute=compute).iloc[0]
                for share, label in ((total, "all dimensions"), (spanned, "those that a group spans")):
                    if label == "all dimensions" and compute == SHIPPED:
                        continue
                    full = libra["compute_seconds"] + share * (libra["seconds"] - libra["compute_seconds"])
                    rows.append((f"{dimensions}D, {topology}, {rate}: speed-up if {label} were full", speedup,
                                 libra["seconds"] / full))
            if "pipeline" in set(shapes["times"]):
                seconds = value(shapes, "seconds", times="libra", compute=SHIPPED)
                slower = value(shapes, "seconds", times="pipeline", compute=SHIPPED) - seconds
                waiting = seconds - value(shapes, "compute_seconds", times="libra", compute=SHIPPED)
                rows.append((f"{dimensions}D, {topology}: communication longer by, `pipeline`", None, slower / waiting))
    return compare(rows)


def _fig_13_and_14(frame: pandas.DataFrame) -> list[tuple]:
    """Means and maxima over three models, two shapes and ten bandwidths."""
    rows = []
    for compute, rate in RATES.items():
        of = where(frame, compute=compute, times="libra", model=LANGUAGE, topology=[D3, D4])
        timed = where(of, dimension_kinds="auto", scheme="perf_opt")["speedup"]
        half = where(frame, compute=compute, times="libra_derated", model="gpt3", scheme="perf_opt")["speedup"]
        others = where(of, dimension_kinds="auto", scheme="perf_opt")
        others = others[(others["model"] != "gpt3") | (others["topology"] != D4)]["speedup"]
        rows += [(f"Fig. 13, {rate}: PerfOptBW's speed-up, mean", 1.23, timed.mean()),
                 (f"Fig. 13, {rate}: same, GPT-3 on 4D-4K with the links that groups have, mean", 1.23,
                  pandas.concat([others, half]).mean()),
                 (f"Fig. 13, {rate}: same, largest", 2.00, timed.max()),
                 (f"Fig. 13, {rate}: GPT-3 on 4D-4K with the links that groups have, mean", None,
                  half.mean())]  # fmt: skip
        for kinds, first in (("auto", "package"), ("chiplet,package,pod", "chiplet")):
            cost = of[(of["topology"] == D4) | (of["dimension_kinds"] == kinds)]
            for scheme, name, mean, largest in (("perf_opt", "PerfOptBW", 5.40, 12.24),
                                                ("perf_per_cost", "PerfPerCostOptBW", 9.16, 13.02)):
                ratios = where(cost, scheme=scheme)["per_cost"]
                label = f"Fig. 14, {rate}, 3D-4K from {first}s on: {name}'s perf per cost"
                rows += [(f"{label}, mean", mean, ratios.mean()), (f"{label}, largest", largest, ratios.max())]
    equal = where(frame, times="libra", model="gpt3", topology=D4, compute=FAST, total_bandwidth=10**12)
    rows.append(("GPT-3 on 4D-4K, 1000 GB/s: PerfOptBW's cost reduction", 4.58,
                 value(equal, "cheaper", scheme="perf_opt")))
    cheapest = where(frame, times="libra", model=LANGUAGE, scheme="perf_per_cost")
    for topology, kinds, label in ((D4, "auto", "4D-4K"), (D3, "auto", "3D-4K from packages on"),
                                   (D3, "chiplet,package,pod", "3D-4K from chiplets on")):
        reduction = where(cheapest, topology=topology, dimension_kinds=kinds)["cheaper"].max()
        rows.append((f"{label}: PerfPerCostOptBW's cost reduction, largest", None, reduction))
    return rows


def _by_dimension(frame: pandas.DataFrame) -> list[tuple]:
    """Simulated chunks beside the formula at the same points."""
    rows = []
    chunked = frame[(frame["times"] == "pipeline") & (frame["scheme"] == "perf_opt")]
    for (topology, model, compute, scheme), of in chunked.groupby(["topology", "model", "compute", "scheme"],
                                                                  sort=False):
        bandwidths = list(of["total_bandwidth"])
        same = where(frame, times="libra", dimension_kinds="auto", topology=topology, model=model, compute=compute,
                     scheme=scheme, total_bandwidth=bandwidths)  # fmt: skip
        at = " and ".join(f"{b / 1e9:g}" for b in bandwidths) + " GB/s"
        name = f"{NAMES[topology]}, {MODELS[model]}, {RATES[compute]}, {at}, `{scheme}`: speed-up"
        rows += [(f"{name}, `libra`", None, same["speedup"].mean()),
                 (f"{name}, `pipeline`", None, of["speedup"].mean())]
    return rows


def libra_sweep(study: Study) -> pandas.DataFrame:
    """Fig. 13 to 16: speed-up and perf per cost over equal shares, as means and maxima over the bandwidths."""
    keys = ["topology", "dimension_kinds", "model", "hp", "compute", "total_bandwidth", "times"]
    frame = over_equal(training_frame(study), keys)
    rows = _fig_13_and_14(frame)
    two = where(frame, model="msft_1t_two_layers", scheme="perf_opt").set_index("total_bandwidth")["speedup"]
    whole = where(frame, model="msft_1t", topology=D4, times="libra", compute=FAST, scheme="perf_opt")
    rows.append(("MSFT-1T, two layers: speed-up over that of the whole model, largest", None,
                 (two / whole.set_index("total_bandwidth")["speedup"]).max()))
    for compute, rate in RATES.items():
        saved = []
        for model in ("resnet50", "dlrm"):
            of = where(frame, model=model, compute=compute)
            cost = {scheme: where(of, scheme=scheme).set_index("total_bandwidth")["network_cost_usd"]
                    for scheme in ("perf_opt", "perf_per_cost")}
            saved.append(1 - cost["perf_per_cost"] / cost["perf_opt"])
            rows.append((f"Fig. 15, {rate}, {MODELS[model]}: PerfPerCostOptBW cheaper by", None, saved[-1].mean()))
        rows.append((f"Fig. 15, {rate}, both: PerfPerCostOptBW cheaper by", 0.1541, pandas.concat(saved).mean()))
    for topology in ("SW(16)_SW(8)_SW(4)", "FC(8)_RI(16)_SW(8)", "RI(4)_SW(4)_SW(8)_SW(16)"):
        for compute, rate in RATES.items():
            for scheme in ("perf_opt", "perf_per_cost"):
                of = where(frame, topology=topology, compute=compute, scheme=scheme, times="libra")
                name = f"Fig. 16, {NAMES[topology]}, {rate}, `{scheme}`"
                rows += [(f"{name}: speed-up, mean", None, of["speedup"].mean()),
                         (f"{name}: perf per cost, mean", None, of["per_cost"].mean())]
    return compare(rows + _by_dimension(frame))


def libra_group(study: Study) -> pandas.DataFrame:
    """Fig. 17: slowdown of models on a network designed for another model, and on one designed for all."""
    frame = training_frame(study)
    rows = []
    models = ["resnet50", "dlrm", "turing_nlg", "gpt3", "msft_1t"]
    printed = dict(zip(models, (1.77, 1.02, 1.77, 1.15, 1.04)))
    for compute, rate in RATES.items():
        of = where(frame, compute=compute, times="libra", scheme="perf_opt").copy()
        of["targets"] = of["optimize_for"].str.count(";") + 1
        of["first"] = of["optimize_for"].str.split(" ").str[0]
        single = where(of, targets=1).pivot(index="first", columns="model", values="seconds")
        own = pandas.Series({model: single.loc[model, model] for model in models})
        slower = single / own
        for target in models:
            worst = slower.loc[target].idxmax()
            rows.append((f"{rate}, made for {MODELS[target]}: slowdown, largest ({MODELS[worst]})", printed[target],
                         slower.loc[target].max()))
        for target in LANGUAGE:
            rows.append((f"{rate}, made for {MODELS[target]}: slowdown of language models, largest", printed[target],
                         slower.loc[target, LANGUAGE].max()))
        rows += [(f"{rate}, made for {MODELS[target]}: slowdown of {MODELS[model]}", None, slower.loc[target, model])
                 for target in models for model in models if model != target]  # fmt: skip
        weighted = of["optimize_for"].str.contains("x10000", regex=False)
        for label, joint in (("the language models", of[of["targets"] == 3]),
                             ("all", of[(of["targets"] == 5) & ~weighted]),
                             ("all, weighted by time", of[weighted])):  # fmt: skip
            lag = joint.set_index("model")["seconds"] / own
            lag = lag[LANGUAGE] if "language" in label else lag
            rows += [(f"{rate}, made for {label}: slowdown, mean", 1.01, lag.mean()),
                     (f"{rate}, made for {label}: slowdown, largest", None, lag.max())]  # fmt: skip
        half = where(frame, compute=compute, times="libra_derated").copy()
        half["first"] = half["optimize_for"].str.split(" ").str[0]
        rows.append((f"{rate}, made for MSFT-1T: slowdown of GPT-3 with the links that groups have", 1.04,
                     value(half, "seconds", first="msft_1t") / value(half, "seconds", first="gpt3")))
        chunked = where(frame, compute=compute, times="pipeline", scheme="perf_opt")
        for model, other in (("gpt3", "msft_1t"), ("msft_1t", "gpt3")):
            ran = where(chunked, model=other)
            ran = ran.set_index(ran["optimize_for"].str.split(" ").str[0])["seconds"]
            rows.append((f"{rate}, made for {MODELS[model]}: slowdown of {MODELS[other]}, `pipeline`", None,
                         ran[model] / ran[other]))
    return compare(rows)


def libra_cost(study: Study) -> pandas.DataFrame:
    """Fig. 18: perf per cost over equal shares, by the price of links between packages."""
    keys = ["model", "compute", "cost_model", "dimension_kinds", "times"]
    frame = over_equal(training_frame(study), keys)
    frame = frame[frame["scheme"] == "perf_per_cost"]
    rows = []
    for compute, rate in RATES.items():
        of = where(frame, compute=compute, times="libra")
        for label, chosen in (("language models", where(of, model=LANGUAGE, dimension_kinds="auto")),
                              ("all five models", where(of, dimension_kinds="auto")),
                              ("MSFT-1T", where(of, model="msft_1t", dimension_kinds="auto")),
                              ("language models, two dimensions between packages",
                               where(of, dimension_kinds="package,package,node,pod")),
                              ("MSFT-1T, two dimensions between packages",
                               where(of, model="msft_1t", dimension_kinds="package,package,node,pod"))):  # fmt: skip
            rows += [(f"{rate}, {label}: mean", 4.06, chosen["per_cost"].mean()),
                     (f"{rate}, {label}: largest", 5.59, chosen["per_cost"].max())]
        for price in range(1, 6):
            at = where(of, model=LANGUAGE, dimension_kinds="auto", cost_model=f"package_link_{price}.toml")["per_cost"]
            rows.append((f"{rate}, language models, ${price}: mean", None, at.mean()))
        chunked = where(frame, compute=compute, times="pipeline")
        rows.append((f"{rate}, GPT-3 and MSFT-1T, `pipeline`: mean", None, chunked["per_cost"].mean()))
        rows.append((f"{rate}, MSFT-1T, `pipeline`: largest", 5.59, where(chunked, model="msft_1t")["per_cost"].max()))
        same = where(of, model=["gpt3", "msft_1t"], dimension_kinds="auto",
                     cost_model=[f"package_link_{price}.toml" for price in (1, 3, 5)])
        rows.append((f"{rate}, GPT-3 and MSFT-1T, `libra` at the same prices: mean", None, same["per_cost"].mean()))
    return compare(rows)


def _total(row_value: str) -> float:
    """The sum of bandwidths, given as results list them."""
    return float(sum(int(part) for part in row_value.split(",")))


def _fig_19(label: str, equal: pandas.DataFrame, chosen: pandas.DataFrame, printed: tuple) -> list[tuple]:
    """Ratios of two networks: bandwidth, time under each model of both, cost and perf per cost."""
    bandwidth, faster, cheaper, per_cost = printed
    first, base = chosen.iloc[0], equal.iloc[0]
    rows = []
    if bandwidth:
        rows.append((f"{label}: bandwidth", bandwidth,
                     _total(first["chosen_bandwidth_bytes_per_s"]) / _total(base["chosen_bandwidth_bytes_per_s"])))
    for times in ("themis", "libra", "libra_derated", "pipeline"):
        if times in set(chosen["times"]):
            gain = value(equal, "seconds", times=times) / value(chosen, "seconds", times=times)
            rows.append((f"{label}: speed-up, `{times}`", faster if times == "themis" else None, gain))
    if cheaper:
        rows.append((f"{label}: cost reduction", cheaper, base["network_cost_usd"] / first["network_cost_usd"]))
        better = value(chosen, PER_COST, times="themis") / value(equal, PER_COST, times="themis")
        rows.append((f"{label}: perf per cost, `themis`", per_cost, better))
    return rows


def _with_themis(frame: pandas.DataFrame) -> list[tuple]:
    """Fig. 19 on GPT-3."""
    rows = []
    gpt3 = where(frame, model="gpt3")
    budget = gpt3["cost_budget"]
    gpt3 = gpt3.assign(real=(gpt3["optimize_with"] == "libra_derated") & gpt3["times"].isin(["pipeline", "themis"]))
    for compute, rate in RATES.items():
        cost, bandwidth = (5.05, 2.24, None, None), (None, 1.04, 4.58, 4.77)
        for label, chosen, printed in (("the same cost", budget == 15e6, cost),
                                       ("the same bandwidth", budget.isna(), bandwidth)):
            of = where(gpt3[chosen], compute=compute)
            equal, best = where(of, scheme="equal"), where(of, scheme="perf_opt", real=False)
            name = f"Fig. 19, {rate}, {label}"
            rows += _fig_19(name, equal, best, printed)
            rows += _fig_19(f"{name}, chosen for the links that groups have", equal, where(of, real=True), printed)
            bare = where(equal, times="themis").iloc[0]
            rows.append((f"{name}: speed-up over equal shares of a network that takes no time, `themis`", None,
                         bare["seconds"] / bare["compute_seconds"]))
        pinned = where(gpt3[budget == 15069345], compute=compute)
        equal = where(gpt3[budget.isna()], compute=compute, scheme="equal")
        name = f"Fig. 19, {rate}, the same bandwidth at the printed cost"
        rows += _fig_19(name, equal, pinned, bandwidth)
        optimum = value(gpt3[budget.isna()], "seconds", compute=compute, times="libra", scheme="perf_opt")
        rows.append((f"{name}: time over the optimum's, `libra`", None,
                     value(pinned, "seconds", times="libra") / optimum))
    return rows


def libra_runtime(study: Study) -> pandas.DataFrame:
    """Fig. 19 and 20: chosen bandwidths under Themis and under TACOS."""
    frame = training_frame(study)
    rows = _with_themis(frame)
    torus = where(frame, model="all_reduce_1gb")
    tacos = where(torus, times="synthesized")
    chosen = value(tacos, "seconds", scheme="perf_opt")
    alone = where(torus, times="pipeline", scheme="perf_opt")
    rows += [("Fig. 20: LIBRA+TACOS over LIBRA alone, `pipeline`", 1.25,
              value(alone, "seconds", topology="RI(4)_RI(4)_RI(4)") / chosen),
             ("Fig. 20: same, dimensions in one step", 1.25,
              value(alone, "seconds", topology="FC(4)_FC(4)_FC(4)") / chosen),
             ("Fig. 20: LIBRA+TACOS over LIBRA alone, `libra`", 1.25,
              value(torus, "seconds", times="libra", scheme="perf_opt") / chosen),
             ("Fig. 20: LIBRA+TACOS over TACOS alone", 1.08, value(tacos, "seconds", scheme="equal") / chosen),
             ("Fig. 20: LIBRA+TACOS over TACOS alone, perf per cost", 1.36,
              value(tacos, PER_COST, scheme="perf_opt") / value(tacos, PER_COST, scheme="equal")),
             ("Fig. 20: cost reduction", 1.36 / 1.08,
              value(tacos, "network_cost_usd", scheme="equal") / value(tacos, "network_cost_usd", scheme="perf_opt")),
             ("Fig. 20: TACOS alone, share of the bound", None, value(tacos, "efficiency", scheme="equal")),
             ("Fig. 20: LIBRA+TACOS, share of the bound", None,
              value(tacos, "efficiency", scheme="perf_opt"))]  # fmt: skip
    return compare(rows)


def libra_parallelization(study: Study) -> pandas.DataFrame:
    """Fig. 21: speed-up over equal shares under HP-(128,32)."""
    frame = training_frame(study)
    rows = []
    for times in ("libra", "libra_derated", "pipeline"):
        for batch in ("machine", "replica"):
            for compute, rate in RATES.items():
                of = frame[(frame["times"] == times) & (frame["batch_rule"] == batch) & (frame["compute"] == compute)]
                if not len(of):
                    continue
                base = value(of, "seconds", hp="128,32", scheme="equal")
                best = where(of, scheme="perf_opt")
                label = f"`{times}`, batch of the {batch}, {rate}"
                if batch == "machine":
                    for hp in best["hp"]:
                        printed = 1.19 if hp == "64,64" else None
                        rows.append((f"{label}: HP-({hp})", printed, base / value(best, "seconds", hp=hp)))
                first = best.loc[best["seconds"].idxmin()]
                rows.append((f"{label}: the best is HP-({first['hp']})", 1.19, base / first["seconds"]))
    bytes_of = where(frame, times="libra", batch_rule="machine", compute=FAST, scheme="equal").set_index("hp")
    volume = (bytes_of["bound_seconds"] - bytes_of["compute_seconds"]) * 1000
    for hp in volume.index:
        rows.append((f"HP-({hp}): GB sent by an NPU in an iteration", None, volume[hp]))
    return compare(rows)


def switch_tree(study: Study) -> pandas.DataFrame:
    """Fig. 4b: what 32 NPUs pay for a hierarchy of switches in their dimension, and how long they communicate."""
    frame = training_frame(study)
    names = {"../libra_runtime/all_reduce_1gb.toml": "All-Reduce", "all_to_all_1gb.toml": "All-to-All",
             "replicas_1gb.toml": "All-Reduce of 4 across leaves"}  # fmt: skip
    rows = []
    for topology in frame["topology"].unique():
        of = where(frame, topology=topology)
        rows.append((f"{topology}: cost in dollars", None, of["network_cost_usd"].iloc[0]))
        for workload, name in names.items():
            for times in ("libra", "synthesized"):
                row = where(of, workload=workload, times=times)
                rows.append((f"{topology}, {name}, `{times}`: ms", None, value(row, "seconds") * 1e3))
            rows.append((f"{topology}, {name}: bound over time, synthesized", None,
                         value(row, "bound_seconds") / value(row, "seconds")))
    return compare(rows)


TABLES = {table.__name__: table
          for table in (libra_utilization, libra_sweep, libra_group, libra_cost, libra_runtime, libra_parallelization,
                        switch_tree)}  # fmt: skip
