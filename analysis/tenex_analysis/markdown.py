"""Tables of commands: Markdown, printed or written between two marks of a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy
import pandas

BEGIN = "<!-- measured: begin -->"
END = "<!-- measured: end -->"


def as_markdown(frame: pandas.DataFrame, formats: dict[str, str]) -> str:
    """A Markdown table; `formats` gives the format of numbers by the prefix of a column's name."""

    def cell(name, value):
        if isinstance(value, float):
            form = next((form for start, form in formats.items() if name.startswith(start)), ".2f")
            return "" if numpy.isnan(value) else format(value, form)
        return f"{value:,}" if isinstance(value, (int, numpy.integer)) else str(value)

    lines = [list(frame.columns), ["---"] * len(frame.columns)]
    lines += [[cell(name, value) for name, value in zip(frame.columns, row)] for row in frame.itertuples(index=False)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_between_marks(path: Path, text: str) -> None:
    """Replaces the lines between BEGIN and END in a file; ValueError without these marks."""
    old = path.read_text(encoding="utf-8")
    between = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)
    if not between.search(old):
        raise ValueError(f"{path}: no lines {BEGIN} and {END}")
    path.write_text(between.sub(lambda _: text.rstrip("\n") + "\n", old), encoding="utf-8")


def print_or_write(text: str, into: Path | None) -> None:
    """Writes the text between the marks in `into`; prints it where no file is given."""
    if into:
        write_between_marks(into, text)
    else:
        print(text)
