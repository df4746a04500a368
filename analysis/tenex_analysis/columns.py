"""Shared by all pictures: settings that vary, directions of metrics, text with units, colours for the colour-blind.

Columns of picoseconds are shown in seconds; -1 of an integer column and NaN of a real one are absent values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy
import pandas
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from .reader import Study
from .schema_1 import FORMER_NAMES

#: The palette of Okabe and Ito without black, which is for text, and yellow, which is too pale on white.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"]
MARKERS = ["o", "s", "^", "D", "v", "P"]
REST_COLOUR = "#999999"
#: Algorithms that look the same in every picture of curves and points: colour and mark.
ALGORITHM_STYLES = {
    "tacos": (PALETTE[0], "o"), "best": ("#000000", "o"), "auto": ("#000000", "x"), "trees": (PALETTE[2], "P"),
    "ring": (PALETTE[1], "s"), "ring_unidirectional": ("#B58900", "D"), "direct": (PALETTE[3], "^"),
    "rhd": (PALETTE[4], "v"), "dbt": (PALETTE[5], "P"), "themis": (PALETTE[4], "v"), "rings": (PALETTE[5], "D"),
    "pccl": (PALETTE[2], "v"),
}  # fmt: skip
REST = "other"

#: Metrics of which more is better; of all others less is better.
LARGER_IS_BETTER = frozenset({
    "algbw_bytes_per_s", "busbw_bytes_per_s", "efficiency", "perf_per_cost_per_s_usd", "samples_per_s", "tokens_per_s",
    "model_flop_utilization",
})

#: An axis is logarithmic if the ratio of the greatest to the least value exceeds this.
LOG_RATIO = 10.0
#: Up to this many distinct values a numeric column is drawn with a tick for each.
FEW_VALUES = 8

_PREFIXES = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"),
             (1e-9, "n"), (1e-12, "p")]


@dataclass(frozen=True)
class Column:
    """A column prepared for drawing: `values` are float64 with NaN for absent ones, or text."""

    name: str
    values: NDArray[Any]
    #: "s", "B", "B/s", "USD", ... or "" without a unit.
    unit: str

    @property
    def label(self) -> str:
        """The column's name in words."""
        name = self.name
        for unit in ("_per_s_usd", "_bytes_per_s", "_ps", "_bytes", "_usd"):
            name = name.removesuffix(unit)
        if name in ("collective_time_seconds", "training_time_seconds", "bound_seconds"):
            name = name.removesuffix("_seconds")
        return name.replace("_", " ")

    @property
    def heading(self) -> str:
        """The name for the head of a printed table, with the unit where it is another one than the file's."""
        return f"{self.name.removesuffix('_ps')}, s" if self.name.endswith("_ps") and self.unit == "s" else self.name

    @property
    def is_text(self) -> bool:
        return self.values.dtype == object

    @property
    def distinct(self) -> list[Any]:
        """The distinct present values in natural order ("mesh(4,4)" before "mesh(16,16)")."""
        if self.is_text:
            return sorted(set(self.values), key=natural_order)
        return [float(v) for v in numpy.unique(self.values[~numpy.isnan(self.values)])]

    @property
    def log(self) -> bool:
        """Whether the values need a logarithmic axis."""
        if self.is_text:
            return False
        present = self.values[~numpy.isnan(self.values)]
        return len(present) > 0 and present.min() > 0 and bool(present.max() / present.min() > LOG_RATIO)

    def text(self, value: Any) -> str:
        """A value with its unit. Text is never cut off, so different values never look the same."""
        if self.is_text:
            return setting_text(str(value), self.unit)
        return quantity_text(float(value), self.unit)


