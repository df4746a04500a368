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


    def test_links_between_switches(self):
        texts = ["none", "switch_links 2% draw 1", "switch_links 2% draw 2", "switch_links 2% draw 3", "npu 3"]
        with tempfile.TemporaryDirectory() as folder:
            line = faults.table(a_study(folder, faults=texts)).iloc[0]
        self.assertEqual(line["2 %"], "2.50 (3.00), bound 1.25; 2 of 3 connected")

    def test_networks_without_drawn_links_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            frame = faults.table(a_study(folder, topology=["RI(4)"] * 4 + ["LI(4)"]))
        self.assertEqual(list(frame["network"]), ["RI(4)"])


class FindsDeadNpus(unittest.TestCase):
    def test_by_hand(self):
        texts = ["none", "npus 5% draw 1", "npus 5% draw 2", "npus 5% draw 3", "npu 3; npus 1 draw 2"]
        with tempfile.TemporaryDirectory() as folder:
            line = faults.dead_table(a_study(folder, faults=texts)).iloc[0]
        self.assertEqual(line["none"], "1, bound 0.50")
        self.assertEqual(line["npus 5%"], "2.50 (3.00), bound 1.25; 2 of 3 connected")
        self.assertEqual(line["npu 3; npus 1"], "1.00, bound 1.00")

    def test_none(self):
        texts = ["none", "links 1% draw 1", "links 1% draw 2", "links 1% draw 3", "npu 3; link 0-1"]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(faults.dead_table(a_study(folder, faults=texts))), 0)


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
