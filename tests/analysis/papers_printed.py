"""Numbers that the papers print, compared with the results of experiments/: ratios, loads over time and per link."""

import unittest

import numpy
from printed import reached, result_of

from tenex_analysis import papers, papers_switches


class ComesOutAsPrinted(unittest.TestCase):
    def test_ring_over_direct_on_a_ring(self):
        # 2 * 63 steps of 0.5 us + 7,812,500 B / 50 GB/s = 156.75 us are 19.7505 ms; 330.002 / 19.7505 = 16.709.
        self.assertAlmostEqual(reached("baselines", "RI(64): Ring over Direct, halves each way round"), 16.71, places=2)
        self.assertAlmostEqual(reached("baselines", "RI(64): Ring over Direct, one way round"), 8.37, places=2)

    def test_direct_over_ring_fully_connected(self):
        self.assertAlmostEqual(reached("baselines", "FC(64): Direct over Ring, one way round"), 63.0, places=1)
        self.assertAlmostEqual(reached("baselines", "FC(64): Direct over Ring, halves each way round"), 31.6,
                               delta=0.06)

    def test_direct_wins_at_1_kb_on_a_ring_and_loses_from_1_mb_on(self):
        at = "RI(128), {}: Direct over Ring, halves each way round"
        self.assertGreater(reached("baselines", at.format("1 KB")), 1.9)
        for size in ("1 MB", "32 MB", "1 GB"):
            self.assertLess(reached("baselines", at.format(size)), 0.1)

    def test_direct_over_ideal_in_table_v(self):
        for npus, printed in ((16, 4.04), (32, 10.9), (64, 24.8), (128, 53.0)):
            found = reached("multi_node", f"Direct over Ideal, unwound, {npus} NPUs")
            self.assertAlmostEqual(found / printed, 1, delta=0.01)

    def test_ring_over_ideal_in_table_v_takes_links_of_50_gb_per_s(self):
        for npus, printed in ((16, 7.14), (32, 7.083), (64, 7.059), (128, 7.088)):
            found = reached("multi_node", "Ring one way round over Ideal, FC links of 50 GB/s, chunks 2, transfer, "
                                          f"{npus} NPUs")
            self.assertAlmostEqual(found / printed, 1, delta=0.006)

    def test_a_real_switch_is_far_from_table_v(self):
        self.assertAlmostEqual(reached("multi_node", "Direct over Ideal, on the switch, 128 NPUs"), 6.67, places=2)

    def test_the_table_s_average_is_geometric(self):
        self.assertAlmostEqual(papers.geometric_mean(papers.TABLE_V["ring"]), 5.39, places=2)

    def test_themis_needs_many_chunks(self):
        self.assertAlmostEqual(reached("themis", "torus: Themis with 64 chunks of Ideal, 1 GB"), 0.959, delta=0.01)
        self.assertLess(reached("themis", "torus: Themis with 4 chunks of Ideal"), 0.6)

    def test_tacos_is_ahead_of_multitree_and_c_cube(self):
        self.assertGreater(reached("trees", "TACOS over MultiTree, torus and mesh, geometric mean"), 1.2)
        self.assertGreater(reached("trees", "DGX-1: TACOS over C-Cube with 8 chunks"), 2.4)

    def test_a_short_dimension_starves_the_others(self):
        for chunks in (4, 64):
            for dimension, share in ((1, 1), (2, 0.25), (3, 0.0625)):
                found = reached("pipeline", f"70:70:70 GB/s, {chunks} chunks: dimension {dimension} busy")
                self.assertAlmostEqual(found, share, delta=0.001)

    def test_bubbles_shrink_with_chunks(self):
        busy = [reached("pipeline", f"160:40:10 GB/s, {c}: dimension 1 busy")
                for c in ("1 chunk", "4 chunks", "64 chunks")]
        self.assertEqual(busy, sorted(busy))
        self.assertGreater(busy[2], 0.95)
        self.assertAlmostEqual(busy[0], 1 / 3, delta=0.01)  # each dimension in turn

    def test_groups_of_8_gain_what_free_links_allow(self):
        first = reached("process_groups", "Fig. 6.17, 1 group of 8 in the first rows, 16 chunks")
        self.assertAlmostEqual(first / 3.05, 1, delta=0.05)
        # All eight rows: a cut through the middle carries 8 * 16 messages over 8 links, as direct does.
        every = reached("process_groups", "Fig. 6.17, 8 groups of 8 in the first rows, 16 chunks")
        self.assertAlmostEqual(every, 1, delta=0.02)

    def test_all_to_all_within_a_row_is_as_much_faster_as_printed(self):
        for what, printed in (("mesh(4,4)", 2.33), ("mesh(8,8)", 3.03), ("mean of mesh(4,4) to mesh(8,8)", 2.68)):
            found = reached("process_groups", f"Fig. 6.14, first row, 16 and 16 chunks: {what}")
            self.assertAlmostEqual(found / printed, 1, delta=0.05)
        found = reached("process_groups", "Fig. 6.16, group of 32, every other column, 16 chunks")
        self.assertAlmostEqual(found / 1.88, 1, delta=0.03)

    def test_relays_shorten_two_collectives_on_a_small_mesh(self):
        # Within the row, link 0->1 carries all 4 chunks of NPU 0, which takes 4 timesteps. Over NPUs 3 and 4 one of the
        # chunks for NPU 1 takes 3, and the link the other 3.
        for who, steps in (("pccl", 3), ("pccl, members only", 4)):
            found = reached("process_groups", f"Fig. 6.13, two collectives: timesteps, {who}")
            self.assertAlmostEqual(found, steps, delta=0.05)


class SwitchesReachWhatIsPrinted(unittest.TestCase):
    def test_two_ndv2_chassis_gather_no_later_than_te_ccl(self):
        for size, printed in papers_switches.NDV2.items():
            text = papers_switches.text_of(size)
            found = reached("switches", f"NDv2 x2, All-Gather {text}: us, best of 1 to 8 chunks")
            self.assertLessEqual(found, printed)

    def test_512_gpus_in_boxes_and_rails_meet_their_bounds(self):
        for collective in ("All-to-All", "All-Gather"):
            found = reached("switches", f"SW(8)_SW(64), 512 NPUs, {collective}: bound over time")
            self.assertGreaterEqual(found, 0.99)

    def test_an_all_reduce_inside_a_switch_nears_libras_formula(self):
        # 8 * 64 chunks pass the switch one after the other; filling and draining the pipeline takes some 7 * 2 of them.
        found = reached("switches", "SW(8), All-Reduce in the switch, store_and_forward, 64 chunks: time over S/B")
        self.assertLess(found, 1.05)
        self.assertGreaterEqual(found, 1)
        # Over a switch that cuts through 8 * 63 + 15 chunk times and latency.
        found = reached("switches", "SW(8), All-Reduce in the switch, cut_through, 64 chunks: time over S/B")
        self.assertLess(found, 1.02)
        self.assertGreaterEqual(found, 1)


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
