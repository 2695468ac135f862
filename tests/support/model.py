"""The ledger in a hundred lines: exact fractions, plain dictionaries, no store, no journal, no batches.

What the real ledger answers to any sequence of requests must be what this answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

OPEN, CLOSED = "open", "closed"


@dataclass
class Scope:
    """A pure ε scope."""

    limit: Fraction
    parent: str | None
    kind: str
    spent: Fraction = Fraction(0)
    held: Fraction = Fraction(0)
    frozen: bool = False


@dataclass
class Held:
    """A reservation of ``count`` releases of ``each``."""

    scopes: list[str]
    each: Fraction
    count: int
    expires: int
    status: str = OPEN


@dataclass
class Model:
    """Answers are words: 'ok', 'refused', 'replayed', or the name of an error."""

    scopes: dict[str, Scope] = field(default_factory=dict)
    keys: dict[str, tuple[object, str]] = field(default_factory=dict)
    reservations: dict[str, Held] = field(default_factory=dict)
    now: int = 0

    def path(self, name: str) -> list[str]:
        """What a charge debits."""
        names = [name]
        while self.scopes[names[-1]].kind != "block" and (above := self.scopes[names[-1]].parent) is not None:
            names.append(above)
        root = names[-1]
        if self.scopes[root].kind == "root":
            names += [n for n, s in self.scopes.items() if s.kind == "block" and s.parent == root]
        return names

    def expire(self, name: str = "data") -> None:
        """Give back what is past its time, when a request is about a scope of the root."""
        if name not in self.scopes:
            return
        for held in self.reservations.values():
            if held.status == OPEN and held.expires <= self.now:
                self.end(held, "expired")

    def end(self, held: Held, status: str) -> None:
        """Close a reservation."""
        for name in held.scopes:
            self.scopes[name].held -= held.each * held.count
        held.status = status

    def keyed(self, key: str, request: object) -> str | None:
        """What a known key answers."""
        if key not in self.keys:
            return None
        before, outcome = self.keys[key]
        if before != request:
            return "KeyReused"
        return outcome if outcome == "BudgetExceeded" else "replayed"

    def stopped(self, names: list[str]) -> bool:
        """Whether any of them is frozen, or the root of all."""
        return any(self.scopes[n].frozen or (n != "data" and self.scopes["data"].frozen) for n in names)

    def take(self, name: str, cost: Fraction) -> str | list[str]:
        """The scopes that can bear a cost, or why not."""
        if name not in self.scopes:
            return "ScopeUnknown"
        names = self.path(name)
        if self.stopped(names):
            return "ScopeFrozen"
        if any(self.scopes[n].spent + self.scopes[n].held + cost > self.scopes[n].limit for n in names):
            return "BudgetExceeded"
        return names

    def spend(self, name: str, each: Fraction, count: int, key: str) -> str:
        """Charge."""
        self.expire(name)
        if (known := self.keyed(key, ("spend", name, each, count))) is not None:
            return known
        names = self.take(name, each * count)
        if isinstance(names, str):
            if names == "BudgetExceeded":
                self.keys[key] = (("spend", name, each, count), names)
            return names
        for n in names:
            self.scopes[n].spent += each * count
        self.keys[key] = (("spend", name, each, count), "ok")
        return "ok"

    def reserve(self, name: str, each: Fraction, count: int, ttl: int, key: str) -> str:
        """Hold; the reservation is known by its key."""
        self.expire(name)
        if (known := self.keyed(key, ("reserve", name, each, count, ttl))) is not None:
            return known
        names = self.take(name, each * count)
        if isinstance(names, str):
            if names == "BudgetExceeded":
                self.keys[key] = (("reserve", name, each, count, ttl), names)
            return names
        for n in names:
            self.scopes[n].held += each * count
        self.reservations[key] = Held(names, each, count, self.now + ttl)
        self.keys[key] = (("reserve", name, each, count, ttl), "ok")
        return "ok"

    def draw(self, reservation: str, count: int) -> str:
        """Held to spent."""
        self.expire()
        held = self.reservations[reservation]
        if held.status != OPEN:
            return "ReservationExpired" if held.status == "expired" else "ReservationClosed"
        if self.stopped(held.scopes):
            return "ScopeFrozen"
        if count > held.count:
            return "InputError"
        held.count -= count
        for name in held.scopes:
            self.scopes[name].held -= held.each * count
            self.scopes[name].spent += held.each * count
        return "ok"

    def close(self, reservation: str) -> str:
        """Give back."""
        self.expire()
        held = self.reservations[reservation]
        if held.status != OPEN:
            return "ReservationExpired" if held.status == "expired" else "ReservationClosed"
        self.end(held, CLOSED)
        return "ok"
