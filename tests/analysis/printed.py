"""The papers' tables of results, for the tests of printed numbers.

TENEX_RESULTS names folders with a result per study; the first that has it counts. TENEX_PARTS names the studies of
which the results have a part (part_of.py): numbers that need other rows are NaN there, which equals nothing.
"""

import functools
import os
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
def table_of(study):
    """The reached values of a study's table, by what they are."""
    make = papers.TABLES[study]
    if study in PARTS:
        for module in (papers_libra, papers_pccl, papers_wafer):
            make = mock.patch.multiple(module, where=where_or_none, value=value_or_nan)(make)
    return make(result_of(study)).set_index("what")["reached"]


def reached(study, what):
    """The reached value of one row of a study's table."""
    return table_of(study).loc[what]
