"""How the points of a study ended."""

from __future__ import annotations

import pandas

from .reader import Study


def outcome(study: Study) -> list[str]:
    """How the study's points ended, in sentences: statuses, verification, and rows below their bound, which only a
    defect can make.
    """
    rows = study.frame()
    points = int(study.points.attrs.get("study_points", len(rows)))
    counts = rows["status"].astype(str).value_counts()
    told = ", ".join(f"{n:,} {word.replace('_', ' ')}" for word, n in counts.items()) if len(counts) else "none"
    sentences = [f"{len(rows):,} of {points:,} points have a row: {told}."]
    if len(counts) and set(counts.index) != {"ok"}:
        sentences[0] += " `tenex_analysis.failures` says why."
    ok = rows[rows["status"] == "ok"]
    if len(ok) and "verified" in ok:
        verified = _verification(ok).value_counts()
        sentences.append("Of the ok rows: " + ", ".join(f"{n:,} {words}" for words, n in verified.items()) + ".")
    below = rows_below_bound(study)
    if len(below):
        sentences.append(
            f"{len(below):,} rows are faster than their proven bound, which is a defect of tenex: "
            + ", ".join(below["key"][:5])
            + "."
        )
    return sentences


def _verification(rows: pandas.DataFrame) -> pandas.Series:
    """For each row, words for what became of the verification. Times of training points may come from formulas, which
    leave nothing to verify; what was left out for lack of memory has a reason.
    """
    words = {
        "yes": "verified",
        "skipped": "not verified for lack of memory (`reason` gives the bytes needed)",
        "no": "that failed verification",
        "absent": "without a schedule to verify",
    }
    told = rows["verified"].astype(str).map(lambda word: words.get(word, word))
    if "workload" not in rows:
        return told
    formula = (rows["verified"] == "skipped") & (rows["workload"].astype(str) != "") & (rows["reason"] == "")
    return told.mask(formula, "with times from formulas, which have no schedule to verify")


def rows_below_bound(study: Study) -> pandas.DataFrame:
    """The ok rows whose time is less than their bound, without those of the congestion-unaware backend, for which no
    bound holds.
    """
    rows = study.frame()
    rows = rows[rows["status"] == "ok"]
    if "backend" in rows:
        rows = rows[rows["backend"].astype(str) != "congestion_unaware"]
    time = rows["collective_time_ps"] if "collective_time_ps" in rows else pandas.Series(-1, index=rows.index)
    if "training_time_ps" in rows:
        time = time.where(time > 0, rows["training_time_ps"])
    return rows[(time > 0) & (time < rows["bound_ps"])]


def no_contest(study: Study) -> str:
    """The reason why there is nothing to compare."""
    return f"Nothing to show: no row is ok. {outcome(study)[0]}"
