"""Opens schedule files (format: include/tenex/files/schedule_file.md), HDF5 and JSON, expanded and compact.

    import tenex_analysis
    schedule = tenex_analysis.open_schedule("s.h5")
    schedule.sends        # pandas.DataFrame, one row per send: when, from where to where, which chunk
    schedule.links        # pandas.DataFrame, one row per link

Times are int64 picoseconds, as in the file. An arrival is its send's start + alpha + beta*m; over a wire, a path over
switches that cut through, it is the start + all alphas + beta*m of the slowest link; on a link whose bandwidth varies,
what leaves within a window takes longer. Compact files are expanded in
memory: 41 bytes per send.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy
import pandas
from numpy.typing import NDArray

from .reader import ResultError
from .schedule_files import Content, read_hdf5, read_json
from .schedule_storages import Expansion

#: The newest schema of schedule files that this reader knows.
SCHEDULE_SCHEMA = 2
#: Most sends that are expanded unless the caller allows more.
MOST_SENDS = 50_000_000

_STAGES = ["reduce", "copy"]


class ScheduleError(ResultError):
    """Raised for a file that is no schedule that this reader knows; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Schedule:
    """An opened schedule file. Everything is in memory; the file is closed."""

    path: Path
    npus: int
    #: Of the topology, as studies write it; empty if the links are not exactly those of a shape.
    shape: str
    #: "serialization" or "transfer".
    occupancy: str
    #: What made the schedule.
    algorithm: str
    #: The design point's canonical text; may be empty.
    canonical: str
    #: "all_gather", ...
    collective: str
    size_bytes: int
    #: Of all process groups.
    chunks: int
    #: One row per link, by its id: source, target, alpha_ps, bandwidth_bytes_per_s. Vertices from `npus` on are
    #: switches. Where switches cut through, sends are on wires, and a link here is a wire.
    links: pandas.DataFrame
    #: One row per send, by (start_ps, link): start_ps, arrival_ps, source, target, link, chunk, bytes, stage ("reduce"
    #: or "copy"); with messages also message and destination (-1: none).
    sends: pandas.DataFrame
    #: By NPU that starts late: the ps before which it sends nothing.
    delays: dict[int, int]
    _payloads: tuple[NDArray[Any], NDArray[Any]] | None = None

    @property
    def time_ps(self) -> int:
        """The last arrival."""
        return int(self.sends["arrival_ps"].max()) if len(self.sends) else 0

    def carried(self, chunk: int) -> NDArray[Any]:
        """The chunks of a send whose `chunk` is this: itself, or those of a payload (`chunk` >= `chunks`)."""
        if chunk < self.chunks or self._payloads is None:
            return numpy.array([chunk])
        first, carried = self._payloads
        place = chunk - self.chunks
        return carried[first[place] : first[place + 1]]


def _attributes(path: Path) -> dict[str, Any]:
    with h5py.File(path, "r") as file:
        return dict(file.attrs)


def _read(path: Path, most_sends: int) -> Content:
    if not path.is_file():
        raise ScheduleError(f"{path}: no such file (`tenex synthesize ... --out FILE` writes one)")
    hdf5 = h5py.is_hdf5(path)
    try:
        attributes = _attributes(path) if hdf5 else json.loads(path.read_bytes())
        kind, schema = attributes.get("kind"), int(attributes.get("schema", 0))
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError):
        kind, schema = None, 0
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind != "tenex schedule":
        raise ScheduleError(f"{path}: not a tenex schedule (its kind is {kind}) results are opened by open_study()")
    if schema > SCHEDULE_SCHEMA:
        newer = f"schema {schema} is newer than {SCHEDULE_SCHEMA} (this reader)"
        raise ScheduleError(f"{path}: {newer} update tenex_analysis")
    try:
        return read_hdf5(path, most_sends) if hdf5 else read_json(attributes)
    except Expansion as refusal:
        raise ScheduleError(f"{path}: {refusal}") from None
    except KeyError as missing:
        raise ScheduleError(f"{path}: it lacks {missing} (it is damaged) write it again") from None


def open_schedule(path: str | Path, most_sends: int = MOST_SENDS) -> Schedule:
    """Opens a schedule file in either form and layout.

    Raises ScheduleError for a file that is no schedule of a known schema, or that has more than `most_sends` sends.
    """
    path = Path(path)
    content = _read(path, most_sends)
    network, collective, sends = content.network, content.collective, content.sends
    order = numpy.lexsort((sends.link, sends.start))
    link, chunk = sends.link[order], sends.chunk[order]
    carried = collective.carried_bytes(chunk, sends.payloads)
    start = sends.start[order]
    columns: dict[str, Any] = {
        "start_ps": start,
        "arrival_ps": start + network.latency(link, carried, start),
        "source": network.source[link],
        "target": network.target[link],
        "link": link,
        "chunk": chunk,
        "bytes": carried,
        "stage": pandas.Categorical.from_codes(sends.stage[order], _STAGES),
    }
    if sends.message is not None and sends.destination is not None:
        columns |= {"message": sends.message[order], "destination": sends.destination[order]}
    return Schedule(
        path=path, npus=network.npus, shape=network.shape, occupancy=content.occupancy, algorithm=content.algorithm,
        canonical=content.canonical, collective=collective.kind, size_bytes=collective.size_bytes,
        chunks=collective.chunks, links=network.table(), sends=pandas.DataFrame(columns), delays=content.delays,
        _payloads=sends.payloads,
    )
