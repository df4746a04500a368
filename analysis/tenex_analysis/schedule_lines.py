"""Expands schedules on products of lines: All-to-All by timetables (grid), All-Reduce by pipelined trees (comb).

What the columns mean, and why the schedules are valid: include/tenex/schedule/storage/grid_schedule.hpp
and comb_schedule.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from .schedule_storages import COPY, REDUCE, Array, Case, Columns, Sends, expand_periods, spread


@dataclass(frozen=True)
class _Lines:
    """The lines of a product along one dimension; its links follow those of the dimensions before."""

    size: int
    stride: int
    lines: int
    first_link: int

    def link(self, high: Array, low: Array, position: Array, up: Array) -> Array:
        """The link from a position to the next one (up) or to the one before."""
        block = self.first_link + high * 2 * (self.size - 1) * self.stride
        from_end = position * 2 - 1
        upward = numpy.where(position == 0, block + low, block + from_end * self.stride + 2 * low)
        downward = numpy.where(position == self.size - 1, block + from_end * self.stride + low,
                               block + from_end * self.stride + 2 * low + 1)
        return numpy.where(up, upward, downward)


def _lines(sizes: list[int]) -> list[_Lines]:
    npus = int(numpy.prod(sizes))
    found: list[_Lines] = []
    stride, link = 1, 0
    for size in sizes:
        found.append(_Lines(size, stride, npus // size, link))
        stride *= size
        link += 2 * (size - 1) * (npus // size)
    return found


def _timetable_starts(size: int, start: Array) -> NDArray[Any]:
    """The starts of block (a, b) on its hops, [a, b, hop], from the order of a timetable's entries."""
    table = numpy.zeros((size, size, size), dtype=numpy.int64)
    place = 0
    for mirrored in (False, True):
        for a in range(size):
            for b in range(a + 1, size):
                first, last = (size - 1 - a, size - 1 - b) if mirrored else (a, b)
                table[first, last, : b - a] = start[place : place + b - a]
                place += b - a
    return table


