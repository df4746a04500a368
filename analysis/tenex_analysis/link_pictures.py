"""How much the links of a network carry: the links of a mesh on a plane, and the loads of all links in order."""

from __future__ import annotations

from collections.abc import Collection

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray


def draw_mesh(axes: Axes, links: pandas.DataFrame, share: pandas.Series, members: Collection[int],
              width: float = 4) -> LineCollection:  # fmt: skip
    """The links of mesh(8,8) as lines in the colours of their shares, the two ways beside each other; members of groups
    are filled. `width` of a line in points.
    """
    segments = []
    for source, destination in zip(links["source"], links["destination"]):
        start = numpy.array([source % 8, source // 8], dtype=float)
        end = numpy.array([destination % 8, destination // 8], dtype=float)
        along = end - start
        aside = 0.09 * (1 + (4 - width) / 8) * numpy.array([along[1], -along[0]])
        segments.append([start + 0.17 * along + aside, end - 0.17 * along + aside])
    lines = LineCollection(segments, array=share.to_numpy(), cmap="magma_r", linewidths=width, clim=(0, 1))
    axes.add_collection(lines)
    for npu in range(64):
        colour = "#333333" if npu in members else "white"
        axes.plot([npu % 8], [npu // 8], "o", ms=1.75 * width, mfc=colour, mec="#333333", zorder=3)
    axes.set(xlim=(-0.5, 7.5), ylim=(7.5, -0.5), aspect="equal")
    axes.set_axis_off()
    return lines


def load_profile(loads: NDArray[numpy.float64]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """The loads from the largest to the least, and for each the share of links (0 to 1) up to and with it."""
    ordered = numpy.sort(numpy.asarray(loads, dtype=float))[::-1]
    return numpy.arange(1, len(ordered) + 1) / max(1, len(ordered)), ordered
