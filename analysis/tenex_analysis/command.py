"""Commands of this package report a user's mistake in one line, not in a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .reader import ResultError


def run_command(main: Callable[[], int]) -> int:
    """The exit code of main; 2, with a message on stderr, for a wrong file, column or condition."""
    try:
        return main()
    except (ResultError, KeyError, ValueError, NameError, SyntaxError) as error:
        print(str(error.args[0]) if error.args else repr(error), file=sys.stderr)
        return 2
