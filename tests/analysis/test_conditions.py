"""The record of a machine's other work while points were measured."""

import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from made_up import make_study

from tenex_analysis import conditions

LINE = {
    "host": "n1",
    "processor": "X",
    "cores": 2,
    "start_ms": 1000,
    "end_ms": 3000,
    "samples": [[1500, 0.0], [2000, 1.0], [3000, 0.5]],
}


class ReadsConditions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, *lines):
        (self.folder / conditions.FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def of_points(self, *ends):
        """Conditions of points that took half a second each and ended at these moments."""
        count = len(ends)
        study = make_study(
            {"algorithm": ["a"] * count, "evaluation_seconds": [0.5] * count},
            [(i, 0, 1, "n1", end) for i, end in enumerate(ends)],
            self.folder,
        )
        return conditions.conditions_of(study)

    def test_a_point_has_the_mean_of_the_samples_that_it_overlaps(self):
        # From 1.25 s to 1.75 s: half of it idle, half of it with one core busy.
        self.assertAlmostEqual(conditions.others_between(LINE, 1250, 1750), 0.5)
        self.assertAlmostEqual(conditions.others_between(LINE, 2100, 2900), 0.5)
        self.assertAlmostEqual(conditions.others_between(LINE, 1600, 1600), 1.0)  # an instant

    def test_each_point_belongs_to_the_run_in_which_it_ended(self):
        self.write(LINE, LINE | {"start_ms": 10_000, "end_ms": 12_000, "samples": [[12_000, 0.0]]})
        found = self.of_points(1499, 1999, 11_000, 5_000)
        self.assertAlmostEqual(found["others"][0], 0.0)
        self.assertAlmostEqual(found["others"][1], 1.0, places=2)
        self.assertAlmostEqual(found["others"][2], 0.0)
        self.assertTrue(found["others"].isna()[3])  # between the two runs: not recorded
        self.assertEqual(found["machine"][0], "n1, X, 2 cores")
        self.assertEqual(list(conditions.is_alone(found["others"], found["cores"])), [True, False, True, False])

    def test_nothing_is_known_without_a_file(self):
        found = self.of_points(1499)
        self.assertTrue(found["others"].isna().all())
        self.assertFalse(conditions.is_alone(found["others"], found["cores"]).any())

    def test_a_job_with_nodes_of_its_own_is_alone_whatever_the_nodes_are_called(self):
        for host in ("n1", "n2"):
            self.write(
                {"exclusive": "Slurm job 7", "host": host, "nodes": 1, "processor": "X", "cores": 32, "start_ms": 1000}
            )
            found = self.of_points(9_000)
            self.assertEqual((found["others"][0], found["machine"][0]), (0.0, "1 nodes, X, 32 cores"))


class WatchesACommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "result"

    def test_adds_a_line_and_keeps_the_exit_code(self):
        for code in (0, 3):
            self.assertEqual(
                conditions.main([str(self.folder), "--", sys.executable, "-c", f"raise SystemExit({code})"]), code
            )
        lines = conditions.read_conditions(self.folder)
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertLessEqual(line["start_ms"], line["end_ms"])
            self.assertGreaterEqual(line["user_seconds"] + line["system_seconds"], 0)
            self.assertEqual(line["samples"][-1][0] >= line["start_ms"], True)  # for commands of any length
            self.assertEqual(len(line["load_at_start"]), 3)

    def test_hands_signals_on(self):
        # The command sends a signal to its parent, the watcher, and ends with 4 when the watcher passes it on.
        code = (
            "import os, signal, sys, time; signal.signal(signal.SIGUSR1, lambda *_: sys.exit(4)); "
            "os.kill(os.getppid(), signal.SIGUSR1); time.sleep(60)"
        )
        watched = f"[{str(self.folder)!r}, '--', sys.executable, '-c', {code!r}]"
        program = f"import sys; from tenex_analysis import conditions; sys.exit(conditions.main({watched}))"
        self.assertEqual(subprocess.run([sys.executable, "-c", program], check=False).returncode, 4)

    def test_hands_on_a_signal_that_comes_while_the_command_starts(self):
        # SIGUSR1 ends `sleep`: 128 + 10.
        program = (
            "import os, signal, subprocess, sys; from tenex_analysis import conditions\n"
            "class Late(subprocess.Popen):\n"
            "    def __init__(self, words):\n"
            "        super().__init__(words)\n"
            "        os.kill(os.getpid(), signal.SIGUSR1)\n"
            "subprocess.Popen = Late\n"
            f"sys.exit(conditions.main([{str(self.folder)!r}, '--', 'sleep', '60']))"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", program], check=False).returncode, 138)

    def test_a_command_s_children_are_its_own(self):
        code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
            try:
                while len(conditions.tree_of(process.pid)) < 2 and process.poll() is None:
                    time.sleep(0.01)
                self.assertEqual(len(conditions.tree_of(process.pid)), 2)
            finally:
                process.communicate(b"\n")
        self.assertEqual(conditions.process_seconds([process.pid]), 0)  # the process has ended

    def test_the_command_s_own_time_is_not_of_others(self):
        text = "cpu  100 10 50 1000 5 1 2 30 0 0\ncpu0 1 1 1 1\n"
        # user, nice, system, irq, softirq and steal: 193 ticks.
        self.assertAlmostEqual(conditions.busy_seconds(text), 193 / conditions._TICK)
        busy, mine = iter([10.0, 13.0]), iter([1.0, 3.5])
        sampler = conditions.Sampler.__new__(conditions.Sampler)
        times = iter([100.0, 102.0])
        sampler.samples, sampler._read = [], lambda: (next(times), next(busy), next(mine))
        sampler._last = sampler._read()
        sampler.sample()
        self.assertEqual(sampler.samples, [[102_000, 0.25]])  # 3 s busy in 2 s, of which 2.5 s are the command's own


if __name__ == "__main__":
    unittest.main()
