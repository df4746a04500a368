"""The tables between the marks of studies' pages, and the outputs of a notebook, against results or expected.csv.

    python3 study_tables.py [--write] [--results NAME=RESULT ...] [--expected NAME ...] [--notebooks PAGE=EXECUTED ...]

A study's page says which command prints its table (`python3 -m tenex_analysis.MODULE ... results/NAME`): that command
is run on the result. `--expected`: the table is made from expected.csv alone, where that has all that it reads, so that
pages of studies of many minutes are compared at every change. What is measured (seconds of synthesis and of solvers) is
not compared. `--write` renews the tables that differ; Jupyter renews a notebook (nbconvert --execute --inplace).
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import io
import json
import re
import sys
from pathlib import Path

import pandas

from tenex_analysis import all_reduce, faults, irregular
from tenex_analysis.markdown import BEGIN, END, write_between_marks

ROOT = Path(__file__).resolve().parents[2]
MEASURED_COLUMN = re.compile(r"^s of ")
MEASURED_ROW = re.compile(r"^(?:s of synthesis$)|: (?:ms|s) of synthesis|times as fast as TE-CCL's 3 minutes")
#: Tables that read no more than expected.csv has.
FROM_EXPECTED = {"all_reduce": all_reduce, "faults": faults, "faults_large": faults, "irregular": irregular}


class ExpectedStudy:
    """expected.csv as a result: what its rows have."""

    def __init__(self, path: Path):
        self.path = path

    def frame(self) -> pandas.DataFrame:
        """One row per point, with the status that its time implies."""
        frame = pandas.read_csv(self.path, keep_default_na=False)
        return frame.assign(status=["ok" if time > 0 else "infeasible" for time in frame["collective_time_ps"]])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def lasting(text: str) -> list[str]:
    """The lines of a text of tables without what is measured."""
    lines, columns = [], []
    for line in text.strip().split("\n"):
        if not line.startswith("|"):
            columns = []
            lines.append(line.rstrip())
            continue
        cells = _cells(line)
        columns = columns or [not MEASURED_COLUMN.match(name) for name in cells]
        if MEASURED_ROW.search(cells[0]):
            cells = cells[:1]
        lines.append("| " + " | ".join(cell for cell, kept in zip(cells, columns) if kept) + " |")
    return lines


def differences(said: str, found: str) -> list[str]:
    """Lines of a page's tables that differ from what was found, both ways."""
    lines = difflib.unified_diff(lasting(said), lasting(found), "page", "found", lineterm="", n=0)
    return [line for line in lines if re.match(r"[-+](?![-+]{2})", line)]


def between_marks(page: Path) -> str:
    """The tables of a page. ValueError without marks."""
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{page} has no lines {BEGIN} and {END}")
    return text.split(BEGIN)[1].split(END)[0]


def command_of(page: Path, name: str, result: str) -> list[str]:
    """The module, and its words, that prints the page's tables, on another result. ValueError where it names none."""
    for words in re.findall(r"python3 -m (tenex_analysis\.\w+[^\n#]*)", page.read_text(encoding="utf-8")):
        given = words.split()
        if f"results/{name}" in given and "--into" not in given:
            return [result if word == f"results/{name}" else word for word in given]
    raise ValueError(f"{page} names no command that prints its tables")


def found_table(page: Path, name: str, result: str) -> str:
    """What the page's command prints."""
    module, *words = command_of(page, name, result)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = importlib.import_module(module).main(words)
    if code:
        raise ValueError(f"{name}: {module} ends with {code}")
    return printed.getvalue()


def texts_of(notebook: Path) -> list[str]:
    """The text outputs of a notebook that are no pictures and not the listing of a whole data set."""
    texts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            text = "".join(output.get("text") or output.get("data", {}).get("text/plain") or [])
            if not text.startswith(("<Figure", "<xarray")):
                texts.append(text)
    return texts


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", nargs="*", default=[])
    parser.add_argument("--expected", nargs="*", default=[])
    parser.add_argument("--notebooks", nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    wrong = 0
    found = {pair.split("=", 1)[0]: lambda page, pair=pair: found_table(page, *pair.split("=", 1))
             for pair in given.results}
    for name in given.expected:
        found[name] = lambda page, name=name: FROM_EXPECTED[name]._tables(ExpectedStudy(page.parent / "expected.csv"))
    for name, make in found.items():
        page = ROOT / "experiments" / name / "README.md"
        text = make(page)
        changed = differences(between_marks(page), text)
        if changed and given.write:
            write_between_marks(page, text)
            print(f"{name}: renewed {len(changed)} lines")
        elif changed:
            wrong += 1
            print(f"{name}: its page says (-), and is found (+):", *changed[:40], sep="\n")
        else:
            print(f"{name}: as its page says")
    for pair in given.notebooks:
        page, executed = map(Path, pair.split("=", 1))
        if texts_of(page) != texts_of(executed):
            wrong += 1
            said, found = ("\n".join(texts_of(each)).split("\n") for each in (page, executed))
            lines = difflib.unified_diff(said, found, lineterm="", n=0)
            print(f"{page}: its outputs are stale:", *list(lines)[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
