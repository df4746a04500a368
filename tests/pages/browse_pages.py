"""Pages of `tenex view` and `tenex report` in headless Chromium, as a reader uses them.

    TENEX=... python3 -m unittest browse_pages

A small set of pages is written first. Each is opened on light and dark, wide and narrow, and must log nothing, throw
nothing, request nothing, and breach no policy.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import Browser, find_chromium

STUDY = """schema = 1
name = "<script>alert(1)</script> & <b>bold</b>"
[[sweep]]
alpha = "0.5us"
bandwidth = "50GB/s"
collective = "all_gather"
axes.topology = ["ring(4)", "mesh(2,2)"]
axes.size = { from = "1KiB", to = "1MiB", factor = 32 }
axes.algorithm = ["ring", "tacos", "rhd"]
[[sweep]]
topology = "mesh(3,3)"
alpha = "0.5us"
bandwidth = "50GB/s"
collective = "all_reduce"
size = "1MiB"
algorithm = "rhd"
"""
LINKS = ("--alpha", "0.5us", "--bandwidth", "50GB/s")
RING = ("--topology", "ring(4)", *LINKS, "--collective", "all_gather", "--size", "1MB", "--algorithm", "tacos")


def tenex(*arguments: object) -> str:
    """What a command prints."""
    done = subprocess.run([os.environ["TENEX"], *map(str, arguments)], text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


class Pages(unittest.TestCase):
    """One browser and one folder for all tests."""

    @classmethod
    def setUpClass(cls) -> None:
        if find_chromium() is None:
            if os.environ.get("CI"):
                raise AssertionError("chromium is not installed")
            raise unittest.SkipTest("chromium is not installed")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        (cls.folder / "study.toml").write_text(STUDY, encoding="utf-8")
        tenex("run", cls.folder / "study.toml", "--out", cls.folder / "result", "--quiet", "--threads", 2)
        tenex("report", cls.folder / "result", "-o", cls.folder / "report.html")
        tenex("report", cls.folder / "result", "-o", cls.folder / "empty.html", "--where", "size = 3B")
        tenex("view", *RING, "-o", cls.folder / "view.html")
        tenex("view", "--topology", "mesh(4,4)", *LINKS, "--faults", "link 5-6", "-o", cls.folder / "network.html")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.browser.close()
        cls.scratch.cleanup()

    def open(self, name: str, **how: object) -> Browser:
        """The page, which must be quiet."""
        self.browser.open(self.folder / name, **how)
        self.quiet()
        return self.browser

    def quiet(self) -> None:
        """Nothing was logged, thrown or requested."""
        self.assertEqual(self.browser.problems, [])
        self.assertEqual(self.browser.requests, [])

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Where an element is seen: left, top, width, height."""
        return tuple(self.browser.run(
            f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{ block: 'center' }});"
            " const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"))

    def test_every_page_is_quiet_in_every_form(self) -> None:
        for name in ("report.html", "empty.html", "view.html", "network.html"):
            for width in (1400, 700):
                for dark in (False, True):
                    with self.subTest(name=name, width=width, dark=dark):
                        page = self.open(name, width=width, dark=dark)
                        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)

    def test_an_empty_report_is_small(self) -> None:
        self.assertLess((self.folder / "empty.html").stat().st_size, 400_000)

    def test_policy_forbids_all_but_the_page(self) -> None:
        text = (self.folder / "report.html").read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        self.assertTrue(policy.startswith("default-src &#39;none&#39;"))
        self.assertNotIn("unsafe", policy)
        page = self.open("report.html")
        page.run("(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
                 " document.body.append(s); })()")
        self.assertIsNone(page.run("window.ran"))

    def test_texts_of_a_study_stay_texts(self) -> None:
        page = self.open("report.html")
        self.assertEqual(page.run("document.getElementById('title').textContent"),
                         "<script>alert(1)</script> & <b>bold</b>")
        self.assertEqual(page.run("document.title"), "<script>alert(1)</script> & <b>bold</b>")
        self.assertEqual(page.run("document.querySelectorAll('#title *, #study *').length"), 0)

    # Explanations are those of `tenex show`, to the letter: units, order, widths.
    def test_a_row_is_explained_as_by_show(self) -> None:
        page = self.open("report.html")
        keys = page.run("allRows.map((row) => value('key', row))")
        for i in (0, 3, 8, len(keys) - 1):
            said = page.run(f"explanation({i})")
            self.assertEqual(said, tenex("show", self.folder / "result", keys[i]))

    def test_the_table_filters_and_sorts(self) -> None:
        page = self.open("report.html")
        page.run("byId('filter').value = 'algorithm=ring size>=1MiB';"
                 " byId('filter').dispatchEvent(new Event('input'))")
        self.assertEqual(page.run("table.rows.length"), 2)  # of two topologies
        self.assertTrue(page.run("byId('rows-text').textContent").startswith("2 of 19 rows"))
        page.run("byId('filter').value = ''; byId('filter').dispatchEvent(new Event('input'))")
        page.run("Array.from(document.querySelectorAll('#table-frame th button'))"
                 ".find((each) => each.textContent === 'collective_time').click()")
        times = page.run("table.rows.map((row) => value('collective_time_ps', row)).filter((each) => each !== null)")
        self.assertEqual(times, sorted(times))
        self.assertEqual(page.run("document.querySelector('#table-frame th[aria-sort]').getAttribute('aria-sort')"),
                         "ascending")

    def test_the_keyboard_explains_a_row(self) -> None:
        page = self.open("report.html")
        page.run("byId('table-frame').focus()")
        page.press("ArrowDown", 40)
        page.press("ArrowDown", 40)
        self.assertEqual(page.run("byId('explanation').textContent"), page.run("explanation(table.rows[1])"))
        self.quiet()

    def test_a_point_of_a_curve_tells_its_row(self) -> None:
        page = self.open("report.html")
        left, top, width, height = self.box("#curve-charts circle")
        page.move(left + width / 2, top + height / 2)
        page.wait_for("document.getElementById('tip') && !document.getElementById('tip').hidden")
        self.assertIn("time ", page.run("document.getElementById('tip').textContent"))

    # On a ring of four, ring and tacos take two steps of the same messages.
    def test_a_curve_on_another_one_says_so(self) -> None:
        page = self.open("report.html")
        keys = page.run("Array.from(document.querySelectorAll('#curve-charts figure'),"
                        " (each) => [each.querySelector('figcaption').textContent,"
                        " Array.from(each.querySelectorAll('.key label'), (one) => one.textContent.trim())])")
        of_ring = [names for caption, names in keys if "ring(4)" in caption or "RI(4)" in caption]
        self.assertEqual(of_ring, [["ring", "tacos (as ring)", "rhd"]])

    def test_failures_have_their_reasons(self) -> None:
        page = self.open("report.html")
        text = page.run("byId('failures').textContent")
        self.assertIn("rhd", text)
        self.assertFalse(page.run("byId('failures').hidden"))

    # The ring of four: chunks of 250 KB take 5 us and 0.5 us; by two ways, 3 chunks come in over 2 links: 2 steps.
    # At 2 us all 8 links carry a first chunk, and none has arrived; at the end all 12 have.
    def test_the_slider_says_what_is_under_way(self) -> None:
        page = self.open("view.html")
        self.assertEqual(page.run("model.count"), 12)
        page.run("byId('slider').value = String(Math.round(1e6 * 2e6 / model.end));"
                 " byId('slider').dispatchEvent(new Event('input'))")
        self.assertEqual(page.run("byId('under-way').textContent"), "8 sends under way; 0 of 12 have arrived")
        page.run("byId('slider').value = '1000000'; byId('slider').dispatchEvent(new Event('input'))")
        self.assertEqual(page.run("byId('under-way').textContent"), "0 sends under way; 12 of 12 have arrived")

    def test_steps_and_play_move_the_time(self) -> None:
        page = self.open("view.html")
        page.run("byId('forth').click()")
        first = page.run("model.now")
        self.assertGreater(first, 0)
        page.run("byId('back').click()")
        self.assertEqual(page.run("model.now"), 0)
        page.run("state.seconds = 0.2; byId('play').click()")
        page.wait_for("model.now >= model.end && byId('play').getAttribute('aria-pressed') === 'false'")
        self.quiet()

    def test_an_npu_holds_its_chunks(self) -> None:
        page = self.open("view.html")
        page.run("setNow(0); lookAt('npu', 2)")
        self.assertIn("1 of 4: 2", page.run("byId('detail').textContent"))
        page.run("setNow(model.end)")
        self.assertIn("4 of 4: 0-3", page.run("byId('detail').textContent"))
        page.run("byId('map').focus()")
        page.press("ArrowDown", 40)
        self.assertEqual(page.run("look.kind"), "npu")
        self.quiet()

    # The chain leads from time 0 to the last arrival without a gap: what a send waited for ends when it starts.
    def test_the_critical_chain_is_whole(self) -> None:
        page = self.open("view.html")
        chain = page.run("data.chain.map((send) => [model.start[send], model.busyUntil(send), model.arrival[send]])")
        self.assertEqual(chain[0][0], 0)
        self.assertEqual(chain[-1][2], page.run("model.end"))
        for before, after in zip(chain, chain[1:]):
            self.assertIn(after[0], before[1:])
        page.run("document.querySelector('#chain td button').click()")
        self.assertEqual(page.run("look.kind"), "chunk")
        self.quiet()

    def test_rows_are_found_by_their_ends(self) -> None:
        page = self.open("view.html")
        page.run("byId('find').value = '1>2'; byId('find').dispatchEvent(new Event('input'))")
        self.assertEqual(page.run("gantt.rows.map((row) => model.linkName(row))"), ["1 \u2192 2"])
        left, top, width, height = self.box("#bars")
        page.move(left + width / 4, top + 28)
        page.wait_for("document.getElementById('tip') && !document.getElementById('tip').hidden")
        self.assertIn("1 \u2192 2", page.run("document.getElementById('tip').textContent"))

    # Of mesh(4,4) without the links between NPUs 5 and 6, both are drawn as failed.
    def test_a_network_shows_faults_and_its_cut(self) -> None:
        page = self.open("network.html")
        self.assertEqual(sorted(page.run("data.failed")), [[5, 6], [6, 5]])
        self.assertTrue(page.run("data.bounds.some((bound) => bound.inside.length > 0)"))
        self.assertIn("lead out", page.run("byId('map-text').textContent"))
        self.assertTrue(page.run("byId('gantt').hidden"))

    def test_controls_have_names(self) -> None:
        for name in ("report.html", "view.html"):
            page = self.open(name)
            nameless = page.run(
                "Array.from(document.querySelectorAll('button, input, select, canvas:not([aria-hidden])'))"
                ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels && e.labels.length"
                " || e.id === 'bars')).map((e) => e.outerHTML.slice(0, 80))")
            self.assertEqual(nameless, [])

    def test_a_png_is_drawn(self) -> None:
        tenex("view", *RING, "--picture", "ten", "--png", self.folder / "ten.png", "--svg", self.folder / "ten.svg")
        self.assertTrue((self.folder / "ten.png").read_bytes().startswith(b"\x89PNG"))
        self.assertGreater((self.folder / "ten.png").stat().st_size, 5_000)
        self.assertIn("chunk 3", (self.folder / "ten.svg").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
