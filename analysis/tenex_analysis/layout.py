"""Panels under a common legend that takes the room that it needs. A legend on one of several panels would shrink it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Width of a legend's entry in inches.
ENTRY = 1.75


def under_legend(
    handles: Sequence[Any], width: float, heights: Sequence[float], columns: int, share: str = "", extra: float = 0.0
) -> list[Axes]:
    """Panels of equal width, line by line, under a legend over all of them. Sizes in inches.

    `share` names the panels with a common y axis: "all", "row" or "" for none. `extra` is the height below the panels.
    """
    longest = max((len(line) for handle in handles for line in str(handle.get_label()).split("\n")), default=0)
    across = max(1, int(width // max(ENTRY, 0.45 + 0.075 * longest)))
    lines = -(-len(handles) // across) if handles else 0
    legend = 0.2 * lines + 0.05
    figure = Figure(figsize=(width, sum(heights) + legend + extra), dpi=110, layout="constrained")
    grid = figure.add_gridspec(1 + len(heights), columns, height_ratios=[legend, *heights])
    above = figure.add_subplot(grid[0, :])
    above.set_axis_off()
    above.legend(
        handles=handles,
        ncols=across,
        loc="center left",
        bbox_to_anchor=(0, 0.5),
        frameon=False,
        fontsize=8,
        borderpad=0,
    )
    panels: list[Axes] = []
    for line in range(len(heights)):
        for column in range(columns):
            first = (
                None
                if not panels or not share or (share == "row" and column == 0)
                else panels[0 if share == "all" else -column]
            )
            panels.append(figure.add_subplot(grid[1 + line, column], sharey=first))
            if share and column > 0:
                panels[-1].tick_params(labelleft=False)
    return panels
