"""Pictures with nothing to show, and text that is broken into lines."""

import unittest

from made_up import make_study
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tenex_analysis import parallel, pareto, words


def texts_of(figure):
    return " ".join(text.get_text().replace("\n", " ") for axes in figure.axes for text in axes.texts)


class SaysWhatIsMissing(unittest.TestCase):
    def setUp(self):
        self.study = make_study(
            {
                "status": ["failed", "infeasible"],
                "total_links": [1, 2],
                "algbw_bytes_per_s": [float("nan")] * 2,
                "algorithm": ["a", "b"],
            }
        )

    def test_in_place_of_a_picture(self):
        self.assertIn(
            "no row that is ok has both total_links and algbw_bytes_per_s",
            texts_of(words.picture(pareto.draw_pareto, self.study, "total_links", "algbw_bytes_per_s")),
        )
        self.assertIn(
            "no row that is ok has algbw_bytes_per_s",
            texts_of(words.picture(parallel.draw_parallel, self.study, "algbw_bytes_per_s"))
        )

    def test_but_a_wrong_column_is_still_refused(self):
        with self.assertRaisesRegex(KeyError, "no column 'price'"):
            words.picture(pareto.draw_pareto, make_study({"algbw_bytes_per_s": [1.0]}), "price", "algbw_bytes_per_s")

    def test_inside_the_picture(self):
        figure = words.figure_of_words(
            "nothing to show, because " * 12, "a title that is much longer than the picture is wide " * 3
        )
        FigureCanvasAgg(figure).draw()
        for text in [*figure.axes[0].texts, figure._suptitle]:
            box = text.get_window_extent()
            self.assertTrue(box.x0 >= 0 and box.x1 <= figure.bbox.x1, text.get_text())


class BreaksText(unittest.TestCase):
    def test_after_separators_and_leaves_nothing_out(self):
        self.assertEqual(words.broken("RI(4)_FC(8)_RI(4)_SW(32)", 13), "RI(4)_FC(8)_\nRI(4)_SW(32)")
        self.assertEqual(words.broken("50 GB/s, 25 GB/s", 9), "50 GB/s,\n25 GB/s")
        self.assertEqual(words.broken("short", 9), "short")
        self.assertEqual(words.broken("a" * 7, 3), "aaa\naaa\na")
        self.assertEqual(words.broken("", 3), "")

    def test_titles_have_as_many_lines_as_they_need(self):
        self.assertEqual(words.fitted("a title of seven words or so", 2), "a title of seven words\nor so")


if __name__ == "__main__":
    unittest.main()
