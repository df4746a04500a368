"""Measured times over message size, beside what `tenex fit --json` fitted or `tenex predict --json` predicted.

    python3 -m tenex_analysis.measured REPORT.json --png FILE

A panel per table of the logs: points are measured, lines are fitted (one per piece) or predicted (what the library is
taken to run; thin: all that it may run). Under it stands the difference, in percent of what was measured.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator, PercentFormatter

from .columns import class_colour
from .command import run_command
from .curves import size_text, size_ticks
from .layout import PAGE_INCHES, save, under_legend
from .words import bare, broken, fitted

#: At most so many tables have a panel; further ones are counted in the title.
MOST_PANELS = 6
#: Heights in inches: times, differences.
HEIGHTS = (1.9, 0.85)


def read_report(path: str | Path) -> dict[str, Any]:
    """What `tenex fit --json` or `tenex predict --json` printed. ValueError for anything else."""
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        tables = report["tables"]
        if tables and all("points" in table or "rows" in table for table in tables):
            return report
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no report of tenex fit or tenex predict ({error})") from None
    raise ValueError(f"{path} is no report of tenex fit or tenex predict (no table with points)")


def lines_of(table: dict[str, Any]) -> tuple[list[float], list[float], list[tuple[list[float], list[float]]]]:
    """Sizes, measured times in us, and the lines beside them: fitted pieces, or the fastest predictions."""
    rows = table.get("points", table.get("rows"))
    sizes = [row["size_bytes"] for row in rows]
    measured = [row["measured_us"] for row in rows]
    if "rows" in table:
        return sizes, measured, [(sizes, [row["predicted_us"] for row in rows])]
    pieces: dict[int, tuple[list[float], list[float]]] = {}
    for row in rows:
        x, y = pieces.setdefault(row["piece"], ([], []))
        x.append(row["size_bytes"])
        y.append(row["fitted_us"])
    return sizes, measured, list(pieces.values())


def draw_measured(report: dict[str, Any]) -> Figure:
    """A panel per table of the report."""
    tables = report["tables"]
    shown = tables[:MOST_PANELS]
    columns = min(2, len(shown))
    width = PAGE_INCHES if columns > 1 else 0.62 * PAGE_INCHES
    spaces = under_legend([], width, [sum(HEIGHTS) + 0.75] * -(-len(shown) // columns), columns, extra=0.5)
    figure = spaces[0].figure
    for axes in spaces:
        axes.remove()
    for space, table in zip(spaces, shown):
        _draw_panel(figure, space.get_subplotspec(), table)
    what = "Measured (points) and " + ("predicted" if "rows" in tables[0] else "fitted") + " times"
    if len(shown) < len(tables):
        what += f"; the first {len(shown)} of {len(tables)} tables"
    figure.suptitle(fitted(what, width), x=0.01, ha="left", fontsize=10)
    return figure


def _draw_panel(figure: Figure, place: SubplotSpec, table: dict[str, Any]) -> None:
    inner = place.subgridspec(2, 1, height_ratios=HEIGHTS)
    above = figure.add_subplot(inner[0])
    below = figure.add_subplot(inner[1], sharex=above)
    sizes, measured, lines = lines_of(table)
    for name in table["rows"][0]["all_us"] if "rows" in table else ():
        above.plot(sizes, [row["all_us"][name] for row in table["rows"]], color="0.8", lw=0.7, zorder=1)
    for place_of, (x, y) in enumerate(lines):
        colour = class_colour(place_of)
        above.plot(x, y, color=colour, lw=1.4, zorder=2)
        of = dict(zip(sizes, measured))
        below.plot(x, [time / of[size] - 1 for size, time in zip(x, y)], color=colour, marker="o", ms=2.5, lw=1.0)
    above.plot(sizes, measured, "o", color="black", ms=3, zorder=3)
    _scales(above, below, sorted(set(sizes)), measured)
    name = f"{table['collective']}, {table['ranks']} ranks, {Path(table['place']).name}"
    above.set_title(broken(name, 44), loc="left", fontsize=9)


def _scales(above: Axes, below: Axes, sizes: list[float], measured: list[float]) -> None:
    above.set_xscale("log", base=2)
    above.set_yscale("log")
    above.set_ylim(0.5 * min(measured), 2 * max(measured))
    above.yaxis.set_major_locator(LogLocator(10, numticks=12))
    above.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    above.yaxis.set_minor_formatter(NullFormatter())
    above.set_ylabel("time (us)", fontsize=8)
    above.tick_params(labelbottom=False, labelsize=8)
    below.set_xticks(size_ticks(sizes))
    below.xaxis.set_minor_locator(NullLocator())
    below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    below.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    below.axhline(0, ls="--", lw=1.0, color="black", zorder=1)
    below.set_ylabel("difference", fontsize=8)
    below.tick_params(labelsize=8)
    for axes in (above, below):
        bare(axes)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report")
    parser.add_argument("--png", type=Path, required=True)
    given = parser.parse_args(arguments)
    save(draw_measured(read_report(given.report)), given.png)
    print(given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
