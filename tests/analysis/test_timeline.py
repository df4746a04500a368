"""Timelines: threads, idle gaps, utilization by hand, and the picture."""

import math
import tempfile
import unittest

import numpy
from made_up import make_study
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection

from tenex_analysis import timeline


class LaysSpansOnThreads(unittest.TestCase):
    def lay(self, *spans):
        spans = sorted(spans, key=lambda span: (span[1], span[0]))
        return timeline.lay_on_threads(numpy.array([s[0] for s in spans]), numpy.array([s[1] for s in spans]),
                                       resolution=0.001)

    def test_one_thread_for_what_follows_another(self):
        self.assertEqual(self.lay((0.0, 1.0), (1.0, 2.0), (2.5, 3.0)), [0, 0, 0])

    def test_a_thread_each_for_what_overlaps(self):
        self.assertEqual(self.lay((0.0, 1.0), (0.0, 3.0), (1.0, 2.0)), [0, 0, 1])

    def test_short_spans_that_fit_one_after_another_share_a_thread(self):
        # 8 points of 0.15 ms with equal ends, which is 1.2 ms of work. True ends are up to 1 ms later than given ones.
        # So a thread has 1.25 ms for what lies in a window of 0.25 ms, which is the shortest that is tried.
        self.assertEqual(set(self.lay(*[(0.00985, 0.01)] * 8)), {0})
        # 9 of them, 1.35 ms, take two threads; 40, which is 6 ms, take 6 / 1.25, rounded up.
        self.assertEqual(set(self.lay(*[(0.00985, 0.01)] * 9)), {0, 1})
        self.assertEqual(set(self.lay(*[(0.00985, 0.01)] * 40)), set(range(5)))

    def test_a_short_span_goes_before_a_long_one_that_seems_to_have_begun_first(self):
        # The short one may have run first, from 0.3 ms to 0.6 ms, and the long one after it: true begins and ends are
        # up to 1 ms later than given ones.
        self.assertEqual(self.lay((0.0, 0.05), (0.0003, 0.0006)), [0, 0])

    def test_uses_as_many_threads_as_overlap(self):
        numbers = numpy.random.default_rng(1)
        start = numbers.uniform(0, 50, 300)
        spans = [(s, s + d) for s, d in zip(start, numbers.exponential(1.0, 300))]
        depth = max(sum(a <= begin < b for a, b in spans) for begin, _ in spans)
        self.assertEqual(max(timeline.lay_on_threads(*map(numpy.array, zip(*sorted(spans, key=lambda s: s[1]))),
                                                     resolution=0.0)) + 1, depth)


class FindsNoMoreThreadsThanThereWere(unittest.TestCase):
    """Runs with known threads: their points end, are stamped and begin with delays as on a machine that is loaded. The
    file has the duration, and the stamp cut off to milliseconds.
    """

    def run_on(self, threads, points, pauses, numbers):
        free = [0.0] * threads
        spans = []
        for _ in range(points):
            thread = free.index(min(free))
            pause = pauses * (numbers.random(3) < 0.2) * numbers.exponential(size=3)
            length = numbers.choice([5e-5, 3e-4, 2e-3, 2e-2])
            begin, seconds, late = numbers.exponential([2e-5, length, 1e-5]) + pause
            free[thread] += begin + seconds + late
            stamp = math.floor(free[thread] * 1000) / 1000
            spans.append((stamp - seconds, stamp))
        spans.sort(key=lambda span: (span[1], span[0]))
        return numpy.array(spans).T

    def test_whatever_delays_points_and_their_stamps(self):
        for seed in range(30):
            for threads in (1, 2, 5):
                for pauses in (0, 6e-3):
                    with self.subTest(seed=seed, threads=threads, pauses=pauses):
                        numbers = numpy.random.default_rng(seed)
                        start, end = self.run_on(threads, 100, pauses, numbers)
                        lanes = numpy.array(timeline.lay_on_threads(start, end))
                        self.assertLess(lanes.max(), threads)
                        # What the spans of a thread cover repeatedly: at most 1 ms of each.
                        for lane in range(threads):
                            of = lanes == lane
                            begins, ends = start[of], numpy.maximum.accumulate(end[of][numpy.argsort(start[of])])
                            alone = numpy.maximum(0, ends - numpy.maximum(numpy.sort(begins), [-1, *ends[:-1]]))
                            self.assertLessEqual((end - start)[of].sum() - alone.sum(), 0.001 * of.sum())

    def test_all_threads_of_a_run_that_keeps_them_busy(self):
        for threads in (1, 2, 5):
            start, end = self.run_on(threads, 400, 0, numpy.random.default_rng(threads))
            self.assertEqual(max(timeline.lay_on_threads(start, end)), threads - 1)


