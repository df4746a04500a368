"""Pictures of a study in two runs of two ranks, some of whose points cannot be evaluated, agree with its rows."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path

import numpy

import tenex_analysis
from tenex_analysis import failures, parallel, pareto, timeline

RESULT = Path(os.environ["TENEX_RESULT"])


class ShowsASweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = tenex_analysis.open_study(RESULT)
        cls.rows = cls.study.frame()

    def test_the_failure_table_accounts_for_every_point_that_is_not_ok(self):
        # c_cube on 5 shapes with 3 sizes and 2 numbers of chunks: 30. The engine "orbit" on the mesh: ring and direct.
        table = failures.failure_table(self.study)
        self.assertEqual(table.groupby("status")["count"].sum().to_dict(), {"infeasible": 30, "unsupported": 2})
        for line in table.itertuples():
            row = self.rows.loc[line.point]
            self.assertEqual((row["key"], row["status"]), (line.example, line.status))

    def test_no_point_dominates_one_of_the_front(self):
        front = pareto.front_table(self.study, "network_cost_usd", "training_time_seconds")
        self.assertGreaterEqual(len(front), 3)
        trained = self.rows[self.rows["training_time_ps"] >= 0]
        for point in front["point"]:
            x, y = self.rows.loc[point, "network_cost_usd"], self.rows.loc[point, "training_time_seconds"]
            no_worse = (trained["network_cost_usd"] <= x) & (trained["training_time_seconds"] <= y)
            better = (trained["network_cost_usd"] < x) | (trained["training_time_seconds"] < y)
            self.assertFalse((no_worse & better).any())

    def test_the_timeline_has_every_point_once_on_threads_that_there_were(self):
        spans = timeline.read_spans(self.study)
        self.assertEqual(sorted(spans["point"]), list(self.rows.index))
        self.assertEqual(set(spans["run"]), {1, 2})
        self.assertLessEqual(set(spans["rank"]), {0, 1})
        table = timeline.utilization_table(spans)
        self.assertLessEqual(table["threads"].max(), 2)
        self.assertTrue(((table["utilization"] > 0) & (table["utilization"] <= 1)).all())
        numpy.testing.assert_allclose(table["busy"].sum(), (spans["seconds"] * spans["threads"]).sum())

    def test_idle_gaps_and_busy_time_make_up_the_run(self):
        spans = timeline.read_spans(self.study)
        table = timeline.utilization_table(spans)
        gaps = timeline.idle_gaps(spans)
        for row in table.itertuples():
            of = gaps[(gaps["run"] == row.run) & (gaps["rank"] == row.rank)]
            # Of every thread: gaps of up to 1 ms are not detected, one more than points, and two points overlap by at
            # most 1 ms, because ends are cut off to milliseconds.
            self.assertLessEqual(abs(of["seconds"].sum() - row.idle), 0.001 * (2 * row.points + 1) * row.threads)

    def test_every_command_prints_and_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            for module, arguments in (
                (failures, []), (pareto, ["total_links", "algbw_bytes_per_s", "--where", "size == 1MiB"]),
                (parallel, ["efficiency", "--metrics", "algbw_bytes_per_s"]), (timeline, ["--by", "topology"]),
            ):  # fmt: skip
                picture = Path(folder) / "picture.png"
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(module.main([str(RESULT), *arguments, "--png", str(picture)]), 0)
                self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")
                self.assertGreater(picture.stat().st_size, 10_000)
                picture.unlink()


if __name__ == "__main__":
    unittest.main()
