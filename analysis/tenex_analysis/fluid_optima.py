"""The best certified bounds that experiments/fluid_optima/optima.sh found, as a table or compared with expected.csv.

    python3 -m tenex_analysis.fluid_optima DIR                   print the table of the README
    python3 -m tenex_analysis.fluid_optima DIR --into FILE       write it between the marks in FILE
    python3 -m tenex_analysis.fluid_optima DIR --write FILE      write expected.csv; what it says of optima stays
    python3 -m tenex_analysis.fluid_optima DIR --compare FILE    exit 1 where a time differs by more than 1e-6
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from .command import run_command
from .markdown import print_or_write

#: Times that differ by less, relatively, are the same: whole chunks make up to 3e-7.
TOLERANCE = 1e-6
COLUMNS = ["network", "collective", "bound", "time_ps", "exact"]
COLLECTIVES = ["all_gather", "all_reduce", "all_to_all"]


@dataclass
class Optimum:
    """The best bound with a certificate of one network and collective."""

    network: str
    collective: str
    npus: int
    links: int
    size_bytes: int
    bound: str
    time_ps: int

    @property
    def algbw(self) -> float:
        """In GB/s."""
        return self.size_bytes / self.time_ps * 1e3

    @property
    def key(self) -> tuple[str, str]:
        return self.network, self.collective


def read_optima(folder: str | Path) -> list[Optimum]:
    """All optima of a folder. Of bounds that prove the same, the first counts. ValueError where a bound without a
    certificate proves more than those with one.
    """
    optima = []
    for point in read_rows(Path(folder) / "points.csv"):
        name = f"{point['network']}.{point['collective']}.json"
        report = json.loads((Path(folder) / name).read_text())
        certified = [bound for bound in report["bounds"] if "certificate" in bound]
        most = max(bound["time_ps"] for bound in certified)
        if report["bound_ps"] > most * (1 + TOLERANCE):
            raise ValueError(f"{name}: {report['bound_name']} proves {report['bound_ps']} ps, certificates {most} ps")
        best = next(bound for bound in certified if bound["time_ps"] * (1 + TOLERANCE) >= most)
        optima.append(Optimum(point["network"], point["collective"], report["npus"], report["links"],
                              int(point["size_bytes"]), best["name"], best["time_ps"]))
    return optima


def read_rows(file: str | Path) -> list[dict[str, str]]:
    with open(file, newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def read_exact(expected: str | Path) -> dict[tuple[str, str], str]:
    """Whether each optimum is known to be one, "yes" or "no"; empty without the file."""
    if not Path(expected).exists():
        return {}
    return {(row["network"], row["collective"]): row["exact"] for row in read_rows(expected)}


def write_expected(optima: list[Optimum], file: str | Path) -> None:
    exact = read_exact(file)
    with open(file, "w", newline="", encoding="utf-8") as text:
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(COLUMNS)
        for found in optima:
            rows.writerow([*found.key, found.bound, found.time_ps, exact.get(found.key, "no")])


def differences(optima: list[Optimum], expected: str | Path) -> list[str]:
    """What differs from expected.csv, a line each. A bound may have another name where both prove the same."""
    wanted = {(row["network"], row["collective"]): int(row["time_ps"]) for row in read_rows(expected)}
    found = {optimum.key: optimum.time_ps for optimum in optima}
    lines = [f"{' '.join(key)}: is in one of both only" for key in wanted.keys() ^ found.keys()]
    for key in wanted.keys() & found.keys():
        if abs(found[key] - wanted[key]) > TOLERANCE * wanted[key]:
            lines.append(f"{' '.join(key)}: {wanted[key]} ps expected, {found[key]} ps found")
    return sorted(lines)


def table(optima: list[Optimum], exact: dict[tuple[str, str], str]) -> str:
    """The README's table: a row per network; "at most" where the optimum is not known."""
    lines = ["| network | NPUs | links | All-Gather | All-Reduce | All-to-All |", "|---|---|---|---|---|---|"]
    for network in dict.fromkeys(optimum.network for optimum in optima):
        of = {optimum.collective: optimum for optimum in optima if optimum.network == network}
        cells = [f"`{network}`", str(of["all_gather"].npus), str(of["all_gather"].links)]
        for collective in COLLECTIVES:
            optimum = of[collective]
            unknown = "" if exact.get(optimum.key) == "yes" else "at most "
            cells.append(f"{unknown}{optimum.algbw:.6g} ({optimum.bound})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--into", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args()
    optima = read_optima(given.folder)
    if given.write:
        write_expected(optima, given.write)
    elif given.compare:
        lines = differences(optima, given.compare)
        print("\n".join(lines) or f"all {len(optima)} times agree with {given.compare}")
        return 1 if lines else 0
    else:
        text = table(optima, read_exact(Path(given.into or given.folder).parent / "expected.csv"))
        print_or_write(text, given.into)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
