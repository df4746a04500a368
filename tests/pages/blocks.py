"""The blocks of a page that a reader can try, and whether a page says what they print.

A page is Markdown. Of its fenced blocks
- ```console has commands (`$ ` before each; a line that ends with a backslash goes on) with what they print, stdout and
  stderr as on a terminal. A line `...` stands for any lines, `...` within a line for any text. What differs from
  machine to machine (keys, seconds, hosts) stands behind such dots, or is not shown;
- ```sh has commands without what they print; they must end with 0;
- ```python is run by Python, with the project's reader;
- ```toml that begins with `schema = ` and has a `[[sweep]]` is a study, which `tenex plan` must accept.
Blocks of a page run in their order, in one scratch folder. A comment above a block says what is different:
    <!-- run: exit 2 -->                     its last command ends with this code
    <!-- run: long -->                       takes longer than a page may in CI
    <!-- run: not here, REASON -->           is not run
    <!-- run: file NAME -->                  is written to NAME in the scratch folder
    <!-- run: same as PATH -->               is the text of this file, from its first line that the block has
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^```(\w*)\s*$")
MARK = re.compile(r"^<!-- run: (.*?) -->$")
DOTS = "..."


@dataclass
class Block:
    """A fenced block: its language, its lines, the index of its first line in the page, and its mark."""

    language: str
    lines: list[str]
    first: int
    mark: str = ""


@dataclass
class Step:
    """A command of a console block, and what the page says that it prints: lines [first, end) of the page."""

    command: str
    printed: list[str] = field(default_factory=list)
    first: int = 0

    @property
    def end(self) -> int:
        return self.first + len(self.printed)


def read_blocks(text: str) -> list[Block]:
    """All fenced blocks of a page. ValueError for a fence without its end."""
    blocks: list[Block] = []
    lines = text.split("\n")
    start = None
    for i, line in enumerate(lines):
        fence = FENCE.match(line)
        if start is None and fence:
            above = MARK.match(lines[i - 1]) if i else None
            start = Block(fence[1], [], i + 1, above[1] if above else "")
        elif start is not None and line == "```":
            start.lines = lines[start.first : i]
            blocks.append(start)
            start = None
    if start is not None:
        raise ValueError(f"line {start.first}: the block has no end")
    return blocks


def read_steps(block: Block) -> list[Step]:
    """The commands of a console block. ValueError where text stands before the first."""
    steps: list[Step] = []
    goes_on = False
    for i, line in enumerate(block.lines):
        if goes_on or line.startswith("$ "):
            if goes_on:
                steps[-1].command += "\n" + line
            else:
                steps.append(Step(line[2:]))
            goes_on = line.endswith("\\")
            steps[-1].first = block.first + i + 1
        elif not steps:
            raise ValueError(f'line {block.first + i + 1}: a console block begins with "$ "')
        else:
            steps[-1].printed.append(line)
    return steps


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.rstrip().split(DOTS)) + "\n"


def _lines(text: str) -> list[str]:
    """Lines without spaces at their ends; the line of a progress that was written over is the last of its versions."""
    return [line.split("\r")[-1].rstrip() for line in text.rstrip("\n").split("\n")] if text.strip() else []


def agrees(printed: list[str], found: str) -> bool:
    """Whether a command printed what the page says."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == DOTS else _pattern(line) for line in printed)
    return re.fullmatch(pattern, "".join(line + "\n" for line in _lines(found))) is not None


def first_difference(printed: list[str], found: str) -> str:
    """The first line of the page that nothing printed, for people."""
    rest = _lines(found)
    for line in printed:
        if line.strip() == DOTS:
            continue
        at = next((i for i, each in enumerate(rest) if re.fullmatch(_pattern(line)[:-1], each)), None)
        if at is None:
            near = next((each for each in rest if shape_of(each) == shape_of(line)), None)
            return f"the page says   {line}\nit prints       {near if near is not None else '(no such line)'}"
        rest = rest[at + 1 :]
    return "the page leaves out: " + (rest[0] if rest else "(the order of lines differs)")


def shape_of(line: str) -> str:
    """A line without its numbers and the widths of its columns, by which a renewed line is found."""
    number = r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?\s?(?:[KMGT]?i?B(?:/s)?|[munpµ]?s|%)?"
    text = re.sub(rf"(?<![A-Za-z_(,]){number}(?![\w(])", "#", line)
    return re.sub(r"\s+", " ", text).strip()


def _succeeds(line: str, old: str) -> bool:
    if DOTS in old:
        return re.fullmatch(_pattern(old)[:-1], line) is not None
    return shape_of(line) == shape_of(old)


def renewed(printed: list[str], found: str) -> list[str] | None:
    """What a page should say: the printed lines, where it had dots these again. None where a line has no successor."""
    now = _lines(found)
    if agrees(printed, found):
        return printed
    if not any(DOTS in line for line in printed):
        return now
    result: list[str] = []
    rest = now
    run: list[str] = []  # lines between two lines of dots

    def settle() -> bool:
        """The run's successors: as many lines, each of the form of one line of the run, in any order (of a table)."""
        nonlocal rest
        for start in range(len(rest) - len(run) + 1 if run else 0):
            window, left, said = rest[start : start + len(run)], list(run), []
            for line in window:
                old = next((each for each in left if _succeeds(line, each)), None)
                if old is None:
                    break
                left.remove(old)
                said.append(old if DOTS in old else line)
            if not left:
                result.extend(said)
                rest = rest[start + len(run) :]
                run.clear()
                return True
        return not run

    for line in printed:
        if line.strip() == DOTS:
            if not settle():
                return None
            result.append(line)
        else:
            run.append(line)
    return result if settle() else None
