"""Opens study.h5 (format: include/tenex/store/result_format.md) and returns xarray and pandas objects.

Times stay exact: `*_ps` columns are int64 picoseconds with -1 for absent; `collective_time_seconds` is float64 with
NaN. Files of schema 1 are converted to the current schema, and those of schema 2 look the same here; frames also accept
columns' former names. Columns of training points (`workload`, `training_time_ps`, ...) exist only in results of studies
that have such points.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy
import pandas
import xarray
from numpy.typing import NDArray

from .schema_1 import Frame, as_of_today, list_texts
from .where import where

#: The major version of the format that this reader knows.
SCHEMA = 3


class ResultError(ValueError):
    """Raised for a file that this reader cannot open; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Study:
    """An opened result file. Everything is read into memory; the file is closed."""

    path: Path
    #: One entry per design point along `point`; settings, metrics and flags as stored. Quantities per dimension
    #: (`alpha`, `bandwidth`, `split`, ...) also have the axis `dimension`, with -1 for missing ones.
    points: xarray.Dataset

    @property
    def name(self) -> str:
        """The study's name, for titles."""
        return str(self.points.attrs.get("title", self.path.stem))

    @property
    def text(self) -> str:
        """The study's TOML text, as it was run."""
        return str(self.points.attrs.get("study", ""))

    def words(self, column: str) -> NDArray[Any]:
        """A flag column (status, engine, verified, bound_name, ...) as words."""
        variable = self.points[column]
        meanings = numpy.array(str(variable.attrs["flag_meanings"]).split(" "), dtype=object)
        words: NDArray[Any] = meanings[variable.values.astype(int)]
        return words

    def frame(self, only_ok: bool = False) -> pandas.DataFrame:
        """All columns, one row per point; flags as categoricals, text as str.

        Quantities per dimension are text as in studies, without units: "50000000000" if one number holds in all
        dimensions, otherwise "50000000000,25000000000"; shares as "4:2:1"; bandwidths that a scheme chose are always
        listed in full.
        """
        columns = {}
        for name, variable in self.points.variables.items():
            if variable.dims == ("point", "dimension"):
                columns[name] = list_texts(variable.values, name == "split", name not in self.points.coords)
            elif variable.dims != ("point",) or name == "point":
                continue
            elif "flag_meanings" in variable.attrs:
                columns[name] = pandas.Categorical(self.words(str(name)))
            else:
                columns[name] = variable.values
        frame = Frame(columns, index=pandas.Index(self.points["point"].values, name="point"))
        return frame[frame["status"] == "ok"] if only_ok else frame

    def where(self, condition: str) -> pandas.DataFrame:
        """The rows of frame() for which a condition such as "size >= 1MiB and algorithm != ring" holds, in the language
        of analysis/conditions.md. ConditionError (a ValueError): it cannot be evaluated."""
        units = {str(name): str(variable.attrs.get("units", "")) for name, variable in self.points.variables.items()}
        return where(self.frame(), units, condition)

    def groups(self) -> pandas.DataFrame:
        """Times per process group, if the study stored them: point, group, time_ps."""
        return self._ragged("groups")

    def links(self) -> pandas.DataFrame:
        """Loads per link, if the study stored them: point, link, source, destination, bytes, busy_ps."""
        return self._ragged("links")

    def heat_map(self, point: int, column: str = "bytes") -> NDArray[Any]:
        """A point's link loads as a matrix [source, destination] of `column` (bytes or busy_ps), NaN without a link.

        Parallel links are added up. ValueError if the study did not store the point's links.
        """
        links = self.links()
        links = links[links["point"] == point] if len(links) else links
        if not len(links):
            raise ValueError(f"the links of point {point} were not stored (ask for store = [\"link_bytes\"])")
        vertices = int(max(links["source"].max(), links["destination"].max())) + 1
        matrix = numpy.full((vertices, vertices), numpy.nan)
        sums = links.groupby(["source", "destination"])[column].sum()
        for (source, destination), value in sums.items():
            matrix[source, destination] = value
        return matrix

    def utilization(self) -> pandas.DataFrame:
        """Busy links over time, if stored: point, bin, width_ps, busy_ps, `time` of the middle of the bin in seconds,
        and `utilization`, the mean share of the point's links that are busy. The last bin may reach beyond the end; its
        share refers to the part before the end.
        """
        bins = self._ragged("utilization")
        if not len(bins):
            return bins
        by_point = self.points[["total_links", "collective_time_ps"]].to_dataframe()
        rows = by_point.loc[bins["point"]].reset_index(drop=True)
        start = bins["bin"] * bins["width_ps"]
        part = numpy.minimum(start + bins["width_ps"], rows["collective_time_ps"]) - start
        share = bins["busy_ps"] / (part.where(part > 0) * rows["total_links"])
        return bins.assign(time=(start + bins["width_ps"] / 2) * 1e-12, utilization=share.fillna(0.0))

    def arrivals(self) -> pandas.DataFrame:
        """Deliveries, if stored: point, time_ps, npu, chunk."""
        return self._ragged("arrivals")

    def runs(self) -> pandas.DataFrame:
        """The rank, host and time of each point's evaluation."""
        return self._ragged("runs")

    def _ragged(self, group: str) -> pandas.DataFrame:
        with h5py.File(self.path, "r") as file:
            if group not in file:
                return pandas.DataFrame()
            columns = {
                name: _text(data[...])
                for name, data in file[group].items()
                if data.attrs.get("CLASS") != b"DIMENSION_SCALE"
            }
        return pandas.DataFrame(columns)


