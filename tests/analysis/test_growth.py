"""Fits of growth, and the tables of runs with several numbers of threads."""

import tempfile
import unittest
from pathlib import Path

import pandas

from test_words import texts_of

from tenex_analysis import growth, growth_pictures, markdown, words


def rows(seconds, threads=1, sends=(1_000, 10_000, 100_000)):
    """Points of one engine: `sends` deliveries in `seconds`."""
    return pandas.DataFrame(
        {
            "collective": "all_gather",
            "engine": "exact",
            "shape": "2D mesh",
            "topology": [f"mesh({i},{i})" for i in range(len(seconds))],
            "run_threads": threads,
            "sends": sends,
            "synthesis_seconds": seconds,
            "verification_seconds": 0.5,
            "efficiency": 1.0,
            "verified": "yes",
        }
    )


class FitsPowerLaws(unittest.TestCase):
    def test_finds_exponent_and_factor_of_an_exact_power(self):
        # 3e-9 * d^1.5: at d = 100 that is 3e-6, at 10,000 it is 3e-3.
        fit = growth.fit_growth([100, 10_000, 1_000_000], [3e-6, 3e-3, 3])
        self.assertAlmostEqual(fit.exponent, 1.5)
        self.assertAlmostEqual(fit.factor, 3e-9, places=14)
        self.assertAlmostEqual(fit.error, 0)
        self.assertEqual(fit.points, 3)

    def test_says_how_far_the_points_are_from_a_line(self):
        # log10: (0,0), (1,2), (2,2): slope 1, rests -1/3, 2/3, -1/3: their squares sum to 2/3, the spread of x is 2,
        # so the error is sqrt((2/3) / 1 / 2) = sqrt(1/3).
        fit = growth.fit_growth([1, 10, 100], [1, 100, 100])
        self.assertAlmostEqual(fit.exponent, 1)
        self.assertAlmostEqual(fit.error, (1 / 3) ** 0.5)

    def test_refuses_points_of_one_size(self):
        with self.assertRaises(ValueError):
            growth.fit_growth([10, 10], [1, 2])


class MakesTables(unittest.TestCase):
    def test_fits_only_points_that_take_long_enough(self):
        # The first point would tilt the line; above 0.01 s the time is linear.
        frame = rows([0.009, 0.02, 0.2, 2.0], sends=(1, 10_000, 100_000, 1_000_000))
        table = growth.growth_table(frame, least_seconds=0.01)
        self.assertEqual(list(table["points"]), [3])
        self.assertAlmostEqual(table["exponent"][0], 1)
        self.assertAlmostEqual(table["ns_per_delivery_at_largest"][0], 2000)  # 2 s over 1e6

    def test_puts_the_times_of_all_threads_beside_the_largest_point(self):
        both = pandas.concat([rows([1, 2, 8.0]), rows([1, 2, 5.0], threads=2)])
        table = growth.largest_points(both)
        self.assertEqual(list(table["topology"]), ["mesh(2,2)"])
        self.assertEqual((table["s, 1 thread"][0], table["s, 2 threads"][0]), (8.0, 5.0))
        self.assertEqual(table.columns[-1], "verified")

    def test_compares_the_fastest_run_of_a_case_as_large_as_the_paper_s(self):
        # 2.52 h are 9072 s: 9072 / 36 = 252. The point of 1,000 NPUs does not compare, and the
        # one of 72 s is not the fastest.
        frame = rows([1.0, 72.0, 36.0]).assign(collective="all_reduce", npus=[1_000, 40_000, 40_000],
                                               run_threads=[1, 1, 2])
        (sentence,) = growth.against_paper(frame)
        self.assertIn("36 s for 40,000 on 2, 252 times less", sentence)
        self.assertEqual(growth.against_paper(frame.assign(npus=1_000)), [])

    def test_writes_markdown_with_the_digits_asked_for(self):
        text = markdown.as_markdown(pandas.DataFrame({"n": [12_345], "s, 1": [0.5], "note": ["x"]}), {"s,": ".3f"})
        self.assertEqual(text, "| n | s, 1 | note |\n| --- | --- | --- |\n| 12,345 | 0.500 | x |")

    def test_names_shapes_by_their_dimensions(self):
        self.assertEqual(growth.shape_of("mesh(8,8)"), "2D mesh")
        self.assertEqual(growth.shape_of("grid(4,4,4)"), "3D grid")
        self.assertEqual(growth.shape_of("RI(4)_FC(8)_SW(32)"), "RI_FC_SW")


def measured(seconds, threads, others, machine="n1, X, 2 cores", build="1"):
    """Points as read_runs() makes them."""
    count = len(seconds)
    frame = rows(seconds, threads, sends=[10**5 * (i + 1) for i in range(count)])
    return frame.assign(key=[f"k{i}" for i in range(count)], npus=[100 * (i + 1) for i in range(count)],
                        threads=threads, others=others, cores=2, machine=machine, build=build)  # fmt: skip


