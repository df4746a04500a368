"""Runs every picture and every command on studies of any shape: each draws, or says why it has nothing to show."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path

import opened  # noqa: F401
import tenex_analysis
from tenex_analysis import (
    expected,
    failures,
    growth,
    hp_at_scale,
    outcome,
    overview,
    papers,
    parallel,
    pareto,
    timeline,
    words,
)
from tenex_analysis.command import run_command


class OpensAnyStudy:
    result: Path  # of each of the classes below

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_quietly(self, module, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = run_command(lambda: module.main([str(argument) for argument in arguments]))
        return code, out.getvalue() + err.getvalue()

    def check_picture(self, file):
        self.assertEqual(file.read_bytes()[:4], b"\x89PNG")
        self.assertGreater(file.stat().st_size, 2_000)

    def test_commands_of_any_sweep_draw(self):
        training = "workload" in tenex_analysis.open_study(self.result).frame()
        x, y = ("network_cost_usd", "training_time_seconds") if training else ("total_links", "algbw_bytes_per_s")
        for module, arguments in ((failures, []), (pareto, [x, y]), (parallel, ["efficiency"]), (timeline, [])):
            picture = self.folder / "picture.png"
            code, text = self.run_quietly(module, self.result, *arguments, "--png", picture)
            self.assertEqual(code, 0, text)
            self.check_picture(picture)

    def test_the_overview_prints_and_draws(self):
        code, text = self.run_quietly(overview, self.result, "--into", self.folder)
        self.assertEqual(code, 0, text)
        self.assertIn("points have a row", text)
        drawn = sorted(self.folder.glob("*.png"))
        self.assertGreaterEqual(len(drawn), 3)
        for file in drawn:
            self.check_picture(file)

    def test_the_overview_accounts_for_every_ok_row(self):
        study = tenex_analysis.open_study(self.result)
        ok = int((study.frame()["status"] == "ok").sum())
        self.assertEqual(sum(len(contest.rows) for contest in overview.contests(study)), ok)
        self.assertEqual(overview.efficiency_table(study)["points"].sum(), ok)
        self.assertEqual(len(outcome.rows_below_bound(study)), 0)

    def test_tables_of_certain_studies_say_in_a_line_what_is_missing(self):
        study = tenex_analysis.open_study(self.result)
        for name in papers.TABLES:
            with self.assertRaises(words.NothingToShow):
                papers.table_of(name, study)
        code, text = self.run_quietly(papers, "baselines", self.result)
        self.assertEqual((code, text.count("\n")), (2, 1), text)
        for module in (hp_at_scale, growth):
            code, text = self.run_quietly(module, self.result)
            self.assertIn(code, (0, 2))
            self.assertTrue(code == 0 or text.count("\n") == 1, text)

    def test_pins_what_it_has(self):
        rows = tenex_analysis.open_study(self.result).frame()
        self.assertEqual(len(expected.expected_frame(str(self.result))), len(rows))


def load_tests(loader, _tests, _pattern):
    """All tests on every result that TENEX_RESULTS names, in classes with the names of their folders."""
    suite = unittest.TestSuite()
    for result in map(Path, os.environ["TENEX_RESULTS"].split(":")):
        of_result = type(result.name, (OpensAnyStudy, unittest.TestCase), {"result": result})
        suite.addTests(loader.loadTestsFromTestCase(of_result))
    return suite


if __name__ == "__main__":
    unittest.main()
