"""The laws that everything in the catalogue is held to, for mechanisms and theorems of your own: one call.

    from bursar.testing import check

    check(MyMechanism(scale=2))     # or check(MY_THEOREM); AssertionError lists every law that is broken

A mechanism is asked whether its forms come back, counts are kept, cost grows with counts and falls with δ, ε and δ
imply each other, its promises agree with the law of its loss, that law agrees with itself and with what it draws, and
whether a ledger charges it. A theorem is asked, on many compositions, whether it contradicts any other, forgets a
count, raises, or proves less at a larger δ. Laws find mistakes; they prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bursar.errors import BursarError, InputError, described
from bursar.mechanisms import Mechanism
from bursar.testing import loss, mechanism, theorem
from bursar.theorems import Theorem

__all__ = ["Held", "check"]


@dataclass(frozen=True)
class Held:
    """The laws that were tried, by name, and hold."""

    subject: str
    laws: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject}: {len(self.laws)} laws hold ({', '.join(self.laws)})"


def check(subject: Mechanism | Theorem) -> Held:
    """Try every law on a mechanism or a theorem; `AssertionError` lists all that are broken, each with an example."""
    if isinstance(subject, Mechanism):
        said, laws = subject.text(), {**mechanism.LAWS, **loss.LAWS}
        broken = {name: _problems(law(subject)) for name, law in laws.items()}
    elif isinstance(subject, Theorem):
        said = subject.id
        broken = {name: _problems(law(subject)) for name, law in theorem.LAWS.items()}
    else:
        raise InputError(f"subject must be a mechanism or a theorem, not {described(subject)}", argument="subject")
    found = [f"- {name}: {one}" for name, problems in broken.items() for one in problems]
    if found:
        raise AssertionError("\n".join([f"{said} breaks {len(found)} laws:", *found]))
    return Held(said, tuple(broken))


def _problems(law: Iterator[str]) -> list[str]:
    """What a law finds; an error that stops it is a finding too."""
    found = []
    try:
        for one in law:
            found.append(one)
    except BursarError as problem:
        found.append(f"{type(problem).__name__}: {problem}")
    return found
