"""Every charge checked against its price, from what was asked and the state before it: none may have been cheaper.

No engine is asked. What a price rests on is computed from the release itself, or stands in the entry where an engine
found it (its `bases`); `compare` says whether that may be true of the release, cheaply, or with the engines.

Spends and reservations are priced as they come, and so is what was released before a scope was opened. Imports and
corrections, and what came before a block, are priced as releases that come late, where others ran or may still run by a
reservation. Openings, draws, endings and limits are done again (`moves`). What a correction overdrew has no room for
its price. A price that is not the one paid may also mean that something else was charged under the same name: that is
said in either case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bursar.errors import BursarError
from bursar.ledger.budget.currencies import (
    CERTIFICATE,
    Balance,
    Currency,
    Price,
    Refusal,
    Residue,
    State,
    Unpriced,
    currency_with,
)
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.inspection.moves import moved_otherwise, reserved_otherwise
from bursar.ledger.journal.body import Basis, Body, Charge, body_in
from bursar.ledger.journal.entry import Entry, canonical
from bursar.ledger.journal.fold import changes_of
from bursar.ledger.journal.held import Held, held_in
from bursar.ledger.journal.rows import ScopeRow, Split, Splits
from bursar.ledger.journal.rules import limits_of
from bursar.ledger.stores._base import Reader

States = dict[str, dict[str, Balance]]
_HOMONYM = "or something else was charged under this name"
_AGREED = 48  # bits of a certified charge that every processor finds; journals hold some that end in other digits


class Pricer(NamedTuple):
    """How texts are read, prices found, and what engines found is compared: all of it takes time."""

    read: Callable[[Any, Any], Release]
    find: Callable[[Unpriced], None]
    compare: Callable[[Basis], str]
    """What is wrong with it; empty where nothing is known to be."""
    deep: bool
    """Whether that asks the engines."""

    def price(self, currency: Currency, release: Release, state: State, late: bool) -> Price:
        """What a release costs."""
        try:
            return currency.known(release, state, late)
        except Unpriced as missing:
            self.find(missing)
        return currency.known(release, state, late)


class Repriced(NamedTuple):
    """What is wrong with the charges of a root, and what is only odd."""

    problems: list[str]
    notices: list[str]


class _Past:
    """What a root's journal has said so far: its lines, what ran, and what may still run by reservations."""

    def __init__(self) -> None:
        self.lines: States = {}
        self.rows: dict[str, ScopeRow] = {}
        self._ran: set[str] = set()
        self.open: dict[str, Held] = {}

    def late(self, scope: str) -> bool:
        """Whether something ran in a scope before, or may have run."""
        return scope in self._ran or any(scope in held.scopes and held.left for held in self.open.values())

    def add(self, entry: Entry, body: Body) -> None:
        """Take what an entry says into account."""
        for one in body.effect:
            self.lines.setdefault(one.scope, {})[one.line] = one.after
        changes = changes_of(entry.root, entry.seq, entry.kind, body, 0)
        self.rows.update({row.name: row for row in changes.scopes})
        self._ran |= {scope for scope, _, _ in changes.released}
        for row in changes.reservations:
            self.open.pop(row.id, None)
            if row.status == "open":
                self.open[row.id] = held_in(row)


def repriced(reader: Reader, root: str, pricer: Pricer) -> Repriced:
    """Every charge of a root."""
    found, past, rests = Repriced([], []), _Past(), dict[Basis, list[int]]()
    scopes = {row.name: Scope(row) for row in reader.scopes(root)}
    for entry, _ in reader.entries(root):
        body = body_in(entry.body)
        try:
            releases = _asked(entry, body, pricer)
        except BursarError as problem:  # a plug-in that is not installed here, say
            found.problems.append(f"{root}: entry {entry.seq} has no price now: {problem}")
            releases = []
        if body.blocks is not None and releases:
            _compare_blocks(_charge(entry, body, scopes[root], past), body.blocks, releases[0], pricer, found)
            releases = []
        if wrong := moved_otherwise(entry.kind, body, past.lines, past.rows, past.open):
            found.problems.append(f"{root}: entry {entry.seq} {wrong}")
        places = [name for name in body.charged() if name not in (body.overdrawn or ())] if releases else []
        charges = [_charge(entry, body, scopes[name], past) for name in places]
        past.add(entry, body)
        for charge in charges:
            _compare(charge, releases, past.lines[charge.scope.name], pricer, found)
        for basis in body.bases or ():
            rests.setdefault(basis, []).append(entry.seq)
    _compare_bases(root, rests, pricer, found)
    return found


def _compare_bases(root: str, rests: Mapping[Basis, Sequence[int]], pricer: Pricer, found: Repriced) -> None:
    """What engines found, once for all the entries that rest on it."""
    for basis, entries in rests.items():
        few = ", ".join(map(str, entries[:5])) + (f" and {len(entries) - 5} more" if len(entries) > 5 else "")
        said = f"{root}: entries {few} rest" if len(entries) > 1 else f"{root}: entry {few} rests"
        if wrong := pricer.compare(basis):
            found.problems.append(f"{said} on what an engine found of {basis.what[:60]}, and {wrong}")
        elif not pricer.deep:
            found.notices.append(
                f"{said} on what an engine found of {basis.what[:60]}, which only a deep verification compares with it"
            )


def _asked(entry: Entry, body: Body, pricer: Pricer) -> list[Release]:
    """What an entry had to pay for."""
    request = body.asked()
    if entry.kind in ("spend", "reserve", "correct", "charge"):
        return [pricer.read(request["what"], request.get("delta"))]
    if entry.kind == "import":
        return [pricer.read(one["what"], one.get("delta")) for one in request["releases"]]
    return [pricer.read(text, None) for text in body.opening or ()]


