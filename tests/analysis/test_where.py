"""Conditions: what they mean, what is refused, and that `tenex show --where` chooses the same rows."""

import os
import subprocess
import unittest

from made_up import make_study

import tenex_analysis


def made_up():
    return make_study({
        "topology": ["RI(4)", "mesh(4,4)", "RI(8)", "FC(4)"], "algorithm": ["ring", "tacos", "ring", "direct"],
        "size": [1024, 1 << 20, 1 << 20, 1 << 30], "chunks": [1, 2, 1, 4],
        "collective_time_ps": [1_000_000, 2_000_000, -1, 4_000_000],
        "algbw_bytes_per_s": [1e9, 5e10, float("nan"), 2e9],
        "status": ["ok", "ok", "infeasible", "ok"]})  # fmt: skip


class Conditions(unittest.TestCase):
    def held(self, condition):
        return list(made_up().where(condition).index)

    def test_quantities_have_units(self):
        self.assertEqual(self.held("size = 1MiB"), [1, 2])
        self.assertEqual(self.held("size == 1024KiB"), [1, 2])
        self.assertEqual(self.held("size > 1KiB"), [1, 2, 3])
        self.assertEqual(self.held("algbw = 400Gb/s"), [1])  # 400e9 bits are 50e9 bytes
        self.assertEqual(self.held("1us <= collective_time <= 2us"), [0, 1])
        self.assertEqual(self.held("collective_time * 2 = 4us"), [1])
        self.assertEqual(self.held("size - 1KiB = 0B"), [0])

    def test_signs_of_other_languages_have_their_meaning(self):
        for spelling in ("algorithm = ring and chunks = 1", "algorithm == ring && chunks == 1",
                         "(algorithm == 'ring') & (chunks == 1)"):  # fmt: skip
            self.assertEqual(self.held(spelling), [0, 2], spelling)
        for spelling in ("chunks = 2 or chunks = 4", "chunks == 2 || chunks == 4", "not (chunks = 1)"):
            self.assertEqual(self.held(spelling), [1, 3], spelling)
        self.assertEqual(self.held("chunks = 4 or algorithm = ring and chunks = 1"), [0, 2, 3])  # `and` binds more

    def test_a_row_without_a_value_is_left_out(self):
        self.assertEqual(self.held("collective_time != 1us"), [1, 3])
        self.assertEqual(self.held("status != ok"), [2])
        self.assertEqual(self.held("collective_time > 0us or chunks = 1"), [0, 1, 3])

    def test_mistakes_are_told(self):
        for condition, words in (
            ("size = 1048576", ["a plain number", "1048576B"]), ("algorithm < 'ring'", ["has no order"]),
            ("algoritm = ring", ["unknown name", "algorithm"]), ("size = 1GX", ["unknown unit"]),
            ("topology = torus(4,4)", ["no quotes"]), ("algorithm = 'ring", ["not closed"]), ("size", ["no"]),
            ("chunks = 1 chunks = 2", ["unexpected"]), ("(chunks = 1", ["not closed"]), ("chunks = 1us", ["a time"]),
        ):  # fmt: skip
            with self.assertRaises(tenex_analysis.ConditionError, msg=condition) as raised:
                made_up().where(condition)
            for word in words:
                self.assertIn(word, str(raised.exception), condition)

    @unittest.skipUnless("TENEX" in os.environ and "TENEX_RESULT" in os.environ, "no result to ask")
    def test_the_program_chooses_the_same_rows(self):
        folder = os.environ["TENEX_RESULT"]
        study = tenex_analysis.open_study(folder)
        for condition in (
            "size = 1GiB and algorithm != ring", "topology == 'mesh(4,4)' && size > 1MiB",
            "efficiency >= 0.5 or npus < 10",
            "not (collective = all_reduce) and collective_time <= 2 * bound", "1us <= collective_time <= 1ms",
            "algbw > 10GB/s || busbw > 400Gb/s", "status = ok", "solver_seconds > 0", "time_with_overlap >= 0us",
            "bandwidth = 50GB/s", "npu_bandwidth > 1GB/s", "chunks + 1 = 2", "bound_name = eccentricity",
        ):  # fmt: skip
            shown = subprocess.run(
                [os.environ["TENEX"], "show", folder, "--where", condition, "--columns", "key", "--csv"],
                check=True, capture_output=True, text=True)  # fmt: skip
            self.assertEqual(shown.stdout.split()[1:], list(study.where(condition)["key"]), condition)