def _text(values: NDArray[Any]) -> NDArray[Any]:
    """Converts rows of characters, and the fixed-length bytes of schema 2, to str and leaves other values unchanged."""
    if values.dtype.kind != "S":
        return values
    if values.ndim == 2:
        values = numpy.ascontiguousarray(values).view(f"S{values.shape[1]}")[:, 0]
    return numpy.array([value.decode("utf-8") for value in values], dtype=object)


def _check(path: Path) -> None:
    if not path.is_file():
        raise ResultError(f"{path}: no such file (a merged result is DIR/study.h5) run the study or `tenex merge DIR`")
    if not h5py.is_hdf5(path):
        raise ResultError(f"{path}: not an HDF5 file (results are HDF5)")
    with h5py.File(path, "r") as file:
        schema = file.attrs.get("schema")
        if schema is None or "physics" not in file.attrs or "point" not in file:
            raise ResultError(f"{path}: not a tenex result (no schema, physics or point) open the study.h5 of a run")
        if int(schema) > SCHEMA:
            raise ResultError(
                f"{path}: schema {int(schema)} is newer than {SCHEMA} (this reader) update tenex_analysis"
            )


def open_study(path: str | Path) -> Study:
    """Opens a merged result file, the study.h5 of a result folder, or the expected.csv of a study of experiments/: the
    settings, times and bounds of its collectives (`_open_pins`).

    Raises ResultError for a file that is not a tenex result of a known schema.
    """
    path = Path(path)
    if path.suffix == ".csv":
        return _open_pins(path)
    if path.is_dir():
        path = path / "study.h5"
    return _open_file(path)


def _open_pins(path: Path) -> Study:
    """The pinned columns of a study of collectives, with `status` (ok where there is a time, otherwise infeasible) and
    `efficiency`. Everything else that a result holds is missing.
    """
    try:
        rows = pandas.read_csv(path, keep_default_na=False)
    except FileNotFoundError:
        raise ResultError(f"{path}: no such file") from None
    if not {"topology", "collective_time_ps", "bound_ps"} <= set(rows):
        raise ResultError(f"{path}: not the expected.csv of a study of collectives (no topology, time or bound)")
    ok = rows["collective_time_ps"] > 0
    rows["efficiency"] = (rows["bound_ps"] / rows["collective_time_ps"]).where(ok)
    points = xarray.Dataset({name: ("point", rows[name].to_numpy()) for name in rows}, {"point": rows.index.to_numpy()})
    flags = {"flag_values": numpy.arange(2, dtype=numpy.int8), "flag_meanings": "ok infeasible"}
    points["status"] = ("point", (~ok).to_numpy().astype(numpy.int8), flags)
    points.attrs["title"] = path.parent.name
    return Study(path, points)


def _open_file(path: Path) -> Study:
    _check(path)
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        points = dataset.load()
    for name, variable in points.variables.items():
        if variable.dtype.kind == "S" or (variable.dtype == object and variable.dims == ("point",)):
            decoded = [v.decode("utf-8") if isinstance(v, bytes) else str(v) for v in variable.values]
            points[name] = (variable.dims, numpy.array(decoded, dtype=object), variable.attrs)
    return Study(path, as_of_today(points) if int(points.attrs["schema"]) == 1 else points)
