"""Executes notebooks on results in one process: an error in a cell fails.

    python3 notebooks.py NOTEBOOK.ipynb=RESULT ...

Each notebook has a fresh namespace, and its figures go into the result's folder. Figures are drawn into their files and
not once more for the page; a notebook is executed as Jupyter does it by jobs/scalability.sh and under the label `long`.
"""

import contextlib
import io
import os
import sys
from pathlib import Path

import nbformat
import opened  # noqa: F401
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


class Shell(InteractiveShell):
    """A shell without a window system."""

    def enable_gui(self, gui=None):
        """The cells' `%matplotlib inline` asks for none."""


def cells_of(file: Path) -> list[str]:
    """The code of a notebook that Jupyter can open."""
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    if notebook.metadata.kernelspec.name != "python3":
        raise ValueError(f"{file}: needs the kernel {notebook.metadata.kernelspec.name}")
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def execute(shell: Shell, file: Path, result: Path) -> bool:
    """Whether all cells run on the result. The output of a cell that does not is printed."""
    os.environ |= {"TENEX_RESULT": str(result), "TENEX_RESULTS": str(result), "TENEX_FIGURES": str(result)}
    shell.reset()
    for cell in cells_of(file):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            done = shell.run_cell(cell)
        if not done.success:
            print(f"{file} fails on {result}:\n{out.getvalue()}")
            return False
    print(f"{file.name} on {result}")
    return True


def main(pairs: list[str]) -> int:
    settings = Config({"InlineBackend": {"figure_formats": set()}, "HistoryManager": {"enabled": False}})
    shell = Shell.instance(config=settings)
    failed = [pair for pair in pairs if not execute(shell, *map(Path, pair.split("=", 1)))]
    return 1 if failed or not pairs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
