"""The Python package, installed by pip without network into an environment that sees the system's packages."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TENEX_SOURCE"])
OPENS_THE_RESULT = """
import sys, tenex_analysis
study = tenex_analysis.open_study(sys.argv[1])
print(tenex_analysis.__file__, len(study.frame()))
"""


class Installed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.venv = Path(self.folder.name) / "venv"

    def run_without_network(self, *words):
        """Its output. The checkout is not on the path, and no configuration of pip names other places."""
        hidden = ("PYTHONPATH", "PIP_FIND_LINKS", "PIP_INDEX_URL")
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        environment["PIP_CONFIG_FILE"] = os.devnull
        done = subprocess.run([str(word) for word in words], cwd=self.folder.name, env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_pip_needs_no_network_and_the_package_opens_a_result(self):
        copy = Path(self.folder.name) / "analysis"  # pip builds in the folder, and the checkout stays clean
        shutil.copytree(SOURCE / "analysis", copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.ipynb"))
        self.run_without_network(sys.executable, "-m", "venv", "--system-site-packages", self.venv)
        self.run_without_network(self.venv / "bin/pip", "install", "--no-index", "--no-build-isolation", copy)
        shutil.rmtree(copy)
        out = self.run_without_network(self.venv / "bin/python", "-c", OPENS_THE_RESULT, os.environ["TENEX_RESULT"])
        file, rows = out.split()
        self.assertTrue(file.startswith(str(self.venv)), file)
        self.assertEqual(int(rows), 267)  # the points of experiments/quickstart

    def test_its_version_is_that_of_the_program(self):
        printed = subprocess.run([os.environ["TENEX"], "--version", "--json"], capture_output=True, text=True)
        version = json.loads(printed.stdout)["version"]
        self.assertIn(f'version = "{version}"', (SOURCE / "analysis/pyproject.toml").read_text())
        package = (SOURCE / "analysis/tenex_analysis/__init__.py").read_text()
        self.assertIn(f'__version__ = "{version}"', package)


if __name__ == "__main__":
    unittest.main()
