"""The study megatron beside table 1 of Megatron-LM (Narayanan et al., SC'21).

    python3 -m tenex_analysis.megatron DIR                    print the table
    python3 -m tenex_analysis.megatron DIR --table FILE       put it between the marks of a page

The table prints the throughput of a GPU; the time of an iteration follows by the paper's equation 4, which counts the
work of an iteration with recomputation as 96 B s l h^2 (1 + s / 6h + V / 16 l h).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import pandas

from .command import run_command
from .markdown import as_markdown, print_or_write
from .reader import Study, open_study

SEQUENCE, VOCABULARY = 2048, 51200
#: Of the two rates of the study: the one whose times are compared.
RATE = 170e12


class Printed(NamedTuple):
    """A row of table 1: billions of parameters, layers, hidden size, batch, GPUs, TFLOPS per GPU."""

    name: str
    layers: int
    hidden: int
    batch: int
    gpus: int
    teraflops: int

    @property
    def seconds(self) -> float:
        """Of an iteration, by equation 4."""
        work = 96 * self.batch * SEQUENCE * self.layers * self.hidden**2
        work *= 1 + SEQUENCE / (6 * self.hidden) + VOCABULARY / (16 * self.layers * self.hidden)
        return work / (self.gpus * self.teraflops * 1e12)


TABLE_1 = [
    Printed("1.7B", 24, 2304, 512, 32, 137), Printed("3.6B", 30, 3072, 512, 64, 138),
    Printed("7.5B", 36, 4096, 512, 128, 142), Printed("18.4B", 40, 6144, 1024, 256, 135),
    Printed("39.1B", 48, 8192, 1536, 512, 138), Printed("76.1B", 60, 10240, 1792, 1024, 140),
    Printed("145.6B", 80, 12288, 2304, 1536, 148), Printed("310.1B", 96, 16384, 2160, 1920, 155),
    Printed("529.6B", 105, 20480, 2520, 2520, 163), Printed("1008B", 128, 25600, 3072, 3072, 163),
]  # fmt: skip


def compared(study: Study) -> pandas.DataFrame:
    """A row per model: printed seconds, computed ones over them, the rate in TFLOPS at which they would be equal, and
    memory in GB.
    """
    frame = study.frame()
    lines = []
    for row in TABLE_1:
        of = frame[frame["npus"] == row.gpus]
        whole = _times(of, False, "formula")
        best = _times(of, True, "simulated" if (of["pipeline_timing"] == "simulated").any() else "formula")
        memory = of.loc[of["sequence_parallelism"] == 0, "memory_per_npu_bytes"].iloc[0]
        lines.append([row.name, row.seconds, whole[RATE], whole[RATE] / row.seconds, best[RATE],
                      best[RATE] / row.seconds, _rate_for(best, row.seconds), memory / 1e9])  # fmt: skip
    columns = ["model", "printed s", "s, whole messages", "over printed", "s, messages in parts, simulated",
               "over printed ", "rate for the printed s", "memory GB"]  # fmt: skip
    return pandas.DataFrame(lines, columns=columns)


def _times(rows: pandas.DataFrame, parts: bool, timing: str) -> dict[float, float]:
    """Seconds by rate. Without stages there is one timing."""
    of = rows[rows["sequence_parallelism"] == parts]
    if (of["pipeline_timing"] == timing).any():
        of = of[of["pipeline_timing"] == timing]
    if of.empty:  # a tensor group of one NPU has nothing to split
        of = rows
    return {float(rate): time / 1e12 for rate, time in zip(of["compute"], of["training_time_ps"])}


def _rate_for(times: dict[float, float], seconds: float) -> float:
    """TFLOPS at which the time A / rate + B is `seconds`."""
    (low, slow), (high, fast) = sorted(times.items())
    work = (slow - fast) / (1 / low - 1 / high)
    return work / (seconds - (slow - work / low)) / 1e12


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--table", type=Path)
    given = parser.parse_args(arguments)
    found = compared(open_study(given.result))
    formats = {"printed s": ".2f", "s, whole messages": ".2f", "over printed": ".3f",
               "s, messages in parts, simulated": ".2f", "over printed ": ".3f", "rate for the printed s": ".0f",
               "memory GB": ".1f"}  # fmt: skip
    print_or_write(as_markdown(found, formats), given.table)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