class MeasuresUse(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # Run 1 from 100 s to 110 s. Rank 0, two threads: points 0 (100-104) and 1 (100-106) concurrently, then 2
        # (106-110) on both. Rank 1, one thread: 3 (102-105), and 4 at 105, which is not ok and took no time. Run 2,
        # from 500 s to 502 s: 5 on rank 0.
        self.study = make_study(
            {
                "status": ["ok"] * 4 + ["infeasible", "ok"],
                "reason": [""] * 4 + ["no"] + [""],
                "algorithm": ["ring", "tacos", "tacos", "ring", "ring", "ring"],
                "evaluation_seconds": [4.0, 6.0, 4.0, 3.0, 0.0, 2.0],
                "threads": [1, 1, 2, 1, -1, 1],
            },
            runs=[(0, 0, 1, "n1", 104_000), (1, 0, 1, "n1", 106_000), (2, 0, 1, "n1", 110_000),
                  (3, 1, 1, "n2", 105_000), (4, 1, 1, "n2", 105_000), (5, 0, 2, "n1", 502_000)],
            folder=folder.name,
        )  # fmt: skip
        self.spans = timeline.read_spans(self.study)

    def test_spans_begin_when_their_evaluation_did(self):
        by_point = self.spans.set_index("point")
        self.assertEqual(by_point["start"].to_dict(), {0: 0.0, 1: 0.0, 2: 6.0, 3: 2.0, 4: 5.0, 5: 0.0})
        self.assertEqual(by_point["end"].to_dict(), {0: 4.0, 1: 6.0, 2: 10.0, 3: 5.0, 4: 5.0, 5: 2.0})
        self.assertEqual(by_point["lane"].to_dict(), {0: 0, 1: 1, 2: 0, 3: 0, 4: 0, 5: 0})
        self.assertEqual(by_point["status"][4], "infeasible")

    def test_utilization_counts_all_threads_of_a_wide_point(self):
        # Run 1 takes 10 s. Rank 0: 4 + 6 + 2 * 4 = 18 of 20 thread-seconds. Rank 1: 3 of 10. Run 2: 2 of 2.
        table = timeline.utilization_table(self.spans)
        self.assertEqual(table[["run", "rank", "points", "threads"]].values.tolist(),
                         [[1, 0, 3, 2], [1, 1, 2, 1], [2, 0, 1, 1]])
        numpy.testing.assert_allclose(table["busy"], [18, 3, 2])
        numpy.testing.assert_allclose(table["idle"], [2, 7, 0])
        numpy.testing.assert_allclose(table["utilization"], [0.9, 0.3, 1.0])
        self.assertAlmostEqual(timeline.total_utilization(self.spans), 23 / 32)

    def test_idle_gaps_are_those_of_threads_longest_first(self):
        # Rank 1 waits from 5 to 10 and from 0 to 2; thread 0 of rank 0 from 4 to 6.
        gaps = timeline.idle_gaps(self.spans)
        self.assertEqual(gaps[["run", "rank", "lane", "start", "end"]].values.tolist(),
                         [[1, 1, 0, 5, 10], [1, 0, 0, 4, 6], [1, 1, 0, 0, 2]])
        self.assertEqual(len(timeline.idle_gaps(self.spans, least_seconds=3)), 1)

    def test_busy_seconds_per_bin(self):
        # 0-4 and 1-2 in bins of 1.5 s: 1.5 + 0.5, 1.5 + 0.5, 1.
        busy = timeline.busy_seconds([0.0, 1.0], [4.0, 2.0], numpy.array([0.0, 1.5, 3.0, 4.5]))
        numpy.testing.assert_allclose(busy, [2.0, 2.0, 1.0])

    def test_draws_a_box_per_point_as_high_as_its_threads(self):
        figure = timeline.draw_timeline(self.study)
        idle, bars = [c for c in figure.axes[0].collections if isinstance(c, PolyCollection)]
        self.assertEqual((len(idle.get_paths()), len(bars.get_paths())), (3, 6))
        heights = sorted(round(float(numpy.ptp(path.vertices[:, 1])), 2) for path in bars.get_paths())
        self.assertEqual(heights, [0.88] * 5 + [1.88])
        labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        self.assertEqual(labels, ["ring", "tacos", "idle", "not ok (1)"])
        self.assertIn("6 points on 2 ranks", figure._suptitle.get_text())
        self.assertIn("busy 72 %", figure._suptitle.get_text())  # 23 / 32
        self.assertEqual([t.get_text() for t in figure.axes[0].get_yticklabels()], ["n1, rank 0", "n2, rank 1"])
        # Rank 0: 20 of 22 in both runs.
        self.assertEqual([t.get_text() for t in figure.axes[0].texts], ["91 %", "30 %", "busy"])

    def test_the_legend_is_above_the_points(self):
        figure = timeline.draw_timeline(self.study)
        FigureCanvasAgg(figure).draw()
        legend = figure.axes[0].get_legend().get_window_extent()
        self.assertGreaterEqual(legend.y0, figure.axes[0].get_window_extent().y1 - 1)
        self.assertLessEqual(legend.y1, figure._suptitle.get_window_extent().y0 + 1)

    def test_says_that_nothing_was_evaluated(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        study = make_study({"algorithm": ["ring"], "evaluation_seconds": [1.0], "threads": [1]}, runs=[],
                           folder=folder.name)
        with self.assertRaisesRegex(ValueError, "no point"):
            timeline.draw_timeline(study)


class DrawsManyPoints(unittest.TestCase):
    def test_as_shares_of_time_in_the_colour_of_what_took_most(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # 5,000 points of 2 ms, one every 4 ms: half of the time is idle. "ring" first, then "tacos".
        rows = 5000
        study = make_study(
            {"algorithm": ["ring"] * 2500 + ["tacos"] * 2500, "evaluation_seconds": [0.002] * rows,
             "threads": [1] * rows},
            runs=[(i, 0, 1, "n1", 4 * i) for i in range(rows)],
            folder=folder.name,
        )
        figure = timeline.draw_timeline(study)
        (image,) = figure.axes[0].get_images()
        pixels = numpy.asarray(image.get_array())[0]
        half = [(numpy.array(timeline.to_rgb(colour)) + numpy.array(timeline.to_rgb(timeline.IDLE_COLOUR))) / 2
                for colour in ("#0072B2", "#E69F00")]
        # A bin of 20 s / 800 = 25 ms holds 6 or 7 points: 12 to 14 ms of 25.
        numpy.testing.assert_allclose(pixels[100], half[0], atol=0.06)
        numpy.testing.assert_allclose(pixels[700], half[1], atol=0.06)
        self.assertIn("busy 50 %", figure._suptitle.get_text())


if __name__ == "__main__":
    unittest.main()
