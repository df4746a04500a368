"""The small study of HP-(m,n): its times, its tables, and relations that must hold between the points for any times.

With TENEX_PART the result is that of the part which parts.toml keeps.
"""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path

import pandas

import opened  # noqa: F401

from tenex_analysis import hp_at_scale as hp

RESULT = os.environ["TENEX_RESULT"]
POINTS = hp.read_points([RESULT])
PART = "TENEX_PART" in os.environ


def expected_of_part(file: Path) -> pandas.DataFrame:
    """The rows of a file whose points the part has: by its condition in parts.toml."""
    rows = pandas.read_csv(file, keep_default_na=False)
    given = ~rows["split"].isin(["equal", "perf_opt", "perf_per_cost"])
    return rows[(rows["model"] == "libra") | given | (rows["npus"] == 64)]


class Commands(unittest.TestCase):
    def printed_by(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = hp.main([RESULT, *arguments])
        self.assertEqual(code, 0, out.getvalue())
        return out.getvalue()

    def test_all_rows_are_as_expected(self):
        expected = Path(os.environ["TENEX_EXPECTED"])
        with tempfile.TemporaryDirectory() as folder:
            if PART:
                part = Path(folder) / "expected.csv"
                expected_of_part(expected).to_csv(part, index=False)
                expected = part
            self.assertEqual(self.printed_by("--compare", str(expected)), f"all rows agree with {expected}\n")

    def test_tables(self):
        self.assertRegex(self.printed_by(), f"sharing the links slows [0-9]+ of {36 if PART else 144} pairs")


class HoldsBetweenPoints(unittest.TestCase):
    def test_everything_was_evaluated_and_all_that_moves_chunks_verified(self):
        self.assertEqual(set(POINTS["status"]), {"ok"})
        self.assertEqual(set(POINTS["model"]), set(hp.MODELS))
        self.assertEqual(set(POINTS[POINTS["model"] != "libra"]["verified"]), {"yes"})

    def test_the_parts_of_an_iteration_add_up(self):
        parts = sum(POINTS[f"{phase}_{kind}_ps"] for phase in hp.PHASES for kind in ("compute", "exposed"))
        self.assertTrue((parts + POINTS["bubble_ps"] == POINTS["training_time_ps"]).all())

    def test_every_hp_computes_for_as_long(self):
        # The batch rule "machine" keeps the work per NPU.
        self.assertEqual(POINTS["compute"].nunique(), 1)

    def test_no_iteration_is_faster_than_its_bound(self):
        self.assertTrue((POINTS["bound_ps"] > 0).all())
        self.assertTrue((POINTS["bound_ps"] <= POINTS["training_time_ps"]).all())

    def test_sharing_the_links_never_helps_and_sometimes_hurts(self):
        pairs = hp.contention(POINTS)
        # 2 algorithms, 2 chunk counts, and the designs: (2*3 + 2*3 + 1*3) topologies and HPs times 4 splits. The part
        # has one split of the last two terms.
        self.assertEqual(len(pairs), (6 * 4 + 9 * (1 if PART else 4)) * 2 * 2)
        self.assertTrue((pairs["together"] >= pairs["alone"]).all())
        self.assertTrue((pairs["slowdown"] > 1).any())

    def test_sharing_changes_nothing_where_the_groups_fill_their_dimensions(self):
        # HP-(4,16) of 4 x 4 x 4: TP has dimension 1, DP the others; likewise HP-(16,4).
        pairs = hp.contention(POINTS[(POINTS["npus"] == 64) & POINTS["hp"].isin(["4,16", "16,4"])])
        self.assertEqual(len(pairs), 2 * 2 * 4 * 2 * 2)
        self.assertTrue((pairs["together"] == pairs["alone"]).all())

    def test_each_scheme_is_best_at_what_it_optimizes(self):
        libra = POINTS[POINTS["model"] == "libra"].assign(product=lambda p: p["time"] * p["network_cost_usd"])
        for _, of in libra.groupby(["topology", "hp"]):
            by_split = of.set_index("split")
            self.assertEqual(len(by_split), 4)
            self.assertLessEqual(by_split.loc["perf_opt", "time"], by_split["time"].min() * (1 + 1e-9))
            self.assertLessEqual(by_split.loc["perf_per_cost", "product"], by_split["product"].min() * (1 + 1e-6))

    def test_nothing_on_a_front_is_dominated(self):
        for _, of in hp.fastest(POINTS[POINTS["model"] == hp.TOGETHER]).groupby("npus"):
            front = hp.front(of)
            for row in front.itertuples():
                dominated = (of["network_cost_usd"] <= row.network_cost_usd) & (of["time"] < row.time)
                self.assertFalse(dominated.any())


if __name__ == "__main__":
    unittest.main()
