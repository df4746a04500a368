"""The part of a study that keeps a condition, for tests: the points that are dear are left to the label `long`.

    python3 part_of.py STUDY.toml FOLDER CONDITION [SWEEP ...]

writes FOLDER/study.toml, which has the condition in the `keep` of every sweep and lacks the named sweeps, and links to
the other files that lie beside the study.
"""

import re
import sys
import tomllib
from pathlib import Path


def part_of(text: str, condition: str, without: list[str]) -> str:
    """The study's text with a further condition for every sweep, and without some sweeps."""
    sweeps = tomllib.loads(text)["sweep"]
    parts = re.split(r"(?m)^\[\[sweep\]\]\n", text)
    if len(parts) != len(sweeps) + 1:
        raise ValueError(f"{len(parts) - 1} sweeps begin a line, and there are {len(sweeps)}")
    names = [sweep.get("name") for sweep in sweeps]
    if unknown := set(without) - set(names):
        raise ValueError(f"no sweep is called {', '.join(sorted(unknown))}")
    kept = parts[:1]
    for sweep, part in zip(sweeps, parts[1:], strict=True):
        conditions = sweep.get("keep", [])
        conditions = [*([conditions] if isinstance(conditions, str) else conditions), condition]
        quoted = ", ".join('"' + text.replace('"', '\\"') + '"' for text in conditions)
        if sweep.get("name") not in without:
            part = re.sub(r'(?m)^keep = ("[^"\n]*"|\[[^\]]*\])\n', "", part)
            kept.append(f"keep = [{quoted}]\n{part}")
    found = "[[sweep]]\n".join(kept)
    tomllib.loads(found)  # a `keep` that was not found would now stand there twice
    return found


def main(study: Path, folder: Path, condition: str, without: list[str]) -> None:
    folder.mkdir(parents=True)
    (folder / study.name).write_text(part_of(study.read_text(encoding="utf-8"), condition, without), encoding="utf-8")
    for file in study.parent.glob("*.toml"):
        if file.name != study.name:
            (folder / file.name).symlink_to(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
