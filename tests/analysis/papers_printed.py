"""Numbers that the papers print, compared with the results of experiments/: the lines of printed.csv, and what takes
several rows of a table; ratios, loads over time and per link.
"""

import unittest

import numpy
from printed import holds, lines, reached, result_of, table_of

from tenex_analysis import papers


def largest_slowdown(target):
    """The largest slowdown of any model on the network designed for one, at 234 TFLOPS."""
    rows = table_of("libra_group")
    return rows[rows.index.str.startswith(f"234 TFLOPS, made for {target}: slowdown, largest")].iloc[0]


class ComesOutAsPrinted(unittest.TestCase):
    def test_every_line(self):
        for line in lines():
            with self.subTest(line["row"], study=line["study"]):
                true, found = holds(line)
                self.assertTrue(true, f"{found} where {line['relation']} {line['number']} is wanted")


class ComesOutTogether(unittest.TestCase):
    def test_the_table_s_average_is_geometric(self):
        self.assertAlmostEqual(papers.geometric_mean(papers.TABLE_V["ring"]), 5.39, places=2)

    def test_bubbles_shrink_with_chunks(self):
        busy = [reached("pipeline", f"160:40:10 GB/s, {c}: dimension 1 busy")
                for c in ("1 chunk", "4 chunks", "64 chunks")]
        self.assertEqual(busy, sorted(busy))

    def test_parts_of_dimensions_cost_what_chunks_on_their_links_take(self):
        for model in ("GPT-3", "MSFT-1T"):
            for npus in (1024, 2048, 4096):
                row = f"Fig. 3.18, {model}, 234 TFLOPS, `{{}}`: W-{npus} over Base-512"
                found = [reached("wafer_scale", row.format(times)) for times in ("pipeline", "libra_derated")]
                self.assertAlmostEqual(found[0] / found[1], 1, delta=0.0025)

    def test_networks_made_for_others_slow_models_down_as_printed(self):
        for target, printed in (("ResNet-50", 1.77), ("Turing-NLG", 1.77), ("GPT-3", 1.15)):
            self.assertAlmostEqual(largest_slowdown(target) / printed, 1, delta=0.02)

    def test_eight_chunks_over_three_balanced_dimensions_take_the_printed_ratio(self):
        # One step per dimension takes (8 + 2) / 8 = 1.25 times the bound; LIBRA+TACOS reaches a share of the bound.
        share = reached("libra_runtime", "Fig. 20: LIBRA+TACOS, share of the bound")
        over = reached("libra_runtime", "Fig. 20: same, dimensions in one step") / share
        self.assertAlmostEqual(over, 1.25, places=4)

    def test_bytes_are_fewest_at_tp_16_and_tp_32(self):
        # TP-m carries V m (1 - 1/m), DP-4096/m W / m (1 - m/4096), and V m = W / m half-way between 16 and 32: W = 512
        # V.
        few = [reached("libra_parallelization", f"HP-({hp}): GB sent by an NPU in an iteration")
               for hp in ("16,256", "32,128")]
        self.assertAlmostEqual(few[0], few[1], delta=0.01)
        for hp in ("8,512", "64,64", "128,32", "256,16"):
            self.assertGreater(reached("libra_parallelization", f"HP-({hp}): GB sent by an NPU in an iteration"),
                               few[0])


class HoldsWhatWasObserved(unittest.TestCase):
    def test_utilization_adds_up_to_the_links_busy_time(self):
        study = result_of("utilization")
        bins = study.utilization().groupby("point")["busy_ps"].sum()
        links = study.links().groupby("point")["busy_ps"].sum()
        self.assertEqual(len(bins), 9)
        self.assertTrue((bins == links).all())
        self.assertLessEqual(study.utilization()["utilization"].max(), 1.0)

    def test_is_stored_only_where_asked_for(self):
        study = result_of("themis")
        large = study.frame().index[study.frame()["size"] == 10**9]
        self.assertEqual(set(study.utilization()["point"]), set(large))
        self.assertEqual(len(study.arrivals()), 0)
        with self.assertRaises(ValueError):
            study.heat_map(int(large[0]))

    def test_heat_maps_have_a_cell_per_link(self):
        study = result_of("baselines")
        rows = study.frame()
        point = rows.index[
            (rows["topology"] == "RI(64)") & (rows["algorithm"] == "ring_unidirectional") & (rows["size"] == 10**9)
        ][0]
        heat = study.heat_map(int(point))
        # One direction: 126 chunks of 15,625,000 B on each of the 64 links forward, nothing on the links back.
        self.assertEqual(numpy.count_nonzero(~numpy.isnan(heat)), 128)
        self.assertEqual(heat[0, 1], 126 * 15_625_000)
        self.assertEqual(heat[1, 0], 0)


if __name__ == "__main__":
    unittest.main()
