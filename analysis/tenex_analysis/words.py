"""Text in place of pictures with nothing to show, line breaks for long text, which is never cut off, and bare axes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Characters of a picture's title that fit into an inch.
TITLE_CHARACTERS = 11


class NothingToShow(ValueError):
    """Raised if a table or picture has no row to show; the message says what is missing and why."""


def reached(share: float, digits: int) -> float:
    """A share of a bound, rounded down below 1, as the program prints it: 1 is at the bound and nothing else."""
    return min(share, 1 - 10.0**-digits) if share < 1 else share


def bare(axes: Axes, lines: str = "y") -> None:
    """Leaves an axes its left and lower edge and pale lines at the ticks of an axis, behind what is drawn."""
    axes.grid(axis=lines, alpha=0.3)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def say(axes: Axes, text: str, width: int | None = None) -> None:
    """Writes the text in place of a picture's axes, in lines of `width` characters (by default as many as fit)."""
    axes.set_axis_off()
    width = max(16, int(axes.get_position().width * axes.figure.get_figwidth() * 11)) if width is None else width
    axes.text(
        0.5,
        0.5,
        textwrap.fill(text, width, break_long_words=False),
        ha="center",
        va="center",
        fontsize=9,
        color="#555555",
        transform=axes.transAxes,
    )


def figure_of_words(text: str, title: str = "") -> Figure:
    """A small picture with only the text."""
    figure = Figure(figsize=(7.5, 1.4), dpi=110, layout="constrained")
    axes = figure.subplots()
    if title:
        figure.suptitle(fitted(title, 7.5), x=0.01, ha="left", fontsize=11)
    say(axes, text)
    return figure


def picture(draw: Callable[..., Any], *arguments: Any, **named: Any) -> Figure:
    """The figure that `draw` draws, or one that says why there is nothing to draw."""
    try:
        drawn = draw(*arguments, **named)
    except NothingToShow as nothing:
        return figure_of_words(str(nothing))
    return drawn if isinstance(drawn, Figure) else drawn.figure


def broken(text: str, most: int = 28) -> str:
    """Breaks the text into lines of about `most` characters, after a blank, comma, underscore or semicolon, without
    cutting.
    """
    lines = [""]
    for part in re.findall(r"[^ ,;_]*[ ,;_]*", text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > most:
            lines.append("")
        while len(part.rstrip()) > most:
            lines[-1], part = part[:most], part[most:]
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines if line)


def fitted(title: str, inches: float) -> str:
    """Breaks a title into the lines that a picture of that width needs."""
    return textwrap.fill(title, max(20, int(inches * TITLE_CHARACTERS)))
