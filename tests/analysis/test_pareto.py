"""Pareto fronts by hand, and pictures that hide no point of them."""

import contextlib
import io
import itertools
import random
import unittest
import unittest.mock

from made_up import make_study
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tenex_analysis import pareto


def boxes_meet(a, b):
    return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1


class FindsTheFront(unittest.TestCase):
    def test_keeps_what_nothing_dominates(self):
        # (1,5), (2,3), (4,1) are the front; (3,3) is dominated by (2,3), (5,5) by all.
        front = pareto.non_dominated([1, 2, 3, 4, 5], [5, 3, 3, 1, 5])
        self.assertEqual(list(front), [True, True, False, True, False])

    def test_turns_round_where_more_is_better(self):
        # Less x and more y: (1,1), then (2,4); (3,4) needs more for the same.
        self.assertEqual(list(pareto.non_dominated([1, 2, 3], [1, 4, 4], larger_y=True)), [True, True, False])
        self.assertEqual(list(pareto.non_dominated([1, 2, 3], [1, 4, 4], larger_x=True)), [True, False, True])

    def test_keeps_equals_together(self):
        self.assertEqual(list(pareto.non_dominated([1, 1, 1], [2, 2, 3])), [True, True, False])

    def test_leaves_out_what_is_absent(self):
        self.assertEqual(list(pareto.non_dominated([1, float("nan"), 0], [1, 0, float("nan")])), [True, False, False])
        self.assertEqual(list(pareto.non_dominated([], [])), [])

    def test_agrees_with_the_definition(self):
        numbers = random.Random(1)
        for larger_x, larger_y in itertools.product((False, True), repeat=2):
            points = [(numbers.randrange(12), numbers.randrange(12)) for _ in range(80)]
            costs = [(-x if larger_x else x, -y if larger_y else y) for x, y in points]
            expected = [not any(o[0] <= c[0] and o[1] <= c[1] and o != c for o in costs) for c in costs]
            self.assertEqual(list(pareto.non_dominated(*zip(*points), larger_x, larger_y)), expected)


