"""First look at a study of any shape: how its points ended, their times beside the bounds, and the fastest algorithms.

    python3 -m tenex_analysis.overview DIR                  print how the points ended and who wins where
    python3 -m tenex_analysis.overview DIR --into FOLDER    and draw bandwidth.png, efficiency.png, winners.png (of rows
                                                            that train training_time.png, training_efficiency.png, ...)

The words are those of contests.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import pandas

from .columns import column_of
from .command import run_command
from .contests import contests, winners
from .layout import save
from .outcome import no_contest, outcome
from .reader import Study, open_study
from .words import reached


def _spread(values: pandas.Series) -> numpy.ndarray:
    """The least, the median and the greatest value; NaN without values."""
    return numpy.quantile(values, [0, 0.5, 1]) if len(values) else numpy.full(3, numpy.nan)


def efficiency_table(study: Study) -> pandas.DataFrame:
    """Per panel and competitor: points, points at their bound, and the median, least and greatest efficiency."""
    found = []
    for contest in contests(study):
        for (panel, who), of in contest.rows.groupby(["panel", "who"], sort=False):
            known = of["efficiency"].dropna()
            least, median, greatest = (reached(share, 3) for share in _spread(known))
            found.append([panel, who, len(of), int((known >= 1).sum()), median, least, greatest])
    return pandas.DataFrame(
        found, columns=["work", "competitor", "points", "at bound", "median efficiency", "least", "greatest"]
    )


def winners_table(study: Study) -> pandas.DataFrame:
    """Per panel and winner: the number of tasks, and the median and greatest lead over the next one (NaN where no other
    competitor has a row).
    """
    found = []
    for contest in contests(study):
        table = winners(contest)
        table = table.assign(fastest=table["fastest"].str.join(", "))
        for (panel, fastest), of in table.groupby(["panel", "fastest"], sort=False):
            found.append([panel, fastest, len(of), *_spread(of["lead"].dropna())[1:]])
    return pandas.DataFrame(found, columns=["work", "fastest", "tasks", "median lead", "greatest lead"])


def one_task(study: Study) -> tuple[pandas.DataFrame, str, str, str]:
    """Rows that compete, two columns to compare them by, and a title. The rows are those of the trained model with the
    most ok rows, otherwise of the collective and size with the most (of several such the greatest). No rows if none is
    ok.
    """
    rows = study.frame()
    ok = rows[rows["status"] == "ok"]
    trained = ok[ok["workload"].astype(str) != ""] if "workload" in ok else ok.iloc[:0]
    if len(trained):
        of, task, x, y = trained, ["workload", "npus"], "network_cost_usd", "training_time_seconds"
    else:
        of, task = ok[ok["collective"].astype(str) != ""], ["collective", "size"]
        x, y = "total_links", "algbw_bytes_per_s"
    if of.empty:
        return of, x, y, study.name
    counts = of.groupby(task, observed=True).size()
    chosen = max(counts[counts == counts.max()].index)
    of = of[(of[task] == list(chosen)).all(axis=1)]
    what = ", ".join(f"{name} {column_of(study, of, name).text(value)}" for name, value in zip(task, chosen))
    return of, x, y, f"{study.name}, {what}"


def main(arguments: list[str] | None = None) -> int:
    from .overview_pictures import draw_overview  # needs matplotlib, which printing does not

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--into", type=Path)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    print("\n".join(outcome(study)))
    for table in (efficiency_table(study), winners_table(study)):
        told = table.to_string(index=False, float_format="%.3g", na_rep="-") if len(table) else no_contest(study)
        print(f"\n{told}")
    if given.into:
        for kind in ("reached", "efficiency", "winners"):
            for name, figure in draw_overview(study, kind).items():
                save(figure, given.into / f"{name}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(run_command(main))
