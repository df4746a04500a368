"""The test of pages finds what it is for: a changed digit, a lost line, a command that fails."""

import tempfile
import unittest
from pathlib import Path

import blocks
import run_pages
import study_tables

PAGE = """# A page

```console
$ printf 'study  fabric\\nkey    5d1fb0b6\\ntime   5.37ms\\n'
study  fabric
key    ...
time   5.37ms
```

<!-- run: exit 2 -->
```console
$ echo refused; exit 2
refused
```

```toml
bandwidth = "50GB/s"
```
"""


def mistakes_of(text: str, write: bool = False) -> tuple[list[str], str]:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        return run_pages.try_page(page, False, write), page.read_text(encoding="utf-8")


class Pages(unittest.TestCase):
    def test_that_hold_are_accepted(self):
        self.assertEqual(mistakes_of(PAGE), ([], PAGE))

    def test_with_a_changed_digit_are_found_and_renewed(self):
        stale = PAGE.replace("time   5.37ms\n```", "time   5.38ms\n```")
        found, text = mistakes_of(stale)
        self.assertEqual(len(found), 1)
        self.assertIn("5.38ms", found[0])
        self.assertIn("5.37ms", found[0])
        self.assertEqual(text, stale)
        self.assertEqual(mistakes_of(stale, write=True), ([], PAGE))

    def test_that_leave_out_a_line_without_dots_are_found(self):
        self.assertEqual(len(mistakes_of(PAGE.replace("study  fabric\nkey    ...", "study  fabric"))[0]), 1)

    def test_with_another_exit_code_are_found(self):
        self.assertEqual(len(mistakes_of(PAGE.replace("<!-- run: exit 2 -->\n", ""))[0]), 1)

    def test_need_the_ends_of_blocks(self):
        with self.assertRaises(ValueError):
            blocks.read_blocks("```sh\ntrue\n")


class Renewal(unittest.TestCase):
    def test_keeps_dots_and_follows_another_order(self):
        said = ["name  time", "a     5.1ms", "b     6.2ms", "..."]
        found = "name  time\nb     4.0ms\na     15.3ms\nmore\n"
        self.assertFalse(blocks.agrees(said, found))
        self.assertEqual(blocks.renewed(said, found), ["name  time", "b     4.0ms", "a     15.3ms", "..."])

    def test_gives_up_where_a_line_has_no_successor(self):
        self.assertIsNone(blocks.renewed(["a  1ms", "..."], "b  1ms\n"))


class Tables(unittest.TestCase):
    def test_a_changed_number_is_found_and_a_measured_one_is_not(self):
        rows = "| a | 1.5 | 3.2 |\n| s of synthesis | 0.1 |  |\n"
        table = "| what | reached | s of solver |\n| --- | --- | --- |\n" + rows
        self.assertEqual(study_tables.differences(table, table.replace("3.2", "9.9").replace("0.1", "0.7")), [])
        self.assertEqual(len(study_tables.differences(table, table.replace("1.5", "1.6"))), 2)
        self.assertEqual(len(study_tables.differences(table, table + "| b | 2 | |\n")), 1)


if __name__ == "__main__":
    unittest.main()
