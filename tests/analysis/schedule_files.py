"""Schedule files: what `tenex synthesize` writes compactly reads as what it writes send by send; times by hand."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy

import tenex_analysis

TENEX = os.environ["TENEX"]

#: A case for each storage of compact files. The views come on top of blocks and steps.
CASES = {
    "symmetric": ["RI(4)_FC(3)_SW(5)", "all_gather", "--chunks", "2", "--synthesizer", "tacos"],
    "symmetric, unwound to two": ["RI(4)_SW(5)", "reduce_scatter", "--unwind", "2", "--synthesizer", "tacos"],
    "symmetric, pairs": ["torus(4,4)", "all_to_all", "--synthesizer", "pccl"],
    "symmetric, wires": ["RI(4)_SW(8)", "all_to_all", "--synthesizer", "pccl", "--forwarding", "cut_through"],
    "grid": ["grid(3,4,3)", "all_to_all", "--chunks", "2", "--synthesizer", "pccl"],
    "comb": ["grid(4,3,5)", "all_reduce", "--chunks", "16", "--synthesizer", "trees", "--engine", "combs"],
    "comb, one line": ["LI(9)", "all_reduce", "--chunks", "512", "--synthesizer", "trees", "--engine", "combs"],
    "periodic": ["torus(4,4)", "all_reduce", "--chunks", "640", "--synthesizer", "trees", "--engine", "packed"],
    "step_table": ["mesh(10,9)", "all_gather", "--synthesizer", "tacos", "--engine", "exact"],
    "step_table, reversed": ["RI(8)_LI(7)", "all_reduce", "--synthesizer", "tacos", "--engine", "exact"],
    "block": ["dragonfly(4,5)", "all_gather", "--synthesizer", "tacos", "--engine", "coarse"],
    "block, reversed": ["mesh(12,12)", "reduce_scatter", "--synthesizer", "tacos", "--engine", "coarse"],
    "list": ["mesh(4,4)", "all_gather", "--synthesizer", "tacos", "--engine", "event_driven"],
    "list of groups": ["mesh(4,4)", "mixed", "--groups", "0-7 all_to_all 8MiB; 8-15 all_reduce 1MiB 4 chunks",
                       "--synthesizer", "pccl"],
}
KINDS = {
    "symmetric", "grid", "comb", "periodic", "step_table", "block", "relabelled", "reversed", "sequence",
}


def synthesize(path, topology, collective, *options, size="64MiB"):
    """Writes a schedule; returns what `--json` prints."""
    command = [TENEX, "synthesize", "--topology", topology, "--alpha", "0.5us", "--bandwidth", "50GB/s",
               "--collective", collective, "--size", size, *options, "--threads", "1", "--out", str(path), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


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
        subprocess.run([*replay, "timed"], check=True, capture_output=True)
        soon = subprocess.run([*replay, "as_soon_as_possible"], capture_output=True, text=True)
        self.assertEqual(soon.returncode, 1)
        self.assertIn("a replay has no late starts", soon.stderr)  # NPU 1 would start at zero
        content = json.loads(path.read_text())
        late = {link for link, (source, _, _) in enumerate(content["topology"]["links"]) if source == 1}
        first = next(send for send in content["sends"] if send[1] in late)
        first[0] = 49_999_999  # a picosecond too early
        path.write_text(json.dumps(content))
        code, valid, found = verify(path)
        self.assertEqual((code, valid), (1, False))
        self.assertIn("early_start", found)

    def test_compact_files_equal_expanded_ones(self):
        kinds = set()
        for name, case in CASES.items():
            with self.subTest(name):
                compact, expanded = self.folder / "compact.h5", self.folder / "expanded.h5"
                row = synthesize(compact, *case)
                synthesize(expanded, *case, "--expanded")
                schedule = tenex_analysis.open_schedule(compact)
                self.assertTrue(schedule.sends.equals(tenex_analysis.open_schedule(expanded).sends))
                self.assertEqual(schedule.time_ps, row["collective_time_ps"])
                self.assertEqual(len(schedule.sends), row["sends"])
                with h5py.File(compact) as file:
                    kinds |= {storage.attrs["kind"] for storage in file.get("storage", {}).values()}
        self.assertEqual(KINDS - kinds, set(), "a case for every storage")

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
        self.assertEqual(hdf5.canonical, text.canonical)


def two_npus(**changes):
    """A JSON file with links 0 -> 1 and 1 -> 0 of 1000 ps and 1 ps/B, and chunks of 2 B."""
    return {
        "kind": "tenex schedule", "schema": 1, "version": "0", "occupancy": "serialization", "algorithm": "hand",
        "canonical": "",
        "collective": {"collective": "all_gather", "size_bytes": 20, "chunks": 5, "root": 0, "groups": [[0, 1]]},
        "topology": {"npus": 2, "shape": "", "switches": [], "links": [[0, 1, 0], [1, 0, 0]],
                     "classes": [{"alpha_ps": 1000, "bandwidth_bytes_per_s": 10**12}]},
        "columns": [], "sends": [],
    } | changes


class ReadsWhatIsWrittenByHand(unittest.TestCase):
    def open(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hand.json"
            path.write_text(json.dumps(content))
            return tenex_analysis.open_schedule(path)

    def test_a_send_of_several_chunks(self):
        # Payload 0 has three chunks: 6 B take 6 ps.
        schedule = self.open(two_npus(payloads=[[0, 1, 2], [3, 4]], sends=[
            [0, 0, 10, "copy", 7, 1], [6, 0, 11, "copy", 8, 1], [20, 1, 5, "copy", None, None]]))
        self.assertEqual(list(schedule.sends["arrival_ps"]), [1006, 1010, 1022])
        self.assertEqual(list(schedule.carried(10)), [0, 1, 2])
        self.assertEqual(list(schedule.carried(11)), [3, 4])
        self.assertEqual(list(schedule.carried(5)), [5])
        self.assertEqual(list(schedule.sends["message"]), [7, 8, -1])

    def test_a_wire_has_all_latencies_and_the_least_bandwidth(self):
        # Both links of the wire have 100 ps; 10 B take 10 ps on the first and 20 ps on the second.
        topology = {"npus": 2, "shape": "", "switches": [{"copy": False, "reduce": False, "cut_through": True}],
                    "links": [[0, 2, 0], [2, 1, 1]], "wires": [[0, 1]],
                    "classes": [{"alpha_ps": 100, "bandwidth_bytes_per_s": 10**12},
                                {"alpha_ps": 100, "bandwidth_bytes_per_s": 5 * 10**11}]}
        broadcast = {"collective": "broadcast", "size_bytes": 10, "chunks": 1, "root": 0, "groups": [[0, 1]]}
        schedule = self.open(two_npus(topology=topology, collective=broadcast, sends=[[5, 0, 0, "copy"]]))
        self.assertEqual(list(schedule.sends["arrival_ps"]), [5 + 200 + 20])
        self.assertEqual(list(schedule.links.loc[0]), [0, 1, 200, 5 * 10**11])

    def test_a_slow_link(self):
        # 2 B at 1 ps/B, 2.5 times as slow.
        topology = two_npus()["topology"]
        topology["classes"][0]["slowdown_thousandths"] = 2500
        schedule = self.open(two_npus(topology=topology, sends=[[0, 0, 0, "reduce"]]))
        self.assertEqual(list(schedule.sends["arrival_ps"]), [1005])
        self.assertEqual(list(schedule.sends["stage"]), ["reduce"])

    def test_a_link_whose_bandwidth_varies(self):
        # 2 B at 1 ps/B and 1000 ps of latency; half the speed from 11 to 12 ps. The send at 10 has 1 ps of its bytes
        # before the window, half a ps, rounded down to none, in it, and 1 after it. That at 11 has nothing by 12.
        topology = two_npus()["topology"]
        topology["windows"] = [{"class": 0, "from_ps": 11, "until_ps": 12, "slowdown_thousandths": 2000},
                               {"class": 0, "from_ps": 20, "until_ps": 40, "slowdown_thousandths": 3000}]
        sends = [[8, 0, 0, "copy"], [10, 0, 0, "copy"], [11, 0, 0, "copy"], [19, 0, 0, "copy"], [30, 0, 0, "copy"]]
        schedule = self.open(two_npus(topology=topology, sends=sends))
        self.assertEqual(list(schedule.sends["arrival_ps"]), [1010, 1013, 1014, 1023, 1036])

    def test_groups_have_their_own_chunks(self):
        # Group 0 has two chunks of 10 B, group 1 one condition of 9 B in 2 chunks of 5 B each.
        collective = {"collective": "mixed", "size_bytes": 20, "chunks": 1, "root": 0, "groups": [[0, 1], [0, 1]],
                      "group_kind": [0, 10], "group_size_bytes": [20, 20], "group_chunks": [1, 2],
                      "group_root": [0, 0], "group_conditions": [0, 1], "condition_source": [0],
                      "condition_bytes": [9], "condition_destinations": [1], "destination": [1]}
        schedule = self.open(two_npus(collective=collective, sends=[[0, 0, 0, "copy"], [10, 0, 3, "copy"]]))
        self.assertEqual(schedule.chunks, 4)
        self.assertEqual(list(schedule.sends["bytes"]), [10, 5])

    def test_no_sends(self):
        schedule = self.open(two_npus())
        self.assertEqual((len(schedule.sends), schedule.time_ps), (0, 0))

    def test_other_files_are_refused(self):
        def refusal(content):
            with self.assertRaises(tenex_analysis.ScheduleError) as caught:
                self.open(content)
            return str(caught.exception)

        self.assertIn("schema 3 is newer than 2", refusal(two_npus(schema=3)))
        self.assertIn("not a tenex schedule (its kind is tenex result)", refusal({"kind": "tenex result", "schema": 2}))
        self.assertIn("not a tenex schedule", refusal([1, 2]))
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
