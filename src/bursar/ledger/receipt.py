"""What the ledger hands back: receipts, reservations, quotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import msgspec

from bursar.errors import AlreadyRun
from bursar.ledger.budget.amounts import shown, written
from bursar.ledger.journal.entry import Chained, read


class Receipt(msgspec.Struct, frozen=True, dict=True):
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

    def __str__(self) -> str:
        again = ", again" if self.replayed else ""
        return f"{self.kind} {self.what or ''}: entry {self.seq} of {self.root}, key {self.key}{again}".replace(
            " :", ":"
        )

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
        }


def receipt_of(chained: Chained, replayed: bool) -> Receipt:
    """The receipt of an entry."""
    entry = chained.entry
    return Receipt(entry.root, entry.seq, chained.hash, entry.at, entry.kind, entry.key, replayed, entry.body)


@dataclass(frozen=True)
class Reservation:
    """An allowance set aside until a time; ``id`` is what draw and close want."""

    id: str
    expires: int
    """Microseconds since 1970."""
    receipt: Receipt
    given_back: bool
    """Whether an undrawn part is given back everywhere; on residue lines, and where a plan was priced as one, it is
    not.
    """

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


@dataclass(frozen=True)
class Part:
    """What a release would ask of one line of a scope."""

    scope: str
    line: str
    asked: Fraction
    left: Fraction
    given_back: bool


@dataclass(frozen=True)
class Quote:
    """Whether a release would pass now; it binds nobody and is written down nowhere."""

    what: str
    fits: int
    """How many of these, one after another, would be admitted: the one number that the ledger promises."""
    parts: tuple[Part, ...]
    reason: str | None
    """Why it would be refused."""

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
            "parts": [
                {
                    "scope": part.scope,
                    "line": part.line,
                    "asked": written(part.asked),
                    "left": written(part.left),
                    "given_back": part.given_back,
                }
                for part in self.parts
            ],
        }

    def __str__(self) -> str:
        if self.reason is not None:
            return f"{self.what}: refused: {self.reason}"
        rows = [f"{self.what}: passes; {self.fits} more of these would, one after another"]
        for part in self.parts:
            note = "" if part.given_back else " (a reservation gives nothing back here)"
            asked, left = shown(part.asked, up=True), shown(part.left, up=False)
            rows.append(f"  {part.scope} {part.line}: asks {asked}, left {left}{note}")
        return "\n".join(rows)
