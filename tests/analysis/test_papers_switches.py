"""The table of experiments/switches_large, by hand, and what is said of a result that lacks its rows."""

import tempfile
import unittest

from made_up import make_study

from tenex_analysis import papers
from tenex_analysis.words import NothingToShow


def a_study(folder, **changed):
    columns = {
        "topology": ["fat_tree(16)"] * 2,
        "npus": [1024] * 2,
        "collective": ["all_to_all"] * 2,
        "algorithm": ["pccl", "direct"],
        "status": ["ok", "ok"],
        "collective_time_ps": [2 * 10**6, 4 * 10**6],
        "bound_ps": [10**6, 10**6],
        "bound_name": ["cut", "cut"],
        "efficiency": [0.5, 0.25],
        "synthesis_seconds": [1.5, 0.0],
    }
    return make_study(columns | changed, folder=folder)


class LargeSwitches(unittest.TestCase):
    def test_by_hand(self):
        with tempfile.TemporaryDirectory() as folder:
            table = papers.table_of("switches_large", a_study(folder))
        self.assertEqual(list(table["us"]), [2, 4])
        self.assertEqual(list(table["bound, us"]), [1, 1])
        self.assertEqual(list(table["bound over time"]), [0.5, 0.25])
        self.assertEqual(table["s of synthesis"].iloc[0], 1.5)
        self.assertTrue(table["s of synthesis"].isna().iloc[1])  # direct is no synthesizer

    def test_without_rows(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(NothingToShow):
            papers.table_of("switches_large", a_study(folder, status=["infeasible"] * 2))
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(NothingToShow):
            papers.table_of("switches_large", a_study(folder, npus=[16] * 2))


if __name__ == "__main__":
    unittest.main()
