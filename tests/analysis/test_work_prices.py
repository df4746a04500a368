"""The fit of the seconds of units of work, and the table of plans against what was measured."""

import unittest

import numpy
import pandas

from tenex_analysis import work_prices

#: Seconds of a unit that made-up machines take, by unit, and its part.
TRUE = {"hop": (2e-7, "simulation"), "send": (5e-8, "verification"), "look": (1e-9, "synthesis"),
        "item": (3e-6, "synthesis"), "unseen": (7e-3, "rest")}  # fmt: skip


def prices(**seconds):
    return work_prices.Prices(
        pandas.Series({unit: seconds.get(unit, price) for unit, (price, _) in TRUE.items()}),
        pandas.Series({unit: part for unit, (_, part) in TRUE.items()}),
    )


def made_up(points=40, noise=0.0, pauses=0):
    """Points whose parts take what their units take, but for some that the machine's pauses met."""
    random = numpy.random.default_rng(1)
    counts = pandas.DataFrame({unit: 10 ** random.uniform(4, 7, points) for unit in TRUE})
    counts["unseen"] = 0.0
    # Looks make up most of one half of the points, items of the other.
    counts["item"] /= numpy.where(numpy.arange(points) % 2 == 0, 1e5, 10)
    seconds = pandas.DataFrame(0.0, index=counts.index, columns=work_prices.PARTS)
    for unit, (price, part) in TRUE.items():
        seconds[part] += counts[unit] * price
    seconds *= numpy.exp(random.normal(0, noise, seconds.shape))
    seconds.loc[counts.index < pauses, "synthesis"] *= 50
    return work_prices.Measured(counts, seconds, pandas.Series("made up", counts.index))


class FitsPrices(unittest.TestCase):
    def test_finds_the_prices_of_made_up_rows_from_wrong_ones(self):
        fitted = work_prices.fit(made_up(), prices(hop=1e-6, send=1e-9, look=2e-8, item=1e-6))
        for unit in ("hop", "send", "look", "item"):
            self.assertAlmostEqual(fitted[unit] / TRUE[unit][0], 1, delta=0.1, msg=unit)

    def test_stands_noise_and_pauses(self):
        fitted = work_prices.fit(made_up(points=400, noise=0.2, pauses=8), prices(hop=1e-6))
        for unit in ("hop", "look", "item"):
            self.assertAlmostEqual(fitted[unit] / TRUE[unit][0], 1, delta=0.15, msg=unit)

    def test_balances_studies_that_disagree(self):
        # Hops take 100 ns in one study and 400 ns in the other, which is a thousand times as large: 200 ns is off by
        # the same factor of two in both.
        counts = pandas.DataFrame({"hop": [1e6, 1e9]})
        seconds = pandas.DataFrame(0.0, index=counts.index, columns=work_prices.PARTS)
        seconds["simulation"] = [0.1, 400]
        measured = work_prices.Measured(counts, seconds, pandas.Series(["small", "large"]))
        only = work_prices.Prices(pandas.Series({"hop": 1e-6}), pandas.Series({"hop": "simulation"}))
        self.assertAlmostEqual(work_prices.fit(measured, only)["hop"], 2e-7, places=9)

    def test_keeps_the_price_of_a_unit_that_no_point_tells_of(self):
        self.assertEqual(work_prices.fit(made_up(), prices(unseen=0.25))["unseen"], 0.25)

    def test_a_median_is_where_half_of_the_weight_is_reached(self):
        self.assertEqual(work_prices.weighted_median(numpy.array([3.0, 1.0, 2.0]), numpy.array([1.0, 1.0, 3.0])), 2)


class TablesOfStudies(unittest.TestCase):
    def test_sums_what_is_planned_and_measured_by_study(self):
        # 1e6 hops of 200 ns are 0.2 s; two such points in `b` are 0.4 s, of which 0.1 s each were measured.
        counts = pandas.DataFrame({"hop": [1e6, 1e6, 1e6]})
        seconds = pandas.DataFrame(0.0, index=counts.index, columns=work_prices.PARTS)
        seconds["simulation"] = [0.2, 0.1, 0.1]
        measured = work_prices.Measured(counts, seconds, pandas.Series(["a", "b", "b"]))
        table = work_prices.study_table(measured, pandas.Series({"hop": 2e-7}))
        self.assertAlmostEqual(table.loc["a", "ratio"], 1)
        self.assertAlmostEqual(table.loc["b", "planned_s"], 0.4)
        self.assertAlmostEqual(table.loc["b", "ratio"], 2)


if __name__ == "__main__":
    unittest.main()
