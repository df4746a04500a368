"""First look at studies of any shape: contests, bounds of each point's own network, text in place of missing rows."""

import contextlib
import io
import re
import unittest
import unittest.mock
import warnings

from made_up import make_study
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from test_words import texts_of

from tenex_analysis import contests, layout, outcome, overview
from tenex_analysis import overview_pictures as pictures

US = 1_000_000


def rows(**columns):
    """A study of collectives: columns that are not given have the same value in every row."""
    count = len(next(iter(columns.values())))
    alike = {
        "topology": "SW(8)",
        "collective": "all_gather",
        "algorithm": "ring",
        "size": 2**30,
        "chunks": 1,
        "unwind": 0,
        "npus": 8,
        "bandwidth": "50000000000",
        "collective_time_ps": 4 * US,
        "bound_ps": 2 * US,
        "efficiency": 0.5,
    }
    return make_study({name: [value] * count for name, value in alike.items()} | columns)


def drawn(figure):
    """By colour: the places of points along the axis of bandwidths, and those of bounds with whether their line is
    solid.
    """
    points, bounds = {}, {}
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_linestyle() == "None" and len(line.get_xdata()) and line.get_markersize() < 10:  # no ring
                points[line.get_color()] = [round(float(x), 3) for x in line.get_xdata()]
        for lines in axes.collections:
            assert isinstance(lines, LineCollection)
            upright = [
                round(float(s[0][0]), 3) for s in lines.get_segments() if s[0][0] == s[1][0] and s[0][1] != s[1][1]
            ]
            if upright:
                solid = lines.get_linestyle()[0][1] is None
                bounds.setdefault(tuple(lines.get_colors()[0]), []).append((upright, solid))
    return points, bounds


def rings(figure):
    """The places of the rings around the fastest."""
    found = [line for axes in figure.axes for line in axes.lines if line.get_markersize() == 10]
    return [round(float(line.get_xdata()[0]), 3) for line in found]


