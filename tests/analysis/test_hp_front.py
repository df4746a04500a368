"""The picture of a search of parallelizations: its points, its front, what it names and leaves out."""

import json
import tempfile
import unittest
from pathlib import Path

from test_words import texts_of

from tenex_analysis import hp_front


def answer(hp, seconds, gigabytes):
    return {"hp": hp, "hp_order": "tensor,data", "zero_stage": 1, "recomputation": "none", "microbatches": 4,
            "pipeline_schedule": "1f1b", "training_time_ps": seconds * 10**12,
            "memory_per_npu_bytes": gigabytes * 10**9}  # fmt: skip


class HpFront(unittest.TestCase):
    def setUp(self):
        front = [answer("HP-(4,8,2)", 10, 60), answer("HP-(8,4,2)", 12, 30), answer("HP-(8,8)", 20, 5)]
        beaten = [answer("HP-(2,32)", 13, 61), answer("HP-(1,64)", 41, 70)]
        said = {"npus": 64, "considered": 9, "fitting": 6, "fastest": front + beaten, "front": front}
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = Path(self.folder.name) / "found.json"
        self.file.write_text(json.dumps(said), encoding="utf-8")

    def test_the_front_is_read_by_memory_with_stages(self):
        _, answers, front = hp_front.read(self.file)
        self.assertEqual(list(front["memory"]), [5, 30, 60])
        self.assertEqual(list(front["time"]), [20, 12, 10])
        self.assertEqual(sorted(answers["stages"]), [1, 1, 1, 2, 2])
        self.assertEqual(list(hp_front.table(front)["hp"]), ["HP-(4,8,2)", "HP-(8,4,2)", "HP-(8,8)"])

    def test_the_picture_counts_what_it_leaves_out(self):
        figure = hp_front.draw(*hp_front.read(self.file))
        words = texts_of(figure)
        # 41 s is more than four times 10 s.
        self.assertEqual(figure.axes[0].get_title(loc="left"),
                         "64 NPUs: 6 of 9 parallelizations fit; of 5 that differ 4 take up to 4 times the shortest")
        for hp in ("HP-(4,8,2)", "HP-(8,4,2)", "HP-(8,8)"):
            self.assertIn(hp, words)
        self.assertNotIn("HP-(2,32)", words)
        steps = next(line for line in figure.axes[0].lines if line.get_label() == "the front")
        self.assertEqual([tuple(each) for each in steps.get_xydata()], [(5, 20), (30, 12), (60, 10)])

    def test_another_file_is_refused_in_one_line(self):
        self.file.write_text('{"schema": 2}', encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "is not what `tenex optimize --npus N --json` prints"):
            hp_front.read(self.file)


if __name__ == "__main__":
    unittest.main()