class ComparesEquals(unittest.TestCase):
    def test_rows_measured_alone_compare(self):
        kept, notes = growth.comparable(pandas.concat([measured([4.0, 8.0], 1, 0.0), measured([2.0, 5.0], 2, 0.05)],
                                                      ignore_index=True))
        self.assertEqual((len(kept), notes), (4, []))
        table = growth.speed_ups(kept)
        self.assertEqual(list(table["threads"]), [1, 2])
        self.assertEqual(list(table["speed_up"]), [1.0, 1.6])  # of the largest points: 8 s and 5 s

    def test_a_run_beside_other_work_compares_with_nothing(self):
        # Four times as fast on two threads, because the run on one thread shared its core.
        kept, notes = growth.comparable(pandas.concat([measured([8.0], 1, 1.4), measured([2.0], 2, 0.0)],
                                                      ignore_index=True))
        self.assertEqual(list(kept["run_threads"]), [2])
        self.assertEqual(notes, ["Left out: 1 point on 1 thread, beside other work on up to 1.4 of 2 cores."])
        with self.assertRaisesRegex(words.NothingToShow,
                                    "no large point was measured alone with two numbers of threads"):
            growth.speed_ups(kept)
        self.assertNotIn("s, 1 thread", growth.largest_points(kept))

    def test_nothing_compares_where_conditions_were_not_recorded(self):
        kept, notes = growth.comparable(
            pandas.concat([measured([8.0], 1, float("nan")), measured([2.0], 2, float("nan"))], ignore_index=True)
        )
        self.assertEqual(list(kept["run_threads"]), [2])
        self.assertIn("not recorded", notes[0])
        self.assertIn("Left out: 1 point on 1 thread", notes[1])
        with self.assertRaises(words.NothingToShow):
            growth.speed_ups(kept)

    def test_other_machines_and_builds_do_not_compare(self):
        for other in ({"machine": "n2, Y, 2 cores"}, {"build": "2"}):
            kept, notes = growth.comparable(
                pandas.concat([measured([4.0, 8.0], 1, 0.0), measured([2.0], 2, 0.0, **other)], ignore_index=True)
            )
            self.assertEqual(list(kept["run_threads"]), [1, 1])
            self.assertIn("on another machine or by another build", notes[0])

    def test_a_disturbed_point_alone_is_left_out(self):
        one = measured([4.0, 8.0], 1, [0.0, 0.5])
        kept, notes = growth.comparable(pandas.concat([one, measured([2.0, 4.0], 2, 0.0)], ignore_index=True))
        self.assertEqual(len(kept), 3)
        self.assertEqual(notes, ["Left out: 1 point on 1 thread, beside other work on up to 0.5 of 2 cores."])

    def test_the_picture_draws_no_speed_up_and_calls_the_line_an_extrapolation(self):
        kept, _ = growth.comparable(pandas.concat([measured([8.0], 1, 1.4), measured([2.0], 2, 0.0)],
                                                  ignore_index=True))
        self.assertIn("Speed-ups are not drawn", texts_of(growth_pictures.draw_cost(kept)))
        labels = [text.get_text() for text in growth_pictures.draw_growth(kept).axes[0].get_legend().get_texts()]
        self.assertEqual(len([label for label in labels if "extrapolated from that one point" in label]), 1)

    def test_the_picture_draws_speed_ups_of_equals(self):
        kept, _ = growth.comparable(pandas.concat([measured([4.0], 1, 0.0), measured([2.5], 2, 0.0)],
                                                  ignore_index=True))
        speed = growth_pictures.draw_cost(kept).axes[1]
        points = [line for line in speed.lines if line.get_marker() == growth_pictures.MARKERS[0]]
        self.assertEqual([list(line.get_xdata()) for line in points], [[1.6]])
        upright = [list(line.get_xdata()) for line in speed.lines if line.get_linestyle() == "--"]
        self.assertEqual(upright, [[2.0, 2.0]])  # ideal: 2 threads over 1
        self.assertIn("1.60", [text.get_text() for text in speed.texts])

    def test_speed_ups_stand_in_order(self):
        table = pandas.DataFrame({"collective": "all_gather", "engine": ["exact", "coarse", "exact", "coarse"],
                                  "shape": "2D mesh", "threads": [2, 2, 4, 4], "fewest": 1,
                                  "speed_up": [1.9, 1.2, 2.5, 3.0]})  # fmt: skip
        lines = growth_pictures.speed_up_lines(table)
        wanted = ["coarse, All-Gather, 2D mesh", "exact, All-Gather, 2D mesh"]
        self.assertEqual([text for text, _, _ in lines], wanted)


class WritesBetweenMarks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "page.md"

    def test_replaces_only_what_is_between(self):
        self.file.write_text(f"above\n{markdown.BEGIN}\nold\nold\n{markdown.END}\nbelow\n")
        markdown.write_between_marks(self.file, "new \\1\n")
        self.assertEqual(self.file.read_text(), f"above\n{markdown.BEGIN}\nnew \\1\n{markdown.END}\nbelow\n")

    def test_refuses_a_file_without_marks(self):
        self.file.write_text("above\n")
        with self.assertRaises(ValueError):
            markdown.write_between_marks(self.file, "new")
        self.assertEqual(self.file.read_text(), "above\n")


if __name__ == "__main__":
    unittest.main()
