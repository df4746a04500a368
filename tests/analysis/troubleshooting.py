"""Every message that jobs/troubleshooting.md explains is in the code."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Messages of other programs.
FOREIGN = ("ModuleNotFoundError",)


def code():
    """All texts of the code: literals that stand in several pieces are joined, values are taken out."""
    text = ""
    for pattern in ("src/**/*.cpp", "src/**/*.hpp", "analysis/**/*.py", "jobs/*.sh"):
        for file in sorted(ROOT.glob(pattern)):
            text += file.read_text()
    text = re.sub(r'"\s*\n\s*f?"', "", text).replace('\\"', '"')
    return re.sub(r"\{[^{}\n]*\}", "{}", text)


def messages():
    """The messages of the page's tables: what stands in backticks in the first column."""
    page = (ROOT / "jobs/troubleshooting.md").read_text()
    for row in re.findall(r"(?m)^\| (`.*?) \|", page):
        for message in re.findall(r"`([^`]+)`", row):
            if " " in message and not message.startswith(FOREIGN + ("jobs/", "warning:")):
                yield message


class Messages(unittest.TestCase):
    def test_are_those_of_the_code(self):
        text = code()
        found = list(messages())
        self.assertGreater(len(found), 15)
        for message in found:
            with self.subTest(message):
                # Names and numbers stand for values of the code.
                parts = re.split(r'\.\.\.|"[^"]*"|\b[A-Z0-9]+\b', message)
                for part in parts:
                    if len(part.strip()) > 5:
                        self.assertIn(part.strip(), text)


if __name__ == "__main__":
    unittest.main()
