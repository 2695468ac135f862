"""What the ledger hands back: receipts, reservations, quotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import msgspec

from bursar.errors import AlreadyRun
from bursar.ledger.budget import words
from bursar.ledger.budget.amounts import shown, written
from bursar.ledger.budget.shares import Figures, figures, share_left
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained, read
from bursar.ledger.journal.rows import Balance
from bursar.presented import Bare, Presented


class Receipt(Presented, msgspec.Struct, frozen=True, dict=True):
    """The proof of an entry: where it stands in the chain of its root."""

    root: str
    seq: int
    hash: str
    at: int
    """Microseconds since 1970."""
    kind: str
    key: str
    replayed: bool
    """Whether this repeats an outcome that was given before."""
    text: str
    """The entry's body, as the journal has it."""

    def _facts(self) -> list[tuple[str, object]]:
        facts = {"kind": self.kind, "root": self.root, "seq": self.seq, "key": self.key, "replayed": self.replayed}
        return [*facts.items()]

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The body, read: the request and what it changed."""
        return read(self.text)

    @property
    def what(self) -> str | None:
        """What was released, if anything."""
        return self.body.get("released")

    def once(self) -> Receipt:
        """Raise `AlreadyRun` unless this is the first time: a replayed charge licenses no second run."""
        if self.replayed:
            raise AlreadyRun(
                f"key {self.key!r} was charged before (entry {self.seq} of {self.root}): its query may have run, "
                "and must not run again; use the stored output, or charge a new key"
            )
        return self

    @cached_property
    def taken(self) -> tuple[Taken, ...]:
        """What it took of each target with splits, and what was left then."""
        states: dict[str, tuple[dict[str, Balance], dict[str, Balance]]] = {}
        for one in body_in(self.text).effect:
            before, after = states.setdefault(one.scope, ({}, {}))
            before[one.line], after[one.line] = one.before, one.after
        every = (taken_of(scope, *both) for scope, both in states.items())
        return tuple(one for one in every if one.had is not None and one.left is not None)

    def __str__(self) -> str:
        again = ", again" if self.replayed else ""
        done = f"{words.done(self.kind)} {self.what or ''}".strip()
        rows = [f"{done}: entry {self.seq} of {self.root}, key {self.key}{again}"]
        rows += [f"  {one.scope}: {words.both(one.left)}" for one in self.taken if one.left is not None]
        return "\n".join(rows)

    def to_dict(self) -> dict[str, Any]:
        """For machines; numbers of units are in the journal."""
        return {
            "root": self.root,
            "seq": self.seq,
            "hash": self.hash,
            "at": self.at,
            "kind": self.kind,
            "key": self.key,
            "replayed": self.replayed,
            "taken": [{"scope": one.scope, **one.figures()} for one in self.taken],
        }


def receipt_of(chained: Chained, replayed: bool) -> Receipt:
    """The receipt of an entry."""
    entry = chained.entry
    return Receipt(entry.root, entry.seq, chained.hash, entry.at, entry.kind, entry.key, replayed, entry.body)


@dataclass(frozen=True, repr=False)
class Reservation(Presented):
    """An allowance set aside until a time; ``id`` is what draw and close want."""

    id: str
    expires: int
    """Microseconds since 1970."""
    receipt: Receipt
    given_back: bool
    """Whether an undrawn part is given back everywhere; what a Gaussian part has paid, or a plan that was priced as
    one, is not.
    """

    def _facts(self) -> list[tuple[str, object]]:
        return [("id", self.id), ("expires", self.expires), ("given_back", self.given_back)]

    @property
    def replayed(self) -> bool:
        """Whether this repeats an outcome that was given before."""
        return self.receipt.replayed

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {
            "id": self.id,
            "expires": self.expires,
            "given_back": self.given_back,
            "receipt": self.receipt.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class Part(Presented):
    """What a release would ask of one line of a scope."""

    scope: str
    line: str
    asked: Fraction
    left: Fraction
    limit: Fraction
    given_back: bool

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it: exact numbers, and per cent of the line's limit."""
        whole = self.limit or Fraction(1)
        return {
            "scope": self.scope,
            "line": self.line,
            "asked": written(self.asked),
            "left": written(self.left),
            "asked_percent": words.percent(self.asked / whole, up=True),
            "left_percent": words.percent(self.left / whole, up=False),
            "given_back": self.given_back,
        }

    def _facts(self) -> list[tuple[str, object]]:
        amounts = [("asked", written(self.asked)), ("left", written(self.left))]
        return [("scope", self.scope), ("line", self.line), *amounts, ("given_back", self.given_back)]