def _charge(entry: Entry, body: Body, scope: Scope, past: _Past) -> _Charge:
    """What an entry found in a scope that it charges."""
    changed = {one.line: one for one in body.effect if one.scope == scope.name}
    if entry.kind != "open":
        before = {**past.lines.get(scope.name, {}), **{line: one.before for line, one in changed.items()}}
        late = entry.kind in ("import", "correct") and past.late(scope.name)
        return _Charge(entry, body, scope, before, late)
    if scope.kind == "block":  # what was charged to all of the data was charged here too
        return _Charge(entry, body, scope, dict(past.lines[entry.root]), past.late(entry.root))
    return _Charge(entry, body, scope, scope.currency.opening(), False)


class _Charge(NamedTuple):
    """An entry's charge to one scope."""

    entry: Entry
    body: Body
    scope: Scope
    before: dict[str, Balance]
    late: bool
    """Whether others ran, or may have run, before it was charged."""

    @property
    def currency(self) -> Currency:
        """The filter of the scope, which asks no engine."""
        terms = canonical(self.scope.terms["currency"])
        return currency_with(self.scope.row.currency, terms, tuple(self.body.bases or ()))

    def said(self, what: str) -> str:
        """A sentence that names the entry, the scope and what is wrong."""
        request = self.body.asked()
        name = f" for {request['what'][:60]}" if "what" in request else ""
        return f"{self.entry.root}: entry {self.entry.seq} charged {self.scope.name} {what}{name}"


def _compare(charge: _Charge, releases: Sequence[Release], after: State, pricer: Pricer, found: Repriced) -> None:
    """What a scope paid against the prices of these releases, one after another."""
    state: State = charge.before
    if charge.entry.kind == "open" and any(limits_of(state[line]) != limits_of(after[line]) for line in state):
        found.problems.append(charge.said("and opened it with other limits than its own"))
    less = f"less than its price{_version(charge)}, {_HOMONYM},"
    for release in releases:
        try:
            price = pricer.price(charge.currency, release, state, charge.late)
            following = charge.currency.step(state, price)
            kept = charge.entry.kind == "reserve"
            if kept and (wrong := reserved_otherwise(charge.body, charge.scope.name, release, price)):
                found.problems.append(f"{charge.entry.root}: entry {charge.entry.seq} {wrong}")
        except BursarError as problem:
            found.problems.append(f"{charge.entry.root}: entry {charge.entry.seq} has no price now: {problem}")
            return
        if isinstance(following, Refusal):
            found.problems.append(charge.said(less))
            return
        state = following
    dearer = False
    for line, priced in state.items():
        before, paid = charge.before[line], after[line]
        if priced.splits is not None and before.splits is not None and paid.splits is not None:
            only = releases[0] if len(releases) == 1 and not charge.late else None
            wrong, more = _split_wrong(charge, before.splits, priced.splits, paid.splits, only)
        else:
            over = priced.spent + priced.held - paid.spent - paid.held
            wrong, more = less if over > 0 else "", over < 0
        if wrong:
            found.problems.append(charge.said(wrong))
            return
        dearer = dearer or more
    if dearer:
        found.notices.append(charge.said(f"more than today's price{_version(charge)}, {_HOMONYM},"))


def _split_wrong(
    charge: _Charge, before: Splits, priced: Splits, paid: Splits, only: Release | None
) -> tuple[str, bool]:
    """What is wrong with what splits have paid, or else whether some paid more than their price."""
    dearer = False
    for was, price, now in zip(before.each, priced.each, paid.each, strict=True):
        if not now.mode:
            dearer = dearer or price.mode > 0
        elif not price.mode:
            return "and left a split open that its price gives up,", False
        elif now.pure > price.pure or _cheap(charge, was, price, now, only):
            return f"less than its price{_version(charge)}, {_HOMONYM},", False
        else:
            dearer = dearer or now.pure < price.pure or _apart(was, price, now) < 0
    return "", dearer


def _cheap(charge: _Charge, was: Split, price: Split, now: Split, only: Release | None) -> bool:
    """Whether a Gaussian part has paid less than its price, and what it paid is not proved to be enough."""
    currency, taken = charge.currency, was.gaussian - now.gaussian
    if now.mode < price.mode:  # it says that it paid by squares, in whose order others may still come
        squares = currency.squares(only) if only is not None and isinstance(currency, Residue) else None
        return squares is None or taken < squares
    if _apart(was, price, now) <= 0:
        return False
    return only is None or not isinstance(currency, Residue) or not currency.certifies(only, was.gaussian, taken)


def _apart(was: Split, price: Split, now: Split) -> int:
    """By how many units the price of a Gaussian part is above what it paid; 0 where only the last digits differ."""
    over = now.gaussian - price.gaussian
    return 0 if abs(over) <= (was.gaussian - now.gaussian) >> _AGREED else over


def _compare_blocks(charge: _Charge, blocks: Charge, release: Release, pricer: Pricer, found: Repriced) -> None:
    """What each block of a box paid against the price, which does not depend on what was spent there."""
    try:
        asked = pricer.price(charge.scope.currency, release, charge.before, False).amounts
    except BursarError as problem:
        found.problems.append(f"{charge.entry.root}: entry {charge.entry.seq} has no price now: {problem}")
        return
    if any(amount > blocks.amounts.get(line, 0) for line, amount in asked.items()):
        found.problems.append(charge.said(f"less than its price, {_HOMONYM},"))
    elif asked != blocks.amounts:
        found.notices.append(charge.said(f"more than today's price, {_HOMONYM},"))


def _version(charge: _Charge) -> str:
    made = charge.body.certificate
    return "" if made is None else f" (its certificate has version {made}, today's {CERTIFICATE})"
