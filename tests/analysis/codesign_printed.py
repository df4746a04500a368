"""Numbers that the papers print about co-design, compared with the results of experiments/: wafer_scale and libra_*."""

import unittest

from printed import reached, table_of


def largest_slowdown(target):
    """The largest slowdown of any model on the network designed for one, at 234 TFLOPS."""
    rows = table_of("libra_group")
    return rows[rows.index.str.startswith(f"234 TFLOPS, made for {target}: slowdown, largest")].iloc[0]


class WaferScale(unittest.TestCase):
    def test_table_3_4_by_the_formula(self):
        # 1 GiB over 2_8_8_4: dimension 2 carries 896 MiB at 200 GiB/s, 4,375 us. 8_8_8_4: dimension 1, 1,792 MiB at
        # 1,000 GiB/s.
        for system, us in (("2_8_8_4", 4375), ("2_8_8_32", 4375), ("4_8_8_4", 2187.5), ("8_8_8_4", 1750),
                           ("16_8_8_4", 1875)):
            self.assertAlmostEqual(reached("wafer_scale", f"Table 3.4, {system}: us, `libra`"), us, places=3)

    def test_chunks_add_the_first_and_last_one_s_way_through_dimension_1(self):
        # 1,024 MiB at 1,000 GiB/s are 1,000 us in dimension 1; a 64th of it, half before and half after dimension 2, is
        # 15.625 us.
        self.assertAlmostEqual(reached("wafer_scale", "Table 3.4, 2_8_8_4: us, `pipeline`"), 4390.625, places=3)

    def test_nothing_idles_where_dimension_1_is_the_slowest(self):
        # 8_8_8_4: 1,792 MiB at 1,000 GiB/s; 16_8_8_4: 1,920 MiB.
        for system, us in (("8_8_8_4", 1750), ("16_8_8_4", 1875)):
            self.assertAlmostEqual(reached("wafer_scale", f"Table 3.4, {system}: us, `pipeline`"), us, places=2)

    def test_a_ring_of_four_lets_dimension_2_idle_for_five_hops(self):
        # A chunk's quarter, 4 MiB, at 500 GiB/s in each direction: 7.8125 us a hop. The first chunk's longer way takes
        # two hops after one of the second chunk, the last chunk's takes two: 2,187.5 + 5 * 7.8125. In one step 1,536
        # MiB / 64 at 1,000 GiB/s: 23.4375.
        self.assertAlmostEqual(reached("wafer_scale", "Table 3.4, 4_8_8_4: us, `pipeline`"), 2226.5625, places=2)
        in_one_step = reached("wafer_scale", "Table 3.4, 4_8_8_4: us, `pipeline`, dimension 1 in one step")
        self.assertAlmostEqual(in_one_step, 2210.9375, places=2)

    def test_table_3_4_by_chunks_as_printed(self):
        printed = {"2_8_8_4": 4392.85, "4_8_8_4": 2212.60, "8_8_8_4": 1753.48, "16_8_8_4": 1879.17}
        for system, us in printed.items():
            self.assertAlmostEqual(reached("wafer_scale", f"Table 3.4, {system}: us, `pipeline`") / us, 1, delta=0.007)

    def test_parts_of_dimensions_cost_what_chunks_on_their_links_take(self):
        for model in ("GPT-3", "MSFT-1T"):
            for npus in (1024, 2048, 4096):
                row = f"Fig. 3.18, {model}, 234 TFLOPS, `{{}}`: W-{npus} over Base-512"
                found = [reached("wafer_scale", row.format(times)) for times in ("pipeline", "libra_derated")]
                self.assertAlmostEqual(found[0] / found[1], 1, delta=0.0025)

    def test_conventional_systems_are_behind_for_hybrid_parallelism(self):
        for model in ("GPT-3", "MSFT-1T"):
            self.assertGreater(reached("wafer_scale",
                                       f"Fig. 3.17, {model}, 66 TFLOPS: Conv-4D over W-1D-600, `themis`"), 1.01)


