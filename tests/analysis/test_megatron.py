"""The printed times of Megatron-LM's table 1, and the rate for a printed time."""

import unittest

import pandas

from tenex_analysis import megatron


class Megatron(unittest.TestCase):
    def test_printed_seconds_follow_by_equation_4(self):
        # 1.7B: 96 * 512 * 2048 * 24 * 2304^2 = 2415919104 * 5308416, times 1 + 2048/13824 + 51200/884736, over
        # 32 * 137e12 FLOP/s: 3.528 s.
        work = 2_415_919_104 * 5_308_416 * (1 + 2048 / 13_824 + 51_200 / 884_736)
        self.assertAlmostEqual(megatron.TABLE_1[0].seconds, work / (32 * 137e12), places=12)
        self.assertAlmostEqual(megatron.TABLE_1[0].seconds, 3.528, places=3)
        self.assertEqual([row.gpus for row in megatron.TABLE_1][-1], 3072)

    def test_the_rate_is_that_of_a_time_with_a_constant_part(self):
        # 170 / rate + 1 s: 2 s at 170, 1.5 s at 340, so 1.25 s at 680.
        self.assertAlmostEqual(megatron._rate_for({170e12: 2.0, 340e12: 1.5}, 1.25), 680)

    def test_times_are_those_of_the_best_timing(self):
        rows = pandas.DataFrame(
            [[False, "formula", 170e12, 5e12], [True, "formula", 170e12, 4e12], [True, "simulated", 170e12, 3e12]],
            columns=["sequence_parallelism", "pipeline_timing", "compute", "training_time_ps"])  # fmt: skip
        self.assertEqual(megatron._times(rows, False, "formula"), {170e12: 5.0})
        self.assertEqual(megatron._times(rows, True, "simulated"), {170e12: 3.0})


if __name__ == "__main__":
    unittest.main()