def natural_order(text: str) -> list[tuple[int, float, str]]:
    """A key for sorting that puts "mesh(4,4)" before "mesh(16,16)"."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(1, 0.0, part) if i % 2 == 0 else (0, float(part), "") for i, part in enumerate(parts) if part]


def quantity_text(value: float, unit: str) -> str:
    """A number with its unit: "1.5 ms", "50 GB/s", "64 KiB" (where the bytes are whole powers of 1024), "$2.5M",
    "0.97".
    """
    if unit == "B" and value >= 1024 and value % 1024 == 0 and value % 1000 != 0:
        power = min(int(numpy.log2(value) // 10), 5)
        return f"{value / 1024**power:.4g} {' KMGTP'[power]}iB"
    if unit in ("", "1/(s*USD)"):
        return f"{value:.4g}" if abs(value) < 1e5 and (abs(value) >= 1e-3 or value == 0) or unit else f"{value:.3g}"
    factor, prefix = next((p for p in _PREFIXES if abs(value) >= p[0] * 0.9995), _PREFIXES[-1])
    if value == 0 or (unit in ("B", "B/s", "USD") and factor < 1):
        factor, prefix = 1, ""
    if unit == "USD":
        return f"${value / factor:.4g}{prefix}"
    return f"{value / factor:.4g} {prefix}{unit}"


def setting_text(text: str, unit: str) -> str:
    """A setting that is stored as text, with units: "500000" ps is "500 ns"; commas separate dimensions."""
    if unit not in ("ps", "B/s", "B") or not text:
        return text or "(none)"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    scale, unit = (1e-12, "s") if unit == "ps" else (1.0, unit)
    return ", ".join(quantity_text(number * scale, unit) for number in numbers)


def column_of(study: Study, rows: pandas.DataFrame, name: str) -> Column:
    """A column of some rows of the study's frame. KeyError, with the existing names, for an unknown name."""
    name = FORMER_NAMES.get(name, name) if name not in rows.columns else name
    if name not in rows.columns:
        raise KeyError(f"no column {name!r} (the result has {', '.join(sorted(rows.columns))})")
    unit = str(study.points[name].attrs.get("units", "")) if name in study.points else ""
    series = rows[name]
    if isinstance(series.dtype, pandas.CategoricalDtype) or series.dtype == object:
        numbers = _numbers(series) if unit else None
        if numbers is None:
            return Column(name, series.astype(str).to_numpy(dtype=object), unit)
        values = numbers
    else:
        values = series.to_numpy(dtype=float)
        if name != "seed":  # absent values are negative, in columns of integers and of reals
            values = numpy.where(values < 0, numpy.nan, values)
    if unit == "ps":
        values, unit = values * 1e-12, "s"
    return Column(name, values, unit)


def _numbers(series: pandas.Series) -> NDArray[numpy.float64] | None:
    """Text as numbers if every present value is a single number (`alpha`, if no point has one per dimension)."""
    codes, words = pandas.factorize(series)
    try:
        numbers = numpy.array([float(word) if word else numpy.nan for word in words])
    except ValueError:
        return None
    return None if numpy.isnan(numbers).all() else numbers[codes]


def algorithm_styles(names: list[str]) -> dict[str, tuple[str, str]]:
    """A colour and a mark for each algorithm: its own where it has one that no earlier name took, otherwise the first
    pair of the palette that is free, at last grey ones.
    """
    free = [(colour, mark) for mark in MARKERS for colour in PALETTE]
    taken: dict[str, tuple[str, str]] = {}
    for name in sorted(names, key=lambda name: name not in ALGORITHM_STYLES):
        style = ALGORITHM_STYLES.get(name)
        if style is None or style in taken.values():
            colours = {colour for colour, _ in taken.values()}
            rest = [pair for pair in free if pair not in taken.values()]
            style = next((pair for pair in rest if pair[0] not in colours), rest[0] if rest else (REST_COLOUR, "."))
        taken[name] = style
    return {name: taken[name] for name in names}


