"""Slow-downs by share of lost links: numbers by hand, draws that are cut, and results without drawn links."""

import tempfile
import unittest

from made_up import make_study
from test_words import texts_of

from tenex_analysis import faults, words


def a_study(folder, **changed):
    columns = {
        "topology": ["RI(4)"] * 5,
        "collective": ["all_reduce"] * 5,
        "algorithm": ["pccl"] * 5,
        "faults": ["none", "links 1% draw 1", "links 1% draw 2", "links 1% draw 3", "npu 3"],
        "status": ["ok", "ok", "ok", "infeasible", "ok"],
        "collective_time_ps": [10**6, 2 * 10**6, 3 * 10**6, -1, 10**6],
        "bound_ps": [5 * 10**5, 10**6, 15 * 10**5, -1, 10**6],
    }
    return make_study(columns | changed, folder=folder)


class FindsShares(unittest.TestCase):
    def test_by_hand(self):
        with tempfile.TemporaryDirectory() as folder:
            frame = faults.shares(a_study(folder))
        self.assertEqual(list(frame["share"]), [0, 1, 1, 1])  # the named fault is none of them
        self.assertEqual(list(frame["draw"]), [0, 1, 2, 3])
        self.assertEqual(list(frame["slower"])[:3], [1, 2, 3])
        self.assertEqual(list(frame["least"])[:3], [0.5, 1, 1.5])
        self.assertTrue(frame["slower"].isna().iloc[3])

    def test_table(self):
        with tempfile.TemporaryDirectory() as folder:
            line = faults.table(a_study(folder)).iloc[0]
        self.assertEqual(line["us"], 1)
        self.assertEqual(line["0 %"], "1, bound 0.50")
        self.assertEqual(line["1 %"], "2.50 (3.00), bound 1.25; 2 of 3 connected")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("67 %", texts_of(words.picture(faults.draw, a_study(folder))))


class SaysWhatIsMissing(unittest.TestCase):
    def test_without_drawn_links(self):
        with tempfile.TemporaryDirectory() as folder:
            study = a_study(folder, faults=["none"] * 5)
            self.assertIn("has no drawn links", texts_of(words.picture(faults.draw, study)))

    def test_two_settings_of_one_network(self):
        with tempfile.TemporaryDirectory() as folder:
            study = a_study(folder, faults=["none", "none", "links 1% draw 2", "links 1% draw 3", "npu 3"])
            with self.assertRaises(ValueError):
                faults.shares(study)


if __name__ == "__main__":
    unittest.main()
