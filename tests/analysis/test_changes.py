"""The table of what changed between two states of expected.csv."""

import tempfile
import unittest
from pathlib import Path

from tenex_analysis import changes

HEAD = "topology,collective,algorithm,size,chunks,collective_time_ps,bound_ps,bound_name\n"


class TellsWhatChanged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.before, self.after = Path(folder.name, "before"), Path(folder.name, "after")

    def write(self, folder, study, rows):
        path = folder / study
        path.mkdir(parents=True)
        (path / "expected.csv").write_text(HEAD + "".join(f"RI(4),all_gather,{row}\n" for row in rows))

    def test_rows_are_matched_by_their_settings_in_any_order(self):
        self.write(self.before, "one", ["ring,1,1,100,50,cut", "ring,2,1,200,100,cut", "direct,1,1,80,50,cut"])
        self.write(self.after, "one", ["direct,1,1,80,60,hops", "ring,2,1,150,100,cut", "ring,1,1,110,50,cut"])
        line = changes.table(self.before, self.after).splitlines()[2]
        # Times 110/100 and 150/200, one bound 60/50.
        self.assertEqual(line, "| one | 3 | 1 | 1 | 0.750 to 1.100 | 1 | 0 | 1.000 to 1.200 |")

    def test_rows_of_equal_settings_keep_their_order(self):
        self.write(self.before, "one", ["ring,1,1,100,50,cut", "ring,1,1,300,50,cut"])
        self.write(self.after, "one", ["ring,1,1,100,50,cut", "ring,1,1,150,50,cut"])
        line = changes.table(self.before, self.after).splitlines()[2]
        self.assertEqual(line, "| one | 2 | 1 | 0 | 0.500 to 1.000 | 0 | 0 |  |")

    def test_rows_without_a_time_and_new_rows_are_no_change(self):
        self.write(self.before, "one", ["ring,1,1,-1,50,cut"])
        self.write(self.after, "one", ["ring,1,1,100,50,cut", "ring,2,1,100,50,cut"])
        self.write(self.after, "two", ["ring,1,1,100,50,cut"])
        self.assertEqual(changes.table(self.before, self.after).splitlines()[-1], "Without a change: one. New: two.")


if __name__ == "__main__":
    unittest.main()