def expand_grid(storage: Columns, case: Case) -> Sends:
    """Each chunk goes dimension by dimension, in the order of its class, as one of a block of its line."""
    sizes, per_pair = [int(size) for size in storage["size"]], int(storage["chunks_per_pair"])
    classes, lines = len(sizes), _lines(sizes)
    npus = int(numpy.prod(sizes))
    hops = sum(2 * ((each.size - 1) * each.size * (each.size + 1) // 6) * each.lines**2 for each in lines) * per_pair
    case.check(hops)
    tables, place = [], 0
    for size in storage["positions"]:
        entries = (int(size) - 1) * int(size) * (int(size) + 1) // 3
        tables.append(_timetable_starts(int(size), storage["start"][place : place + entries]))
        place += entries
    chunk = numpy.arange(npus * npus * per_pair)
    number, to_npu, from_npu = chunk % per_pair, chunk // per_pair % npus, chunk // per_pair // npus
    source = [from_npu // each.stride % each.size for each in lines]
    target = [to_npu // each.stride % each.size for each in lines]
    of_class = (sum(source) + sum(target) + number) % classes
    parts: list[tuple[Array, Array, Array]] = []
    for phase in range(classes):
        for e, own in enumerate(lines):
            moved = numpy.flatnonzero((of_class == (e - phase) % classes) & (source[e] != target[e]))
            done = {((e - phase) % classes + p) % classes for p in range(phase)}
            high = low = numpy.zeros(len(moved), dtype=numpy.int64)
            fixed_sum = high
            tuple_name, weight = number[moved], per_pair
            for f, other in enumerate(lines):
                if f == e:
                    continue
                fixed = (target if f in done else source)[f][moved]
                free = (source if f in done else target)[f][moved]
                if f < e:
                    low = low + fixed * other.stride
                else:
                    high = high + fixed * (other.stride // (own.stride * own.size))
                fixed_sum = fixed_sum + fixed
                tuple_name = tuple_name + free * weight
                weight *= other.size
            rank = _ranks([per_pair] + [size for f, size in enumerate(sizes) if f != e], classes)[tuple_name]
            residue = ((e - phase) - fixed_sum) % classes
            a, b = source[e][moved], target[e][moved]
            send, hop = spread(numpy.abs(b - a))
            up = (b > a)[send]
            starts = numpy.empty(len(send), dtype=numpy.int64)
            for which in range(classes):
                mine = residue[send] == which
                table = tables[int(storage["timetable"][e * classes + which])]
                starts[mine] = table[a[send][mine], b[send][mine], hop[mine]]
            position = a[send] + numpy.where(up, hop, -hop)
            slot = int(storage["slot_ps"][e])
            parts.append((int(storage["phase_begin_ps"][phase]) + slot * (starts + rank[send]),
                          own.link(high[send], low[send], position, up), chunk[moved][send]))
    start, link, carried = (numpy.concatenate(columns) for columns in zip(*parts))
    return Sends(start, link, carried, numpy.full(len(start), COPY))


def _ranks(sizes: list[int], classes: int) -> Array:
    """The place of each tuple, first digit fastest, among those whose digits have the same sum modulo `classes`."""
    total = numpy.zeros(1, dtype=numpy.int64)
    for size in sizes:
        total = (numpy.arange(size)[:, None] + total[None, :]).ravel()
    residue = total % classes
    rank = numpy.empty(len(residue), dtype=numpy.int64)
    for each in range(classes):
        mine = residue == each
        rank[mine] = numpy.arange(int(mine.sum()))
    return rank


@dataclass
class _Wave:
    """Periods from the start of a tree's period to a wave's start, in its two parts."""

    sums: int
    copies: int


@dataclass
class _Stage:
    meeting: int
    up: _Wave
    down: _Wave


class _Combs:
    """The slots and waits of a comb timetable (src/schedule/storage/comb_times.hpp)."""

    def __init__(self, sizes: list[int], rounds: list[int], slot: int, lag: int) -> None:
        self.sizes, self.rounds, self.slot, self.lag = sizes, rounds, slot, lag
        self.dimensions = len(sizes)
        self.trees = 0
        self.first_tree: list[list[int]] = [[] for _ in sizes]
        for number in range(max(rounds)):
            for kind in range(self.dimensions):
                if number < rounds[kind]:
                    self.first_tree[kind].append(self.trees)
                    self.trees += self._meetings(kind)
        counts = [self._slots_by_stage(d) for d in range(self.dimensions)]
        self.slots = max(sum(count) for count in counts)
        self.period = slot * self.slots
        self.layout: list[list[tuple[int, int, int, int] | None]] = []
        self.place: list[dict[tuple[int, int, int], int]] = []
        for d, count in enumerate(counts):
            self._lay_out(d, count)
        self.stages: dict[int, list[_Stage]] = {}
        for kind in range(self.dimensions):
            for number in range(rounds[kind]):
                for meeting in range(self._meetings(kind)):
                    self.stages[self.tree(kind, number, meeting)] = self._time_tree(kind, number, meeting)

    def _meetings(self, kind: int) -> int:
        return self.sizes[kind] if self.dimensions > 1 else 1

    def _kind_at(self, dimension: int, stage: int) -> int:
        return (dimension - stage) % self.dimensions

    def _slots_by_stage(self, dimension: int) -> list[int]:
        count = []
        for stage in range(self.dimensions):
            own = self.rounds[self._kind_at(dimension, stage)]
            count.append(own * self._meetings(dimension) if stage == 0 else own if stage == 1 else min(own, 1))
        return count

    def tree(self, kind: int, number: int, meeting: int) -> int:
        return self.first_tree[kind][number] + (meeting if self.dimensions > 1 else 0)

    def delay_down(self, dimension: int) -> int:
        return self.lag if self.sizes[dimension] % 2 == 0 else 0

    def _lay_out(self, d: int, count: list[int]) -> None:
        """Later stages take the slots at which their sums are complete, and stage 0 the others in order."""
        layout: list[tuple[int, int, int, int] | None] = [None] * self.slots
        place: dict[tuple[int, int, int], int] = {}

        def take(at: int, stage: int, kind: int, number: int, rank: int) -> int:
            while layout[at % self.slots] is not None:
                at += 1
            layout[at % self.slots] = (stage, kind, number, rank)
            place[stage, number, rank] = at % self.slots
            return at + 1

        for stage in range(1, self.dimensions):
            kind = self._kind_at(d, stage)
            for number in range(count[stage]):
                wanted = (number + 1) * (self.sizes[kind] + 1) - 1 if stage == 1 else self.slots - 1
                take(wanted, stage, kind, number, 0)
        at, ranks = 0, self._meetings(d)
        for i in range(count[0]):
            at = take(at, 0, d, i // ranks, i % ranks)
        self.layout.append(layout)
        self.place.append(place)

    def _slot_of(self, dimension: int, stage: int, number: int, rank: int) -> int:
        return self.place[dimension][stage, number if stage <= 1 else 0, rank]

    def _until(self, ready: int, wave: int) -> int:
        return 0 if ready <= wave else -(-(ready - wave) // self.period)

    def _time_tree(self, kind: int, number: int, meeting: int) -> list[_Stage]:
        stages: list[_Stage] = []
        starts: list[tuple[int, int]] = []
        ready = 0
        for k in range(self.dimensions):
            d = (kind + k) % self.dimensions
            last = self.sizes[d] - 1
            at = self.sizes[d] // 2 if k + 1 == self.dimensions else meeting if k == 0 else (
                (meeting + number) % self.sizes[d])
            teeth = k == 0 and self.dimensions > 1
            up = self.slot * self._slot_of(d, k, number, last - meeting if teeth else 0)
            down = self.slot * self._slot_of(d, k, number, meeting if teeth else 0) + self.delay_down(d)
            waits = self._until(ready, up), self._until(ready, down)
            starts.append((up + self.period * waits[0], down + self.period * waits[1]))
            stages.append(_Stage(at, _Wave(waits[0], 0), _Wave(waits[1], 0)))
            met = ready
            if at > 0:
                met = max(met, starts[k][0] + self.lag * at)
            if at < last:
                met = max(met, starts[k][1] + self.lag * (last - at))
            ready = met
        for k in reversed(range(self.dimensions)):
            last = self.sizes[(kind + k) % self.dimensions] - 1
            stage = stages[k]
            wait_up = self._until(ready, starts[k][0] + self.lag * stage.meeting)
            wait_down = self._until(ready, starts[k][1] + self.lag * (last - stage.meeting))
            stage.up.copies, stage.down.copies = stage.up.sums + wait_up, stage.down.sums + wait_down
            reached = ready
            if stage.meeting < last:
                reached = max(reached, starts[k][0] + self.period * wait_up + self.lag * last)
            if stage.meeting > 0:
                reached = max(reached, starts[k][1] + self.period * wait_down + self.lag * last)
            ready = reached
        return stages

    def use(self, dimension: int, up: bool, at: list[int], slot: int) -> tuple[int, int, int] | None:
        """What a link carries in a slot of the period: (periods, tree, stage); `at` are its source's coordinates."""
        own = self.layout[dimension][slot]
        if own is None:
            return None
        level, kind, number, rank = own
        if level == 0:
            meeting = self.sizes[dimension] - 1 - rank if up else rank
        else:
            meeting = at[kind]
            for each in range(1, level):
                d = (kind + each) % self.dimensions
                found = (at[d] - meeting) % self.sizes[d]
                if found >= self.rounds[kind] or (each > 1 and found != number % self.sizes[d]):
                    return None
                number = found
        tree = self.tree(kind, number, meeting)
        stage = self.stages[tree][level]
        wave = stage.up if up else stage.down
        here = at[dimension]
        sums = here < stage.meeting if up else here > stage.meeting
        return (wave.sums if sums else wave.copies, tree, REDUCE if sums else COPY)


def expand_combs(storage: Columns, case: Case) -> Sends:
    """The sends of the first period's trees, then those of every period."""
    sizes, slot, lag = [int(size) for size in storage["size"]], int(storage["slot_ps"]), int(storage["lag_ps"])
    npus = int(numpy.prod(sizes))
    case.check(2 * (npus - 1) * case.collective.chunks)
    combs = _Combs(sizes, [int(each) for each in storage["rounds"]], slot, lag)
    first: list[tuple[int, int, int, int]] = []
    link = 0
    for dimension, lines in enumerate(_lines(sizes)):
        for npu in range(npus):
            at = [npu // int(numpy.prod(sizes[:d])) % size for d, size in enumerate(sizes)]
            here = at[dimension]
            for up in (True, False):
                if here == (lines.size - 1 if up else 0):
                    continue
                shift = lag * (here if up else lines.size - 1 - here) + (0 if up else combs.delay_down(dimension))
                for place in range(combs.slots):
                    used = combs.use(dimension, up, at, place)
                    if used is not None:
                        first.append((slot * place + shift + used[0] * combs.period, link, used[1], used[2]))
                link += 1
    start, links, tree, stage = numpy.array(first, dtype=numpy.int64).reshape(-1, 4).T
    return expand_periods({"trees": combs.trees, "period_ps": combs.period, "start_ps": start, "link": links,
                           "tree": tree, "stage": stage}, case)