class Libra(unittest.TestCase):
    def test_utilization_of_the_dimensions_that_groups_span(self):
        for shape, printed in (("2D, RI(8)_SW(64)", 0.5753), ("3D, RI(8)_FC(8)_SW(8)", 0.3902),
                               ("4D, RI(2)_FC(8)_RI(8)_SW(4)", 0.6674)):
            found = reached("libra_utilization", f"{shape}: used of the dimensions that a group spans")
            self.assertAlmostEqual(found / printed, 1, delta=0.015)

    def test_speed_ups_of_the_sweep_are_those_of_234_tflops(self):
        self.assertAlmostEqual(reached("libra_sweep", "Fig. 13, 234 TFLOPS: same, largest"), 2.00, delta=0.04)
        half = reached("libra_sweep", "Fig. 13, 234 TFLOPS: same, GPT-3 on 4D-4K with the links that groups have, mean")
        self.assertAlmostEqual(half, 1.23, delta=0.04)
        self.assertLess(reached("libra_sweep", "Fig. 13, 66 TFLOPS: same, largest"), 1.8)

    def test_gpt_3_on_half_a_dimension_gains_nothing(self):
        # TP-16 takes 4 of FC(8): 3 of its 7 links, which is why the paper's speed-up is "close to the baseline".
        found = reached("libra_sweep", "Fig. 13, 234 TFLOPS: GPT-3 on 4D-4K with the links that groups have, mean")
        self.assertAlmostEqual(found, 1, delta=0.005)

    def test_two_layers_and_the_whole_model_have_the_same_ratio(self):
        # All times of the whole model are 64 times those of two layers, rounded to picoseconds.
        self.assertAlmostEqual(
            reached("libra_sweep", "MSFT-1T, two layers: speed-up over that of the whole model, largest"), 1, places=6
        )

    def test_networks_made_for_others_slow_models_down_as_printed(self):
        for target, printed in (("ResNet-50", 1.77), ("Turing-NLG", 1.77), ("GPT-3", 1.15)):
            self.assertAlmostEqual(largest_slowdown(target) / printed, 1, delta=0.02)
        self.assertLess(reached("libra_group", "234 TFLOPS, made for all: slowdown, mean"), 1.02)

    def test_the_same_cost_buys_five_times_the_bandwidth(self):
        # $15M / 4,096 / ((2 + 4 + 4 + 57.4) / 4 $ per GB/s) = 217.34 GB/s for equal shares; times 5.05 is 1,097.6 GB/s.
        self.assertAlmostEqual(reached("libra_runtime", "Fig. 19, 234 TFLOPS, the same cost: bandwidth"), 5.05,
                               delta=0.01)

    def test_the_torus_is_cheaper_by_the_printed_factor(self):
        # Equal: (4 + 4 + 7.8) / 3 = 5.267 $ per GB/s. Volumes 48 : 12 : 3 of 63: (4 * 60 + 7.8 * 3) / 63 = 4.181.
        # Ratio 1.2597.
        self.assertAlmostEqual(reached("libra_runtime", "Fig. 20: cost reduction"), 1.2597, places=4)

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


class SwitchTree(unittest.TestCase):
    COSTS = {"SW(32)": 91840, "SW(32,8)": 161920, "SW(32,8:2)": 126880, "SW(32,8:4)": 109360}

    def test_a_hierarchy_costs_links_and_ports_between_switches(self):
        # 32 NPUs with 50 GB/s; $7.8 a link, $18.0 a port, $31.6 a NIC. With u links up for an NPU (0, 1, 1/2, 1/4):
        # 1,600 * ((1 + u) * 7.8 + (1 + 2u) * 18.0 + 31.6).
        for topology, cost in self.COSTS.items():
            self.assertAlmostEqual(reached("switch_tree", f"{topology}: cost in dollars"), cost, places=6)

    def test_the_formula_takes_the_slowest_level(self):
        # 1 GB at 50 GB/s. All-Reduce among all: 2 * 31/32; above leaves with a quarter 2 * 24 / 256 * 4 is less.
        # All-to-All: 31/32, above leaves 24/32 times 2 or 4. Replicas on four leaves: 2 * 3/4, times 2 or 4.
        for topology, ms in (("SW(32)", (38.75, 19.375, 30)), ("SW(32,8)", (38.75, 19.375, 30)),
                             ("SW(32,8:2)", (38.75, 30, 60)), ("SW(32,8:4)", (38.75, 60, 120))):  # fmt: skip
            for name, time in zip(("All-Reduce", "All-to-All", "All-Reduce of 4 across leaves"), ms, strict=True):
                self.assertAlmostEqual(reached("switch_tree", f"{topology}, {name}, `libra`: ms"), time, places=4)


if __name__ == "__main__":
    unittest.main()
