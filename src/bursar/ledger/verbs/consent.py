"""Consent to a correction, an import, an opening or a new limit that does more than it says.

What does not fit of a correction ends reservations and freezes scopes; and a charge that comes late, or a lower limit,
may end the last split of a scope that has room for Gaussian-like releases. Whoever asks is shown that first, and says
yes to exactly that: the consent is a short hash of what would be done, looked at again inside the transaction. It does
not speak of balances, so that it outlives what others spend. What is merely dearer asks for nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bursar.errors import ConsentNeeded, CostInvalid
from bursar.ledger.budget import words
from bursar.ledger.budget.currencies import Balance, Price, Refusal, Sought, Unpriced
from bursar.ledger.budget.currencies.splits import bears_gaussians
from bursar.ledger.budget.deciding import Folded, folded
from bursar.ledger.budget.refusals import asked_and_left, short
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.reservations import given_back
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import measured, of_line
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Basis, Effect
from bursar.ledger.journal.entry import canonical

State = Mapping[str, Balance]


class Outcome(NamedTuple):
    """What a verb would do to a scope."""

    scope: Scope
    before: State
    after: dict[str, Balance] | None
    """None where it does not fit."""
    why: str = ""
    """Why it has no price out of its order; empty where it has one."""
    short: Refusal | None = None
    """What has not enough left."""
    bases: tuple[Basis, ...] = ()
    """What its price rests on."""

    @property
    def asks(self) -> bool:
        """Whether it does more than charge or change the limit."""
        return self.after is None or (_bears(self.before) and not _bears(self.after))

    @property
    def terms(self) -> list[Any]:
        """What consent is given to."""
        if self.after is None:
            if self.short is None or _has_splits(self.before):  # what splits are asked for follows from what is left
                return [self.scope.name, None if self.short is None else self.short.line]
            return [self.scope.name, [self.short.line, str(self.short.asked)]]
        return [self.scope.name, "gaussian"]

    def __str__(self) -> str:
        return f"{self.scope.name}: {self._excess() if self.after is None else self._ended()}"

    def _excess(self) -> str:
        stays = "stays closed" if self.scope.row.status == "closed" else "is frozen"
        if self.short is None:
            return (
                f"it has no price so late: all that is left counts as used, and the scope {stays} for good ({self.why})"
            )
        until = " for good" if _has_splits(self.before) else " until a larger limit has paid for it"
        return (
            f"it {asked_and_left(self.scope, short(self.scope, self.short))}: all of that counts as used, and the "
            f"scope {stays}{until}"
        )

    def _ended(self) -> str:
        left = words.left(of_line(measured(self.before)["gaussian"]))
        return f"nothing is left for Gaussian-like releases afterwards, for good; {left} is left for them now"


def _bears(state: State) -> bool:
    return any(balance.splits is not None and bears_gaussians(balance.splits) for balance in state.values())


def _has_splits(state: State) -> bool:
    return any(balance.splits is not None for balance in state.values())


class Asked(NamedTuple):
    """What consent is asked for, and given to."""

    about: list[Any]
    does: str
    again: str
    """What to do with the consent."""
    consent: str | None


def consented(
    posting: Posting, scopes: Sequence[Scope], release: Release, entry: tuple[str, int], consent: str | None
) -> str | None:
    """The consent that the journal notes, if one is needed; `ConsentNeeded` where it is and this is not it."""
    for root in dict.fromkeys(scope.row.root for scope in scopes):
        posting.expire(root)
    outcomes = _outcomes(posting, scopes, release)
    ended = _in_the_way(posting, [one.scope for one in outcomes if one.after is None])
    if ended:
        outcomes = _outcomes(posting, scopes, release, ended)
    asked = Asked(
        [list(map(str, entry)), release.text],
        f"correcting entry {entry[1]} of {entry[0]} by {release.text} does more than charge it",
        "correct again",
        consent,
    )
    return _agreed(asked, outcomes, ended)


def consented_to_import(outcomes: Sequence[Outcome], scope: str, texts: list[str], consent: str | None) -> str | None:
    """The consent to past releases, as `consented` gives that to a correction."""
    many = f"{len(texts)} past releases" if len(texts) > 1 else "a past release"
    does = f"bringing {many} into {scope} does more than charge {'them' if len(texts) > 1 else 'it'}"
    return _agreed(Asked(["import", scope, texts], does, "bring in again", consent), outcomes, ())


def consented_to_opening(outcome: Outcome, texts: list[str], consent: str | None) -> str | None:
    """The consent to what was released before a scope was opened, as `consented` gives that to a correction."""
    name = outcome.scope.name
    does = f"opening {name} with what was released before does more than charge that"
    return _agreed(Asked(["open", name, texts], does, f"open {name} again", consent), [outcome], ())


def consented_to_limit(
    scopes: Sequence[Scope], effects: Sequence[Effect], limits: Mapping[str, Any], consent: str | None
) -> str | None:
    """The consent to a new limit, as `consented` gives that to a correction."""
    outcomes = []
    for scope in scopes:
        mine = [one for one in effects if one.scope == scope.name]
        before, after = ({one.line: getattr(one, end) for one in mine} for end in ("before", "after"))
        outcomes.append(Outcome(scope, before, after))
    name = scopes[0].name
    about = ["limit", name, {key: str(value) for key, value in limits.items() if value is not None}]
    return _agreed(
        Asked(about, f"changing {name}'s limit does more than that", "change it again", consent), outcomes, ()
    )


def brought_in(posting: Posting, scope: Scope, releases: Sequence[Release]) -> Outcome:
    """What past releases would do to a scope."""
    return come_late(scope, posting.lines(scope), releases, posting.ran(scope))


def come_late(scope: Scope, before: dict[str, Balance], releases: Sequence[Release], late: bool) -> Outcome:
    """What releases would do that come, where they are ``late``, after others that ran in a scope."""
    after = folded(scope, before, releases, late)
    if isinstance(after, Folded):
        return Outcome(scope, before, after.after, bases=after.bases)
    return Outcome(scope, before, None, short=after)


def _agreed(asked: Asked, outcomes: Sequence[Outcome], ended: Collection[str]) -> str | None:
    meant = [one for one in outcomes if one.asks]
    if not ended and not meant:
        return None
    about = [*asked.about, [one.terms for one in meant], sorted(ended)]
    needed = hashlib.sha256(canonical(about).encode()).hexdigest()[:12]
    if asked.consent == needed:
        return needed
    said: list[tuple[str | None, str]] = [(one.scope.name, str(one)) for one in meant]
    said += [(None, f"reservation {id} ends, to make room") for id in sorted(ended)]
    changed = "" if asked.consent is None else "what was agreed to is not what it would do now; "
    raise ConsentNeeded(
        f"{changed}{asked.does}:\n"
        + "".join(f"  {line}\n" for _, line in said)
        + f"Nothing was changed. If that is meant, {asked.again} with the consent {needed}",
        consent=needed,
        lines=said,
    )


def _outcomes(
    posting: Posting, scopes: Iterable[Scope], release: Release, ended: Collection[str] = ()
) -> list[Outcome]:
    """For each scope; `Unpriced` with all the prices that are missing."""
    found: list[Outcome] = []
    sought: list[Sought] = []
    for scope in scopes:
        try:
            found.append(_outcome(posting, scope, release, ended))
        except Unpriced as missing:
            sought += missing.sought
    if sought:
        raise Unpriced(*sought)
    return found


def _outcome(posting: Posting, scope: Scope, release: Release, ended: Collection[str]) -> Outcome:
    """As it would be when these reservations have ended."""
    state, late = dict(posting.lines(scope)), posting.ran(scope, ended)
    for id, held in posting.reserved(scope.row.root).items() if ended else ():
        if id in ended:
            state.update(given_back(held, scope.name, state))
    price, after, why = corrected(scope, state, release, late)
    if price is None or after is None or isinstance(after, Refusal):
        return Outcome(scope, state, None, why, after if isinstance(after, Refusal) else None)
    return Outcome(scope, state, after, bases=price.bases)


def corrected(
    scope: Scope, state: State, release: Release, late: bool
) -> tuple[Price | None, dict[str, Balance] | Refusal | None, str]:
    """The price of a release that comes late, and the next state or the refusal; why, where it has neither."""
    try:
        price = scope.currency.known(release, state, late)
        return price, scope.currency.step(state, price), ""
    except CostInvalid as why:
        return None, None, str(why)


def _in_the_way(posting: Posting, short: Iterable[Scope]) -> set[str]:
    """The open reservations that hold something of scopes which have not enough left."""
    return {id for scope in short for id, held in posting.reserved(scope.row.root).items() if held.holds(scope.name)}
