"""The table and the picture of experiments/solvers, by hand: ratios, seconds, bounds of all chunks, missing rows."""

import unittest

from made_up import make_study
from test_words import texts_of

from tenex_analysis import papers_solvers, solver_pictures, words


def dragonfly(**changed):
    """tacos takes 4 us with one chunk and 3 us with two, taccl 6 us with one. The bounds are 2.5 and 2 us."""
    columns = {
        "topology": ["dragonfly(4,5)"] * 3, "collective": ["all_reduce"] * 3, "algorithm": ["tacos", "tacos", "taccl"],
        "chunks": [1, 2, 1], "size": [10**9] * 3, "npus": [20] * 3,
        "collective_time_ps": [4 * 10**6, 3 * 10**6, 6 * 10**6], "bound_ps": [2_500_000, 2 * 10**6, 2_500_000],
        "optimality_gap": [float("nan"), float("nan"), 0.5], "solver_seconds": [-1.0, -1.0, 8.0],
        "synthesis_seconds": [0.25, 0.5, 20.0],
    }  # fmt: skip
    return make_study(columns | changed)


class Table(unittest.TestCase):
    def test_a_line_compares_the_best_numbers_of_chunks(self):
        frame = papers_solvers.frame_of(dragonfly())
        line = papers_solvers._line("case", frame, ("taccl", "tacos"), ratio=2.5)
        self.assertEqual((line["tacos"], line["taccl"], line["ratio"], line["printed ratio"]), (3.0, 6.0, 2.0, 2.5))
        # taccl's gap of 0.5 proves 3 us for one chunk, and two chunks may take 2 us.
        self.assertEqual(line["bound, us"], 2.0)
        # A solver's seconds leave out what it waited for others.
        self.assertEqual((line["s of solver"], line["s of method"]), (8.0, 0.5))

    def test_rounds_of_sccl_and_what_te_ccl_is_said_to_save(self):
        self.assertEqual(papers_solvers.printed_of_steps(papers_solvers.DGX1_FILE, "all_gather", 2), (5.1, 5.0))
        rounds, own = papers_solvers.printed_of_steps(papers_solvers.DGX1_NO_ALPHA, "all_to_all", 1)
        self.assertEqual((rounds, round(own, 2)), (3, 2.01))  # 33 % less

    def test_no_printed_time_of_taccl_is_without_te_ccl_s(self):
        for collective, by_size in papers_solvers.TACCL.items():
            for size, (us, _) in by_size.items():
                self.assertGreater(us, papers_solvers.TECCL[collective][size])
                self.assertIn(size, papers_solvers.TECCL_SECONDS[collective])


class Picture(unittest.TestCase):
    def test_a_result_of_something_else_says_so(self):
        text = texts_of(words.picture(solver_pictures.draw_solvers, dragonfly(topology=["RI(4)"] * 3)))
        self.assertIn("has no rows of experiments/solvers", text)

    def test_bandwidths_are_relative_to_the_least_bound(self):
        study = dragonfly(topology=["dragonfly(4,5)", "SW(8)_SW(4)", "RI(2)_FC(4)_SW(8)"])
        figure = solver_pictures.draw_solvers(study)
        heights = [float(line.get_ydata()[0]) for line in figure.axes[0].lines if len(line.get_ydata()) == 1]
        drawn = sorted(round(height, 3) for height in heights if height == height)
        # 2.5 / 4, 2 / 3, and the 3 us that taccl's gap proves over its 6 us.
        self.assertEqual(drawn, [0.5, 0.625, 0.667])
        self.assertIn("Rows of experiments/solvers are missing", texts_of(figure))  # in the other panels


if __name__ == "__main__":
    unittest.main()
