"""Pictures of fits and predictions: what is drawn is what the report says."""

import json
import tempfile
import unittest
from pathlib import Path

from tenex_analysis import measured

FIT = {
    "tables": [
        {
            "place": "a.log:7",
            "collective": "all_reduce",
            "ranks": 4,
            "points": [
                {"size_bytes": 1024, "measured_us": 10.0, "fitted_us": 11.0, "piece": 1},
                {"size_bytes": 2048, "measured_us": 12.0, "fitted_us": 12.0, "piece": 1},
                {"size_bytes": 4096, "measured_us": 20.0, "fitted_us": 19.0, "piece": 2},
            ],
        }
    ]
}
PREDICTION = {
    "tables": [
        {
            "place": "a.log:7",
            "collective": "all_reduce",
            "ranks": 4,
            "rows": [
                {"size_bytes": s, "measured_us": m, "predicted_us": p, "all_us": {"ring/ll": p, "tree/ll": 2 * p}}
                for s, m, p in ((1024, 10.0, 9.0), (2048, 12.0, 15.0))
            ],
        }
    ]
}


def curves_of(axes) -> set:
    return {(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in axes.lines}


class DrawsFits(unittest.TestCase):
    def test_a_line_per_piece_and_the_differences(self):
        above, below = measured.draw_measured(FIT).axes[-2:]
        self.assertIn(((1024, 2048), (11.0, 12.0)), curves_of(above))
        self.assertIn(((4096,), (19.0,)), curves_of(above))
        self.assertIn(((1024, 2048, 4096), (10.0, 12.0, 20.0)), curves_of(above))
        differences = [y for x, ys in curves_of(below) if x == (1024, 2048) for y in ys]
        self.assertAlmostEqual(differences[0], 0.1)
        self.assertAlmostEqual(differences[1], 0.0)

    def test_predictions_stand_among_all_choices(self):
        above, below = measured.draw_measured(PREDICTION).axes[-2:]
        self.assertIn(((1024, 2048), (18.0, 30.0)), curves_of(above))
        self.assertIn(((1024, 2048), (9.0, 15.0)), curves_of(above))
        self.assertIn(((1024, 2048), (-0.1, 0.25)),
                      {(x, tuple(round(y, 9) for y in ys)) for x, ys in curves_of(below)})  # fmt: skip

    def test_the_command_writes_a_picture_and_refuses_other_files(self):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "fit.json"
            report.write_text(json.dumps(FIT), encoding="utf-8")
            self.assertEqual(measured.main([str(report), "--png", f"{folder}/a.png"]), 0)
            self.assertGreater((Path(folder) / "a.png").stat().st_size, 1000)
            report.write_text('{"rows": []}', encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "no report of tenex fit"):
                measured.read_report(report)


if __name__ == "__main__":
    unittest.main()
