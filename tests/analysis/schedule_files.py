"""Schedule files: lists of every storage, of a part, and by hand; recipes, which are made again and verified."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy

import tenex_analysis

TENEX = os.environ["TENEX"]

#: A case for each storage in memory, of switches, groups, messages and sends of several chunks.
CASES = {
    "symmetric": ["RI(4)_FC(3)_SW(5)", "all_gather", "--chunks", "2", "--synthesizer", "tacos"],
    "symmetric, unwound to two": ["RI(4)_SW(5)", "reduce_scatter", "--unwind", "2", "--synthesizer", "tacos"],
    "symmetric, wires": ["RI(4)_SW(8)", "all_to_all", "--synthesizer", "pccl", "--forwarding", "cut_through"],
    "grid": ["grid(3,4,3)", "all_to_all", "--chunks", "2", "--synthesizer", "pccl"],
    "comb": ["grid(4,3,5)", "all_reduce", "--chunks", "16", "--synthesizer", "trees", "--engine", "combs"],
    "step_table": ["mesh(10,9)", "all_gather", "--synthesizer", "tacos", "--engine", "exact"],
    "list, retimed": ["mesh(12,12)", "all_reduce", "--synthesizer", "tacos", "--engine", "coarse"],
    "list": ["mesh(4,4)", "all_gather", "--synthesizer", "tacos", "--engine", "event_driven"],
    "list of groups": ["mesh(4,4)", "mixed", "--groups", "0-7 all_to_all 8MiB; 8-15 all_reduce 1MiB 4 chunks",
                       "--synthesizer", "pccl"],
    "faults": ["mesh(4,4)", "all_gather", "--synthesizer", "tacos", "--faults", "link 0-1; npus 1 draw 2"],
}


def synthesize(path, topology, collective, *options, size="64MiB"):
    """Writes a schedule; returns what `--json` prints."""
    command = [TENEX, "synthesize", "--topology", topology, "--alpha", "0.5us", "--bandwidth", "50GB/s",
               "--collective", collective, "--size", size, *options, "--threads", "1", "--out", str(path), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def tenex(*words):
    """A finished command."""
    return subprocess.run([TENEX, *map(str, words)], capture_output=True, text=True)


def verify(path):
    """The exit code of `tenex verify`, whether the schedule is valid, and the violations that it names."""
    done = subprocess.run([TENEX, "verify", str(path), "--json"], capture_output=True, text=True)
    told = json.loads(done.stdout)
    return done.returncode, told["verified"], [each["violation"] for each in told.get("findings", [])]


class ReadsWhatTenexWrites(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_schedules_of_other_tools_are_opened_on_a_network(self):
        made = self.folder / "s.h5"
        synthesize(made, "RI(4)", "all_gather", "--synthesizer", "tacos", size="1MiB")
        network = {"topology": "RI(4)", "alpha": "0.5us", "bandwidth": "50GB/s", "size": "1MiB"}
        wanted = tenex_analysis.open_schedule(made)
        for form, name in (("mscclang", "s.xml"), ("mscclpp", "s.json"), ("chakra", "s")):
            with self.subTest(form=form):
                done = tenex("export", made, "--format", form, "-o", self.folder / name)
                self.assertEqual(done.returncode, 0, done.stderr)
                path = self.folder / (f"{name}.0.et" if form == "chakra" else name)
                opened = tenex_analysis.open_schedule(path, **network)
                self.assertEqual(opened.path, path)
                self.assertEqual(opened.time_ps, wanted.time_ps)
                self.assertEqual(opened.collective, "all_gather")
                self.assertEqual(len(opened.sends), len(wanted.sends))
        text = (self.folder / "s.xml").read_text(encoding="utf-8")
        (self.folder / "bad.xml").write_text(text.replace('type="r"', 'type="nop"', 1), encoding="utf-8")
        with self.assertRaisesRegex(tenex_analysis.ScheduleError, "bad.xml: .*gpu 0"):
            tenex_analysis.open_schedule(self.folder / "bad.xml", **network)
        with self.assertRaisesRegex(tenex_analysis.ScheduleError, "--topolgy"):
            tenex_analysis.open_schedule(self.folder / "s.xml", topolgy="RI(4)")
        with self.assertRaisesRegex(tenex_analysis.ScheduleError, "with a network: open_schedule"):
            tenex_analysis.open_schedule(self.folder / "s.json")

    def test_late_npus_are_kept_and_checked(self):
        for form in ("h5", "json"):
            path = self.folder / f"late.{form}"
            synthesize(path, "RI(4)", "all_gather", "--synthesizer", "trees", "--stragglers", "npu 1 delay 50us")
            schedule = tenex_analysis.open_schedule(path)
            self.assertEqual(schedule.delays, {1: 50_000_000})
            of_late = schedule.sends.query("source == 1")
            self.assertGreaterEqual(of_late["start_ps"].min(), 50_000_000)
        self.assertEqual(verify(path), (0, True, []))
        replay = [TENEX, "simulate", "--schedule", str(path), "--replay"]
        for mode in ("timed", "as_soon_as_possible"):  # neither lets NPU 1 start at zero
            done = subprocess.run([*replay, mode, "--json"], check=True, capture_output=True, text=True)
            times = json.loads(done.stdout)
            self.assertEqual(times["collective_time_ps"], times["planned_time_ps"], mode)
        content = json.loads(path.read_text())
        first = next(send for send in content["sends"] if send[2] == 1)
        first[1] -= first[0] - 49_999_999
        first[0] = 49_999_999  # a picosecond too early
        path.write_text(json.dumps(content))
        code, valid, found = verify(path)
        self.assertEqual((code, valid), (1, False))
        self.assertIn("early_start", found)

    def test_lists_and_lists_of_recipes_are_the_same(self):
        for name, case in CASES.items():
            with self.subTest(name):
                listed, recipe, made = (self.folder / each for each in ("list.h5", "recipe.h5", "made.h5"))
                row = synthesize(listed, *case)
                self.assertEqual(row["file_content"], "list")
                schedule = tenex_analysis.open_schedule(listed)
                self.assertEqual(schedule.time_ps, row["collective_time_ps"])
                self.assertEqual(len(schedule.sends), row["sends"])
                self.assertEqual(synthesize(recipe, *case, "--as", "recipe")["file_content"], "recipe")
                self.assertLess(recipe.stat().st_size, 20_000)
                self.assertEqual(verify(recipe), (0, True, []))
                found = tenex_analysis.open_schedule(recipe)
                self.assertEqual((found.time_ps, found.count), (row["collective_time_ps"], row["sends"]))
                self.assertEqual((found.hash, found.canonical), (row["schedule_hash"], schedule.canonical))
                self.assertEqual(tenex("export", recipe, "--format", "list", "-o", made).returncode, 0)
                self.assertEqual(made.read_bytes(), listed.read_bytes())

    def test_a_part_is_the_filter_of_the_whole(self):
        whole, part = self.folder / "whole.h5", self.folder / "part.json"
        synthesize(whole, *CASES["step_table"])
        sends = tenex_analysis.open_schedule(whole).sends
        middle = int(sends["start_ps"].median())
        done = tenex("export", whole, "-o", part, "--npus", "3,7-9", "--chunks", "0-40", "--from", f"{middle}ps",
                     "--to", f"{2 * middle}ps")
        self.assertEqual(done.returncode, 0, done.stderr)
        near = sends["source"].isin([3, 7, 8, 9]) | sends["target"].isin([3, 7, 8, 9])
        wanted = sends[near & (sends["chunk"] <= 40) & sends["start_ps"].between(middle, 2 * middle, "left")]
        found = tenex_analysis.open_schedule(part)
        self.assertGreater(len(wanted), 0)
        self.assertTrue(found.sends.equals(wanted.reset_index(drop=True)))
        self.assertEqual(found.part, f"from or to 3,7-9, of chunks 0-40, from {middle} ps on, before {2 * middle} ps")
        refused = tenex("verify", part)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("part of a schedule", refused.stderr)

    def test_a_recipe_of_another_schedule_says_both_times(self):
        recipe = self.folder / "recipe.json"
        row = synthesize(recipe, *CASES["list"], "--as", "recipe")
        content = json.loads(recipe.read_text())
        content |= {"hash": "00000000deadbeef", "version": "0.0.7", "collective_time_ps": 7_000_000,
                    "canonical": re.sub(r"physics=\d+", "physics=9", content["canonical"])}
        recipe.write_text(json.dumps(content))
        for command in (["verify", recipe], ["simulate", "--schedule", recipe],
                        ["export", recipe, "-o", self.folder / "list.h5"]):
            done = tenex(*command)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn(f"({row['collective_time_ps']} ps)", done.stderr)
            self.assertIn("the recipe's took 7us (7000000 ps)", done.stderr)
            self.assertIn("tenex 0.0.7 with physics 9 wrote", done.stderr)
        self.assertFalse((self.folder / "list.h5").exists())
        self.assertEqual(verify(recipe), (1, True, []), "the schedule that is made now is valid")

    def test_a_recipe_says_how_to_make_the_list(self):
        recipe = self.folder / "recipe.h5"
        synthesize(recipe, *CASES["grid"], "--as", "recipe")
        found = tenex_analysis.open_schedule(recipe)
        with self.assertRaisesRegex(tenex_analysis.ScheduleError, "tenex export .* --format list"):
            _ = found.sends
        self.assertEqual(tenex(*found.how_to_list.split()[1:]).returncode, 0)
        self.assertEqual(len(tenex_analysis.open_schedule(self.folder / "recipe-list.h5").sends), found.count)

    def test_a_ring_by_hand(self):
        # 4 chunks of 50,000 B take 1 us each at 50 GB/s, and 0.5 us more to arrive. Every NPU receives three chunks:
        # one from each neighbour at 1.5 us, and the one of the NPU opposite, which a neighbour sends on then, at 3 us.
        synthesize(self.folder / "ring.h5", "RI(4)", "all_gather", "--synthesizer", "tacos", size="200000B")
        schedule = tenex_analysis.open_schedule(self.folder / "ring.h5")
        self.assertEqual((schedule.npus, schedule.shape, schedule.collective), (4, "RI(4)", "all_gather"))
        self.assertEqual((schedule.chunks, schedule.size_bytes, schedule.time_ps), (4, 200_000, 3_000_000))
        sends = schedule.sends
        self.assertEqual(list(sends["arrival_ps"]), [1_500_000] * 8 + [3_000_000] * 4)
        self.assertEqual(set(sends["bytes"]), {50_000})
        self.assertEqual(set((sends["source"] - sends["target"]) % 4), {1, 3}, "neighbours")
        received = sorted(zip(sends["target"], sends["chunk"]))
        self.assertEqual(received, [(npu, chunk) for npu in range(4) for chunk in range(4) if npu != chunk])
        held = {(npu, npu): 0 for npu in range(4)}
        for send in sends.itertuples():
            self.assertLessEqual(held[send.source, send.chunk], send.start_ps, "the source holds what it sends")
            held[send.target, send.chunk] = send.arrival_ps

    def test_json_equals_hdf5(self):
        for name in ("mesh.h5", "mesh.json"):
            synthesize(self.folder / name, *CASES["list"])
        hdf5, text = (tenex_analysis.open_schedule(self.folder / name) for name in ("mesh.h5", "mesh.json"))
        self.assertTrue(hdf5.sends.equals(text.sends))
        self.assertTrue(hdf5.links.equals(text.links))
        messages = [self.folder / name for name in ("bruck.h5", "bruck.json")]
        for path in messages:  # its messages are sent over switches and carry several chunks
            self.assertEqual(tenex("simulate", "--topology", "SW(4)", "--alpha", "1us", "--bandwidth", "1GB/s",
                                   "--collective", "all_gather", "--size", "4KB", "--algorithm", "bruck", "--out",
                                   path).returncode, 0)
            self.assertEqual(verify(path)[:2], (0, True))
        schedules = [tenex_analysis.open_schedule(path) for path in messages]
        self.assertTrue(schedules[0].sends.equals(schedules[1].sends))
        several = schedules[0].sends["chunk"].max()
        self.assertEqual(list(schedules[0].carried(several)), list(schedules[1].carried(several)))
        self.assertGreater(len(schedules[0].carried(several)), 1)
        self.assertEqual(hdf5.canonical, text.canonical)


def two_npus(**changes):
    """A JSON file with links 0 -> 1 and 1 -> 0 of 1000 ps and 1 ps/B, and chunks of 2 B."""
    return {
        "kind": "tenex schedule", "schema": 3, "content": "list", "version": "0", "occupancy": "serialization",
        "algorithm": "hand", "canonical": "",
        "collective": {"collective": "all_gather", "size_bytes": 20, "chunks": 5, "root": 0, "total_chunks": 10,
                       "groups": [[0, 1]]},
        "topology": {"npus": 2, "shape": "", "switches": [], "links": [[0, 1, 0], [1, 0, 0]],
                     "classes": [{"alpha_ps": 1000, "bandwidth_bytes_per_s": 10**12}]},
        "columns": ["start_ps", "arrival_ps", "source", "target", "link", "chunk", "bytes", "stage"], "sends": [],
    } | changes


class ReadsWhatIsWrittenByHand(unittest.TestCase):
    def open(self, content):
        """Opens it, after tenex has found that arrivals, vertices and bytes are those of its links and chunks."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hand.json"
            path.write_text(json.dumps(content))
            if content["sends"]:
                self.assertEqual(verify(path)[0], 1, "the few sends make no collective")
            return tenex_analysis.open_schedule(path)

    def test_a_send_of_several_chunks(self):
        # Payload 0 has three chunks: 6 B take 6 ps.
        columns = [*two_npus()["columns"], "message", "destination"]
        schedule = self.open(two_npus(columns=columns, payloads=[[0, 1, 2], [3, 4]], sends=[
            [0, 1006, 0, 1, 0, 10, 6, "copy", 7, 1], [6, 1010, 0, 1, 0, 11, 4, "copy", 8, 1],
            [20, 1022, 1, 0, 1, 5, 2, "copy", None, None]]))
        self.assertEqual(list(schedule.sends["arrival_ps"]), [1006, 1010, 1022])
        self.assertEqual(list(schedule.carried(10)), [0, 1, 2])
        self.assertEqual(list(schedule.carried(11)), [3, 4])
        self.assertEqual(list(schedule.carried(5)), [5])
        self.assertEqual(list(schedule.sends["message"]), [7, 8, -1])

    def test_a_wire_has_all_latencies_and_the_least_bandwidth(self):
        # Both links of the wire have 100 ps; 10 B take 10 ps on the first and 20 ps on the second.
        topology = {"npus": 2, "shape": "",
                    "switches": [{"copy": False, "reduce": False, "cut_through": True, "buffer": -1}],
                    "links": [[0, 2, 0], [2, 1, 1]], "wires": [[0, 1]],
                    "classes": [{"alpha_ps": 100, "bandwidth_bytes_per_s": 10**12},
                                {"alpha_ps": 100, "bandwidth_bytes_per_s": 5 * 10**11}]}
        broadcast = {"collective": "broadcast", "size_bytes": 10, "chunks": 1, "root": 0, "total_chunks": 1,
                     "groups": [[0, 1]]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hand.json"
            path.write_text(json.dumps(two_npus(topology=topology, collective=broadcast,
                                                sends=[[5, 5 + 200 + 20, 0, 1, 0, 0, 10, "copy"]])))
            self.assertEqual(verify(path), (0, True, []))
            schedule = tenex_analysis.open_schedule(path)
        self.assertEqual(list(schedule.links.loc[0]), [0, 1, 200, 5 * 10**11])

    def test_a_slow_link(self):
        # 2 B at 1 ps/B, 2.5 times as slow.
        topology = two_npus()["topology"]
        topology["classes"][0]["slowdown_thousandths"] = 2500
        schedule = self.open(two_npus(topology=topology, sends=[[0, 1005, 0, 1, 0, 0, 2, "reduce"]]))
        self.assertEqual(list(schedule.sends["stage"]), ["reduce"])

    def test_a_link_whose_bandwidth_varies(self):
        # 2 B at 1 ps/B and 1000 ps of latency; half the speed from 11 to 12 ps. The send at 10 has 1 ps of its bytes
        # before the window, half a ps, rounded down to none, in it, and 1 after it. That at 11 has nothing by 12.
        topology = two_npus()["topology"]
        topology["windows"] = [{"class": 0, "from_ps": 11, "until_ps": 12, "slowdown_thousandths": 2000},
                               {"class": 0, "from_ps": 20, "until_ps": 40, "slowdown_thousandths": 3000}]
        sends = [[start, arrival, 0, 1, 0, 0, 2, "copy"]
                 for start, arrival in ((8, 1010), (10, 1013), (11, 1014), (19, 1023), (30, 1036))]
        self.open(two_npus(topology=topology, sends=sends))

    def test_groups_have_their_own_chunks(self):
        # Group 0 has two chunks of 10 B, group 1 one condition of 9 B in 2 chunks of 5 B each.
        collective = {"collective": "mixed", "size_bytes": 20, "chunks": 1, "root": 0, "total_chunks": 4,
                      "groups": [[0, 1], [0, 1]],
                      "group_kind": [0, 10], "group_size_bytes": [20, 20], "group_chunks": [1, 2],
                      "group_root": [0, 0], "group_conditions": [0, 1], "condition_source": [0],
                      "condition_bytes": [9], "condition_destinations": [1], "destination": [1]}
        schedule = self.open(two_npus(collective=collective, sends=[
            [0, 1010, 0, 1, 0, 0, 10, "copy"], [10, 1015, 0, 1, 0, 3, 5, "copy"]]))
        self.assertEqual(schedule.chunks, 4)

    def test_no_sends(self):
        schedule = self.open(two_npus())
        self.assertEqual((len(schedule.sends), schedule.time_ps), (0, 0))

    def test_other_files_are_refused(self):
        def refusal(content):
            with self.assertRaises(tenex_analysis.ScheduleError) as caught:
                self.open(content)
            return str(caught.exception)

        self.assertIn("schema 4 is newer than 3", refusal(two_npus(schema=4)))
        self.assertIn("schema 2 is no longer read", refusal(two_npus(schema=2)))
        self.assertIn("not a tenex schedule (its kind is tenex result)",
                      refusal({"kind": "tenex result", "schema": 2, "sends": []}))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hand.json"
            path.write_text("[1, 2]")
            with self.assertRaisesRegex(tenex_analysis.ScheduleError, "not a tenex schedule"):
                tenex_analysis.open_schedule(path)
        with self.assertRaisesRegex(tenex_analysis.ScheduleError, "no such file"):
            tenex_analysis.open_schedule("missing.h5")

    def test_more_sends_than_memory_is_for(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ring.h5"
            synthesize(path, "RI(8)", "all_gather", "--synthesizer", "tacos")
            with self.assertRaisesRegex(tenex_analysis.ScheduleError, "it has 56 sends, more than 10"):
                tenex_analysis.open_schedule(path, most_sends=10)
            self.assertEqual(len(tenex_analysis.open_schedule(path, most_sends=56).sends), 8 * 7)


if __name__ == "__main__":
    numpy.seterr(all="raise")
    unittest.main()
