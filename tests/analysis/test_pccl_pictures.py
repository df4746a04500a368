"""The figures of chapter 6 of the ASTRA-sim2.0 thesis: groups by name, and results without the rows."""

import tempfile
import unittest

from made_up import make_study
from test_words import texts_of

from tenex_analysis import papers_pccl, pccl_pictures, words


def one_row(folder, **columns):
    alike = {
        "topology": ["mesh(8,8)"],
        "collective": ["all_to_all"],
        "algorithm": ["pccl"],
        "groups_setting": ["0-7"],
        "size": [2**27],
        "alpha": ["500000"],
        "bandwidth": ["50000000000"],
        "chunks": [16],
        "occupancy": ["transfer"],
        "relays": ["any"],
        "order": ["relative"],
        "collective_time_ps": [10**9],
    }
    return make_study(alike | columns, runs=[], folder=folder)


class NamesGroups(unittest.TestCase):
    def test_rows(self):
        self.assertEqual(papers_pccl.groups_of(3, "first"), "0-2")
        self.assertEqual(papers_pccl.groups_of(3, "first and last"), "0-2; 6-8")
        self.assertEqual(papers_pccl.groups_of(3, "all"), "0-2; 3-5; 6-8")
        self.assertEqual(pccl_pictures.spread_rows(8, 3), "0-7; 32-39; 56-63")

    def test_blocks(self):
        self.assertEqual(pccl_pictures.blocks(3), "0-3,8-11; 4-7,12-15; 16-19,24-27")


class SaysWhatIsMissing(unittest.TestCase):
    def test_without_rows_to_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            study = one_row(folder)
            for draw in (pccl_pictures.draw_speed_ups, pccl_pictures.draw_link_use, pccl_pictures.draw_busy_links):
                self.assertRegex(texts_of(words.picture(draw, study)), "has no All-to-All|holds no")

    def test_a_speed_up_needs_both(self):
        with tempfile.TemporaryDirectory() as folder:
            frame = papers_pccl.frame_of(one_row(folder))
        with self.assertRaises(ValueError):
            papers_pccl.speed_up(frame, (16, 16), topology="mesh(8,8)", groups="0-7")


if __name__ == "__main__":
    unittest.main()
