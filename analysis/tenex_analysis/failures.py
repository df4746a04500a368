"""The points of a study without metrics: a table by status and reason, and a picture by setting.

    python3 -m tenex_analysis.failures DIR               print the table
    python3 -m tenex_analysis.failures DIR --png FILE    and draw how each value of each setting fared

`tenex replay DIR KEY` evaluates the example of a line again.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy
import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from .columns import PALETTE, REST_COLOUR, column_of, natural_order, telling_settings
from .command import run_command
from .reader import Study, open_study
from .words import broken, fitted

#: Status of points of the study that the file has no row for.
NOT_YET = "not evaluated"
#: Status of ok rows with a reason: something was left out.
PARTLY = "ok, in part"

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: Colours of statuses: ok is pale, errors are strong, other statuses are grey.
COLOURS = {"ok": "#D8E6F0", "infeasible": PALETTE[1], "unsupported": PALETTE[5], "out_of_memory": PALETTE[4],
           "failed": PALETTE[3]}
#: Longer texts are broken into lines.
MOST_CHARACTERS = 40
#: A setting with more values is left out of the picture.
MOST_VALUES = 12


def failure_table(study: Study, partly: bool = False) -> pandas.DataFrame:
    """A line per status and reason, most frequent first: `status`, `reason`, `count`, `example` (a key) and `point`
    (its index).

    Reasons that differ only in numbers are one line, with "#" in place of the differing numbers. Points of the study
    without a row are the last line. `partly` adds the ok rows with a reason, from which something was left out.
    """
    rows = study.frame()
    rows = rows.assign(status=rows["status"].astype(str), reason=rows["reason"].fillna("").astype(str))
    counted = rows["status"] != "ok"
    if partly:
        counted |= rows["reason"] != ""
        rows["status"] = rows["status"].replace("ok", PARTLY)
    rows = rows[counted]
    shape = rows["reason"].map(lambda reason: _NUMBER.sub("#", reason))
    lines = []
    for (status, _), of in rows.groupby(["status", shape], sort=False):
        first = of.iloc[0]
        lines.append([status, common_reason(list(of["reason"].unique())), len(of), first["key"], of.index[0]])
    lines.sort(key=lambda line: -int(line[2]))
    missing = int(study.points.attrs.get("study_points", len(study.points["point"]))) - len(study.points["point"])
    if missing > 0:
        lines.append([NOT_YET, "not evaluated yet: the same command continues the study", missing, "", -1])
    return pandas.DataFrame(lines, columns=["status", "reason", "count", "example", "point"])


def common_reason(reasons: list[str]) -> str:
    """One text for reasons that differ only in numbers: common numbers stay, the others become "#"."""
    numbers = [_NUMBER.findall(reason) for reason in reasons]
    agreed = [str(column[0]) if len(set(column)) == 1 else "#" for column in zip(*numbers)]
    words = _NUMBER.split(reasons[0])
    return "".join(word + number for word, number in zip(words, [*agreed, ""]))


def shares(study: Study, setting: str) -> pandas.DataFrame:
    """For each value of a setting, in natural order, the number of rows of each status."""
    rows = study.frame()
    column = column_of(study, rows, setting)
    texts = [column.text(value) if column.is_text or not numpy.isnan(value) else "absent" for value in column.values]
    table = pandas.crosstab(pandas.Series(texts, name=setting),
                            pandas.Series(rows["status"].astype(str).to_numpy(), name="status"))
    order = [column.text(value) for value in column.distinct] + ["absent"]
    return table.loc[[text for text in dict.fromkeys(order) if text in table.index]]


def draw_failures(study: Study, settings: list[str] | None = None) -> Figure:
    """Draws, for the settings that distinguish the points (or `settings`), the percentage of each status by value.

    Left out unless they are asked for: settings of more than MOST_VALUES values, and those with equal shares for all
    values.
    """
    tables = []
    for name in telling_settings(study, study.frame()) if settings is None else settings:
        table = shares(study, name)
        parts = table.div(table.sum(axis=1), axis=0)
        if settings is not None or (len(table) <= MOST_VALUES and not numpy.allclose(parts, parts.iloc[0])):
            tables.append(table)
    if not tables:
        tables = [pandas.crosstab(pandas.Series("all points", index=study.frame().index, name=""),
                                  study.frame()["status"].astype(str))]
    lines = sum(len(table) + 1.6 for table in tables)
    figure = Figure(figsize=(7.5, 0.21 * lines + 1.2), dpi=110, layout="constrained")
    many = figure.subplots(len(tables), 1, sharex=True, squeeze=False,
                           gridspec_kw={"height_ratios": [len(t) + 0.4 for t in tables]})[:, 0]
    for axes, table in zip(many, tables):
        left = numpy.zeros(len(table))
        for status in _statuses(study):
            part = (table[status] / table.sum(axis=1)).to_numpy() if status in table else numpy.zeros(len(table))
            axes.barh(range(len(table)), 100 * part, left=100 * left, height=0.78,
                      color=COLOURS.get(status, REST_COLOUR), label=_words(status))
            left += part
        labels = [f"{broken(text, MOST_CHARACTERS)}  ({n:,})" for text, n in zip(table.index, table.sum(axis=1))]
        axes.set_yticks(range(len(table)), labels, fontsize=8)
        axes.invert_yaxis()
        axes.set_title(str(table.index.name).replace("_", " "), loc="left", fontsize=9, fontweight="bold", pad=3)
        axes.set_xlim(0, 100)
        axes.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    many[-1].xaxis.set_major_formatter(PercentFormatter(decimals=0))
    many[-1].set_xlabel("share of the value's points (their number in brackets)")
    many[0].legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)
    figure.suptitle(fitted(f"{study.name}: how points ended", 7.5), x=0.01, ha="left")
    return figure


def _statuses(study: Study) -> list[str]:
    """The statuses that occur, ok first."""
    found = {str(status) for status in study.words("status")}
    return sorted(found, key=lambda status: (status != "ok", natural_order(status)))


def _words(status: str) -> str:
    return status.replace("_", " ")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--partly", action="store_true", help="also ok rows with a reason: what was left out of them")
    parser.add_argument("--png", type=Path)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    table = failure_table(study, given.partly)
    print(table.to_string(index=False) if len(table) else f"all {len(study.points['point']):,} points are ok")
    if given.png:
        draw_failures(study).savefig(given.png)
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
