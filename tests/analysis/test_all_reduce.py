"""All-Reduce by trees beside others: numbers by hand, and results without trees."""

import tempfile
import unittest

from made_up import make_study

from tenex_analysis import all_reduce, layout, words

US = 10**6


def a_study(folder, **changed):
    columns = {
        "topology": ["mesh(4,4)"] * 6 + ["../machines/dgx1.toml"],
        "collective": ["all_reduce"] * 7,
        "algorithm": ["trees", "tacos", "ring"] * 2 + ["trees"],
        "size": [1 << 10] * 3 + [1 << 20] * 3 + [1 << 10],
        "status": ["ok"] * 7,
        "collective_time_ps": [30 * US, 20 * US, 25 * US, 400 * US, 800 * US, 900 * US, US],
        "bound_ps": [16 * US, 18 * US, 15 * US, 390 * US, 380 * US, 380 * US, US],
    }
    return make_study(columns | changed, folder=folder)


class ComparesAlgorithms(unittest.TestCase):
    def test_by_hand(self):
        with tempfile.TemporaryDirectory() as folder:
            frame = all_reduce.times(a_study(folder))
        self.assertEqual(set(frame["network"]), {"mesh(4,4)"})  # the machine has no other algorithm
        shares = frame.set_index(["size", "name"])["share"]
        self.assertEqual(shares[(1 << 10, "tacos")], 0.75)  # the least bound is the one of ring
        self.assertEqual(shares[(1 << 20, "trees")], 0.95)

    def test_table(self):
        with tempfile.TemporaryDirectory() as folder:
            line = all_reduce.table(a_study(folder)).iloc[0]
        self.assertEqual(line["trees win from"], "1MiB")
        self.assertEqual(line["TACOS / trees"], 2)
        self.assertEqual(line["best other / trees"], 2)
        self.assertEqual(line["trees, of the bound"], 0.95)
        self.assertEqual(line["at"], "1MiB")

    def test_who_wins(self):
        with tempfile.TemporaryDirectory() as folder:
            times = [10 * US, 20 * US, 25 * US, 400 * US, 800 * US, 900 * US, US]
            always = all_reduce.table(a_study(folder, collective_time_ps=times)).iloc[0]
        self.assertEqual(always["trees win from"], "1KiB")
        with tempfile.TemporaryDirectory() as folder:
            times = [10 * US, 20 * US, 25 * US, 900 * US, 800 * US, 900 * US, US]
            never = all_reduce.table(a_study(folder, collective_time_ps=times)).iloc[0]
        self.assertEqual(never["trees win from"], "never")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            figure = words.picture(all_reduce.draw, a_study(folder))
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes[1:]], ["mesh(4,4)"])
        self.assertGreaterEqual(layout.least_type(figure), layout.LEAST_TYPE)
        curves = {tuple(line.get_ydata()) for line in figure.axes[1].lines}
        self.assertIn((15 / 20, 380 / 800), curves)  # tacos

    def test_sizes(self):
        self.assertEqual(all_reduce.size_text(65536), "64KiB")
        self.assertEqual(all_reduce.size_text(1 << 32), "4GiB")
        self.assertEqual(all_reduce.size_text(1000), "1000B")

    def test_nothing_to_show(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(words.NothingToShow):
                all_reduce.times(a_study(folder, algorithm=["ring"] * 7))


if __name__ == "__main__":
    unittest.main()
