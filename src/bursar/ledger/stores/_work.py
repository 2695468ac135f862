"""A piece of work with a beginning and an end, as a context that can also be given up from outside."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

Given = TypeVar("Given")
Asked = ParamSpec("Asked")


class Work(Generic[Given]):
    """A generator that yields once, as a context: what comes after the yield happens at the end, or on an error.

    Like those of `contextlib`, with one thing more: an interrupt may tear it out of its ``with`` before the body
    begins, and what remembers it (a traceback in a notebook, say) would keep its locks; `abandon` lets go of them.
    """

    def __init__(self, steps: Generator[Given, None, None]) -> None:
        self._steps = steps

    def __enter__(self) -> Given:
        return next(self._steps)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if problem is None:
            next(self._steps, None)
            return False
        try:
            self._steps.throw(problem)
        except StopIteration:
            return True
        except BaseException as raised:
            if raised is problem:
                return False
            raise
        return False

    def abandon(self) -> None:
        """End it wherever it stands, as if it had failed there."""
        self._steps.close()


def work(steps: Callable[Asked, Generator[Given, None, None]]) -> Callable[Asked, Work[Given]]:
    """Make a generator function one that gives such a context."""

    @wraps(steps)
    def made(*args: Asked.args, **kwargs: Asked.kwargs) -> Work[Given]:
        return Work(steps(*args, **kwargs))

    return made
