"""Curves of bus bandwidth over size: numbers by hand, ticks, labels that do not overlap, and what is drawn as data."""

import contextlib
import io
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import numpy
import pandas
from made_up import make_study

from tenex_analysis import columns, curves, layout, words

US = 1_000_000
KIB = 1024


def a_study(**changed):
    """All-Reduce on 4 NPUs: bus bandwidth is 1.5 times size over time. Ring is slow at 1 KiB, tacos has two chunks."""
    given = {
        "topology": ["RI(4)"] * 5,
        "collective": ["all_reduce"] * 5,
        "algorithm": ["ring", "tacos", "tacos", "ring", "tacos"],
        "size": [KIB, KIB, KIB, 4 * KIB, 4 * KIB],
        "chunks": [1, 1, 2, 1, 1],
        "npus": [4] * 5,
        "collective_time_ps": [8 * US, 4 * US, 5 * US, 8 * US, 8 * US],
        "bound_ps": [2 * US, 2 * US, US, 6 * US, 4 * US],
    }
    given |= changed
    given["algbw_bytes_per_s"] = [s / (t * 1e-12) for s, t in zip(given["size"], given["collective_time_ps"])]
    given["busbw_bytes_per_s"] = [1.5 * b for b in given["algbw_bytes_per_s"]]
    given["efficiency"] = [b / t for b, t in zip(given["bound_ps"], given["collective_time_ps"])]
    return make_study(given)


class TellsBusBandwidth(unittest.TestCase):
    def test_by_hand(self):
        found = curves.curves(a_study())
        self.assertEqual(found["who"].to_list(), ["ring", "ring", "tacos", "tacos"])
        self.assertEqual(found["size"].to_list(), [KIB, 4 * KIB] * 2)
        wanted = [1.5 * KIB / 8e-6, 1.5 * 4 * KIB / 8e-6, 1.5 * KIB / 4e-6, 1.5 * 4 * KIB / 8e-6]
        for value, by_hand in zip(found["busbw"], wanted):  # the faster of the two numbers of chunks
            self.assertAlmostEqual(value / by_hand, 1)
        self.assertAlmostEqual(found["bound"].iloc[0] / (1.5 * KIB / 1e-6), 1)  # the least bound of the size
        self.assertEqual([round(each, 6) for each in found["efficiency"]], [1 / 8, 1 / 2, 1 / 4, 1 / 2])

    def test_only_the_rows_that_are_asked_for(self):
        study = a_study()
        rows = study.frame().query("algorithm == 'ring'")
        self.assertEqual(set(curves.curves(study, rows)["who"]), {"ring"})
        with self.assertRaisesRegex(words.NothingToShow, "no collective that is ok fulfils"):
            curves.curves(study, rows.iloc[:0])

    def test_an_unwound_network_is_another_one(self):
        found = curves.curves(a_study(unwind=[0, 1, 1, 0, 1]))
        self.assertEqual(list(dict.fromkeys(found["network"])), ["RI(4)", "RI(4), unwound"])

    def test_the_table(self):
        table = curves.table(curves.curves(a_study())).set_index("algorithm")
        self.assertEqual(table["fastest at"].to_dict(), {"ring": "4KiB", "tacos": "1KiB-4KiB"})  # tied at 4 KiB
        self.assertEqual(table["half speed from"].to_dict(), {"ring": "4KiB", "tacos": "1KiB"})
        self.assertEqual(table["of bound"].to_dict(), {"ring": 0.5, "tacos": 0.5})

    def test_neighbours_among_sizes(self):
        sizes = [1 << i for i in range(10, 16)]
        self.assertEqual(curves.ranges(sizes, {1 << 10, 1 << 11, 1 << 14}), "1KiB-2KiB, 16KiB")
        self.assertEqual(curves.ranges(sizes, set()), "")

    def test_nothing_to_show(self):
        with self.assertRaisesRegex(words.NothingToShow, "no row is ok"):
            curves.curves(a_study(status=["failed"] * 5))


