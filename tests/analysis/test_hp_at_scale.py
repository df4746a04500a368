"""Fastest designs, Pareto fronts and the cost of shared links, on frames small enough to compute by hand."""

import unittest

import numpy
import pandas

from tenex_analysis import hp_at_scale as hp


def point(hp_="8,8", time=2.0, model=hp.TOGETHER, **more):
    """A row as read_points() makes it."""
    row = {"npus": 64, "topology": "RI(8)_SW(8)", "split": "equal", "hp": hp_, "model": model, "algorithm": "tacos",
           "chunks": 4,
           "status": "ok", "time": time, "network_cost_usd": 1e6, "efficiency": 0.5, "evaluation_seconds": 0.25,
           "memory_planned_bytes": 2 * 10**9, "verified": "yes"}
    row |= {f"{phase} exposed": 0.1 for phase in hp.PHASES}
    return row | more


def frame(*rows):
    return pandas.DataFrame(rows)


class ChoosesTheFastest(unittest.TestCase):
    def test_takes_the_best_algorithm_and_chunk_count_of_a_design(self):
        rows = frame(point(time=3.0, chunks=1), point(time=2.0), point(time=2.5, algorithm="auto"))
        (best,) = hp.fastest(rows).itertuples()
        self.assertEqual((best.time, best.algorithm, best.chunks), (2.0, "tacos", 4))

    def test_takes_no_point_that_was_refused(self):
        rows = frame(point(time=numpy.nan, status="out_of_memory"), point(time=2.5))
        self.assertEqual(list(hp.fastest(rows)["time"]), [2.5])

    def test_names_the_best_hp_of_a_topology_and_split(self):
        rows = frame(point("4,16", 3.0), point("8,8", 2.0), point("16,4", 1.0, model="libra"),
                     point("16,4", 4.0, split="perf_opt"))
        table = hp.best_designs(rows)
        self.assertEqual(list(zip(table["split"], table["best HP"])),
                         [("equal", "HP-(8,8)"), ("perf_opt", "HP-(16,4)")])
        # 3 * 0.1 s of 2 s and of 4 s.
        numpy.testing.assert_allclose(table["exposed %"], [15, 7.5])


class DrawsFronts(unittest.TestCase):
    def front(self, *pairs):
        rows = pandas.DataFrame(pairs, columns=["network_cost_usd", "time"])
        return [tuple(row) for row in hp.front(rows).itertuples(index=False)]

    def test_keeps_what_nothing_dominates(self):
        self.assertEqual(self.front((1, 9), (3, 4), (2, 9), (4, 5), (5, 1)), [(1, 9), (3, 4), (5, 1)])

    def test_keeps_the_faster_of_equal_cost_and_one_of_equal_points(self):
        self.assertEqual(self.front((1, 3), (1, 2), (1, 2)), [(1, 2)])


