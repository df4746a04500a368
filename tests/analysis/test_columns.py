"""Text with units, order, scales and colours, which all pictures share."""

import contextlib
import io
import os
import subprocess
import sys
import unittest

import numpy
from made_up import make_study

from tenex_analysis import columns, failures, parallel, pareto, schema_1
from tenex_analysis.command import run_command


class WritesQuantities(unittest.TestCase):
    def test_with_prefixes(self):
        for value, unit, text in (
            (1.5e-3, "s", "1.5 ms"), (0.0, "s", "0 s"), (2e-7, "s", "200 ns"), (90, "s", "90 s"),
            (5e10, "B/s", "50 GB/s"),
            (65536, "B", "64 KiB"), (10**9, "B", "1 GB"), (2**30, "B", "1 GiB"), (500, "B", "500 B"),
            (0.5, "B/s", "0.5 B/s"),
            (2.5e6, "USD", "$2.5M"), (0.25, "", "0.25"), (1e-6, "", "1e-06"), (128, "", "128"),
            (999.96e-6, "s", "1 ms"),
        ):  # fmt: skip
            self.assertEqual(columns.quantity_text(value, unit), text)

    def test_settings_that_are_text(self):
        self.assertEqual(columns.setting_text("500000", "ps"), "500 ns")
        self.assertEqual(columns.setting_text("50000000000,25000000000", "B/s"), "50 GB/s, 25 GB/s")
        self.assertEqual(columns.setting_text("auto", "B/s"), "auto")
        self.assertEqual(columns.setting_text("", ""), "(none)")

    def test_cuts_nothing_off(self):
        long = "RI(4)_FC(8)_RI(4)_SW(32)_SW(4)_SW("
        column = columns.Column("topology", numpy.array([f"{long}2)", f"{long}4)"], dtype=object), "")
        self.assertEqual([column.text(value) for value in column.values], [f"{long}2)", f"{long}4)"])
        self.assertEqual(list(columns.classes_of(column)[0]), [0, 1])  # values with a common prefix are two classes

    def test_orders_as_people_count(self):
        names = ["mesh(16,16)", "mesh(4,4)", "RI(8)", "RI(16)"]
        self.assertEqual(sorted(names, key=columns.natural_order), ["RI(8)", "RI(16)", "mesh(4,4)", "mesh(16,16)"])