class DrawsCurves(unittest.TestCase):
    def test_what_is_drawn(self):
        figure = curves.draw_curves(a_study())
        above, below = [axes for axes in figure.axes if axes.lines]
        by_name = {line.get_label(): list(line.get_ydata()) for line in above.lines}
        self.assertAlmostEqual(by_name["tacos"][0], 1.5 * KIB / 4e-6 / 1e9)
        (dashed,) = [line for line in above.lines if line.get_linestyle() == "--"]
        self.assertAlmostEqual(dashed.get_ydata()[0], 1.5 * KIB / 1e-6 / 1e9)
        shares = {line.get_label(): [round(y, 6) for y in line.get_ydata()] for line in below.lines}
        self.assertEqual(shares["ring"], [1 / 8, 1 / 2])
        self.assertEqual({text.get_text() for text in above.texts}, {"ring 50 %", "tacos 50 %"})
        self.assertEqual(above.get_title(loc="left"), "RI(4)")
        self.assertGreaterEqual(layout.least_type(figure), layout.LEAST_TYPE)

    def test_many_algorithms_have_a_legend(self):
        count = curves.MOST_NAMES + 1
        study = a_study(**{name: [values] * count for name, values in {
            "topology": "RI(4)", "collective": "all_reduce", "size": KIB, "chunks": 1, "npus": 4,
            "collective_time_ps": US, "bound_ps": US}.items()}, algorithm=[f"a{i}" for i in range(count)])  # fmt: skip
        figure = curves.draw_curves(study)
        legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
        labels = [text.get_text() for legend in legends for text in legend.get_texts()]
        self.assertEqual(labels, [f"a{i}" for i in range(count)])

    def test_panels_that_are_left_out_are_counted(self):
        count = curves.MOST_PANELS + 1
        study = a_study(**{name: [values] * count for name, values in {
            "algorithm": "ring", "collective": "all_reduce", "size": KIB, "chunks": 1, "npus": 4,
            "collective_time_ps": US, "bound_ps": US}.items()},
            topology=[f"RI({i + 3})" for i in range(count)])  # fmt: skip
        title = curves.draw_curves(study)._suptitle.get_text().replace("\n", " ")
        self.assertIn(f"the first {curves.MOST_PANELS} of {count} networks", title)

    def test_ticks_of_sizes(self):
        sizes = [KIB << i for i in range(21)]
        ticks = curves.size_ticks(sizes)
        texts = [curves.size_text(tick) for tick in ticks]
        self.assertEqual(texts, ["1KiB", "16KiB", "256KiB", "4MiB", "64MiB", "1GiB"])
        self.assertEqual(curves.size_ticks([KIB]), [KIB])
        self.assertEqual(curves.size_ticks(sizes[:3]), sizes[:3])
        for count in range(1, 40):
            ticks = curves.size_ticks(list(range(count)))
            self.assertLessEqual(len(ticks), curves.MOST_TICKS)
            self.assertEqual((ticks[0], ticks[-1]), (0, count - 1))

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            with unittest.mock.patch.object(curves, "open_study", return_value=a_study()):
                curves.main(["made up", "--png", f"{folder}/c.png", "--where", "size = 1024B"])
            self.assertEqual(Path(folder, "c.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("| RI(4) | All-Reduce | tacos | 1KiB | 1KiB | 1KiB | 0.384 | 0.250 |", out.getvalue())


class PlacesLabels(unittest.TestCase):
    def test_labels_that_have_room_stay(self):
        self.assertEqual(layout.apart([0.9, 0.1, 0.5], 0.1), [0.9, 0.1, 0.5])

    def test_labels_stay_below_the_most(self):
        for found, wanted in zip(layout.apart([0.95, 0.98, 0.99, 0.3], 0.1, most=1.0), [0.8, 0.9, 1.0, 0.3]):
            self.assertAlmostEqual(found, wanted)

    def test_labels_move_apart_around_their_mean(self):
        found = layout.apart([0.5, 0.5, 0.9], 0.2)
        self.assertTrue(numpy.allclose(found, [0.4, 0.6, 0.9]))

    def test_no_two_overlap(self):
        random = numpy.random.default_rng(1)
        for _ in range(50):
            wanted = list(random.uniform(0, 1, 9))
            found = layout.apart(wanted, 0.1)
            gaps = numpy.diff(sorted(found))
            self.assertGreater(gaps.min(), 0.1 - 1e-9)
            self.assertEqual(list(numpy.argsort(found)), list(numpy.argsort(wanted)))


class StylesAlgorithms(unittest.TestCase):
    def test_the_same_in_every_picture(self):
        both = columns.algorithm_styles(["x", "tacos"]), columns.algorithm_styles(["ring", "tacos"])
        self.assertEqual(both[0]["tacos"], both[1]["tacos"])

    def test_all_different(self):
        names = [*columns.ALGORITHM_STYLES, *(f"a{i}" for i in range(20))]
        self.assertEqual(len(set(columns.algorithm_styles(names).values())), len(names))


class OpensPins(unittest.TestCase):
    def test_of_a_study(self):
        from tenex_analysis import reader

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "expected.csv"
            rows = pandas.DataFrame({"topology": ["RI(4)", "RI(4)"], "collective": "all_reduce", "size": 4,
                                     "collective_time_ps": [4, -1], "bound_ps": [3, -1]})  # fmt: skip
            rows.to_csv(file, index=False)
            frame = reader.open_study(file).frame()
            self.assertEqual(list(frame["status"]), ["ok", "infeasible"])
            self.assertEqual(frame["efficiency"].iloc[0], 0.75)
            file.write_text("a,b\n1,2\n")
            with self.assertRaisesRegex(reader.ResultError, "not the expected.csv"):
                reader.open_study(file)
            with self.assertRaisesRegex(reader.ResultError, "no such file"):
                reader.open_study(Path(folder) / "other.csv")


if __name__ == "__main__":
    unittest.main()
