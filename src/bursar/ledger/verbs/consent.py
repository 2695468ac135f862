"""Consent to a correction, an import or an opening that does more than charge its releases.

All are charged out of their order. On a residue scope that may close a way of paying which the same releases, spent
now, would leave open; and what does not fit of a correction ends reservations and freezes scopes. Whoever asks is shown
that first, and says yes to exactly that: the consent is a short hash of what would be done, looked at again inside the
transaction. It speaks of prices, ways and reservations, not of balances, so that it outlives what others spend.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bursar.errors import ConsentNeeded, CostInvalid
from bursar.ledger.budget import words
from bursar.ledger.budget.currencies import Balance, Refusal, Sought, Unpriced
from bursar.ledger.budget.currencies._moves import given_back
from bursar.ledger.budget.deciding import folded
from bursar.ledger.budget.refusals import asked_and_left, short
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import of_line, share_left
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.entry import canonical

State = Mapping[str, Balance]


class Outcome(NamedTuple):
    """What a correction or an import would do to a scope."""

    scope: Scope
    before: State
    after: State | None
    """None where it does not fit."""
    plain: State | None
    """After the same, spent now."""
    why: str
    """Why it has no price out of its order; empty where it has one."""
    short: Refusal | None
    """The line that has not enough left."""

    @property
    def dearer(self) -> bool:
        """Whether it takes more than the release itself would."""
        if self.after is None:
            return True
        return self.plain is not None and any(
            self.after[line].spent > self.plain[line].spent or self.after[line].dead > self.plain[line].dead
            for line in self.before
        )

    @property
    def terms(self) -> list[Any]:
        """What consent is given to."""
        if self.after is None:
            return [self.scope.name, None if self.short is None else [self.short.line, str(self.short.asked)]]
        return [self.scope.name, _paid(self.before, self.after), _given_up(self.before, self.after)]

    def __str__(self) -> str:
        return f"{self.scope.name}: {self._excess() if self.after is None else self._price(self.after)}"

    def _excess(self) -> str:
        stays = "stays closed" if self.scope.row.status == "closed" else "is frozen"
        if self.short is None:
            return (
                f"it has no price so late: all that is left counts as used, and the scope {stays} for good ({self.why})"
            )
        until = " for good" if len(self.scope.currency.ways) > 1 else " until a larger limit has paid for it"
        return (
            f"it {asked_and_left(self.scope, short(self.scope, self.short))}: all of that counts as used, and the "
            f"scope {stays}{'' if self.scope.period else until}"
        )

    def _price(self, after: State) -> str:
        currency = self.scope.currency
        before, then = share_left(currency, self.before), share_left(currency, after)
        said = f"charged out of its order it takes {words.taken(before - then)}, {words.left(then)} is left afterwards"
        for name in _given_up(self.before, after):
            said += f"; a way of counting ends for good, by which {words.left(of_line(self.before[name]))} is left now"
        if self.plain is not None and self.dearer:
            said += f"; charged in its order it would take {words.taken(before - share_left(currency, self.plain))}"
        return said


def _paid(before: State, after: State) -> dict[str, int]:
    taken = {line: after[line].spent - before[line].spent for line in before}
    return {line: units for line, units in taken.items() if units}


def _given_up(before: State, after: State) -> list[str]:
    return [line for line in before if after[line].dead and not before[line].dead]


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


def brought_in(posting: Posting, scope: Scope, releases: Sequence[Release]) -> Outcome:
    """What past releases would do to a scope."""
    return come_late(scope, posting.lines(scope), releases, posting.ran(scope))


def come_late(scope: Scope, before: dict[str, Balance], releases: Sequence[Release], ran: Sequence[str]) -> Outcome:
    """What releases would do that come after what ran in a scope."""
    after = folded(scope, before, releases, ran)
    if isinstance(after, Refusal):
        return Outcome(scope, before, None, None, "", after)
    plain = folded(scope, before, releases, ()) if ran else after
    return Outcome(scope, before, after, None if isinstance(plain, Refusal) else plain, "", None)


def _agreed(asked: Asked, outcomes: Sequence[Outcome], ended: Collection[str]) -> str | None:
    if not ended and not any(one.dearer for one in outcomes):
        return None
    about = [*asked.about, [one.terms for one in outcomes], sorted(ended)]
    needed = hashlib.sha256(canonical(about).encode()).hexdigest()[:12]
    if asked.consent == needed:
        return needed
    said: list[tuple[str | None, str]] = [(one.scope.name, str(one)) for one in outcomes if one.dearer]
    said += [(None, f"reservation {id} ends, to make room") for id in sorted(ended)]
    changed = "" if asked.consent is None else "what was agreed to is not what it would do now; "
    raise ConsentNeeded(
        f"{changed}{asked.does}:\n"
        + "".join(f"  {line}\n" for _, line in said)
        + f"Nothing was charged. If that is meant, {asked.again} with the consent {needed}",
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
    state, ran = dict(posting.lines(scope)), posting.ran(scope, tuple(ended))
    for id, held in posting.reserved(scope.row.root).items() if ended else ():
        for line, amount in held.of(scope.name).items() if id in ended else ():
            state[line] = given_back(state[line], amount)
    after, why = _after(scope, state, release, ran)
    if after is None or isinstance(after, Refusal):
        return Outcome(scope, state, None, None, why, after)
    plain, _ = _after(scope, state, release, ())
    return Outcome(scope, state, after, None if isinstance(plain, Refusal) else plain, "", None)


def _after(
    scope: Scope, state: State, release: Release, ran: Sequence[str]
) -> tuple[dict[str, Balance] | Refusal | None, str]:
    """The next state, or the refusal, or None and why there is no price."""
    try:
        return scope.currency.step(state, scope.currency.known(release, state, ran)), ""
    except CostInvalid as why:
        return None, str(why)


def _in_the_way(posting: Posting, short: Iterable[Scope]) -> set[str]:
    """The open reservations that hold something of scopes which have not enough left."""
    return {id for scope in short for id, held in posting.reserved(scope.row.root).items() if held.holds(scope.name)}
