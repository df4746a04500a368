"""Tries the blocks of pages as a reader would (blocks.py has the rules), and compares what they print with the pages.

    python3 run_pages.py [--long] [--write] PAGE ...

TENEX is the binary. `--long` runs the blocks with that mark, too. `--write` renews what the pages say that commands
print: for a deliberate change of results. Exit 1 with the differences.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import blocks

ROOT = Path(__file__).resolve().parents[2]
#: What a reader has beside a page: the checkout, at whose top the commands are run.
BESIDE = ("analysis", "experiments", "include", "jobs")
PYTHON = "/usr/bin/python3"  # Debian's own: the reader's packages belong to it


class Reader:
    """Someone who has a page, an empty folder with the checkout's folders, and the binary."""

    def __init__(self, folder: Path, page: Path):
        self.folder = folder
        for name in BESIDE:
            (folder / name).symlink_to(ROOT / name)
        binary = Path(os.environ["TENEX"]).resolve()
        path = f"{binary.parent}:{os.environ['PATH']}"
        self.environment = dict(os.environ, PATH=path, MPLBACKEND="agg", COLUMNS="120")
        self.environment["PYTHONPATH"] = str(ROOT / "analysis")
        self.page = page

    def run(self, command: list[str], wanted: int = 0) -> tuple[str, str]:
        """What a command prints, and what is wrong with its end."""
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200, check=False)
        wrong = ""
        if done.returncode != wanted:
            wrong = f"ends with {done.returncode}, not {wanted}:\n{done.stdout[-1500:]}"
        return done.stdout, wrong


def try_console(reader: Reader, block: blocks.Block, lines: list[str], write: bool) -> list[str]:
    """The mistakes of a block. With `write`, `lines` of the page are renewed, from the last step to the first."""
    mistakes = []
    steps = blocks.read_steps(block)
    code = int(block.mark.split()[1]) if block.mark.startswith("exit ") else 0
    new: list[tuple[blocks.Step, list[str]]] = []
    for step in steps:
        found, wrong = reader.run(["bash", "-c", step.command], code if step is steps[-1] else 0)
        if wrong:
            mistakes.append(f"line {step.first}: {step.command}\n{wrong}")
        elif not blocks.agrees(step.printed, found):
            said = blocks.renewed(step.printed, found) if write else None
            if said is None:
                mistakes.append(f"line {step.first}: {step.command}\n{blocks.first_difference(step.printed, found)}")
            else:
                new.append((step, said))
    for step, said in reversed(new):
        lines[step.first : step.end] = said
    return mistakes


def same_text(block: blocks.Block, path: str, lines: list[str], write: bool) -> list[str]:
    """A block is the text of a file, whose first lines may be left out; with `write` it becomes that."""
    text = (ROOT / path).read_text(encoding="utf-8").rstrip("\n").split("\n")
    start = text.index(block.lines[0]) if block.lines and block.lines[0] in text else 0
    if text[start:] == block.lines:
        return []
    if write:
        lines[block.first : block.first + len(block.lines)] = text[start:]
        return []
    return [f"line {block.first}: the block is not the text of {path}"]


def try_block(reader: Reader, block: blocks.Block, lines: list[str], long: bool, write: bool) -> list[str]:
    """The mistakes of any block."""
    mark, text = block.mark, "\n".join(block.lines) + "\n"
    if mark.startswith("not here") or (mark == "long" and not long):
        return []
    mistakes = []
    if mark.startswith("same as "):
        mistakes += same_text(block, mark.removeprefix("same as "), lines, write)
    if mark.startswith("file "):
        (reader.folder / mark.removeprefix("file ")).write_text(text, encoding="utf-8")
    if block.language == "console":
        return try_console(reader, block, lines, write)
    command: list[str] = []
    if block.language == "sh":
        command = ["bash", "-euo", "pipefail", "-c", text]
    elif block.language == "python":
        command = [PYTHON, "-c", text]
    elif block.language == "toml" and text.startswith("schema = ") and "[[sweep]]" in text:
        study = reader.folder / "tried.toml"
        study.write_text(text, encoding="utf-8")
        command = ["tenex", "plan", str(study)]
    if command:
        _, wrong = reader.run(command)
        mistakes += [f"line {block.first}: {block.language} {wrong}"] if wrong else []
    return mistakes


def try_page(page: Path, long: bool, write: bool) -> list[str]:
    """The mistakes of a page."""
    text = page.read_text(encoding="utf-8")
    lines = text.split("\n")
    mistakes = []
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder), page)
        done = [(block, list(lines)) for block in blocks.read_blocks(text)]
        changed: list[tuple[blocks.Block, list[str]]] = []
        for block, copy in done:
            before = list(copy)
            mistakes += try_block(reader, block, copy, long, write)
            if copy != before:
                end = block.first + len(block.lines) + len(copy) - len(before)
                changed.append((block, copy[block.first : end]))
    for block, said in reversed(changed):
        lines[block.first : block.first + len(block.lines)] = said
    if changed:
        page.write_text("\n".join(lines), encoding="utf-8")
        print(f"{page}: renewed {len(changed)} blocks")
    return [f"{page}: {mistake}" for mistake in mistakes]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    mistakes = [mistake for page in given.pages for mistake in try_page(page, given.long, given.write)]
    print("\n\n".join(mistakes) if mistakes else f"{len(given.pages)} pages say what their commands print")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
