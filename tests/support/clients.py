"""Processes that spend: run as ``python clients.py VERB …``, so that each is a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from fractions import Fraction

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite.lock import writer_lock


def crowd(url: str, anchor: str, name: str, threads: int, attempts: int, parts: int) -> None:
    """Many threads spend 1/parts of the scope each time; prints how many were admitted and refused."""
    admitted, refused = [0] * threads, [0] * threads
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        charge = b.Declared(b.PureDP(Fraction(1, parts)))

        def work(number: int) -> None:
            for attempt in range(attempts):
                try:
                    ledger.spend("data", charge, key=f"{name}-{number}-{attempt}")
                    admitted[number] += 1
                except b.BudgetExceeded:
                    refused[number] += 1

        workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    print(sum(admitted), sum(refused), flush=True)


def endless(url: str, name: str, point: str) -> None:
    """Spend for ever, printing each key once it is acknowledged; die at a named point on the third charge."""
    count = iter(range(10**9))

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with Ledger(url, alert=None) as ledger:
        if point != "random":
            _arm(point, die)
        for number in count:
            key = f"{name}-{number}"
            ledger.spend("data", b.Declared(b.PureDP(Fraction(1, 10**6))), key=key)
            print(key, flush=True)


def hold(path: str) -> None:
    """Keep the writers' lock until told to let go."""
    lock = writer_lock(path)
    with lock.held():
        print("held", flush=True)
        sys.stdin.readline()
    lock.close()


def obey(url: str, anchor: str, parts: str) -> None:
    """Try as many charges of 1/parts as each line of the input says; prints how many were admitted, and what stopped
    it.
    """
    charge = b.Declared(b.PureDP(Fraction(1, int(parts))))
    with Ledger(url, anchor=anchor or None, alert=None) as ledger:
        print("ready", flush=True)
        for line in sys.stdin:
            admitted, said = 0, "nothing"
            while admitted < int(line) and said == "nothing":
                try:
                    ledger.spend("data", charge)
                    admitted += 1
                except b.BursarError as problem:
                    said = problem.code
            print(admitted, said, flush=True)


def sprint(url: str, charges: str) -> None:
    """Spend so many times, then stay, with the ledger open, until told to go."""
    with Ledger(url, alert=None) as ledger:
        print("ready", flush=True)
        for _ in range(int(charges)):
            ledger.spend("data", b.Laplace(scale=10**9))
        print("rests", flush=True)
        sys.stdin.readline()


def add(path: str, counter: str, times: str) -> None:
    """Add 1 to the number in a file so often, by reading and writing it, with nothing but the writers' lock."""
    lock = writer_lock(path)
    for _ in range(int(times)):
        with lock.held():
            with open(counter, encoding="utf-8") as file:
                number = int(file.read())
            with open(counter, "w", encoding="utf-8") as file:
                file.write(str(number + 1))
    lock.close()


class Interrupt(BaseException):
    """Like Ctrl-C: no error, and not to be swallowed."""


def struck(url: str, strikes: str) -> None:
    """Spend while an alarm rings in the middle of charges so often, and print the keys that were acknowledged.

    A process of its own, because an exception raised at any moment may also fall into what others have hung on the
    garbage collector, where Python can only report it.
    """

    def interrupt(*_: object) -> None:
        raise Interrupt

    signal.signal(signal.SIGALRM, interrupt)
    tiny = b.Laplace(scale=10**9)  # a busy machine may need thousands
    number = rung = 0
    told = set()
    with Ledger(url, alert=None) as ledger, Ledger(url, alert=None) as other:
        while rung < int(strikes) or len(told) <= 20:
            number += 1
            start = time.perf_counter()
            ledger.spend("data", tiny)
            usual = time.perf_counter() - start  # a charge takes about so long just now
            try:  # the alarm rings once, in the charge or just after it
                try:
                    signal.setitimer(signal.ITIMER_REAL, usual * (0.05 + (number % 97) / 20))
                    ledger.spend("data", tiny, key=f"k{number}")
                    told.add(f"k{number}")
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt:
                rung += 1
            if number % 50 == 49:
                other.spend("data", tiny, key=f"other-{number}")
        ledger.spend("data", tiny, key="last")
        assert ledger.verify(reprice=True)
    print(*told, "last")


def _arm(point: str, die: object) -> None:
    """Break a step of the commit on its third use."""
    from bursar.ledger.anchors.file import AnchorFile
    from bursar.ledger.commit.batch import GroupCommit
    from bursar.ledger.stores.sqlite import rows as sqlite_rows

    places = {
        "before the writes": (sqlite_rows.Write, "flush", False),
        "between two writes": (sqlite_rows.Write, "_write", True),
        "before the commit": (sqlite_rows.Write, "flush", True),
        "after the commit": (AnchorFile, "append", False),
        "after the anchor": (AnchorFile, "append", True),
        "before the answer": (GroupCommit, "_serve", True),
    }
    owner, method, after = places[point]
    uses_before = 9 if method == "_write" else 2  # a commit writes four times
    original = getattr(owner, method)
    uses = iter(range(10**9))

    def deadly(*arguments: object, **options: object) -> object:
        third = next(uses) >= uses_before
        if third and not after:
            die()  # type: ignore[operator]
        result = original(*arguments, **options)
        if third and after:
            die()  # type: ignore[operator]
        return result

    setattr(owner, method, deadly)


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "crowd":
        crowd(rest[0], rest[1], rest[2], *map(int, rest[3:]))
    elif verb in ("hold", "obey", "sprint", "add", "struck"):
        globals()[verb](*rest)
    else:
        endless(*rest)
