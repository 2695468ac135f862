"""What the commands share: errors as exit codes, and a sign of life while something takes long."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

REFUSED, USAGE, FAILED, HALTED, STORAGE = 1, 2, 3, 4, 5
WRONG = HALTED  # what a verification found to be wrong
EXIT_CODES = {
    0: "done",
    REFUSED: "refused by the budget, or no value fits: nothing was charged",
    USAGE: "what was typed cannot be meant: nothing was done",
    FAILED: "failed, or done and not reported: what was asked may have been done",
    HALTED: "the ledger or the scope accepts nothing: halted, frozen, closed, or a verification failed",
    STORAGE: "the store could not be used: retry with the same key",
}
"""What a script may tell apart."""


def exit_code(problem: Exception) -> int:
    """The exit code of an error."""
    from bursar.errors import BudgetExceeded, LedgerHalted, PlanImpossible, ScopeClosed, ScopeFrozen, StorageFailed

    kinds = {
        REFUSED: (BudgetExceeded, PlanImpossible),
        HALTED: (LedgerHalted, ScopeFrozen, ScopeClosed),
        STORAGE: (StorageFailed,),
    }
    return next((code for code, some in kinds.items() if isinstance(problem, some)), USAGE)


@contextmanager
def failing(as_json: bool = False) -> Iterator[None]:
    """Errors end the command with their exit code and one sentence; a file that cannot be read is bad input. For
    machines the problem is JSON, as the service says it.
    """
    from bursar.errors import BudgetExceeded, BursarError, InputError

    try:
        yield
    except (BursarError, OSError, UnicodeError) as found:
        problem = found if isinstance(found, BursarError) else InputError(str(found))
        if as_json:
            from bursar.problems import problem_of
            from bursar.wire import encode

            print(encode(problem_of(problem)).decode())
        else:
            lead = "refused: " if isinstance(problem, BudgetExceeded) else ""
            print(f"bursar: {lead}{problem}", file=sys.stderr)
        raise SystemExit(exit_code(problem)) from None


def whole_number(text: str, name: str, *, at_least: int, at_most: int) -> int:
    """A whole number from the command line, perhaps written 1e3 or 10_000."""
    from bursar.numerics.real import read_text
    from bursar.numerics.validate import whole

    return whole(at_least=at_least, at_most=at_most, **{name: read_text(text.strip(), name)})


def fitted(text: str) -> str:
    """Sentences in lines that fit the terminal; 80 columns elsewhere."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    folded = []
    for line in text.replace(" %", "\N{NO-BREAK SPACE}%").splitlines():
        indent = line[: len(line) - len(line.lstrip())] + "  "
        folded += textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(folded).replace("\N{NO-BREAK SPACE}%", " %")


def busy(what: str) -> AbstractContextManager[Any]:
    """A moving sign on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


@contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that is told how many are done, and of how many: a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, every: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, every: bar.update(task, completed=done, total=every)