class ReadsColumns(unittest.TestCase):
    def setUp(self):
        # unwind follows from the topology; chunks and size do not; the algorithm is the same everywhere.
        self.study = make_study(
            {
                "topology": ["RI(8)", "RI(8)", "SW(8)", "SW(8)", "RI(8)", "SW(8)"],
                "unwind": [0, 0, 2, 2, 0, 2],
                "size": [1024, 4096, 1024, 4096, 1024, 4096],
                "chunks": [1, 1, 1, -1, 2, 2],
                "algorithm": ["ring"] * 6,
                "collective_time_ps": [1_000, 2_000, -1, 4_000, 5_000, 6_000],
            }
        )
        self.rows = self.study.frame()

    def test_absent_values_are_nan_and_picoseconds_seconds(self):
        times = columns.column_of(self.study, self.rows, "collective_time_ps")
        numpy.testing.assert_allclose(times.values, [1e-9, 2e-9, numpy.nan, 4e-9, 5e-9, 6e-9])
        self.assertEqual((times.unit, times.label), ("s", "collective time"))

    def test_text_that_is_a_number_with_a_unit_is_one(self):
        study = make_study({"bandwidth": [[50000000000] * 2, [-1] * 2, [1000000000, -1]], "topology": ["8", "9", "10"],
                            "size": [1, 1, 1]})
        column = columns.column_of(study, study.frame(), "bandwidth")
        numpy.testing.assert_array_equal(column.values, [5e10, numpy.nan, 1e9])
        self.assertEqual([column.text(v) for v in column.distinct], ["1 GB/s", "50 GB/s"])
        self.assertTrue(columns.column_of(study, study.frame(), "topology").is_text)  # it has no unit
        several = make_study({"bandwidth": [[50000000000, -1], [1000000000, 2000000000]]})
        self.assertTrue(columns.column_of(several, several.frame(), "bandwidth").is_text)

    def test_former_names_are_names(self):
        study = make_study({"algbw_bytes_per_s": [1e9, 2e9], "engine_setting": ["auto", "exact"]})
        column = columns.column_of(study, study.frame(), "algbw")
        self.assertEqual((column.name, column.label, column.unit), ("algbw_bytes_per_s", "algbw", "B/s"))
        self.assertTrue(columns.is_larger_better("algbw", None))
        self.assertEqual(list(study.frame()[["algbw", "engine_choice"]].columns),
                         ["algbw_bytes_per_s", "engine_setting"])
        self.assertEqual(list(study.frame().query("algbw > 1.5e9 and engine_choice == 'exact'").index), [1])
        self.assertEqual(list(study.frame().query("engine_setting == 'algbw'").index), [])

    def test_lists_are_told_as_studies_write_them(self):
        study = make_study({"alpha": [[5, 5], [5, -1], [5, 7], [-1, -1]], "split": [[4, 2], [1, 1], [3, -1], [-1, -1]]})
        self.assertEqual(list(study.frame()["alpha"]), ["5", "5", "5,7", ""])
        self.assertEqual(list(study.frame()["split"]), ["4:2", "1:1", "3", ""])

    def test_schema_1_names_dimensions_by_shapes(self):
        for shape, dimensions in (
            ("RI(4)_FC(8)_SW(2)", 3), ("mesh(4,4)", 2), ("torus(4, 4, 4)", 3), ("hypercube(5)", 5),
            ("dragonfly(4,9)", 2), ("grid(2,2)_SW(4)", 3), ("machines/dgx.toml", 0), ("", 0),
        ):  # fmt: skip
            self.assertEqual(schema_1.dimensions_of(shape), dimensions, shape)

    def test_finds_the_settings_that_vary(self):
        self.assertEqual(columns.settings_that_vary(self.study, self.rows), ["chunks", "size", "topology", "unwind"])

    def test_leaves_out_a_setting_that_follows_from_another(self):
        self.assertEqual(columns.telling_settings(self.study, self.rows), ["chunks", "size", "topology"])

    def test_nothing_follows_from_a_setting_of_which_all_rows_differ(self):
        study = make_study({"seed": [1, 2, 3, 4], "chunks": [1, 1, 2, 2]})
        self.assertEqual(columns.telling_settings(study, study.frame()), ["chunks", "seed"])

    def test_few_frequent_values_have_a_colour_of_their_own(self):
        texts = [name for i, name in enumerate("abcdefgh") for _ in range(10 - i)]
        classes, names = columns.classes_of(columns.Column("x", numpy.array(texts, dtype=object), ""))
        self.assertEqual(names, ["a", "b", "c", "d", "e", "f", columns.REST])
        self.assertEqual([classes[0], classes[-1]], [0, 6])
        self.assertEqual(columns.class_colour(6), columns.REST_COLOUR)

    def test_a_wide_range_is_logarithmic(self):
        self.assertTrue(columns.Column("x", numpy.array([1.0, 11.0]), "").log)
        self.assertFalse(columns.Column("x", numpy.array([1.0, 9.0]), "").log)
        self.assertFalse(columns.Column("x", numpy.array([0.0, 11.0]), "").log)

    def test_ticks_lie_within_the_values(self):
        for values in ([3.0, 7.5], [1e-6, 2.0], [40.0, 700.0]):
            ticks = columns.ticks_of(columns.Column("x", numpy.array(values), "s"))
            self.assertTrue(2 <= len(ticks) <= 9, ticks)
            self.assertTrue(values[0] * 0.99 <= min(ticks) and max(ticks) <= values[1] * 1.01)


class NeedsNoDisplay(unittest.TestCase):
    def test_no_module_of_pictures_opens_a_window_system(self):
        modules = "tenex_analysis.pareto, tenex_analysis.parallel, tenex_analysis.failures, tenex_analysis.timeline"
        modules += ", tenex_analysis.overview_pictures, tenex_analysis.paper_pictures, tenex_analysis.hp_pictures"
        modules += ", tenex_analysis.growth_pictures, tenex_analysis.solver_pictures"
        code = f"import sys, {modules}; assert 'matplotlib.pyplot' not in sys.modules and 'tkinter' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True)


class TellsWhatIsWrong(unittest.TestCase):
    def told(self, module, *arguments):
        """What a command prints on stderr: one line."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_command(lambda: module.main(list(arguments)))
        self.assertEqual((code, out.getvalue()), (2, ""))
        self.assertEqual(err.getvalue().count("\n"), 1, err.getvalue())
        return err.getvalue()

    def test_in_one_line(self):
        command = [sys.executable, "-m", "tenex_analysis.failures", "nowhere"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, self.told(failures, "nowhere"))
        self.assertIn("no such file", done.stderr)
        result = os.environ["TENEX_RESULT"]
        self.assertIn("no column 'price'", self.told(pareto, result, "price", "algbw"))
        self.assertIn('unknown name "prize" (the result has no such column)',
                      self.told(pareto, result, "total_links", "algbw", "--where", "prize == 1"))
        self.assertIn("needs numbers", self.told(parallel, result, "topology", "--png", "unused.png"))


if __name__ == "__main__":
    unittest.main()
