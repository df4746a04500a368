"""The parts of a schedule file as arrays: network, collective, sends. The form (HDF5, JSON) ends here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy
import pandas
from numpy.typing import NDArray

from .schedule_storages import Sends, expand

Array = NDArray[Any]

#: In the order of `tenex list collectives`, which numbers the kinds of groups.
_KINDS = [
    "all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce", "all_to_all", "gather", "scatter",
    "all_to_allv", "halo_exchange", "conditions", "mixed",
]
_STORED = {"all_to_allv", "halo_exchange", "conditions"}
_OWNED_BY_ROOT = {"broadcast", "reduce"}
_NO_SLOWDOWN = 1000
#: The number that stands for no message and no destination.
_NONE32 = 2**32 - 1


def through(windows: list[tuple[int, int, int]], start: int, outside: int) -> int:
    """The picoseconds of bytes which leave from `start` on and would take `outside` without the windows."""
    now, left = start, outside
    for begin, end, thousandths in windows:
        if end <= now:
            continue
        if left <= begin - now:
            break
        left -= max(0, begin - now)
        now = max(now, begin)
        needed = -(-left * thousandths // _NO_SLOWDOWN)
        if needed <= end - now:
            return now + needed - start
        left -= (end - now) * _NO_SLOWDOWN // thousandths
        now = end
    return now + left - start


@dataclass(frozen=True)
class Network:
    """The vertices, and the links that sends are on: physical links, or wires where switches cut through."""

    npus: int
    shape: str
    unwound: tuple[str, int] | None
    source: Array
    target: Array
    #: The physical links of each link, [first[l], first[l+1]), by class.
    first: Array
    path_class: Array
    alpha_ps: Array
    bandwidth: Array
    slowdown: Array
    #: By class whose bandwidth varies: its windows in order of time, as (from ps, until ps, thousandths).
    windows: dict[int, list[tuple[int, int, int]]]

    @staticmethod
    def make(npus: int, shape: str, unwound: tuple[str, int] | None, links: Array, classes: Array,
             wires: tuple[Array, Array] | None, windows: Array) -> Network:
        """`links`: rows of source, target, class; `classes`: rows of alpha, bandwidth, slowdown; `wires`: how many
        links each wire has, and the links, wire by wire; `windows`: rows of class, from, until, thousandths."""
        of_classes: dict[int, list[tuple[int, int, int]]] = {}
        for link_class, begin, end, thousandths in windows.tolist():
            of_classes.setdefault(link_class, []).append((begin, end, thousandths))
        source, target, of_class = links[:, 0], links[:, 1], links[:, 2]
        first = numpy.arange(len(source) + 1)
        path = numpy.arange(len(source))
        if wires is not None:
            first, path = numpy.concatenate([[0], numpy.cumsum(wires[0])]), wires[1]
            source, target = source[path[first[:-1]]], target[path[first[1:] - 1]]
        return Network(npus, shape, unwound, source, target, first, of_class[path], *classes.T, of_classes)

    def table(self) -> pandas.DataFrame:
        """The links, for users."""
        alpha = numpy.add.reduceat(self.alpha_ps[self.path_class], self.first[:-1]) if len(self.source) else []
        least = numpy.minimum.reduceat(self.bandwidth[self.path_class], self.first[:-1]) if len(self.source) else []
        return pandas.DataFrame({
            "source": self.source, "target": self.target, "alpha_ps": alpha, "bandwidth_bytes_per_s": least,
        })

    def latency(self, link: Array, size: Array, start: Array) -> Array:
        """From a send's start to its arrival, in ps. Python's integers hold bytes * 1e12."""
        paths: dict[bytes, int] = {}
        way = numpy.empty(len(self.source), dtype=numpy.int64)
        for each in range(len(self.source)):
            key = self.path_class[self.first[each] : self.first[each + 1]].astype(numpy.int64).tobytes()
            way[each] = paths.setdefault(key, len(paths))
        classes = [numpy.frombuffer(key, dtype=numpy.int64) for key in paths]
        sizes, of_size = numpy.unique(size, return_inverse=True)
        times = numpy.array(
            [[self._hop(path, int(each)) for each in sizes] for path in classes], dtype=numpy.int64
        ).reshape(len(classes), len(sizes))
        result: Array = times[way[link], of_size]
        of_link = self.path_class[self.first[:-1]]
        for send in numpy.flatnonzero(numpy.isin(of_link[link], list(self.windows))):
            own = int(of_link[link[send]])
            alpha = int(self.alpha_ps[own])
            result[send] = alpha + through(self.windows[own], int(start[send]), int(result[send]) - alpha)
        return result

    def _hop(self, path: Array, size: int) -> int:
        slowest = 0
        for each in path:
            nominal = -(-size * 10**12 // int(self.bandwidth[each]))
            slowest = max(slowest, -(-nominal * int(self.slowdown[each]) // _NO_SLOWDOWN))
        return int(self.alpha_ps[path].sum()) + slowest


@dataclass(frozen=True)
class Group:
    """One process group: what it runs, and its members in rank order."""

    kind: str
    members: Array
    size_bytes: int
    chunks_each: int
    #: Bytes of each stored condition, by source; empty for other kinds.
    condition_bytes: Array

    @property
    def chunks(self) -> int:
        """As in Collective: c per NPU, per pair, in all, or of each condition."""
        if self.kind in _STORED:
            return len(self.condition_bytes) * self.chunks_each
        buffers = len(self.members) if self.kind == "all_to_all" else 1
        return self._of_buffer * buffers

    @property
    def _of_buffer(self) -> int:
        return self.chunks_each * (1 if self.kind in _OWNED_BY_ROOT else len(self.members))

    def bytes_of(self, local: Array) -> Array:
        """The bytes of chunks that are counted from the group's first."""
        if self.kind in _STORED:
            each: Array = -(-self.condition_bytes[local // self.chunks_each] // self.chunks_each)
            return each
        return numpy.full(len(local), -(-self.size_bytes // self._of_buffer))


@dataclass(frozen=True)
class Groups:
    """The collective over all its process groups; chunks are numbered group by group."""

    kind: str
    size_bytes: int
    groups: list[Group]

    @property
    def chunks(self) -> int:
        return sum(group.chunks for group in self.groups)

    @property
    def chunks_per_npu(self) -> int:
        return self.groups[0].chunks_each

    def bytes_of(self, chunk: Array) -> Array:
        first = numpy.concatenate([[0], numpy.cumsum([group.chunks for group in self.groups])])
        group = numpy.searchsorted(first, chunk, side="right") - 1
        sizes = numpy.empty(len(chunk), dtype=numpy.int64)
        for index, each in enumerate(self.groups):
            own = group == index
            sizes[own] = each.bytes_of(chunk[own] - first[index])
        return sizes

    def carried_bytes(self, chunk: Array, payloads: tuple[Array, Array] | None) -> Array:
        """The bytes of sends, several chunks together where they carry a payload."""
        if payloads is None:
            return self.bytes_of(chunk)
        first, carried = payloads
        several = chunk >= self.chunks
        place = numpy.where(several, chunk - self.chunks, 0)
        one = self.bytes_of(numpy.where(several, carried[first[place]] if len(carried) else 0, chunk))
        result: Array = one * numpy.where(several, first[place + 1] - first[place], 1)
        return result


@dataclass(frozen=True)
class Content:
    """What a schedule file holds."""

    network: Network
    collective: Groups
    sends: Sends
    occupancy: str
    algorithm: str
    canonical: str
    #: By NPU that starts late: the ps before which it sends nothing.
    delays: dict[int, int]


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _groups(facts: dict[str, Any], members: list[Array]) -> Groups:
    """`facts`: collective, size_bytes, chunks, root, and the columns from group_kind on where groups differ."""
    kind, size, chunks = _text(facts["collective"]), int(facts["size_bytes"]), int(facts["chunks"])
    kinds = facts.get("group_kind")
    conditions = numpy.asarray(facts.get("condition_bytes", []), dtype=numpy.int64)
    counts = facts.get("group_conditions")
    ends = numpy.cumsum(counts if counts is not None else [0] * len(members))
    groups = []
    for index, own in enumerate(members):
        if kinds is None:
            groups.append(Group(kind, own, size, chunks, conditions))
            continue
        begin = ends[index - 1] if index else 0
        groups.append(Group(_KINDS[int(kinds[index])], own, int(facts["group_size_bytes"][index]),
                            int(facts["group_chunks"][index]), conditions[begin : ends[index]]))
    return Groups(kind, size, groups)


def _columns(group: h5py.Group) -> dict[str, Any]:
    """The attributes and the one-dimensional datasets of a group."""
    found = dict(group.attrs)
    for name, data in group.items():
        if isinstance(data, h5py.Dataset):
            found[name] = data[...].astype(numpy.int64)
    return found


def _windows(topology: dict[str, Any]) -> Array:
    """Rows of class, from, until, thousandths."""
    names = ["window_class", "window_from_ps", "window_until_ps", "window_slowdown"]
    if names[0] not in topology:
        return numpy.empty((0, len(names)), dtype=numpy.int64)
    return numpy.stack([topology[name] for name in names], axis=1)


def _rows_of(entries: list[dict[str, int]], names: list[str]) -> Array:
    return numpy.array([[each[name] for name in names] for each in entries], dtype=numpy.int64).reshape(-1, len(names))


def read_hdf5(path: Path, most_sends: int) -> Content:
    with h5py.File(path, "r") as file:
        topology = _columns(file["topology"])
        classes = numpy.stack([
            topology["class_alpha_ps"], topology["class_bandwidth"],
            topology.get("class_slowdown", numpy.full(len(topology["class_alpha_ps"]), _NO_SLOWDOWN)),
        ], axis=1)
        links = numpy.stack([topology["source"], topology["target"], topology["link_class"]], axis=1)
        unwound = file["topology"].get("unwound")
        wires = (topology["wire_links"], topology["wire_link"]) if "wire_links" in topology else None
        network = Network.make(
            int(topology["npus"]), _text(topology["shape"]),
            (_text(unwound.attrs["shape"]), int(unwound.attrs["degree"])) if unwound is not None else None,
            links, classes, wires, _windows(topology))
        facts = _columns(file["collective"])
        members = numpy.split(facts["member"], numpy.cumsum(facts["group_size"])[:-1])
        collective = _groups(facts, members)
        if "sends" in file:
            storages = [{"kind": "list"} | _columns(file["sends"])]
        else:
            count = int(file["storage"].attrs["count"])
            storages = [_columns(file["storage"][str(number)]) for number in range(count)]
        for storage in storages:
            storage["kind"] = _text(storage["kind"])
        return Content(network, collective, expand(storages, network, collective, most_sends),
                       _text(file.attrs["occupancy"]), _text(file.attrs["algorithm"]), _text(file.attrs["canonical"]),
                       {int(npu): int(delay) for npu, delay in
                        zip(facts.get("delayed_npu", []), facts.get("delay_ps", []), strict=True)})


def read_json(file: dict[str, Any]) -> Content:
    topology = file["topology"]
    classes = numpy.array([
        [each["alpha_ps"], each["bandwidth_bytes_per_s"], each.get("slowdown_thousandths", _NO_SLOWDOWN)]
        for each in topology["classes"]
    ], dtype=numpy.int64).reshape(-1, 3)
    links = numpy.array(topology["links"], dtype=numpy.int64).reshape(-1, 3)
    wires = topology.get("wires")
    paths = None
    if wires is not None:
        paths = (numpy.array([len(each) for each in wires]), numpy.array([link for each in wires for link in each]))
    unwound = topology.get("unwound")
    network = Network.make(int(topology["npus"]), topology["shape"],
                           (unwound["shape"], int(unwound["degree"])) if unwound else None, links, classes, paths,
                           _rows_of(topology.get("windows", []), ["class", "from_ps", "until_ps",
                                                                  "slowdown_thousandths"]))
    facts = file["collective"]
    collective = _groups(facts, [numpy.array(each, dtype=numpy.int64) for each in facts["groups"]])
    storage: dict[str, Any] = {"kind": "list"}
    rows = file["sends"]
    for place, name in enumerate(["start_ps", "link", "chunk"]):
        storage[name] = numpy.array([row[place] for row in rows], dtype=numpy.int64)
    storage["stage"] = numpy.array([0 if row[3] == "reduce" else 1 for row in rows], dtype=numpy.int64)
    if any(len(row) > 4 for row in rows):
        for place, name in ((4, "message"), (5, "destination")):
            storage[name] = numpy.array(
                [row[place] if len(row) > place and row[place] is not None else _NONE32 for row in rows],
                dtype=numpy.int64)
    payloads = file.get("payloads")
    if payloads:
        storage["payload_first"] = numpy.concatenate([[0], numpy.cumsum([len(each) for each in payloads])])
        storage["payload_chunk"] = numpy.array([chunk for each in payloads for chunk in each], dtype=numpy.int64)
    return Content(network, collective, expand([storage], network, collective, len(rows)), file["occupancy"],
                   file["algorithm"], file["canonical"],
                   {each["npu"]: each["delay_ps"] for each in facts.get("start_delays", [])})
