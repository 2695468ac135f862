"""Reserving: an allowance set aside for a declared composition, drawn as it is used, given back where that is sound.

A reservation counts against the limit at once. On lines that add up, each draw moves its own price from held to spent,
and closing gives back the rest. On a residue line, and where a plan was priced as one, the price is not a sum over its
parts, so it is spent when it is reserved and nothing comes back.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.composition import Composition
from bursar.errors import InputError, PerChargeCap, ReservationClosed, ReservationExpired
from bursar.ledger.catalogue import usable
from bursar.ledger.currencies import Balance
from bursar.ledger.draft import Draft, Effects
from bursar.ledger.entry import Chained, canonical
from bursar.ledger.posting import Posting, Request
from bursar.ledger.receipt import Receipt, Reservation, receipt_of
from bursar.ledger.refusing import within_cap
from bursar.ledger.release import Release, release_of
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
    decided, refused = posting.decide(scopes, release)
    if refused is not None:
        raise posting.refuse(request, *refused)
    effects: Effects = []
    held: dict[str, dict[str, int]] = {}
    for scope, state, price, amounts in decided:
        for line, before in state.items():
            after = _set_aside(before, amounts.get(line), line in price.fixed, line in scope.currency.private)
            if after != before:
                effects.append((scope.name, line, before, after))
            if caps.reserved is not None and after.held > before.held and after.held > caps.reserved * before.limit:
                raise PerChargeCap(f"at most {caps.reserved} of {scope.name}'s {line} may sit reserved")
            if line in price.fixed:  # it is spent at once, so both caps apply at once
                for cap in caps:
                    within_cap(cap, amounts.get(line, 0), before, f"{scope.name}'s {line}")
            if line in amounts and line not in price.fixed:
                held.setdefault(scope.name, {})[line] = amounts[line]
    left = [[mechanism.text(), count] for mechanism, count in release.composition.terms]
    fixed = any(price.fixed & amounts.keys() for _, _, price, amounts in decided)
    detail = {
        "named": list(request.names),
        "scopes": [scope.name for scope in scopes],
        "held": held,
        "left": left,
        "fixed": fixed,
    }
    row = ReservationRow(id, scopes[0].row.root, "open", posting.now + ttl, canonical(detail))
    chained = posting.post(request, "reserve", row.root, Draft(effects, reservation=row))
    return reservation_of(chained, False)


def _set_aside(before: Balance, asked: int | None, fixed: bool, private: bool) -> Balance:
    if asked is None:
        return before._replace(dead=before.dead or private)
    return before._replace(spent=before.spent + asked) if fixed else before._replace(held=before.held + asked)


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
    part, left = _taken(detail["left"], what)
    effects: Effects = []
    for name, lines in detail["held"].items():
        scope = posting.scope(name)
        state = posting.lines(scope)
        price = scope.currency.price(part, state)
        for line, kept in lines.items():
            asked = max(way[line] for way in price.ways.values() if line in way) if left else kept
            if asked > kept:
                raise InputError(f"{id} holds less on {line} than this part costs", argument="amount")
            lines[line] = kept - asked
            before = state[line]
            within_cap(cap, asked, before, f"{name}'s {line}")
            after = before._replace(spent=before.spent + asked, held=before.held - asked)
            effects.append((name, line, before, after))
    named = {effect[0] for effect in effects}
    # where all was spent when it was reserved, the entry still says what was released
    effects += [(name, *_first(posting, name)) for name in detail["scopes"] if name not in named]
    detail["left"] = left
    draft = Draft(effects, part.text, row._replace(detail=canonical(detail)))
    return receipt_of(posting.post(request, "draw", row.root, draft), False)


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
                effects.append((name, line, state[line], state[line]._replace(held=state[line].held - kept)))
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
    if root in detail["held"]:
        detail["held"][block] = dict(detail["held"][root])
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


def _taken(left: list[list[Any]], what: Release | None) -> tuple[Release, list[list[Any]]]:
    """The part that is drawn, and what stays."""
    counts: dict[str, int] = dict(left)
    if what is None:
        if not counts:
            raise ReservationClosed("everything that was reserved has been drawn")
        terms = [release_of(f"{text}*{count}").composition for text, count in left]
        return release_of(sum(terms, Composition())), []
    for mechanism, count in what.composition.terms:
        text = mechanism.text()
        if counts.get(text, 0) < count:
            raise InputError(
                f"{count} × {text} is not part of what is left of the reservation: {_listed(left)}", argument="amount"
            )
        counts[text] -= count
    return what, [[text, count] for text, count in counts.items() if count]


def _listed(left: list[list[Any]]) -> str:
    return " + ".join(f"{text}*{count}" for text, count in left) or "nothing"
