"""The papers' figures with missing studies or rows, and elements that they never draw."""

import unittest

import numpy
from made_up import make_study
from test_words import texts_of

from tenex_analysis import link_pictures, paper_pictures, papers, words


def baselines(**columns):
    count = len(next(iter(columns.values())))
    alike = {
        "topology": "RI(64)",
        "collective": "all_reduce",
        "algorithm": "ring",
        "size": 10**9,
        "chunks": 1,
        "npus": 64,
        "algbw_bytes_per_s": 5e10,
        "bound_ps": 10**10,
        "chosen_algorithm": "",
    }
    return make_study({name: [value] * count for name, value in alike.items()} | columns)


class DrawsWhatThereIs(unittest.TestCase):
    def test_studies_that_were_not_run(self):
        for draw in (paper_pictures.draw_baselines, paper_pictures.draw_heat_maps, paper_pictures.draw_pipeline):
            self.assertIn("was not run: jobs/local.sh experiments/", texts_of(words.picture(draw, None)))
        text = texts_of(words.picture(paper_pictures.draw_utilization, None, None))
        self.assertIn("Fig. 18: utilization was not run", text)
        self.assertIn("Fig. 16(b): themis was not run", text)

    def test_studies_of_which_no_row_is_ok(self):
        study = baselines(status=["failed"])
        self.assertIn("no row of", texts_of(words.picture(paper_pictures.draw_baselines, study)))

    def test_points_and_bounds_of_their_own_where_algorithms_are_missing(self):
        study = baselines(
            algorithm=["ring", "tacos", "auto"],
            algbw_bytes_per_s=[2e10, 8e10, 4e10],
            bound_ps=[10**10, 5 * 10**9, 10**10],
            chosen_algorithm=["", "", "rhd"],
        )
        left, right = paper_pictures.draw_baselines(study).axes
        self.assertEqual(list(left.patches), [])  # no bars on a logarithmic axis
        places = [float(line.get_xdata()[0]) for line in left.lines if len(line.get_xdata()) == 1]
        self.assertEqual(sorted(places), [1.0, 2.0, 4.0])  # relative to the slowest
        bounds = [float(lines.get_segments()[0][0][0]) for lines in left.collections]
        self.assertEqual(bounds, [10.0])  # 200 GB/s over 20 GB/s: the least bound holds for the network, once
        heights = {float(line.get_xdata()[0]): float(line.get_ydata()[0]) for line in left.lines}
        self.assertLess(heights[4.0], heights[2.0])  # the fastest on top
        self.assertIn("auto: rhd", [text.get_text() for text in left.texts])
        self.assertIn("no ok row of RI(128)", texts_of(right.figure))

    def test_links_in_order_of_their_loads(self):
        share, ordered = link_pictures.load_profile(numpy.array([1.0, 4.0, 2.0, 0.0]))
        self.assertEqual(list(ordered), [4.0, 2.0, 1.0, 0.0])
        self.assertEqual(list(share), [0.25, 0.5, 0.75, 1.0])

    def test_a_table_of_a_part_says_what_is_missing(self):
        for name in papers.TABLES:
            with self.assertRaisesRegex(words.NothingToShow, "not the whole study experiments/"):
                papers.table_of(name, baselines(algorithm=["ring"]))


if __name__ == "__main__":
    unittest.main()
