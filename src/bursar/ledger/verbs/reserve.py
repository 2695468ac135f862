"""Reserving: an allowance set aside for a declared composition, drawn as it is used, given back where that is sound.

A reservation counts against the limit at once. On lines that add up, each draw moves its own price from held to spent,
and closing gives back the rest. On a residue line, and where a plan was priced as one, the price is not a sum over its
parts, so it is spent when it is reserved and nothing comes back.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.errors import InputError, PerChargeCap, ReservationClosed, ReservationExpired
from bursar.ledger.budget.catalogue import usable
from bursar.ledger.budget.currencies import HELD, Balance
from bursar.ledger.budget.currencies._base import total
from bursar.ledger.budget.currencies._moves import drawn, given_back
from bursar.ledger.budget.deciding import Decided
from bursar.ledger.budget.refusals import within_cap
from bursar.ledger.budget.release import Release, spelled
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.posting import Posting, Request
from bursar.ledger.journal.body import Draft, Effects, effects_of
from bursar.ledger.journal.entry import Chained, canonical
from bursar.ledger.receipt import Receipt, Reservation, receipt_of
from bursar.ledger.stores._base import ReservationRow


class Caps(NamedTuple):
    """The largest shares of a limit that one charge may take, and that may sit reserved."""

    charge: Fraction | None = None
    reserved: Fraction | None = None


UNCAPPED = Caps()


def reserve(
    posting: Posting, request: Request, release: Release, ttl: int, id: str, caps: Caps = UNCAPPED
) -> Reservation:
    """Set aside what the release would cost, for ``ttl`` microseconds."""
    scopes = posting.debited(request.names, release)
    if len({scope.row.root for scope in scopes}) > 1:
        raise InputError("a reservation stays within one root", argument="scopes")
    decided, refused = posting.decide(scopes, release, HELD)
    if refused is not None:
        raise posting.refuse(request, *refused)
    effects: Effects = []
    held: dict[str, dict[str, int]] = {}
    units: dict[tuple[int, ...], int] = {}
    priced: dict[str, dict[str, int]] = {}
    for one in decided:
        _within_caps(one, caps)
        effects += effects_of(one.scope.name, one.before, one.after)
        for line, before in one.before.items():
            if (kept := one.after[line].held - before.held) > 0:
                held.setdefault(one.scope.name, {})[line] = kept
                # scopes of one currency have the same unit prices: they are written once
                place = units.setdefault(one.price.units[line], len(units))
                priced.setdefault(one.scope.name, {})[line] = place
    detail = {
        "named": list(request.names),
        "scopes": [scope.name for scope in scopes],
        "held": held,
        "priced": priced,
        "units": [list(each) for each in units],
        "terms": [text for text, _ in release.terms] if units else [],
        "left": [list(term) for term in release.terms],
        "fixed": any(one.price.fixed & one.charged().keys() for one in decided),
    }
    row = ReservationRow(id, scopes[0].row.root, "open", posting.now + ttl, canonical(detail))
    chained = posting.post(request, "reserve", row.root, Draft(effects, reservation=row))
    return reservation_of(chained, False)


def _within_caps(one: Decided, caps: Caps) -> None:
    """Refuse what sits reserved beyond its cap; what is spent at once is under both caps at once."""
    for line, amount in one.charged().items():
        whose, before = f"{one.scope.name}'s {line}", one.before[line]
        if line in one.price.fixed:
            for cap in caps:
                within_cap(cap, amount, before, whose)
        elif caps.reserved is not None and one.after[line].held > caps.reserved * before.limit:
            raise PerChargeCap(f"at most {caps.reserved} of {whose} may sit reserved")


def reservation_of(chained: Chained, replayed: bool) -> Reservation:
    """The reservation that an entry records."""
    receipt = receipt_of(chained, replayed)
    id, _, expires, detail = receipt.body["reservation"]
    return Reservation(id, int(expires), receipt, not json.loads(detail)["fixed"])


def draw(posting: Posting, request: Request, id: str, what: Release | None, cap: Fraction | None = None) -> Receipt:
    """Turn a part of what is held into spent."""
    row = _open(posting, id)
    detail = json.loads(row.detail)
    for name in [*detail["scopes"], row.root]:
        usable(posting.scope(name))
    parts = None if what is None else _as_reserved({text for text, _ in detail["left"]}, what)
    part, left = _taken(detail["left"], what, parts)
    effects: Effects = []
    for name, lines in detail["held"].items():
        scope = posting.scope(name)
        state = posting.lines(scope)
        for line, kept in lines.items():
            asked = (
                kept if not left or what is None or parts is None else _price(detail, scope, state, line, what, parts)
            )
            if asked > kept:
                raise InputError(f"{id} holds less on {line} than this part costs", argument="amount")
            lines[line] = kept - asked
            within_cap(cap, asked, state[line], f"{name}'s {line}")
            effects.append((name, line, state[line], drawn(state[line], asked)))
    named = {effect[0] for effect in effects}
    # where all was spent when it was reserved, the entry still says what was released
    effects += [(name, *_first(posting, name)) for name in detail["scopes"] if name not in named]
    detail["left"] = left
    draft = Draft(effects, part, row._replace(detail=canonical(detail)))
    return receipt_of(posting.post(request, "draw", row.root, draft), False)


Parts = list[tuple[str, int]]
"""What is drawn: a reservation's own texts, with counts."""


