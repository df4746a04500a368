"""A part of a study for the tests of every change: the points that parts.toml keeps, where the whole study is dear.

    python3 part_of.py EXPERIMENTS/NAME/study.toml FOLDER

writes FOLDER/study.toml, which has the condition of parts.toml in the `keep` of every sweep and lacks the sweeps that
it leaves out, and links to the other files that the study may name: those beside it, and the machines.
"""

import contextlib
import json
import re
import sys
import tomllib
from pathlib import Path

PARTS = Path(__file__).with_name("parts.toml")


def part_of(text: str, condition: str, without: list[str]) -> str:
    """The study's text with a further condition for every sweep, and without some sweeps."""
    sweeps = tomllib.loads(text)["sweep"]
    parts = re.split(r"(?m)^\[\[sweep\]\]\n", text)
    if len(parts) != len(sweeps) + 1:
        raise ValueError(f"{len(parts) - 1} sweeps begin a line, and there are {len(sweeps)}")
    if unknown := set(without) - {sweep.get("name") for sweep in sweeps}:
        raise ValueError(f"no sweep is called {', '.join(sorted(unknown))}")
    kept = parts[:1]
    for sweep, part in zip(sweeps, parts[1:], strict=True):
        conditions = sweep.get("keep", [])
        conditions = [*([conditions] if isinstance(conditions, str) else conditions), " ".join(condition.split())]
        if sweep.get("name") not in without:
            part = re.sub(r'(?m)^keep = ("[^"\n]*"|\[[^\]]*\])\n', "", part)
            kept.append(f"keep = {json.dumps(conditions)}\n{part}")
    found = "[[sweep]]\n".join(kept)
    tomllib.loads(found)  # a `keep` that was not found would now stand there twice
    return found


def main(study: Path, folder: Path) -> None:
    part = tomllib.loads(PARTS.read_text(encoding="utf-8"))[study.parent.name]
    text = part_of(study.read_text(encoding="utf-8"), part["keep"], part.get("without", []))
    folder.mkdir(parents=True)
    (folder / study.name).write_text(text, encoding="utf-8")
    for file in study.parent.glob("*.toml"):
        if file.name != study.name:
            (folder / file.name).symlink_to(file)
    with contextlib.suppress(FileExistsError):  # of another study's part
        (folder.parent / "machines").symlink_to(study.parents[1] / "machines")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