@dataclass(frozen=True, repr=False)
class Taken(Presented):
    """What a release would take of a scope, as shares of its limit."""

    scope: str
    before: Fraction
    """What is left now."""
    after: Fraction
    """What would be left."""
    had: Figures | None = None
    """Of a target with splits: what there is for either kind of releases now."""
    left: Figures | None = None
    """What there would be."""

    @property
    def standing(self) -> str:
        """What would be left, in words."""
        return f"{words.left(self.after)} left" if self.left is None else words.both(self.left)

    def figures(self) -> dict[str, str | None]:
        """What is left of a target with splits afterwards, and what was taken, rounded to the safe side; None
        where there are no splits.
        """
        if self.had is None or self.left is None:
            return {**words.figures_left(None), "gaussian_taken": None, "pure_taken": None}
        gaussian, pure = self.had.gaussian - self.left.gaussian, self.had.pure - self.left.pure
        taken = {"gaussian_taken": words.percent(gaussian, up=True), "pure_taken": shown(pure, up=True, digits=6)}
        return {**words.figures_left(self.left), **taken}

    @property
    def takes(self) -> Fraction:
        """The price of the release."""
        return self.before - self.after

    def to_dict(self) -> dict[str, Any]:
        """The same in per cent, rounded to the safe side."""
        return {
            "scope": self.scope,
            "takes_percent": words.percent(self.takes, up=True),
            "left_percent": words.percent(self.before, up=False),
            "left_after_percent": words.percent(self.after, up=False),
            **self.figures(),
        }

    def __str__(self) -> str:
        if self.had is not None and self.left is not None:
            gaussian, pure = self.had.gaussian - self.left.gaussian, self.had.pure - self.left.pure
            return (
                f"{self.scope}: takes {words.taken(gaussian)} of what there is for Gaussian-like releases and "
                f"ε {words.figure(pure)} of what there is for pure ones; then {words.both(self.left)}"
            )
        return f"{self.scope}: {words.taken(self.takes)} taken, {words.left(self.after)} is left afterwards"

    def _facts(self) -> list[tuple[str, object]]:
        takes, left = Bare(words.taken(self.takes)), Bare(words.left(self.before))
        return [("scope", self.scope), ("takes", takes), ("left", left)]


def taken_of(scope: str, before: Mapping[str, Balance], after: Mapping[str, Balance]) -> Taken:
    """What a release does to a scope, from its states."""
    return Taken(scope, share_left(before), share_left({**before, **after}), figures(before), figures(after))


@dataclass(frozen=True, repr=False)
class Quote(Presented):
    """Whether a release would pass now; it binds nobody and is written down nowhere."""

    what: str
    fits: int
    """How many of these, one after another, would be admitted: the one number that the ledger promises."""
    parts: tuple[Part, ...]
    reason: str | None
    """Why it would be refused."""
    taken: tuple[Taken, ...] = ()
    """What it would take of each scope; none where it is refused."""
    would_pass: str | None = None
    """A release of the same kind that would pass, where this one would not."""

    def _facts(self) -> list[tuple[str, object]]:
        return [("what", self.what), ("fits", self.fits), ("reason", self.reason)]

    @property
    def passes(self) -> bool:
        """Whether at least one would be admitted."""
        return self.fits > 0

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {
            "what": self.what,
            "fits": self.fits,
            "passes": self.passes,
            "reason": self.reason,
            "would_pass": self.would_pass,
            "taken": [one.to_dict() for one in self.taken],
            "parts": [part.to_dict() for part in self.parts],
        }

    def __str__(self) -> str:
        if self.reason is not None:
            advice = "" if self.would_pass is None else f"; {self.would_pass} would pass"
            return f"{self.what} would be refused: {self.reason}{advice}"
        rows = [f"{self.what} would pass: {self.fits} of these, one after another"]
        rows += [f"  {one}" for one in self.taken]
        if not all(part.given_back for part in self.parts):
            rows.append("  a reservation of it would not be given back")
        return "\n".join(rows)
