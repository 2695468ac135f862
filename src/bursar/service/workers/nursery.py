"""Where workers come from: a process that has loaded everything, does nothing itself, and forks one whenever asked.

A fresh Python takes half a second to load what counting needs; a fork takes some milliseconds, so that a worker may be
killed whenever its time is up. The nursery runs no thread, has opened no ledger, and dies with the service, as its
children die with it. It is started as ``python -m bursar.service.workers.nursery SOCKET MEMORY``: the socket brings an
end of a connection for each worker that is wanted.

A worker reads a task, answers, and waits for the next one. Its memory is bounded, and it gives way to everybody else.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import Any

from bursar.errors import BursarError, InputError
from bursar.service.workers.tasks import TASKS, warm

LENGTH = struct.Struct("<I")
_NICE = 10
_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


def main(number: int, memory: int) -> None:
    """Fork a worker for each connection that arrives, until the service is gone."""
    _die_with_the_parent()
    os.nice(_NICE)
    warm()
    gc.freeze()  # what is loaded stays, in memory that all of them share
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service decides when to stop
    with socket.socket(fileno=number) as door:
        while True:
            asked, files, _, _ = socket.recv_fds(door, 1, 1)
            if not asked:
                return
            if os.fork() == 0:
                door.close()
                _work(files[0], memory)
            os.close(files[0])


def _work(number: int, memory: int) -> None:
    """Answer task after task; the process ends here."""
    _die_with_the_parent()
    _bound(memory)
    try:
        with socket.socket(fileno=number) as line, line.makefile("rwb") as stream:
            _say(stream, os.getpid())
            while head := stream.read(LENGTH.size):
                kind, given = pickle.loads(stream.read(LENGTH.unpack(head)[0]))
                _say(stream, answered(kind, given))
    finally:
        os._exit(0)


def answered(kind: str, given: tuple[Any, ...]) -> tuple[str, Any]:
    """The answer, or the refusal in parts from which it can be made again."""
    try:
        return "answer", TASKS[kind](*given)  # type: ignore[operator]
    except BursarError as refusal:
        return "refusal", (type(refusal).__name__, str(refusal), dict(refusal.__dict__))
    except (MemoryError, RecursionError):
        return "memory", None
    except KeyboardInterrupt:  # no user interrupts a worker: a plug-in has raised it
        said = "a plug-in that this needs has interrupted itself"
        return "refusal", (InputError.__name__, said, dict(InputError(said).__dict__))
    except BaseException as fault:  # whatever a plug-in raises, the process goes on
        return "fault", f"{type(fault).__name__}: {fault}"


def _say(stream: Any, what: Any) -> None:
    data = pickle.dumps(what)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def _bound(memory: int) -> None:
    """So much more than what is loaded already."""
    with suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))


def _die_with_the_parent() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