class ComparesModels(unittest.TestCase):
    def test_pairs_points_that_differ_in_contention_alone(self):
        rows = frame(point(time=2.0, model="synthesized alone"), point(time=2.1), point(time=3.0, chunks=1))
        (pair,) = hp.contention(rows).itertuples()
        self.assertAlmostEqual(pair.slowdown, 1.05)

    def test_says_where_sharing_hurts_most(self):
        rows = frame(point(time=2.0, model="synthesized alone"), point(time=2.1),
                     point("4,16", 1.0, "synthesized alone"), point("4,16", 1.0))
        self.assertEqual(hp.contention_sentence(hp.contention(rows), 64),
                         "At 64 NPUs sharing the links slows 1 of 2 pairs of points, "
                         "at most by 5.0 % (RI(8)_SW(8), equal, HP-(8,8), tacos, 4 chunks).")

    def test_says_where_it_never_hurts(self):
        rows = frame(point(time=2.0, model="synthesized alone"), point(time=2.0))
        self.assertIn("slows none of 1 pairs", hp.contention_sentence(hp.contention(rows), 64))

    def test_names_the_fastest_and_what_is_nearly_as_fast_for_less(self):
        # 2.1 s are 5 % more than 2 s, 2.2 s are more than that.
        rows = frame(point(time=2.0), point("4,16", 2.1, network_cost_usd=5e5, chunks=1),
                     point("16,4", 2.2, network_cost_usd=1e5))
        self.assertEqual(hp.fastest_sentence(rows, 64),
                         "At 64 NPUs the fastest is RI(8)_SW(8), equal, HP-(8,8), tacos, 4 chunks: 2.00 s for $1.0 M. "
                         "Within 5 % of it the cheapest is RI(8)_SW(8), equal, HP-(4,16), tacos, 1 chunk: 2.10 s for "
                         "$0.5 M.")
        self.assertIn("nothing within 5 % of it is cheaper", hp.fastest_sentence(rows[rows["hp"] != "4,16"], 64))

    def test_counts_where_the_optimized_split_is_faster(self):
        rows = frame(point(), point(time=1.9, split="perf_opt"), point("4,16", 2.0),
                     point("4,16", 2.5, split="perf_opt"),
                     point("16,4", 2.0), point(time=2.0, model="libra"),
                     point(time=1.0, model="libra", split="perf_opt"))
        self.assertEqual(hp.split_sentence(rows, 64), "At 64 NPUs perf_opt is faster than equal shares for 1 of 1 "
                                                      "under libra, 1 of 2 under synthesized together.")
        self.assertEqual(hp.split_sentence(rows[rows["split"] == "equal"], 64), "")

    def test_compares_only_designs_that_both_models_timed(self):
        # 8,8: 1.0 over 2.0; 4,16: 3.0 over 2.0; 16,4 was timed by libra alone.
        rows = frame(point(time=2.0), point(time=1.0, model="libra"), point("4,16", 2.0), point("4,16", 3.0, "libra"),
                     point("16,4", 9.0, "libra"))
        (row,) = hp.model_ratios(rows).itertuples()
        self.assertEqual((row.model, row.designs, row.median, row.least, row.greatest), ("libra", 2, 1.0, 0.5, 1.5))


class CountsEffort(unittest.TestCase):
    def test_counts_refused_points_apart(self):
        refused = point(status="out_of_memory", verified="no", evaluation_seconds=99.0, memory_planned_bytes=1)
        (row,) = hp.effort(frame(point(), point("4,16", evaluation_seconds=0.75), refused)).to_dict("records")
        self.assertEqual((row["points"], row["not evaluated"], row["verified"]), (2, 1, 2))
        self.assertEqual((row["median s"], row["largest s"], row["largest GB"]), (0.5, 0.75, 2.0))

    def test_absent_times_are_no_numbers(self):
        numpy.testing.assert_array_equal(hp.seconds(pandas.Series([-1, 0, 5 * 10**11])), [numpy.nan, 0.0, 0.5])


class ComparesWithWhatIsPinned(unittest.TestCase):
    def rows(self, time, split="equal", **more):
        row = point(split=split, training_time_ps=time, bound_ps=10**12, bound_name="collectives") | more
        return frame(row)[hp.PINNED]

    def test_takes_a_picosecond_as_a_difference(self):
        wanted = self.rows(2 * 10**12)
        self.assertTrue(hp.differences(self.rows(2 * 10**12), wanted).empty)
        self.assertEqual(len(hp.differences(self.rows(2 * 10**12 + 1), wanted)), 1)
        self.assertEqual(len(hp.differences(self.rows(2 * 10**12, bound_name="optimizer"), wanted)), 1)

    def test_allows_a_millionth_where_an_optimizer_chose_the_bandwidths(self):
        wanted = self.rows(2 * 10**12, "perf_opt")
        self.assertTrue(hp.differences(self.rows(2 * 10**12 + 2 * 10**6, "perf_opt"), wanted).empty)
        self.assertEqual(len(hp.differences(self.rows(2 * 10**12 + 2 * 10**6 + 1, "perf_opt"), wanted)), 1)

    def test_refuses_rows_of_other_points(self):
        with self.assertRaises(ValueError):
            hp.differences(self.rows(2 * 10**12), self.rows(2 * 10**12, chunks=1))


class LabelsPictures(unittest.TestCase):
    def test_writes_shapes_without_underscores(self):
        self.assertEqual(hp.short_shape("RI(4)_FC(8)_SW(32)"), "RI 4 x FC 8 x SW 32")

    def test_tells_families_of_shapes_apart(self):
        self.assertEqual(hp.family("RI(4)_FC(8)_SW(32)"), hp.family("RI(16)_FC(2)_SW(1280)"))
        self.assertNotEqual(hp.family("RI(4)_FC(8)_SW(32)"), hp.family("RI(4)_RI(8)_SW(32)"))


if __name__ == "__main__":
    unittest.main()
