"""The table of experiments/teccl_large, by hand: verdicts on printed times, and bounds that solvers prove."""

import unittest

import pandas

from tenex_analysis import papers_teccl


def rows(**changed):
    """Two runs of one case: te_ccl takes 8 us with one chunk, and a solver proved 7.2 us; pccl takes 10 us with two."""
    columns = {
        "algorithm": ["te_ccl", "pccl"], "chunks": [1, 2], "us": [8.0, 10.0], "bound_ps": [6 * 10**6, 5 * 10**6],
        "optimality_gap": [0.1, float("nan")], "solver_seconds": [1.5, -1.0],
    }  # fmt: skip
    frame = pandas.DataFrame(columns | changed)
    return frame.assign(proven=papers_teccl._proven(frame))


class Teccl(unittest.TestCase):
    def test_a_bound_is_tenex_s_or_a_solver_s(self):
        self.assertEqual([round(bound, 9) for bound in rows()["proven"]], [7.2, 5.0])

    def test_a_line_has_the_best_times_and_the_least_bound_of_all_chunks(self):
        line = papers_teccl._line("case", 9.0, rows())
        self.assertEqual((line["te_ccl"], line["pccl"], line["bound, us"]), (8.0, 10.0, 5.0))
        self.assertEqual(line["verdict"], "beaten, gap 38 %")  # 1 - 5/8
        self.assertEqual(line["s of solvers"], 1.5)

    def test_verdicts(self):
        self.assertEqual(papers_teccl._verdict(10.0, 8.0, 8.0), "beaten, optimal")
        self.assertEqual(papers_teccl._verdict(10.0, 10.0, 5.0), "matched, gap 50 %")
        self.assertEqual(papers_teccl._verdict(10.0, 12.0, 9.0), "not reached, gap 25 %")
        self.assertEqual(papers_teccl._verdict(7.0, 8.0, 8.0), "printed time refuted")
        self.assertEqual(papers_teccl._verdict(None, 10.0, 8.0), "gap 20 %")
        self.assertEqual(papers_teccl._verdict(None, 8.0, 8.0), "optimal")


if __name__ == "__main__":
    unittest.main()
