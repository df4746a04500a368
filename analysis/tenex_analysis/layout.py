"""Panels under a common legend that takes the room that it needs. A legend on one of several panels would shrink it.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

#: A page shows a picture of this width as it is (110 dots per inch); a wider one is made smaller, with its text.
PAGE_INCHES = 8.0
#: The least size of text in points at the size at which a page shows the picture.
LEAST_TYPE = 8.0
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


def apart(heights: Sequence[float], least: float, most: float = float("inf")) -> list[float]:
    """Heights for labels: in the order of the wanted ones, at least `least` apart, none above `most`, and as near to
    the wanted ones as that allows (least squares, by joining labels that touch).
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    groups: list[list[float]] = []  # [sum of wanted lowest heights, members]
    for i in order:
        groups.append([heights[i], 1])
        while len(groups) > 1 and _lowest(groups[-2], least, most) + groups[-2][1] * least > _lowest(
            groups[-1], least, most
        ):
            total, members = groups.pop()
            groups[-1] = [groups[-1][0] + total, groups[-1][1] + members]
    placed = [_lowest(group, least, most) + k * least for group in groups for k in range(int(group[1]))]
    found = dict(zip(order, placed))
    return [found[i] for i in range(len(heights))]


def _lowest(group: list[float], least: float, most: float) -> float:
    """The lowest label of a group whose mean is the mean of the wanted heights, or whose highest label is at `most`."""
    return min(group[0] / group[1] - (group[1] - 1) * least / 2, most - (group[1] - 1) * least)


def save(figure: Figure, path: Path) -> None:
    """Writes a PNG of at most 256 colours, which suffice for lines and text: a third of the bytes."""
    whole = BytesIO()
    figure.savefig(whole, format="png")
    with Image.open(whole) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, format="png", optimize=True)


def least_type(figure: Figure) -> float:
    """The smallest size of drawn text, in points, at the size at which a page shows the figure."""
    shrunk = min(1.0, PAGE_INCHES / figure.get_figwidth())
    drawn = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    return min((float(text.get_fontsize()) for text in drawn), default=LEAST_TYPE) * shrunk
