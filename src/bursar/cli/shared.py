"""What the commands share: errors as exit codes, and a sign of life while something takes long."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any


@contextmanager
def failing(as_json: bool = False) -> Iterator[None]:
    """Refused by a budget is exit code 1; bad input, or a file that cannot be read, 2. For machines the problem is
    JSON, as the service says it.
    """
    from bursar.errors import BudgetExceeded, BursarError, InputError, PlanImpossible

    try:
        yield
    except (BursarError, OSError, UnicodeError) as found:
        problem = found if isinstance(found, BursarError) else InputError(str(found))
        refused = isinstance(problem, (BudgetExceeded, PlanImpossible))
        if as_json:
            from bursar.problems import problem_of
            from bursar.wire import encode

            print(encode(problem_of(problem)).decode())
        else:
            lead = "refused: " if isinstance(problem, BudgetExceeded) else ""
            print(f"bursar: {lead}{problem}", file=sys.stderr)
        raise SystemExit(1 if refused else 2) from None


def fitted(text: str) -> str:
    """Sentences in lines that fit the terminal; 80 columns elsewhere."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    folded = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())] + "  "
        folded += textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(folded)


def busy(what: str) -> AbstractContextManager[Any]:
    """A moving sign on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)
