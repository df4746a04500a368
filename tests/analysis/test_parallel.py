"""Parallel coordinates: the positions of values, the lines that are kept, and how they are drawn."""

import unittest

import numpy
from made_up import make_study
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection

from tenex_analysis import parallel
from tenex_analysis.columns import Column


class PlacesValues(unittest.TestCase):
    def test_few_values_have_equal_room_and_are_spread_by_rank(self):
        # Two values: middles 0.25 and 0.75. The spread is 0.7 of 1/2: rank 0 lies 0.175 below the middle, rank 1 0.175
        # above.
        at, ticks = parallel.heights(Column("chunks", numpy.array([1.0, 4.0, 1.0]), ""), numpy.array([0.0, 0.5, 1.0]))
        numpy.testing.assert_allclose(at, [0.075, 0.75, 0.425])
        self.assertEqual(ticks, [(0.25, "1"), (0.75, "4")])

    def test_text_is_ordered_naturally(self):
        _, ticks = parallel.heights(Column("topology", numpy.array(["RI(16)", "RI(8)"], dtype=object), ""),
                                    numpy.zeros(2))
        self.assertEqual([text for _, text in ticks], ["RI(8)", "RI(16)"])

    def test_many_values_lie_on_a_scale(self):
        values = numpy.logspace(-6, -2, 41)  # four decades: 1e-5 is a quarter up
        at, ticks = parallel.heights(Column("t", values, "s"), numpy.zeros(41))
        self.assertAlmostEqual(at[10], 0.25)
        self.assertEqual((at.min(), at.max()), (0.0, 1.0))
        self.assertIn("10 µs", [text for _, text in ticks])

    def test_absent_values_lie_below(self):
        at, ticks = parallel.heights(Column("size", numpy.array([numpy.nan, 1024.0]), "B"), numpy.zeros(2))
        self.assertEqual(at[0], parallel.ABSENT)
        self.assertEqual(ticks[-1], (parallel.ABSENT, "absent"))


class ThinsLines(unittest.TestCase):
    def test_keeps_the_best_the_worst_and_an_even_sample(self):
        values = numpy.array([5.0, 1.0, 4.0, 2.0, 3.0])  # in order of value: positions 1, 3, 4, 2, 0
        self.assertEqual(list(parallel.thinned(values, 3)), [1, 4, 0])
        self.assertEqual(list(parallel.thinned(values, 9)), [1, 3, 4, 2, 0])


class Draws(unittest.TestCase):
    def setUp(self):
        self.study = make_study(
            {
                "status": ["ok"] * 11 + ["failed"],
                "algorithm": ["ring", "tacos"] * 6,
                "size": [1024] * 6 + [4096] * 6,
                "efficiency": [0.1 * i for i in range(1, 11)] + [float("nan"), 1.0],
            }
        )

    def lines(self, axes):
        return next(c for c in axes.collections if isinstance(c, LineCollection))

    def test_a_line_for_every_ok_point_that_has_the_objective(self):
        axes = parallel.draw_parallel(self.study, "efficiency")
        self.assertEqual(len(self.lines(axes).get_segments()), 10)
        names = [text.get_text() for text in axes.texts if text.get_fontweight() == "bold"]
        self.assertEqual(names, ["algorithm", "size", "efficiency"])
        self.assertIn("10 points", axes.get_title(loc="left"))

    def test_the_best_is_dark_opaque_and_on_top(self):
        for larger, top in ((None, 1.0), (False, 0.0)):  # where the best value lies on the axis of the objective
            lines = self.lines(parallel.draw_parallel(self.study, "efficiency", larger=larger))
            best, worst = lines.get_colors()[-1], lines.get_colors()[0]
            self.assertAlmostEqual(lines.get_segments()[-1][-1][1], top)
            self.assertLess(best[:3].sum(), worst[:3].sum())
            self.assertGreater(best[3], worst[3])

    def test_lines_of_one_value_are_spread_in_the_direction_of_the_objective(self):
        for larger in (True, False):
            picture = parallel.draw_parallel(self.study, "efficiency", larger=larger)
            lines = list(self.lines(picture).get_segments())
            # By height on the objective's axis.
            rings = sorted((line[-1][1], line[0][1]) for line in lines if line[0][1] < 0.5)
            self.assertEqual([on_algorithm for _, on_algorithm in rings],
                             sorted(on_algorithm for _, on_algorithm in rings))

    def test_says_how_many_lines_of_how_many_it_drew(self):
        axes = parallel.draw_parallel(self.study, "efficiency", most=4)
        self.assertEqual(len(self.lines(axes).get_segments()), 4)
        self.assertIn("4 of 10 points", axes.get_title(loc="left"))

    def test_refuses_an_objective_without_numbers(self):
        with self.assertRaisesRegex(ValueError, "text"):
            parallel.draw_parallel(self.study, "algorithm")
        with self.assertRaisesRegex(ValueError, "no row"):
            parallel.draw_parallel(self.study, "efficiency", rows=self.study.frame().iloc[10:])

    def test_all_text_is_inside_the_picture(self):
        axes = parallel.draw_parallel(self.study, "efficiency")
        FigureCanvasAgg(axes.figure).draw()
        for text in axes.texts:
            box = text.get_window_extent()
            self.assertTrue(box.x0 >= 0 and box.x1 <= axes.figure.bbox.x1 and box.y1 <= axes.figure.bbox.y1,
                            text.get_text())


if __name__ == "__main__":
    unittest.main()