class DrawsTheFront(unittest.TestCase):
    def setUp(self):
        # Links against time: points 0 and 4 (equal), 1 and 2 are the front; 3 is dominated by 1, 5 is not ok, 6 has no
        # time.
        self.study = make_study(
            {
                "status": ["ok"] * 5 + ["failed", "ok"],
                "algorithm": ["ring", "tacos", "tacos", "ring", "direct", "ring", "ring"],
                "size": [1024] * 7,
                "total_links": [10, 20, 400, 20, 10, 1, 1],
                "collective_time_ps": [8_000_000, 4_000_000, 2_000_000, 5_000_000, 8_000_000, 1, -1],
            }
        )

    def test_the_table_numbers_the_front_by_x(self):
        table = pareto.front_table(self.study, "total_links", "collective_time_ps")
        self.assertEqual(list(table.index), [1, 2, 3])
        self.assertEqual(list(table["point"]), [0, 1, 2])
        self.assertEqual(list(table["alike"]), [2, 1, 1])
        self.assertEqual(list(table["key"]), ["k0", "k1", "k2"])
        self.assertAlmostEqual(table["collective_time_ps"][1], 8e-6)  # 8,000,000 ps, in seconds
        self.assertIn("algorithm", table)
        self.assertNotIn("size", table)  # it takes one value

    def test_a_printed_table_says_seconds_over_seconds(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), unittest.mock.patch.object(
            pareto, "open_study", return_value=self.study
        ):
            pareto.main(["made up", "total_links", "collective_time_ps"])
        head = printed.getvalue().splitlines()[0]
        self.assertRegex(head, r" total_links +collective_time, s ")
        self.assertNotIn("_ps", head)

    def test_only_the_rows_that_are_asked_for_compete(self):
        frame = self.study.frame()
        table = pareto.front_table(self.study, "total_links", "collective_time_ps", frame[frame["algorithm"] == "ring"])
        self.assertEqual(list(table["point"]), [0, 3])

    def test_says_what_cannot_be_drawn(self):
        with self.assertRaisesRegex(ValueError, "text"):
            pareto.draw_pareto(self.study, "algorithm", "total_links")
        with self.assertRaisesRegex(KeyError, "no column 'price'"):
            pareto.draw_pareto(self.study, "price", "total_links")
        with self.assertRaisesRegex(ValueError, "no row that is ok has both"):
            pareto.front_table(self.study, "total_links", "collective_time_ps", self.study.frame().iloc[5:])

    def test_front_points_are_strong_and_the_others_pale(self):
        axes = pareto.draw_pareto(self.study, "total_links", "collective_time_ps")
        strong = [c for c in axes.collections if c.get_alpha() is None]
        pale = [c for c in axes.collections if c.get_alpha() is not None]
        self.assertEqual(sum(len(c.get_offsets()) for c in strong), 4)
        self.assertEqual(sum(len(c.get_offsets()) for c in pale), 1)
        (strong_ring, pale_ring) = (next(c for c in of if len(c.get_offsets())).get_facecolor()[0][:3].sum()
                                    for of in (strong[1:2], pale[1:2]))
        self.assertGreater(pale_ring, strong_ring + 0.5)
        self.assertEqual(axes.get_xlabel(), "total links (less is better)")
        self.assertEqual(axes.get_ylabel(), "collective time (less is better)")
        self.assertEqual(axes.get_xscale(), "log")  # 10 to 400

    def test_the_line_reaches_on_to_where_x_is_worse(self):
        # Between 10 and 20 links the border has the time of 10 if fewer links are better, and that of 20 if more are
        # better.
        for larger, style in ((None, "steps-post"), (True, "steps-pre")):
            axes = pareto.draw_pareto(self.study, "total_links", "collective_time_ps", larger_x=larger)
            self.assertEqual(axes.lines[0].get_drawstyle(), style)

    def test_the_line_is_the_border_of_what_the_front_dominates(self):
        # A point just on the worse side of the line is dominated by a point of the front; a point on its better side is
        # not.
        front = [(2.0, 8.0), (4.0, 5.0), (8.0, 1.0)]
        for larger_x, larger_y in itertools.product((False, True), repeat=2):
            points = sorted((12 - x if larger_x else x, 12 - y if larger_y else y) for x, y in front)
            axes = Figure().subplots()
            axes.scatter(*zip(*points))
            pareto.draw_staircase(axes, *zip(*points), larger_x, larger_y)
            (region,) = axes.patches
            shape = region.get_path()
            (low_x, high_x), (low_y, high_y) = axes.get_xlim(), axes.get_ylim()
            for i, j in itertools.product(range(1, 20), repeat=2):
                x, y = low_x + (high_x - low_x) * i / 20.03, low_y + (high_y - low_y) * j / 20.03
                dominated = any((x <= a if larger_x else x >= a) and (y <= b if larger_y else y >= b)
                                for a, b in points)
                self.assertEqual(shape.contains_point((x, y)), dominated, (larger_x, larger_y, x, y))

    def test_the_word_is_dominated(self):
        axes = pareto.draw_pareto(self.study, "total_links", "collective_time_ps")
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        self.assertEqual(labels[-2:], ["front (4)", "dominated (1)"])

    def test_long_names_are_whole_and_inside_the_picture(self):
        long = "RI(4)_FC(8)_RI(4)_SW(32)_SW(4)_SW("
        study = make_study({"topology": [f"{long}2)", f"{long}4)"], "total_links": [1, 2],
                            "collective_time_ps": [2, 1]})
        axes = pareto.draw_pareto(study, "total_links", "collective_time_ps", by="topology",
                                  title="a title of many words " * 8)
        FigureCanvasAgg(axes.figure).draw()
        labels = ["".join(text.get_text().split("\n")) for text in axes.get_legend().get_texts()]
        self.assertEqual(labels[:2], [f"{long}2)", f"{long}4)"])
        for box in (axes.get_legend().get_window_extent(), axes._left_title.get_window_extent()):
            self.assertTrue(box.x0 >= 0 and box.x1 <= axes.figure.bbox.x1)

    def test_nothing_lies_on_anything_else(self):
        axes = pareto.draw_pareto(self.study, "total_links", "collective_time_ps")
        canvas = FigureCanvasAgg(axes.figure)
        canvas.draw()
        self.assertFalse(boxes_meet(axes.get_legend().get_window_extent(), axes.get_window_extent()))
        numbers = [text.get_window_extent() for text in axes.texts]
        self.assertEqual([text.get_text() for text in axes.texts], ["1", "2", "3"])
        self.assertFalse(any(boxes_meet(a, b) for a, b in itertools.combinations(numbers, 2)))
        whole = axes.figure.bbox
        for box in (axes.get_legend().get_window_extent(), axes.get_tightbbox(canvas.get_renderer())):
            self.assertTrue(box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1)

    def test_crowded_points_share_a_number(self):
        study = make_study({"total_links": [1000, 1001, 2000], "collective_time_ps": [50_000, 49_990, 1_000]})
        axes = pareto.draw_pareto(study, "total_links", "collective_time_ps")
        self.assertEqual([text.get_text() for text in axes.texts], ["1–2", "3"])


if __name__ == "__main__":
    unittest.main()
