"""The typed reader with the quickstart result, and with files that it must refuse."""

import os
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy
import pandas
import xarray

import tenex_analysis

RESULT = Path(os.environ["TENEX_RESULT"])


class OpensAResult(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.study = tenex_analysis.open_study(RESULT)
        cls.tacos = int((cls.study.frame()["algorithm"] == "tacos").sum())

    def test_xarray_opens_the_file_as_it_is(self):
        with xarray.open_dataset(RESULT / "study.h5", engine="h5netcdf") as dataset:
            self.assertEqual(dataset["collective_time_ps"].dtype, numpy.int64)
            self.assertEqual(dataset["collective_time_seconds"].dtype, numpy.float64)
            self.assertEqual(dataset["alpha"].dims, ("point", "dimension"))
            self.assertEqual(dataset["alpha"].dtype, numpy.int64)

    def test_a_copy_that_xarray_writes_is_the_same(self):
        for name, opened in {"as it is": None, "by the reader": self.study.points}.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                if opened is None:
                    with xarray.open_dataset(RESULT / "study.h5", engine="h5netcdf") as dataset:
                        opened = dataset.load()
                for points in (opened, opened.isel(point=(opened["algorithm"] == "tacos").values)):
                    points.to_netcdf(Path(folder) / "copy.nc", engine="h5netcdf")
                    with xarray.open_dataset(Path(folder) / "copy.nc", engine="h5netcdf") as copy:
                        self.assertTrue(copy.load().identical(points))
                        self.assertEqual(int((copy["algorithm"] == "tacos").sum()), self.tacos)

    def test_times_agree_to_the_picosecond(self):
        points = self.study.points
        seconds = points["collective_time_ps"].values * 1e-12
        numpy.testing.assert_allclose(points["collective_time_seconds"].values, seconds, rtol=1e-15)

    def test_every_row_is_verified_and_not_below_its_bound(self):
        frame = self.study.frame()
        self.assertGreaterEqual(len(frame), 200)
        self.assertEqual(set(frame["verified"]), {"yes"})
        self.assertTrue((frame["collective_time_ps"] >= frame["bound_ps"]).all())

    def test_the_quickstart_has_the_large_points_it_promises(self):
        frame = self.study.frame()
        large = frame[frame["npus"] >= 256]
        self.assertGreaterEqual(len(large), 40)
        self.assertGreaterEqual((large["algorithm"] == "tacos").sum(), 30)

    def test_frame_has_words_for_flags_and_text_as_text(self):
        frame = self.study.frame()
        self.assertIsInstance(frame["status"].dtype, pandas.CategoricalDtype)
        self.assertIn("mesh(16,16)", " ".join(frame["topology"]).replace("LI(16)_LI(16)", "mesh(16,16)"))
        self.assertIn("schema = 1", self.study.text)

    def test_runs_name_a_rank_for_every_point(self):
        runs = self.study.runs()
        self.assertEqual(len(runs), len(self.study.frame()))
        self.assertLessEqual(set(runs["rank"]), {0, 1})
        self.assertTrue(runs["host"].map(lambda host: isinstance(host, str) and host != "").all())


class RefusesOtherFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = Path(self.folder.name) / "study.h5"

    def refuse(self, words):
        with self.assertRaisesRegex(tenex_analysis.ResultError, words):
            tenex_analysis.open_study(self.file)

    def test_missing(self):
        self.refuse("no such file")

    def test_not_hdf5(self):
        self.file.write_text("hello")
        self.refuse("not an HDF5 file")

    def test_foreign_hdf5(self):
        with h5py.File(self.file, "w") as file:
            file["x"] = [1]
        self.refuse("not a tenex result")

    def test_newer_schema(self):
        with h5py.File(self.file, "w") as file:
            file.attrs["schema"] = tenex_analysis.SCHEMA + 1
            file.attrs["physics"] = 1
            file["point"] = [0]
        self.refuse("newer than")


if __name__ == "__main__":
    unittest.main()