class ComparesEquals(unittest.TestCase):
    def test_each_bound_is_of_the_point_s_own_network(self):
        # tacos on the unwound switch: 2^30 B in 4 us, bound 3 us; ring on the switch: bound 2 us.
        study = rows(algorithm=["tacos", "ring"], unwind=[1, 0], bound_ps=[3 * US, 2 * US])
        (contest,) = overview.contests(study)
        figure = pictures.draw_reached(contest)
        points, bounds = drawn(figure)
        gb = 2**30 / 1e9 / 1e-6
        self.assertEqual(list(points.values()), [[round(gb / 4, 3)]] * 2)
        self.assertEqual(list(bounds.values()), [[([round(gb / 3, 3)], False)], [([round(gb / 2, 3)], True)]])
        labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        self.assertIn("on the unwound topology, with its bound", "\n".join(labels).replace("\n", " "))
        self.assertIn("proven bound of that point", "\n".join(labels).replace("\n", " "))

    def test_a_bound_that_all_share_is_drawn_once(self):
        (contest,) = overview.contests(rows(algorithm=["tacos", "ring"], collective_time_ps=[4 * US, 8 * US]))
        _, bounds = drawn(pictures.draw_reached(contest))
        self.assertEqual(list(bounds.values()), [[([round(2**30 / 1e9 / 2e-6, 3)], True)]])

    def test_the_fastest_is_marked_with_its_share_of_the_bound(self):
        study = rows(algorithm=["tacos", "ring", "direct"], collective_time_ps=[4 * US, 8 * US, 4 * US],
                     efficiency=[0.5, 0.25, 0.5])  # fmt: skip
        (contest,) = overview.contests(study)
        figure = pictures.draw_reached(contest)
        self.assertEqual(rings(figure), [round(2**30 / 1e9 / 4e-6, 3)] * 2)  # tied
        self.assertEqual([text.get_text() for text in figure.axes[1].texts], ["50 %"])

    def test_networks_stand_in_the_order_of_their_bounds(self):
        study = rows(topology=["RI(4)", "FC(4)", "SW(4)"], bound_ps=[2 * US, US, 4 * US])
        (contest,) = overview.contests(study)
        self.assertEqual(pictures.by_bound(contest.rows, larger=True), ["FC(4)", "RI(4)", "SW(4)"])
        axes = pictures.draw_reached(contest).axes[1]
        self.assertEqual([text.get_text() for text in axes.get_yticklabels()], ["FC(4)", "RI(4)", "SW(4)"])
        self.assertGreater(*axes.get_ylim())  # the first is on top

    def test_a_schedule_played_on_the_switches_counts_there(self):
        # On the unwound switch 4 us, bound 3 us; on the switch 8 us, bound 2 us: efficiency 2 / 8.
        study = rows(
            algorithm=["tacos", "ring"],
            unwind=[1, 0],
            bound_ps=[3 * US, 2 * US],
            switched_time_ps=[8 * US, -1],
            switched_bound_ps=[2 * US, -1],
        )
        (contest,) = overview.contests(study)
        found = contest.rows.set_index("who")
        self.assertAlmostEqual(found["seconds"]["tacos"], 8e-6)
        self.assertAlmostEqual(found["bound_seconds"]["tacos"], 2e-6)
        self.assertAlmostEqual(found["efficiency"]["tacos"], 0.25)
        self.assertAlmostEqual(found["efficiency"]["ring"], 0.5)
        self.assertFalse(found["unwound"].any())
        self.assertEqual(overview.winners(contest)["fastest"].to_list(), [["ring"]])

    def test_no_length_starts_anywhere_but_at_zero(self):
        (contest,) = overview.contests(rows(algorithm=["a", "b"], collective_time_ps=[4 * US, 400 * US]))
        figure = pictures.draw_reached(contest)
        self.assertEqual(figure.axes[1].get_xscale(), "log")
        self.assertEqual(list(figure.axes[1].patches), [])  # points instead of bars
        (contest,) = overview.contests(rows(algorithm=["a", "b"], collective_time_ps=[4 * US, 5 * US]))
        self.assertEqual(pictures.draw_reached(contest).axes[1].get_xlim()[0], 0)

    def test_the_fastest_of_a_competitor_counts(self):
        (contest,) = overview.contests(rows(chunks=[1, 4], collective_time_ps=[8 * US, 4 * US]))
        (best,) = contest.fastest(contest.rows, ["panel", "network", "at", "who"])["seconds"]
        self.assertAlmostEqual(best, 4e-6)

    def test_networks_that_differ_in_more_than_their_topology_do_not_compete(self):
        study = rows(
            bandwidth=["50000000000", "25000000000"], algorithm=["ring", "direct"], collective_time_ps=[4 * US, 8 * US]
        )
        (contest,) = overview.contests(study)
        self.assertEqual(contest.networks(), ["SW(8), 25 GB/s", "SW(8), 50 GB/s"])
        self.assertEqual(overview.winners(contest)["fastest"].to_list(), [["ring"], ["direct"]])

    def test_what_follows_from_the_topology_is_no_part_of_the_name(self):
        study = rows(topology=["SW(8)", "RI(8)"], bandwidth=["50000000000", "25000000000"])
        self.assertEqual(overview.contests(study)[0].networks(), ["RI(8)", "SW(8)"])

    def test_names_of_networks_in_pictures(self):
        self.assertEqual(contests.panel_name("../machines/dgx1.toml"), "dgx1")
        self.assertEqual(contests.panel_name("a/dgx1.toml, 5 us"), "dgx1, 5\u00a0us")
        name = contests.panel_name("torus(2,2,2), 50 GB/s, 50 GB/s, 50 GB/s, none")
        self.assertEqual(name.replace("\u00a0", " "), "torus(2,2,2), 3 x 50 GB/s, none")

    def test_names_ties_and_leads(self):
        study = rows(
            algorithm=["a", "b", "c", "a"], size=[1024] * 3 + [4096], collective_time_ps=[4 * US, 4 * US, 6 * US, US]
        )
        (contest,) = overview.contests(study)
        table = overview.winners(contest)
        self.assertEqual(table["fastest"].to_list(), [["a", "b"], ["a"]])
        self.assertEqual(table["lead"].iloc[0], 1.5)
        self.assertTrue(table["lead"].isna().iloc[1])  # no other algorithm was evaluated there

    def test_writes_sizes_as_people_do(self):
        sizes = [1, 1024, 2**30, 10**9, 1500, 3 * 2**20, 4 * 10**9]  # 4 GB are 3,906,250 KiB, too
        (contest,) = overview.contests(rows(size=sizes))
        told = ["1 B", "1 KiB", "1 GiB", "1 GB", "1.5 kB", "3 MiB", "4 GB"]
        self.assertEqual(contest.texts, dict(sorted(zip(sizes, told))))


class JoinsNeighboursWithOneWinner(unittest.TestCase):
    def test_by_hand(self):
        # a is the fastest at 1 to 3 KiB, b at 4 KiB, nobody was evaluated at 5 KiB, a alone at 6 KiB.
        sizes = [1024 * i for i in (1, 1, 2, 2, 3, 3, 4, 4, 6)]
        times = [4, 8, 4, 6, 4, 5, 9, 3, 2]
        study = rows(algorithm=["a", "b"] * 4 + ["a"], size=sizes, collective_time_ps=[t * US for t in times])
        (contest,) = overview.contests(study)
        places = [1024 * i for i in range(1, 7)]
        found = pictures.runs(pictures.winners(contest), places)
        self.assertEqual([(run.fastest, run.first, run.last) for run in found],
                         [(["a"], 0, 2), (["b"], 3, 3), (["a"], 5, 5)])  # fmt: skip
        self.assertEqual([run.text for run in found], ["1.2-2.0x", "3.0x", ""])
        self.assertEqual(len(pictures.runs(pictures.winners(contest), places, most=1)), 5)

    def test_sixty_seven_sizes_have_text_that_fits(self):
        sizes = [1024 * i for i in range(1, 68)]
        times = [4 * US] * 67 + [5 * US] * 67
        study = rows(algorithm=["a"] * 67 + ["b"] * 67, size=sizes * 2, collective_time_ps=times)
        figure = pictures.draw_overview(study, "winners")["winners"]
        self.assertEqual([text.get_text() for text in figure.axes[1].texts], ["1.2x"])
        self.assertLessEqual(len(figure.axes[1].get_xticks()), 34)
        self.assertLessEqual(figure.get_figwidth(), layout.PAGE_INCHES)


