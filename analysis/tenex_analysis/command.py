"""Commands of this package report a user's mistake in one line, not in a traceback."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from .layout import save
from .markdown import print_or_write
from .reader import ResultError, Study, open_study
from .words import NothingToShow, picture


def run_command(main: Callable[[], int]) -> int:
    """The exit code of main; 2, with a message on stderr, for a wrong file, column or condition. A reader that has seen
    enough (`| head`) ends it without a message.
    """
    try:
        code = main()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return 0
    except (ResultError, KeyError, ValueError, NameError, SyntaxError) as error:
        print(str(error.args[0]) if error.args else repr(error), file=sys.stderr)
        return 2


def picture_or_table(usage: str, name: str, draw: Callable[[Study], Figure], tabulate: Callable[[Study], str],
                     arguments: list[str] | None = None) -> int:
    """A command that reads one result: `--into FOLDER` writes the picture NAME.png, `--table FILE` the table between
    the marks of a file; with neither it prints the table. Both say a result that has nothing to show."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--into", type=Path)
    parser.add_argument("--table", type=Path)
    given = parser.parse_args(arguments)
    study = open_study(given.result)
    if given.into:
        given.into.mkdir(parents=True, exist_ok=True)
        save(picture(draw, study), given.into / f"{name}.png")
        print(f"drawn: {given.into / name}.png")
        return 0
    try:
        print_or_write(tabulate(study), given.table)
    except NothingToShow as nothing:
        raise ValueError(str(nothing)) from None
    return 0
