"""Irregular networks: shares of the bound by hand, and results without any."""

import tempfile
import unittest

from made_up import make_study

from tenex_analysis import irregular, layout, words

US = 10**6


def a_study(folder, **changed):
    columns = {
        "topology": ["mesh(8,8)", "mesh(8,8)", "mesh(16,16)", "slim_fly(5)", "slim_fly(5)"],
        "collective": ["all_reduce"] * 3 + ["all_to_all"] * 2,
        "algorithm": ["trees"] * 3 + ["pccl"] * 2,
        "chunks": [4, 4, 4, 1, 1],
        "npus": [64, 64, 256, 50, 50],
        "status": ["ok", "ok", "ok", "ok", "infeasible"],
        "collective_time_ps": [100 * US, 125 * US, 200 * US, 10 * US, -1],
        "bound_ps": [95 * US, 100 * US, 194 * US, 10 * US, -1],
    }
    return make_study(columns | changed, folder=folder)


class SharesOfTheBound(unittest.TestCase):
    def test_table(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = irregular.table(a_study(folder)).set_index("network")
        self.assertEqual(list(lines["draws"]), [2, 1, 1])
        self.assertEqual(list(lines["chunks"]), ["4", "4", "1"])
        self.assertEqual(lines.loc["mesh(8,8)", "time (ms)"], 0.1125)
        self.assertEqual(lines.loc["mesh(8,8)", "bound / time"], (0.95 + 0.8) / 2)
        self.assertEqual(lines.loc["mesh(8,8)", "least"], 0.8)
        self.assertEqual(lines.loc["slim_fly(5)", "least"], 1)

    def test_pieces(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = irregular.table(a_study(folder, piece=[-1, -1, -1, 250_000, -1]))
        self.assertEqual(list(lines["chunks"]), ["4", "4", "of 0.25 MB"])

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            figure = words.picture(irregular.draw, a_study(folder))
        self.assertGreaterEqual(layout.least_type(figure), layout.LEAST_TYPE)
        curves = {tuple(line.get_ydata()) for line in figure.axes[1].lines}
        self.assertIn(((0.95 + 0.8) / 2, 0.97), curves)  # the means of the meshes
        self.assertEqual([text.get_text() for text in figure.axes[1].texts], ["slim_fly(5)"])

    def test_nothing_to_show(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(words.NothingToShow):
                irregular.shares(a_study(folder, status=["infeasible"] * 5))


if __name__ == "__main__":
    unittest.main()