class TellsHowPointsEnded(unittest.TestCase):
    def test_in_sentences(self):
        study = make_study(
            {
                "status": ["ok", "ok", "infeasible"],
                "collective": ["all_gather"] * 3,
                "collective_time_ps": [4, 1, -1],
                "bound_ps": [2, 2, -1],
                "key": ["a1", "b2", "c3"],
            },
            study_points=5,
        )
        first, below = overview.outcome(study)
        self.assertRegex(first, r"3 of 5 points have a row: 2 ok, 1 infeasible\. .*failures")
        self.assertIn("1 rows are faster than their proven bound, which is a defect of tenex: b2", below)

    def test_formulas_of_training_have_nothing_to_verify(self):
        left_out = "the timed stream was not kept for verification: that needs 5 bytes"
        study = rows(workload=["dlrm", "dlrm", ""], verified=["skipped"] * 3, reason=["", left_out, left_out])
        told = overview.outcome(study)[1]
        self.assertIn("2 not verified for lack of memory", told)
        self.assertIn("1 with times from formulas, which have no schedule to verify", told)

    def test_tables_without_a_value_warn_of_nothing_and_print_a_dash(self):
        study = rows(algorithm=["ring"], efficiency=[float("nan")])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), unittest.mock.patch.object(
            overview, "open_study", return_value=study
        ):
            warnings.simplefilter("error")
            overview.main(["made up"])
        self.assertNotIn("nan", printed.getvalue().lower())
        self.assertRegex(printed.getvalue(), r"All-Gather +ring +1 +- +-\n")

    def test_congestion_unaware_times_are_no_defect(self):
        study = rows(backend=["congestion_unaware"], collective_time_ps=[US])
        self.assertEqual(len(outcome.rows_below_bound(study)), 0)


class DrawsStudiesOfAnyShape(unittest.TestCase):
    SHAPES = {
        "one point": {"algorithm": ["ring"]},
        "thirty algorithms": {
            "algorithm": [f"algorithm {i}" for i in range(30)],
            "collective_time_ps": [(i + 4) * US for i in range(30)],
        },
        "forty networks": {"topology": [f"RI({i})" for i in range(4, 44)], "npus": list(range(4, 44))},
        "no efficiency": {"algorithm": ["a", "b"], "efficiency": [float("nan")] * 2},
        "some failed": {
            "status": ["ok", "failed", "infeasible"],
            "collective_time_ps": [4 * US, -1, -1],
            "bound_ps": [2 * US, -1, -1],
        },
        "six collectives": {"collective": list(contests.COLLECTIVES)},
        "long names": {
            "topology": ["RI(4)_FC(8)_RI(4)_SW(32)_SW(4)_SW(2)", "RI(4)_FC(8)_RI(4)_SW(32)_SW(4)_SW(4)"],
            "npus": [1, 2],
        },
    }

    def test_every_kind_of_picture(self):
        for name, columns in self.SHAPES.items():
            for kind, file in (("reached", "bandwidth"), ("efficiency", "efficiency"), ("winners", "winners")):
                with self.subTest(shape=name, kind=kind):
                    found = pictures.draw_overview(rows(**columns), kind)
                    self.assertEqual(list(found), [file])
                    self.assertGreaterEqual(layout.least_type(found[file]), layout.LEAST_TYPE)
                    self.check_inside(found[file])

    def check_inside(self, figure):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        box = figure.get_tightbbox(canvas.get_renderer())  # in inches, around everything drawn
        width, height = figure.get_size_inches()
        self.assertTrue(box.x0 >= -0.02 and box.x1 <= width + 0.02 and box.y0 >= -0.02 and box.y1 <= height + 0.02, box)

    def test_says_so_where_no_row_is_ok(self):
        study = rows(status=["failed", "infeasible"], collective_time_ps=[-1, -1], bound_ps=[-1, -1])
        for kind, file in (("reached", "bandwidth"), ("efficiency", "efficiency"), ("winners", "winners")):
            found = pictures.draw_overview(study, kind)
            self.assertRegex(
                re.sub(r"\s+", " ", texts_of(found[file])),
                "no row is ok. 2 of 2 points have a row: 1 failed, 1 infeasible",
            )

    def test_says_how_many_networks_it_left_out(self):
        figure = pictures.draw_overview(rows(**self.SHAPES["forty networks"]), "reached")["bandwidth"]
        self.assertIn(
            f"the {pictures.MOST_NETWORKS} smallest of 40 networks", figure._suptitle.get_text().replace("\n", " ")
        )

    def test_competitors_of_one_colour_have_different_marks(self):
        styles = {(pictures.colour_of(i), pictures.marker_of(i)) for i in range(18)}
        self.assertEqual(len(styles), 18)


if __name__ == "__main__":
    unittest.main()
