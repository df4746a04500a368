"""Fluid optima of experiments/fluid_optima that follow by hand, in link times: size * bandwidth of a link = 1.

B is the bandwidth of a link, S the size, n the number of NPUs. Times are in units of S / B.
"""

import os
import unittest
from fractions import Fraction
from pathlib import Path

from tenex_analysis import fluid_optima

STUDY = Path(os.environ["TENEX_STUDY"])
BANDWIDTH = 50 * 10**9

#: (n - 1) / n of S enters an NPU over its in-links, of which a corner of a mesh has one per dimension.
ALL_GATHER = {
    "mesh_4x4": Fraction(15, 16) / 2,
    "mesh_8x8": Fraction(63, 64) / 2,
    "mesh_12x12": Fraction(143, 144) / 2,
    "torus_8x8": Fraction(63, 64) / 4,
    "torus_4x4x4": Fraction(63, 64) / 6,
    "grid_5x5x5": Fraction(124, 125) / 3,
    "hypercube_6": Fraction(63, 64) / 6,
    "ring4_full8_switch4": Fraction(127, 128) / 10,  # 2 links of the ring, 7 of the box, 1 of the switch
    # 27 NPUs of three groups are not in the fourth one, which 3 links enter: 27/36 / 3, above 35/36 over 8 in-links.
    "dragonfly_9x4": Fraction(27, 36) / 3,
}

#: A chunk is S/n; each is sent 2(n - 1) times into an NPU, over all links that end at one.
ALL_REDUCE = {
    "mesh_4x4": Fraction(2 * 15, 48),
    "mesh_8x8": Fraction(2 * 63, 224),
    "mesh_12x12": Fraction(2 * 143, 528),
    "torus_8x8": Fraction(2 * 63, 256),
    "torus_4x4x4": Fraction(2 * 63, 384),
    "grid_5x5x5": Fraction(2 * 124, 600),
    "hypercube_6": Fraction(2 * 63, 384),
    "ring4_full8_switch4": Fraction(2 * 127, 1280),  # 1408 links without the 128 into switches
    # Between its groups: a chunk is sent 2 * 3 times over 12 links.
    "dragonfly_9x4": Fraction(2 * 3, 12),
}

#: A pair's part is S/n. Link times of a part of every pair.
ALL_TO_ALL = {
    "mesh_4x4": 16,  # 8 * 8 pairs each way over 4 links in the middle
    "mesh_8x8": 128,  # 32 * 32 pairs over 8 links
    "mesh_12x12": 432,  # 72 * 72 pairs over 12 links
    "torus_8x8": 64,  # 64 * 64 pairs, 2 hops per ring on average, over 256 links
    "torus_4x4x4": 32,  # 64 * 64 pairs, 3 hops on average, over 384 links
    "grid_5x5x5": 150,  # 50 * 75 pairs over 25 links
    "hypercube_6": 32,  # 64 * 64 pairs, 3 hops on average, over 384 links
    "ring4_full8_switch4": 96,  # an NPU sends to 96 NPUs beyond its switch, over one link up
    "dragonfly_9x4": 81,  # 9 * 9 pairs over the link between two groups
}


class ComesOutByHand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = {optimum.key: optimum for optimum in fluid_optima.read_optima(STUDY / "certificates")}

    def assert_times(self, collective, times):
        for network, time in times.items():
            optimum = self.found[network, collective]
            by_hand = time * Fraction(optimum.size_bytes * 10**12, BANDWIDTH)
            self.assertLess(abs(optimum.time_ps / by_hand - 1), 1e-6, f"{network} {collective}")

    def test_all_gather(self):
        self.assert_times("all_gather", ALL_GATHER)

    def test_all_reduce(self):
        self.assert_times("all_reduce", ALL_REDUCE)

    def test_all_to_all(self):
        parts = {network: Fraction(times, self.found[network, "all_to_all"].npus)
                 for network, times in ALL_TO_ALL.items()}
        self.assert_times("all_to_all", parts)


class Study(unittest.TestCase):
    def test_expected_rows_are_those_of_the_certificates(self):
        optima = fluid_optima.read_optima(STUDY / "certificates")
        self.assertEqual(fluid_optima.differences(optima, STUDY / "expected.csv"), [])

    def test_a_changed_time_and_a_missing_row_are_told(self):
        optima = fluid_optima.read_optima(STUDY / "certificates")
        optima[0].time_ps += optima[0].time_ps // 500_000
        told = fluid_optima.differences(optima[:-1], STUDY / "expected.csv")
        self.assertEqual(len(told), 2)
        self.assertIn("expected", told[0])
        self.assertIn("one of both only", told[1])

    def test_the_table_is_that_of_the_page(self):
        exact = fluid_optima.read_exact(STUDY / "expected.csv")
        text = fluid_optima.table(fluid_optima.read_optima(STUDY / "certificates"), exact)
        self.assertIn(text, (STUDY / "README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