def pale(colour: str) -> tuple[float, float, float]:
    """The colour mixed with white: unlike a transparent one, it stays pale where many points overlap."""
    red, green, blue = (1 - 0.4 * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def ink(colour: str) -> tuple[float, float, float]:
    """The colour mixed with black, for text: legible on white, and still seen as the colour."""
    red, green, blue = (0.78 * part for part in to_rgb(colour))
    return red, green, blue


def settings_that_vary(study: Study, rows: pandas.DataFrame) -> list[str]:
    """The study's settings (the file's coordinates) that take more than one value in these rows, in alphabetical order.
    """
    names = (str(name) for name in study.points.coords if name != "point")
    return sorted(name for name in names if name in rows.columns and rows[name].nunique(dropna=False) > 1)


def telling_settings(study: Study, rows: pandas.DataFrame) -> list[str]:
    """The settings that vary among the rows, without those that follow from a single other one (`unwind`, say, from the
    topology).

    Of two that follow from each other the first stays. No setting follows from one that differs in nearly every row.
    """
    names = settings_that_vary(study, rows)
    codes = {name: pandas.factorize(rows[name], use_na_sentinel=False)[0] for name in names}
    values = {name: int(codes[name].max()) + 1 for name in names}
    kept = list(names)
    for name in sorted(names, key=lambda n: (values[n], -names.index(n))):
        for other in kept:
            pairs = len(numpy.unique(codes[other].astype(numpy.int64) * values[name] + codes[name]))
            if other != name and pairs == values[other] and 2 * values[other] <= len(rows):
                kept.remove(name)
                break
    return kept


def evaluated(study: Study, rows: pandas.DataFrame | None) -> pandas.DataFrame:
    """The ok rows among `rows`, or among all rows."""
    rows = study.frame() if rows is None else rows
    return rows[rows["status"] == "ok"]


def is_larger_better(name: str, larger: bool | None) -> bool:
    """Whether a larger value of a metric is better: as the caller says, otherwise by its name."""
    return FORMER_NAMES.get(name, name) in LARGER_IS_BETTER if larger is None else larger


def classes_of(column: Column) -> tuple[NDArray[numpy.int64], list[str]]:
    """A number per row and the text of each number: at most as many as the palette has colours, then `REST`.

    The most frequent values have their own colours; numbers follow the values' natural order.
    """
    texts = numpy.array([column.text(v) if column.is_text or not numpy.isnan(v) else "absent" for v in column.values],
                        dtype=object)
    counts = pandas.Series(texts).value_counts()
    kept = sorted(counts.index[: len(PALETTE)] if len(counts) > len(PALETTE) else counts.index, key=natural_order)
    numbers = {text: i for i, text in enumerate(kept)}
    classes = numpy.array([numbers.get(text, len(kept)) for text in texts], dtype=numpy.int64)
    return classes, kept + ([REST] if len(counts) > len(kept) else [])


def class_colour(number: int) -> str:
    """The colour of a class of `classes_of`."""
    return PALETTE[number] if number < len(PALETTE) else REST_COLOUR


def class_marker(number: int) -> str:
    """The marker of a class of `classes_of`."""
    return MARKERS[number] if number < len(MARKERS) else "."


def colouring_setting(study: Study, rows: pandas.DataFrame) -> str | None:
    """The setting to colour by if the caller names none: one that varies and has a colour for each value."""
    varying = settings_that_vary(study, rows)
    first = [name for name in ("algorithm", "scheme", "collective", "topology", "hp") if name in varying]
    few = [name for name in [*first, *varying] if rows[name].nunique() <= len(PALETTE)]
    return few[0] if few else (first[0] if first else None)


def set_scale(axis: Axis, column: Column) -> None:
    """Scale, ticks and label of one side of a picture for a numeric column."""
    side = axis.axis_name
    if column.log:
        getattr(axis.axes, f"set_{side}scale")("log")
        axis.set_minor_formatter(NullFormatter())
        axis.set_major_locator(LogLocator(10, subs=(1.0,) if decades(column) > 2 else (1.0, 2.0, 5.0)))
    if len(column.distinct) <= FEW_VALUES and column.log:
        axis.set_major_locator(FixedLocator(apart(column)))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: column.text(value)))
    axis.set_label_text(column.label)


def apart(column: Column, least: float = 0.06) -> list[float]:
    """The distinct values of a numeric column whose tick texts fit: the first, and each far enough from the last."""
    scale = numpy.log10 if column.log else numpy.asarray
    values = column.distinct
    room = least * float(scale(values[-1]) - scale(values[0])) if values else 0.0
    kept = values[:1]
    for value in values[1:]:
        if float(scale(value) - scale(kept[-1])) >= room:
            kept.append(value)
    return kept


def decades(column: Column) -> float:
    """How many powers of ten the present values span."""
    values = column.distinct
    return float(numpy.log10(values[-1] / values[0]))


def ticks_of(column: Column) -> list[float]:
    """Where to put about five ticks for a numeric column that takes many values."""
    values = column.distinct
    low, high = values[0], values[-1]
    subs = (1.0,) if decades(column) > 3 else (1.0, 2.0, 5.0)
    locator = LogLocator(10, subs=subs, numticks=6) if column.log else MaxNLocator(5)
    return [float(t) for t in locator.tick_values(low, high) if low * 0.999 <= t <= high * 1.001]
