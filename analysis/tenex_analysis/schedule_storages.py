"""Expands the storages of schedule files to plain sends.

The encodings are those of include/tenex/files/schedule_file.md, one function for each: lists, views of other storages,
schedules by periods, orbits, blocks and steps. Those on products of lines are in schedule_lines.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .schedule_files import Groups, Network

Array = NDArray[Any]
Columns = dict[str, Any]

REDUCE, COPY = 0, 1
_NONE32 = 2**32 - 1
_JUMP = -128


class Expansion(ValueError):
    """Raised where sends cannot be listed; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Sends:
    """Sends in any order. `message` and `destination` are -1 where there is none."""

    start: Array
    link: Array
    chunk: Array
    stage: Array
    message: Array | None = None
    destination: Array | None = None
    #: A send whose chunk is the number of chunks + p carries the chunks carried[first[p]:first[p+1]].
    payloads: tuple[Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Case:
    """What expanding needs beside the storage itself."""

    network: Network
    collective: Groups
    most_sends: int

    def check(self, sends: int) -> None:
        """Refuses more sends than the caller allows, before any memory is used."""
        if sends > self.most_sends:
            raise Expansion(f"it has {sends} sends, more than {self.most_sends} (each takes 41 bytes of memory) "
                            "open it with open_schedule(path, most_sends=...), or take a smaller network")


def expand(storages: list[Columns], network: Network, collective: Groups, most_sends: int) -> Sends:
    """The sends of the last storage. Each storage refers to earlier ones only."""
    from .schedule_lines import expand_combs, expand_grid

    case = Case(network, collective, most_sends)
    kinds = {
        "list": _list, "periodic": expand_periods, "symmetric": _symmetric, "block": _block, "step_table": _step_table,
        "comb": expand_combs, "grid": expand_grid,
    }
    done: list[Sends] = []
    for storage in storages:
        kind = storage["kind"]
        if kind in kinds:
            done.append(kinds[kind](storage, case))
        elif kind == "sequence":
            done.append(_sequence(storage, done))
        elif kind in ("reversed", "relabelled"):
            view = {"reversed": _reversed, "relabelled": _relabelled}[kind]
            done.append(view(storage, done[int(storage["base"])]))
        else:
            raise Expansion(f"its storage \"{kind}\" is unknown (a newer tenex wrote it) update tenex_analysis")
    return done[-1]


def spread(counts: Array) -> tuple[Array, Array]:
    """For parts of these lengths one after the other: the part of each element, and its place in the part."""
    part = numpy.repeat(numpy.arange(len(counts)), counts)
    before = numpy.cumsum(counts) - counts
    return part, numpy.arange(len(part)) - before[part]


def _list(storage: Columns, case: Case) -> Sends:
    case.check(len(storage["start_ps"]))
    stage = storage.get("stage", numpy.full(len(storage["start_ps"]), COPY))
    message, destination = (
        None if name not in storage else numpy.where(storage[name] == _NONE32, -1, storage[name])
        for name in ("message", "destination")
    )
    payloads = None
    if "payload_first" in storage:
        payloads = (storage["payload_first"], storage["payload_chunk"])
    return Sends(storage["start_ps"], storage["link"], storage["chunk"], stage, message, destination, payloads)


def _reversed(storage: Columns, base: Sends) -> Sends:
    return replace(base, start=int(storage["last_start_ps"]) - base.start, stage=numpy.full(len(base), REDUCE))


def _relabelled(storage: Columns, base: Sends) -> Sends:
    chunk = storage["chunks"][base.chunk] if len(storage["chunks"]) else base.chunk
    return replace(base, link=storage["links"][base.link], chunk=chunk)


def _sequence(storage: Columns, done: list[Sends]) -> Sends:
    first, second = done[int(storage["first"])], done[int(storage["second"])]
    if first.payloads is not None or second.payloads is not None:
        raise Expansion("its parts carry several chunks in a send (two lists of payloads) write it with --expanded")
    columns = {
        "start": numpy.concatenate([first.start, second.start + int(storage["shift_ps"])]),
        "link": numpy.concatenate([first.link, second.link]),
        "chunk": numpy.concatenate([first.chunk, second.chunk]),
        "stage": numpy.concatenate([first.stage, second.stage]),
    }
    if first.message is None and second.message is None:
        return Sends(**columns)
    none = [numpy.full(len(part), -1) for part in (first, second)]
    messages = [none[i] if part.message is None else part.message for i, part in enumerate((first, second))]
    targets = [none[i] if part.destination is None else part.destination for i, part in enumerate((first, second))]
    messages[1] = numpy.where(messages[1] < 0, -1, messages[1] + int(storage["message_shift"]))
    return Sends(**columns, message=numpy.concatenate(messages), destination=numpy.concatenate(targets))


def expand_periods(storage: Columns, case: Case) -> Sends:
    """Chunk q * trees + t is tree t's in period q; `start_ps` may lie in a later period than the tree's own."""
    chunks, trees = case.collective.chunks, int(storage["trees"])
    tree = storage["tree"]
    periods = numpy.where(tree < chunks, (chunks - 1 - tree) // trees + 1, 0)
    case.check(int(periods.sum()))
    send, period = spread(periods)
    start = storage["start_ps"][send] + period * int(storage["period_ps"])
    return Sends(start, storage["link"][send], period * trees + tree[send], storage["stage"][send])


class Translations:
    """The moves that map the network to itself: mixed-radix addition on NPU ids, digit by digit modulo the block sizes.

    Directions are numbered dimension by dimension. In an NPU's links of a dimension, those of a fully connected block
    (and of wires over a switch) are in the order of their targets, all others in that of directions.
    """

    def __init__(self, network: Network) -> None:
        shape, degree = network.unwound or (network.shape, 0)
        self.npus = 1
        self.sizes: list[int] = []
        self.strides: list[int] = []
        self.dimension: list[int] = []
        self.step: list[int] = []
        self._port: list[tuple[int, int, bool, int]] = []  # first link, links of an NPU, by target, port
        links = 0
        blocks = [(name, int(size)) for name, size in re.findall(r"([A-Z]+)\((\d+)", shape)]
        total = int(numpy.prod([size for _, size in blocks]))
        for name, size in blocks:
            if size == 1:
                continue
            steps = self._steps(name, size, degree)
            by_target = name == "FC" or (name == "SW" and degree == 0)
            for port, step in enumerate(steps):
                self.dimension.append(len(self.sizes))
                self.step.append(step)
                self._port.append((links, len(steps), by_target, port))
            self.sizes.append(size)
            self.strides.append(self.npus)
            self.npus *= size
            links += total * len(steps)

    @staticmethod
    def _steps(name: str, size: int, degree: int) -> list[int]:
        if name == "SW" and degree > 0:
            return list(range(1, min(degree, size - 1) + 1))
        if name in ("FC", "SW"):
            return list(range(1, size))
        if size == 2:
            return [1]
        if name != "RI":
            raise Expansion(f"its symmetric storage is on {name}({size}) (no translations map it to itself)")
        return [1, size - 1]

    def add(self, npu: Array, offset: Array) -> Array:
        return self._combine(npu, offset, 1)

    def subtract(self, npu: Array, offset: Array) -> Array:
        return self._combine(npu, offset, -1)

    def _combine(self, npu: Array, offset: Array, sign: int) -> Array:
        result: Array = numpy.zeros(numpy.broadcast(npu, offset).shape, dtype=numpy.int64)
        for size, stride in zip(self.sizes, self.strides):
            result += (npu // stride % size + sign * (offset // stride % size)) % size * stride
        return result

    def offsets(self) -> Array:
        """Of each direction."""
        return numpy.array([step * self.strides[d] for step, d in zip(self.step, self.dimension)])

    def links(self) -> Array:
        """The link of each (direction, source)."""
        source = numpy.arange(self.npus)
        rows = []
        for direction, (first, each, by_target, port) in enumerate(self._port):
            ports: Array | int = port
            if by_target:
                size, stride = self.sizes[self.dimension[direction]], self.strides[self.dimension[direction]]
                at, step = source // stride % size, self.step[direction]
                ports = numpy.where(step >= size - at, step - (size - at), at + step - 1)
            rows.append(first + source * each + ports)
        return numpy.array(rows)


def _symmetric(storage: Columns, case: Case) -> Sends:
    """An orbit is a send of every NPU at once; its chunk's owner lies `offset` before the receiver."""
    case.check(len(storage["start_ps"]) * case.network.npus)
    moves = Translations(case.network)
    npus = numpy.arange(moves.npus)
    direction, number = storage["direction"], storage["number"][:, None]
    receiver = moves.add(npus[None, :], moves.offsets()[direction][:, None])
    owner = moves.subtract(receiver, storage["offset"][:, None])
    each = int(storage["chunks_per_npu"])
    groups = case.collective.groups
    if case.collective.kind != "all_to_all":
        chunk = owner * each + number
    else:
        destination = moves.add(owner, number // each)
        first, rank = numpy.zeros(moves.npus, dtype=numpy.int64), numpy.zeros(moves.npus, dtype=numpy.int64)
        before = 0
        for group in groups:
            size = len(group.members)
            rank[group.members] = numpy.arange(size)
            first[group.members] = before + numpy.arange(size) * size * each
            before += group.chunks
        chunk = first[owner] + rank[destination] * each + number % each
    shape = receiver.shape
    return Sends(numpy.broadcast_to(storage["start_ps"][:, None], shape).ravel(), moves.links()[direction].ravel(),
                 chunk.ravel(), numpy.broadcast_to(storage["stage"][:, None], shape).ravel())


def _block(storage: Columns, case: Case) -> Sends:
    """Runs of blocks of chunks: a block's chunks follow each other on an in-link, row by row."""
    network, npus = case.network, case.network.npus
    at = network.source if int(storage["turned"]) else network.target
    ends = numpy.flatnonzero(at < npus)
    in_link = ends[numpy.argsort(at[ends], kind="stable")]
    first_port = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(at[ends], minlength=npus))])
    begin, entries = storage["block_begin"], storage["entries"]
    entry_npu, entry_place = spread(entries)
    own_block = storage["block"][entry_place == 0]
    sent = entry_place > 0
    npu, block = entry_npu[sent], storage["block"][sent]
    steps = numpy.cumsum(storage["row_step"])  # row steps begin anew at every NPU
    before = numpy.concatenate([[0], steps])[numpy.concatenate([[0], numpy.cumsum(entries - 1)[:-1]])]
    runs = [(steps - before[npu], begin[block], begin[block + 1] - begin[block], first_port[npu] + storage["port"])]
    if len(storage["ramp_first"]):
        length = storage["ramp_last"] - storage["ramp_first"]
        who, place = spread(length)
        ramp = storage["ramp_first"][who] + place
        port = storage["inner_port"][first_port[who] + storage["ramp_inner"][ramp]]
        runs.append((storage["ramp_start"][ramp], begin[own_block[who]] + storage["ramp_place"][ramp],
                     numpy.ones(len(who), dtype=numpy.int64), first_port[who] + port))
    who, _ = spread(numpy.diff(storage["runs_begin"]))
    runs.append((storage["run_start"], storage["run_first"], storage["run_count"],
                 first_port[who] + storage["run_port"]))
    start, first, count, port = (numpy.concatenate(parts) for parts in zip(*runs))
    case.check(int(count.sum()))
    run, place = spread(count)
    return Sends((start[run] + place) * int(storage["period_ps"]), in_link[port[run]],
                 storage["chunks"][first[run] + place], numpy.full(len(run), COPY))


def _values(storage: Columns, counts: Array) -> Array:
    """The values of a step table's sends, port by port: sums of differences, set anew by jumps and at ports."""
    delta = storage["delta"]
    jump = delta == _JUMP
    total = numpy.cumsum(numpy.where(jump, 0, delta))
    begins = jump.copy()
    ports = (numpy.cumsum(counts) - counts)[counts > 0]
    begins[ports] = True
    starting = numpy.where(jump, 0, delta)
    starting[jump] = storage["jump"]
    begin = numpy.maximum.accumulate(numpy.where(begins, numpy.arange(len(delta)), 0))
    result: Array = starting[begin] + total - total[begin]
    return result


def _step_table(storage: Columns, case: Case) -> Sends:
    """Every NPU has a list of chunks: its own, then what its in-links (ports) deliver, tile by tile."""
    case.check(len(storage["delta"]))
    network, npus = case.network, case.network.npus
    lanes, ports = len(storage["lane_period_ps"]), len(storage["port_link"])
    lane_rows = storage["lane_rows"].reshape(lanes, -1)
    tiles = lane_rows.shape[1] - 1
    npu_of_port, _ = spread(storage["ports"])
    source, target = network.source[storage["port_link"]], network.target[storage["port_link"]]
    other = numpy.minimum(numpy.where(source == npu_of_port, target, source), npus)
    order = numpy.argsort(other, kind="stable")  # the order of the columns from port_form on
    counts = numpy.empty((ports, tiles), dtype=numpy.int64)
    counts[order] = storage["count"].reshape(ports, tiles)
    # Where each port's sends of a tile stand in its NPU's list.
    by_npu = numpy.zeros((npus, tiles), dtype=numpy.int64)
    numpy.add.at(by_npu, npu_of_port, counts)
    length = storage["owns"][:, None] + numpy.cumsum(by_npu, axis=1) - by_npu
    earlier = numpy.cumsum(counts, axis=0) - counts
    port_begin = numpy.cumsum(storage["ports"]) - storage["ports"]
    earlier -= earlier[numpy.minimum(port_begin, max(ports - 1, 0))][npu_of_port]
    list_begin = numpy.cumsum(storage["list_length"]) - storage["list_length"]
    slot_of = list_begin[npu_of_port][:, None] + length[npu_of_port] + earlier
    # Send by send.
    in_order = counts[order]
    cell, place = spread(in_order.ravel())
    port, tile = order[cell // max(tiles, 1)], cell % max(tiles, 1)
    form = storage["port_form"][cell // max(tiles, 1)]
    slot = slot_of[port, tile] + place
    lists = numpy.zeros(int(storage["list_length"].sum()), dtype=numpy.int64)
    owner, own_place = spread(storage["owns"])
    lists[list_begin[owner] + own_place] = storage["own"]
    lists[slot] = _values(storage, in_order.sum(axis=1))
    by_tile = numpy.argsort(tile, kind="stable")
    for part in numpy.split(by_tile, numpy.searchsorted(tile[by_tile], numpy.arange(1, tiles))):
        part = part[form[part] == 1]
        lists[slot[part]] = lists[list_begin[other[port[part]]] + lists[slot[part]]]
    lane = storage["port_lane"][port]
    row = lane_rows[lane, tile] + place
    late = numpy.where(row >= storage["lane_early_rows"][lane], storage["lane_late_ps"][lane], 0)
    return Sends(row * storage["lane_period_ps"][lane] + late, storage["port_link"][port],
                 storage["first_chunk"][npu_of_port[port]] + lists[slot], numpy.full(len(slot), COPY))
