"""The papers' tables of results, and printed.csv: the numbers that their rows must reach.

A line of printed.csv has a study, a row of the table that `tenex_analysis.papers` prints of it, a relation, a number
(a fraction, or `printed` for what the table says the paper prints), for `=` how far the reached value may be (a
difference, or a share of the number), the source, and the derivation where the number was computed by hand.

TENEX_RESULTS names folders with a result per study; the first that has it counts. TENEX_PARTS names the studies of
which the results have a part (part_of.py): numbers that need other rows are NaN there, which equals nothing.
"""

import csv
import functools
import operator
import os
from fractions import Fraction
from pathlib import Path
from unittest import mock

import opened  # noqa: F401

import tenex_analysis
from tenex_analysis import papers, papers_libra, papers_pccl, papers_wafer, tables

FOLDERS = [Path(folder) for folder in os.environ["TENEX_RESULTS"].split(":")]
PARTS = os.environ.get("TENEX_PARTS", "").split(":")


def result_of(study):
    """The opened result of a study."""
    return tenex_analysis.open_study(next(folder / study for folder in FOLDERS if (folder / study).is_dir()))


def where_or_none(frame, **wanted):
    """As tables.where, but no rows if there are none."""
    try:
        return tables.where(frame, **wanted)
    except ValueError:
        return frame.iloc[:0]


def value_or_nan(frame, column, **wanted):
    """As tables.value, but NaN if there is no row."""
    return tables.value(frame, column, **wanted) if len(where_or_none(frame, **wanted)) else float("nan")


@functools.cache
def _whole_table_of(study):
    make = papers.TABLES[study]
    if study in PARTS:
        for module in (papers_libra, papers_pccl, papers_wafer):
            make = mock.patch.multiple(module, where=where_or_none, value=value_or_nan)(make)
    return make(result_of(study)).set_index("what")


def table_of(study):
    """The reached values of a study's table, by what they are."""
    return _whole_table_of(study)["reached"]


def reached(study, what):
    """The reached value of one row of a study's table."""
    return table_of(study).loc[what]


RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def lines():
    """The lines of printed.csv."""
    with (Path(__file__).parent / "printed.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def holds(line):
    """Whether a line's row reaches its number, and what it reaches."""
    found = float(reached(line["study"], line["row"]))
    if line["number"] == "printed":
        number = float(_whole_table_of(line["study"]).loc[line["row"], "printed"])
    else:
        number = float(Fraction(line["number"]))
    if line["relation"] != "=":
        return RELATIONS[line["relation"]](found, number), found
    within = line["within"]
    allowed = float(within.rstrip("%")) / 100 * abs(number) if within.endswith("%") else float(within)
    return abs(found - number) <= allowed, found
