"""The line to a process that counts: what is said, what is heard, and what that means here."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from bursar import errors
from bursar.errors import BursarError

_LENGTH = 4  # bytes before each message, as in the nursery
OUT_OF_MEMORY = "memory"


class Worker:
    """A process that counts."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        self.reader, self.writer, self.pid = reader, writer, pid
        self._clock: Callable[[], float] = partial(time.clock_gettime, ~pid << 3 | 2)  # as Linux numbers clocks
        self._counted = 0.0
        try:
            self._clock()
        except OSError:
            self._clock = time.monotonic

    def ask(self, data: bytes) -> None:
        """Give the worker a task; `answer` is what it says to it."""
        self.signal(signal.SIGCONT)  # it may have been stopped just when its last task was done
        self.writer.write(len(data).to_bytes(_LENGTH, "little") + data)

    async def answer(self) -> Any:
        """What the worker says to its task, once it does."""
        return await _heard(self.reader)

    def counted(self) -> float:
        """Seconds of the processor that it has used (of the clock, where the system does not tell); once it is gone,
        what it had used when it was last looked at.
        """
        with suppress(OSError):
            self._counted = self._clock()
        return self._counted

    def signal(self, number: int) -> None:
        """Stop it, let it go on, or end it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it, whatever it does."""
        self.signal(signal.SIGKILL)
        self.writer.close()

    async def gone(self) -> None:
        """Once it has been ended: the line is closed on this side too."""
        with suppress(OSError):
            await self.writer.wait_closed()


class Nursery:
    """The process that forks workers, started when the first one is wanted and whenever it is gone."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._door: socket.socket | None = None

    async def fork(self) -> Worker:
        """A new worker, ready to be asked."""
        if self._process is None or self._process.poll() is not None:
            self._open()
        assert self._door is not None
        mine, its = socket.socketpair()
        with its:
            socket.send_fds(self._door, [b"w"], [its.fileno()])
        reader, writer = await asyncio.open_unix_connection(sock=mine)
        try:
            return Worker(reader, writer, await _heard(reader))
        except BaseException:
            writer.close()
            raise

    def _open(self) -> None:
        """On this thread: it dies with the thread that starts it."""
        self.close()
        self._door, its = socket.socketpair()
        single = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        module = f"{__package__}.nursery"
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(its.fileno()), str(self._memory)],
                pass_fds=(its.fileno(),),
                env={**os.environ, **single},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End it, and its children with it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._door is not None:
            self._door.close()
        self._process = self._door = None


class _Careful(pickle.Unpickler):
    """Workers say nothing but these."""

    _KNOWN = {
        ("builtins", "frozenset"),
        ("fractions", "Fraction"),
        ("bursar.ledger.budget.release", "Release"),
        ("bursar.ledger.budget.currencies._step", "Price"),
        ("bursar.ledger.budget.currencies._residue_costs", "Term"),
        ("bursar.ledger.budget.currencies._residue_costs", "Charge"),
        ("bursar.ledger.journal.body", "Basis"),
    }

    def find_class(self, module: str, name: str) -> Any:
        """The class of that name, if it is one of those that workers may send."""
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f"{module}.{name} is not expected from a worker")
        return super().find_class(module, name)


async def _heard(reader: asyncio.StreamReader) -> Any:
    length = int.from_bytes(await reader.readexactly(_LENGTH), "little")
    return _Careful(io.BytesIO(await reader.readexactly(length))).load()


def meant(kind: str, answer: Any) -> Any:
    """What a worker's answer means here: a value, or an exception."""
    if kind == "answer":
        return answer
    if kind == "refusal":
        name, said, rest = answer
        refusal = getattr(errors, name, BursarError)
        made: BursarError = refusal.__new__(refusal)
        made.args = (said,)
        made.__dict__.update(rest)
        return made
    return MemoryError() if kind == OUT_OF_MEMORY else RuntimeError(f"a worker failed: {answer}")
