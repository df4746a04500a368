"""The table of points without metrics, and its picture."""

import unittest

from made_up import make_study
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tenex_analysis import failures


class CountsFailures(unittest.TestCase):
    def setUp(self):
        self.study = make_study(
            {
                "status": ["ok", "infeasible", "infeasible", "failed", "infeasible", "ok"],
                "reason": ["", "needs 10 bytes of 8", "needs 12 bytes of 8", "needs 10 bytes of 8", "no way",
                           "left out: 9 bytes"],
                "chunks": [1, 4, 4, 1, 4, 1],
                "size": [64, 64, 64, 32, 32, 32],
            },
            study_points=9,
        )

    def test_joins_reasons_that_differ_only_in_numbers(self):
        table = failures.failure_table(self.study)
        self.assertEqual(list(table["status"]), ["infeasible", "failed", "infeasible", failures.NOT_YET])
        self.assertEqual(list(table["reason"][:3]), ["needs # bytes of 8", "needs 10 bytes of 8", "no way"])
        self.assertEqual(list(table["count"]), [2, 1, 1, 3])
        self.assertEqual(list(table["example"][:3]), ["k1", "k3", "k4"])
        self.assertEqual(list(table["point"][:3]), [1, 3, 4])

    def test_counts_rows_that_are_ok_only_in_part_where_asked(self):
        table = failures.failure_table(self.study, partly=True)
        self.assertIn([failures.PARTLY, "left out: 9 bytes", 1], table[["status", "reason", "count"]].values.tolist())

    def test_is_empty_where_all_is_well(self):
        self.assertTrue(failures.failure_table(make_study({"chunks": [1, 2]})).empty)

    def test_shares_count_each_value_s_statuses(self):
        table = failures.shares(self.study, "chunks")
        self.assertEqual(table.loc["4"].to_dict(), {"failed": 0, "infeasible": 3, "ok": 0})
        self.assertEqual(table.loc["1"].to_dict(), {"failed": 1, "infeasible": 0, "ok": 2})

    def test_draws_settings_whose_values_fared_differently(self):
        # size: of 64 B 1 point is ok and 2 are infeasible; of 32 B 1 is ok, 1 infeasible and 1 failed.
        figure = failures.draw_failures(self.study)
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes], ["chunks", "size"])
        bars = [patch.get_width() for patch in figure.axes[0].patches]  # ok, failed, infeasible of 1 and 4
        for width, share in zip(bars, [200 / 3, 0, 100 / 3, 0, 0, 100]):
            self.assertAlmostEqual(width, share)
        ends = [patch.get_x() + patch.get_width() for patch in figure.axes[0].patches]
        for end, expected in zip(ends, [200 / 3, 0, 100, 0, 100, 100]):  # each bar begins at the end of the one before
            self.assertAlmostEqual(end, expected)

    def test_the_legend_is_beside_the_bars(self):
        figure = failures.draw_failures(self.study)
        FigureCanvasAgg(figure).draw()
        legend, axes = figure.axes[0].get_legend().get_window_extent(), figure.axes[0].get_window_extent()
        self.assertGreaterEqual(legend.x0, axes.x1)
        self.assertLessEqual(legend.x1, figure.bbox.x1)

    def test_draws_one_bar_where_nothing_tells_the_points_apart(self):
        figure = failures.draw_failures(make_study({"status": ["ok", "failed"], "chunks": [1, 1]}))
        self.assertEqual([label.get_text() for label in figure.axes[0].get_yticklabels()], ["all points  (2)"])


if __name__ == "__main__":
    unittest.main()
