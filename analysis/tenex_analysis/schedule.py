"""Opens schedule files (format: include/tenex/files/schedule_file.md), HDF5 and JSON: lists and recipes; and those of
other tools on a network.

    import tenex_analysis
    schedule = tenex_analysis.open_schedule("s.h5")
    schedule.sends        # pandas.DataFrame, one row per send: when, from where to where, which chunk
    schedule.links        # pandas.DataFrame, one row per link
    schedule = tenex_analysis.open_schedule("ring.xml", topology="dgx1", size="64MiB")   # what `tenex verify` reads

Times are int64 picoseconds, as in the file. A recipe has no sends: `open_schedule` returns a Recipe, which says of
which point it is, how long the schedule takes, and how to make the list.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import h5py
import numpy
import pandas
from numpy.typing import NDArray

from .reader import ResultError

#: The schema of schedule files that this reader knows.
SCHEDULE_SCHEMA = 3
#: Most sends that are read unless the caller allows more.
MOST_SENDS = 50_000_000

_STAGES = ["reduce", "copy"]
#: The number that stands for no message and no destination.
_NONE32 = 2**32 - 1
_COLUMNS = ["start_ps", "arrival_ps", "source", "target", "link", "chunk", "bytes", "stage"]
_OF_MESSAGES = ["message", "destination"]
_LINKS = ["source", "target", "link_class"]
_CLASSES = ["class_alpha_ps", "class_bandwidth"]

Columns = dict[str, NDArray[Any]]


class ScheduleError(ResultError):
    """Raised for a file that is no schedule that this reader knows; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Schedule:
    """An opened list. Everything is in memory; the file is closed."""

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
    #: Which sends of a schedule these are ("from or to NPUs 0-7"); empty: all.
    part: str
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


@dataclass(frozen=True)
class Recipe:
    """An opened recipe: how a schedule is made that is too large to list."""

    path: Path
    #: The design point's canonical text.
    canonical: str
    #: Of the tenex that made the schedule.
    version: str
    #: The collective time.
    time_ps: int
    #: The number of sends.
    count: int
    #: By which the schedule is known: 16 hexadecimal digits.
    hash: str

    @property
    def how_to_list(self) -> str:
        """The command that writes the list; with --npus, --chunks, --from or --to, a part of it."""
        return f"tenex export {self.path} --format list -o {self.path.with_suffix('')}-list.h5"

    def _refuse(self) -> NoReturn:
        raise ScheduleError(f"{self.path}: a recipe has no sends (it says how to make {self.count} of them) "
                            f"`{self.how_to_list}` writes them")

    @property
    def sends(self) -> pandas.DataFrame:
        """Raises ScheduleError: there are none."""
        self._refuse()

    @property
    def links(self) -> pandas.DataFrame:
        """Raises ScheduleError: there are none."""
        self._refuse()


@dataclass(frozen=True)
class _Content:
    """A file, HDF5 or JSON: facts by name, and columns by group."""

    facts: dict[str, Any]
    topology: dict[str, Any]
    collective: dict[str, Any]
    sends: Columns


def _text(value: Any) -> Any:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _facts(group: h5py.Group) -> dict[str, Any]:
    return {name: _text(value) for name, value in group.attrs.items()}


def _columns(group: h5py.Group) -> Columns:
    return {name: data[...].astype(numpy.int64) for name, data in group.items() if isinstance(data, h5py.Dataset)}


def _table(rows: Iterable[Any], names: list[str]) -> Columns:
    """Columns of rows that are lists in the order of `names`, or objects; null is no message."""
    lists = [[row[name] for name in names] if isinstance(row, dict) else row for row in rows]
    return {
        name: numpy.array([_NONE32 if row[place] is None else row[place] for row in lists], dtype=numpy.int64)
        for place, name in enumerate(names)
    }


def _of_hdf5(path: Path, most_sends: int) -> _Content:
    with h5py.File(path, "r") as file:
        rows = file["sends/start_ps"].shape[0]
        if rows > most_sends:
            raise ScheduleError(f"{path}: it has {rows} sends, more than {most_sends} (each takes 57 bytes of memory) "
                                "open it with open_schedule(path, most_sends=...), or export a part of it")
        topology, collective = file["topology"], file["collective"]
        return _Content(_facts(file), _facts(topology) | _columns(topology),
                        _facts(collective) | _columns(collective), _columns(file["sends"]))


def _of_json(file: dict[str, Any]) -> _Content:
    topology, collective = file["topology"], file["collective"]
    network = topology | _table(topology["links"], _LINKS)
    network |= dict(zip(_CLASSES, _table(topology["classes"], ["alpha_ps", "bandwidth_bytes_per_s"]).values(),
                        strict=True))
    wires = topology.get("wires")
    if wires is not None:
        network |= {"wire_links": [len(wire) for wire in wires], "wire_link": [link for wire in wires for link in wire]}
    delays = _table(collective.get("start_delays", []), ["npu", "delay_ps"])
    names = _COLUMNS + (_OF_MESSAGES if "message" in file["columns"] else [])
    rows = [[*row[:7], _STAGES.index(row[7]), *row[8:]] for row in file["sends"]]
    sends = _table(rows, names)
    payloads = file.get("payloads")
    if payloads is not None:
        sends["payload_first"] = numpy.cumsum([0, *(len(each) for each in payloads)])
        sends["payload_chunk"] = numpy.array([chunk for each in payloads for chunk in each], dtype=numpy.int64)
    return _Content(file, network, collective | {"delayed_npu": delays["npu"], "delay_ps": delays["delay_ps"]}, sends)


