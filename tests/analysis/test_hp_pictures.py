"""Pictures of training studies of any shape: the front as a staircase, text in place of what was not run."""

import unittest

import numpy
import pandas
from test_hp_at_scale import frame, point
from test_words import texts_of

from tenex_analysis import hp_at_scale as hp
from tenex_analysis import hp_pictures, layout, words


def points(*rows):
    table = frame(*rows)
    return table.assign(compute=1.0, tensor=table["hp"].str.split(",").str[0].astype(int))


DRAWINGS = [
    hp_pictures.draw_pareto,
    hp_pictures.draw_best,
    hp_pictures.draw_exposed,
    hp_pictures.draw_efficiency,
    hp_pictures.draw_models,
]


class DrawsAnyStudy(unittest.TestCase):
    def test_words_where_no_point_is_ok(self):
        failed = points(point(status="out_of_memory", time=numpy.nan))
        for draw in DRAWINGS:
            self.assertIn("No training point is ok: 1 out_of_memory.", texts_of(words.picture(draw, failed)))

    def test_a_single_point_of_any_model(self):
        for model in hp.MODELS:
            for draw in DRAWINGS:
                words.picture(draw, points(point(model=model)))
        self.assertIn("Nothing to compare", texts_of(words.picture(hp_pictures.draw_models, points(point()))))

    def test_compares_with_the_model_that_is_closest_to_the_network(self):
        self.assertEqual(hp_pictures.reference(points(point(model="libra"), point(model="pipeline"))), "pipeline")
        self.assertEqual(hp_pictures.reference(points(point(model="libra"), point())), hp.TOGETHER)

    def test_the_front_is_a_staircase(self):
        rows = [
            point("4,16", 3.0, network_cost_usd=1e6),
            point("8,8", 2.0, network_cost_usd=2e6),
            point("16,4", 1.0, network_cost_usd=4e6),
        ]
        axes = hp_pictures.draw_pareto(points(*rows)).axes[1]
        (line,) = [line for line in axes.lines if line.get_color() == "black"]
        self.assertEqual(line.get_drawstyle(), "steps-post")
        self.assertEqual([float(y) for y in line.get_ydata()[1:-1]], [3.0, 2.0, 1.0])

    def test_says_what_was_not_run(self):
        rows = points(point("4,16", model="libra"), point("8,8", model="libra"), point("8,8"))
        self.assertIn("not run", texts_of(hp_pictures.draw_exposed(rows)))
        self.assertIn("not run", texts_of(hp_pictures.draw_models(rows)))

    def test_draws_only_what_was_run(self):
        rows = points(point("4,16", model="libra"), point("8,8", model="libra", time=3.0), point("8,8", time=2.0))
        best = hp_pictures.evaluated(rows)
        table = best.pivot_table(index=hp.DESIGN, columns="model", values="time", sort=False)
        found = hp_pictures.model_degrees(table, hp.TOGETHER, ["libra", "pipeline"])
        self.assertEqual({degree: list(of) for degree, of in found.items()}, {8: ["libra"]})
        self.assertEqual(list(found[8]["libra"]), [1.5])
        (axes,) = hp_pictures.draw_models(rows).axes[1:]
        self.assertEqual([text.get_text() for text in axes.get_xticklabels()], ["8"])

    def test_efficiency_has_a_line_for_each_kind_that_was_run(self):
        rows = points(point(chunks=1, algorithm="tacos"), point(chunks=4, algorithm="auto"), point(chunks=4))
        kinds = [(hp.TOGETHER, "auto", "auto", "red"), (hp.TOGETHER, "tacos", "tacos", "blue")]
        found = hp_pictures.efficiency_groups(rows, kinds)
        self.assertEqual([(head, [line[0] for line in of]) for head, of in found],
                         [("64 NPUs, 1 chunk", ["tacos"]), ("64 NPUs, 4 chunks", ["auto", "tacos"])])  # fmt: skip

    def test_text_is_legible_on_a_page(self):
        rows = points(*[point(hp, npus=npus, model=model, time=2.0) for npus in (64, 256, 1024) for model in
                        ("pipeline", "synthesized together") for hp in ("4,16", "8,8")])  # fmt: skip
        for draw in DRAWINGS:
            self.assertGreaterEqual(layout.least_type(draw(rows)), layout.LEAST_TYPE)

    def test_stated_shares_have_their_whole_name(self):
        one = points(point(split="4:2:1"), point(split="4:2:1:1", topology="RI(4)_RI(4)_SW(8)"), point(split="equal"))
        self.assertEqual(list(hp_pictures.split_words(one)), ["stated, 4:2:1 or 4:2:1:1"] * 2 + ["equal"])
        two = points(point(split="4:2:1"), point(split="1:1:1"))
        self.assertEqual(list(hp_pictures.split_words(two)), ["stated, 4:2:1", "stated, 1:1:1"])

    def test_studies_that_train_nothing_are_told_apart(self):
        with self.assertRaisesRegex(words.NothingToShow, "No training point is ok: no row trains a model"):
            hp_pictures.evaluated(pandas.DataFrame())


if __name__ == "__main__":
    unittest.main()
