"""The root of all errors, bad input, and what the jobs cannot do."""

from __future__ import annotations


class BursarError(Exception):
    """The root: ``except BursarError`` catches everything bursar raises on purpose."""


class InputError(BursarError, ValueError):
    """An argument that cannot be meant; ``argument`` is its name."""

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class SpecError(InputError):
    """A text or JSON form that cannot be read; ``position`` is the offset into the text, where there is one."""

    def __init__(self, problem: str, *, text: str | None = None, position: int | None = None) -> None:
        self.problem = problem
        self.position = position
        super().__init__(problem if text is None or position is None else f"{problem}\n{_pointer(text, position)}")


class RelationMismatch(InputError):
    """Releases under different neighbour relations were mixed."""


class ExtraMissing(InputError, ImportError):
    """Packages that an optional part needs are not installed."""


class ConversionRefused(BursarError):
    """One promise does not imply another kind of promise; ``why`` is the bare reason."""

    def __init__(self, why: str, *, about: str = "") -> None:
        super().__init__(f"{about}: {why}" if about else why)
        self.why = why


class LossUnknown(BursarError):
    """No privacy-loss distribution is known for this mechanism."""


class PlanImpossible(BursarError):
    """No value meets the target; ``closest`` is the smallest ε that was found to be possible."""

    def __init__(self, message: str, *, closest: float) -> None:
        super().__init__(message)
        self.closest = closest


class AlreadyRun(BursarError):
    """A charge was replayed: the first run may have released its output, so the query must not run again."""


class ContradictionError(BursarError):
    """The bounds of two theorems do not meet, so one proof or its code is wrong."""


def described(value: object) -> str:
    """A value as error messages show it: short, and never failing itself."""
    try:
        text = repr(value)
    except Exception:  # repr is foreign code, and an integer may have too many digits to print
        text = f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= 60 else f"{text[:57]}…"


def _pointer(text: str, position: int) -> str:
    """The part of the text around a position, with a caret below the place."""
    start = max(0, position - 50)
    line = text[start : position + 26].replace("\n", " ")
    lead, rest = "…" if start else "", "…" if position + 26 < len(text) else ""
    return f"  {lead}{line}{rest}\n  {' ' * (len(lead) + position - start)}^"