def _price(
    detail: dict[str, Any], scope: Scope, state: dict[str, Balance], line: str, part: Release, parts: Parts
) -> int:
    """What a part of a reservation costs on a line: as many unit prices as it has releases."""
    if "priced" in detail:
        each: list[int] = detail["units"][detail["priced"][scope.name][line]]
        units: dict[str, int] = dict(zip(detail["terms"], each, strict=True))
        return sum(count * units[text] for text, count in parts)
    return total(part, scope.currency.known(part, state).units[line])  # it was reserved before prices were kept


def _first(posting: Posting, name: str) -> tuple[str, Balance, Balance]:
    line, balance = next(iter(posting.lines(posting.scope(name)).items()))
    return line, balance, balance


def close(posting: Posting, request: Request, id: str) -> Receipt:
    """Give back what was not drawn."""
    row = _open(posting, id)
    return receipt_of(posting.post(request, "close", row.root, released_reservation(posting, row, "closed")), False)


def released_reservation(posting: Posting, row: ReservationRow, status: str) -> Draft:
    """What ends a reservation: held amounts return to what is left."""
    detail = json.loads(row.detail)
    effects: Effects = []
    for name, lines in detail["held"].items():
        state = posting.lines(posting.scope(name))
        for line, kept in lines.items():
            if kept:
                effects.append((name, line, state[line], given_back(state[line], kept)))
            lines[line] = 0
    return Draft(effects, reservation=row._replace(status=status, detail=canonical(detail)))


def ended_reservation(row: ReservationRow) -> ReservationRow:
    """A reservation of which nobody knows what was drawn: it holds nothing any more, and nothing comes back."""
    detail = json.loads(row.detail)
    held = {name: dict.fromkeys(lines, 0) for name, lines in detail["held"].items()}
    return row._replace(status="closed", detail=canonical({**detail, "held": held}))


def joined(row: ReservationRow, root: str, block: str) -> ReservationRow | None:
    """A reservation on the whole data as it is when a new block shares it; None where it is not on the whole data."""
    detail = json.loads(row.detail)
    if row.status != "open" or root not in detail["scopes"]:
        return None
    detail["scopes"].append(block)
    for kept in (detail["held"], detail.get("priced", {})):
        if root in kept:
            kept[block] = dict(kept[root])
    return row._replace(detail=canonical(detail))


def cancel(posting: Posting, root: str, names: set[str]) -> bool:
    """Close the reservations that hold something of these scopes; what was not drawn never ran, so it comes back."""
    found = False
    for row in posting.tx.reservations(root):
        held = json.loads(row.detail)["held"]
        if row.status == "open" and any(any(held.get(name, {}).values()) for name in names):
            posting.post(None, "close", root, released_reservation(posting, row, "closed"))
            found = True
    return found


def _open(posting: Posting, id: str) -> ReservationRow:
    row = posting.tx.reservation(id)
    if row is None:
        raise ReservationClosed(f"there is no reservation {id!r}")
    posting.expire(row.root)
    if row.status == "expired" or (row.status == "open" and row.expires <= posting.now):
        raise ReservationExpired(f"reservation {id} has expired: what it held was given back")
    if row.status != "open":
        raise ReservationClosed(f"reservation {id} is closed")
    return row


def _as_reserved(texts: set[str], what: Release) -> Parts:
    """The terms of a part by the texts with which they were reserved: numbers may have been written otherwise, as
    reservations of earlier versions have all of them as ratios.
    """
    if all(text in texts for text, _ in what.terms):
        return list(what.terms)
    known = {spelled(text): text for text in texts}
    return [(text if text in texts else known.get(spelled(text), text), count) for text, count in what.terms]


def _taken(left: list[list[Any]], what: Release | None, parts: Parts | None) -> tuple[str, list[list[Any]]]:
    """The text of the part that is drawn, and what stays."""
    counts: dict[str, int] = dict(left)
    if what is None or parts is None:
        if not counts:
            raise ReservationClosed("everything that was reserved has been drawn")
        return _listed(left), []
    for text, count in parts:
        if counts.get(text, 0) < count:
            raise InputError(
                f"{count} × {text} is not part of what is left of the reservation: {_listed(left) or 'nothing'}",
                argument="amount",
            )
        counts[text] -= count
    return what.text, [[text, count] for text, count in counts.items() if count]


def _listed(left: list[list[Any]]) -> str:
    """As a composition's text has it."""
    return " + ".join(text if count == 1 else f"{text}*{count}" for text, count in left)
