"""Conversion of results of schema 1 to the current schema: other column names, and numbers in place of text."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pandas
import xarray
from numpy.typing import NDArray

#: Names of columns in schema 1 and their current names; both work wherever a column is named.
FORMER_NAMES = {
    "process_groups": "groups_setting",
    "engine_choice": "engine_setting",
    "simulation_engine_choice": "simulation_engine_setting",
    "collective_time_model": "collective_time_setting",
    "algbw": "algbw_bytes_per_s",
    "busbw": "busbw_bytes_per_s",
    "perf_per_cost": "perf_per_cost_per_s_usd",
    "chosen_bandwidth": "chosen_bandwidth_bytes_per_s",
    "collective_time": "collective_time_seconds",
    "training_time": "training_time_seconds",
    "bound": "bound_seconds",
}

#: Columns with a number per dimension.
PER_DIMENSION = ["alpha", "bandwidth", "npu_bandwidth", "split", "chosen_bandwidth_bytes_per_s"]


class Frame(pandas.DataFrame):
    """A frame that accepts the former names of its columns too."""

    @property
    def _constructor(self) -> type[Frame]:
        return Frame

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            key = self._name(key)
        elif isinstance(key, list):
            key = [self._name(name) if isinstance(name, str) else name for name in key]
        return super().__getitem__(key)

    def query(self, expr: str, **named: Any) -> Any:
        return super().query(re.sub(r"(?<![\w@'\"])[a-z_]+(?![\w'\"])", lambda word: self._name(word[0]), expr),
                             **named)

    def _name(self, name: str) -> str:
        return name if name in self.columns else FORMER_NAMES.get(name, name)


def as_of_today(points: xarray.Dataset) -> xarray.Dataset:
    """Converts the rows of a file of schema 1 to the current schema. Texts must have been decoded."""
    points = points.rename({old: new for old, new in FORMER_NAMES.items() if old in points.variables})
    shapes = [dimensions_of(text) for text in points["topology"].values]
    width = max([1, *shapes])
    replaced: dict[str, Any] = {}
    for name in PER_DIMENSION:
        if name in points.variables:
            lists = [_numbers(text, of) for text, of in zip(points[name].values, shapes)]
            values = numpy.full((len(lists), width), -1, dtype=numpy.int64)
            for row, numbers in zip(values, lists):
                row[: len(numbers)] = numbers
            replaced[name] = (("point", "dimension"), values, points[name].attrs)
    if "compute" in points.variables:
        rates = [int(text) if text.isdigit() else -1 for text in points["compute"].values]
        replaced["compute"] = ("point", numpy.array(rates, dtype=numpy.int64), {"units": "FLOP/s"})
        budgets = [int(text) / 1e6 if text else numpy.nan for text in points["cost_budget"].values]
        replaced["cost_budget"] = ("point", numpy.array(budgets), {"units": "USD"})
    coordinates = [name for name in replaced if name in points.coords]
    points = points.drop_vars(list(replaced)).assign(replaced).set_coords(coordinates)
    return points.assign_coords(dimension=numpy.arange(1, width + 1))


def dimensions_of(topology: str) -> int:
    """The dimensions of a shape as studies write it; 0 for a machine file."""
    dimensions = 0
    for block in topology.replace(" ", "").split("_"):
        found = re.fullmatch(r"(\w+)\((\d+(?:,\d+)*)\)", block)
        if not found:
            return 0
        numbers = found[2].split(",")
        dimensions += int(numbers[0]) if found[1] == "hypercube" else len(numbers)
    return dimensions


def _numbers(text: str, dimensions: int) -> list[int]:
    """Parses "4:2:1" or "500000,1000000"; a single number holds for all dimensions."""
    numbers = [int(part) for part in re.split("[,:]", text) if part]
    return numbers * max(1, dimensions) if len(numbers) == 1 else numbers


def list_texts(values: NDArray[Any], shares: bool, whole: bool) -> NDArray[Any]:
    """Lists as studies write them: "50,100", shares "4:2:1"; one number if all dimensions are equal, unless `whole`."""
    texts = []
    for row in values:
        numbers = [str(number) for number in row if number >= 0]
        one = not whole and not shares and len(set(numbers)) == 1
        texts.append(numbers[0] if one else (":" if shares else ",").join(numbers))
    return numpy.array(texts, dtype=object)