def _links(topology: dict[str, Any]) -> pandas.DataFrame:
    """The links that sends are on: physical ones, or wires, with all alphas and the least bandwidth of their links."""
    source, target, of_class = (numpy.asarray(topology[name], dtype=numpy.int64) for name in _LINKS)
    alpha, bandwidth = (numpy.asarray(topology[name], dtype=numpy.int64)[of_class] for name in _CLASSES)
    if "wire_links" in topology:
        links = numpy.asarray(topology["wire_link"], dtype=numpy.int64)
        ends = numpy.cumsum(topology["wire_links"])
        first = ends - topology["wire_links"]
        source, target = source[links[first]], target[links[ends - 1]]
        alpha, bandwidth = numpy.add.reduceat(alpha[links], first), numpy.minimum.reduceat(bandwidth[links], first)
    return pandas.DataFrame({
        "source": source, "target": target, "alpha_ps": alpha, "bandwidth_bytes_per_s": bandwidth,
    })


def _sends(columns: Columns, links: pandas.DataFrame) -> pandas.DataFrame:
    link = columns["link"]
    ends = {name: links[name].to_numpy()[link] for name in ("source", "target")}
    table = {name: (columns | ends)[name] for name in _COLUMNS[:-1]}
    table["stage"] = pandas.Categorical.from_codes(columns["stage"], _STAGES)
    for name in _OF_MESSAGES:
        if name in columns:
            table[name] = numpy.where(columns[name] == _NONE32, -1, columns[name])
    return pandas.DataFrame(table)


def _played(path: Path, network: dict[str, str], out: Path) -> Path:
    """The sends of another tool's schedule on a network, as tenex writes them."""
    if not path.is_file():
        raise ScheduleError(f"{path}: no such file")
    tenex = os.environ.get("TENEX") or shutil.which("tenex")
    if tenex is None:
        raise ScheduleError(f"{path}: tenex is not on PATH (it reads schedules of other tools) put its bin on PATH, or "
                            "set TENEX to it")
    options = [word for key, value in network.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    command = [tenex, "simulate", "--schedule", str(path), *options, "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.is_file():
        return out
    if done.stdout.startswith("{"):
        raise ScheduleError(f"{path}: {json.loads(done.stdout)['verdict']}")
    raise ScheduleError(f"{path}: " + " ".join(done.stderr.split()).removeprefix("error: "))


def _head(path: Path) -> dict[str, Any]:
    """The facts of a file of the known kind and schema; all of it where it is JSON."""
    if not path.is_file():
        raise ScheduleError(f"{path}: no such file (`tenex synthesize ... --out FILE` writes one)")
    try:
        if h5py.is_hdf5(path):
            with h5py.File(path, "r") as file:
                facts = _facts(file)
        else:
            facts = json.loads(path.read_bytes())
        kind, schema = facts.get("kind"), int(facts.get("schema", 0))
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError):
        kind, schema = None, 0
    if kind != "tenex schedule":
        raise ScheduleError(f"{path}: not a tenex schedule (its kind is {kind}) results are opened by open_study(), "
                            "schedules of other tools with a network: open_schedule(path, topology=...)")
    if schema > SCHEDULE_SCHEMA:
        newer = f"schema {schema} is newer than {SCHEDULE_SCHEMA} (this reader)"
        raise ScheduleError(f"{path}: {newer} update tenex_analysis")
    if schema < SCHEDULE_SCHEMA:
        raise ScheduleError(f"{path}: schema {schema} is no longer read (this reader knows {SCHEDULE_SCHEMA}) make the "
                            "schedule again with a newer tenex; `canonical` in the file says of which point it is")
    return facts


def open_schedule(path: str | Path, most_sends: int = MOST_SENDS, **network: str) -> Schedule | Recipe:
    """Opens a schedule file in either form: a list, or a recipe. With a network (`topology`, and `alpha`, `bandwidth`,
    `size`, ... as `tenex simulate` takes them) a schedule of another tool: MSCCLang XML, an mscclpp plan, Chakra
    traces, ForestColl trees, a TE-CCL output. tenex (on PATH, or named by the environment's TENEX) interprets, times
    and verifies it there.

    Raises ScheduleError for a file that is no schedule of the known schema, or that has more than `most_sends` sends;
    for another tool's, with what tenex says of it.
    """
    path = Path(path)
    if network:
        with tempfile.TemporaryDirectory() as scratch:
            played = _played(path, network, Path(scratch) / "schedule.h5")
            return dataclasses.replace(open_schedule(played, most_sends), path=path)
    facts = _head(path)
    try:
        if facts["content"] == "recipe":
            return Recipe(path=path, canonical=facts["canonical"], version=facts["version"],
                          time_ps=int(facts["collective_time_ps"]), count=int(facts["sends"]), hash=facts["hash"])
        content = _of_hdf5(path, most_sends) if h5py.is_hdf5(path) else _of_json(facts)
        topology, collective, columns = content.topology, content.collective, content.sends
        links = _links(topology)
        payloads = None
        if "payload_first" in columns:
            payloads = (columns["payload_first"], columns["payload_chunk"])
        return Schedule(
            path=path, npus=int(topology["npus"]), shape=topology["shape"], occupancy=content.facts["occupancy"],
            algorithm=content.facts["algorithm"], canonical=content.facts["canonical"],
            part=content.facts.get("part", ""), collective=collective["collective"],
            size_bytes=int(collective["size_bytes"]), chunks=int(collective["total_chunks"]), links=links,
            sends=_sends(columns, links),
            delays=dict(zip(map(int, collective.get("delayed_npu", [])), map(int, collective.get("delay_ps", [])),
                            strict=True)),
            _payloads=payloads,
        )
    except KeyError as missing:
        raise ScheduleError(f"{path}: it lacks {missing} (it is damaged) write it again") from None
