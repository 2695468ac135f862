"""Writing the answer: where that fails it is said so, with an exit code of its own.

A charge that was made and could not be reported is no refusal, so it must not end with a refusal's exit code.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from bursar.cli.shared import FAILED


class Unwritten(Exception):
    """The answer could not be written."""


class _Careful:
    """A stream whose failures are told from those of files that are read."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        """What the stream's own write gives; `Unwritten` where it fails."""
        return self._done(lambda: self._stream.write(text))

    def flush(self) -> Any:
        """What the stream's own flush gives; `Unwritten` where it fails."""
        return self._done(self._stream.flush)

    def _done(self, what: Callable[[], Any]) -> Any:
        try:
            return what()
        except (OSError, ValueError) as problem:
            raise Unwritten(str(problem)) from problem


def run(command: Callable[[], object]) -> None:
    """A command, with an answer that is written whole or not in silence."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:  # it was closed on purpose
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an answer in poorer letters is better than none
    sys.stdout = _Careful(sys.stdout)
    try:
        try:
            command()
        finally:
            sys.stdout.flush()
    except Unwritten as problem:
        gone = isinstance(problem.__cause__, BrokenPipeError)  # whoever read it has read enough
        _end("" if gone else f"the answer could not be written ({problem}); what was asked may have been done")
    except Exception as problem:
        with suppress(OSError, ValueError):
            traceback.print_exc()
        _end(f"failed: {type(problem).__name__}: {problem}")


def _end(message: str) -> None:
    """Say why, and do not try again to write what is left: Python would end with a code of its own."""
    with suppress(OSError, ValueError):
        print(f"bursar: {message}" if message else "", end="\n" if message else "", file=sys.stderr, flush=True)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.exit(FAILED)
