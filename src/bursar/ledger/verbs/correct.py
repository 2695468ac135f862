"""Correct: add spend that an earlier entry should have had.

It reaches every scope that the release touched: those of the entry, the other roots of the same charge, and blocks that
were opened since. What no longer fits has happened all the same: reservations give way to it first; then the lines are
filled, the scope is frozen, and its terms remember by how much it is overdrawn, so that a larger limit pays that first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from bursar.errors import InputError
from bursar.ledger.arguments import entry_of, said, word
from bursar.ledger.budget.currencies import Balance, Price, Refusal
from bursar.ledger.budget.currencies._moves import filled
from bursar.ledger.budget.refusals import alike
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.catalogue import whole
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Basis, Body, Draft, Effect, body_in, effect, effects_of
from bursar.ledger.journal.entry import Chained
from bursar.ledger.stores._base import Reader
from bursar.ledger.verbs._base import Told, by_root
from bursar.ledger.verbs.consent import consented, corrected
from bursar.ledger.verbs.draw import cancel

_CHARGES = ("spend", "draw", "import", "correct")


class Correct(Told, frozen=True):
    """An entry, and what it should have charged besides."""

    name: ClassVar[str] = "correct"
    entry: tuple[str, int]
    """Its root and number."""
    release: Release
    reason: str
    names: tuple[str, ...]
    """The scopes that the entry charged: an entry never changes, so they are known before."""
    consent: str | None = None
    """What whoever asks agrees to, where it does more than charge the release."""

    @property
    def about(self) -> Sequence[str]:
        """The scopes that the entry charged."""
        return self.names

    def fields(self) -> dict[str, Any]:
        """Which entry, by what, and why."""
        root, seq = self.entry
        return {"entry": [root, str(seq)], **self.release.request(), "reason": self.reason}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Charge every scope that the entry's release touched; freeze those where it does not fit."""
        scopes = self._scopes(posting)
        alike(scopes, self.release)
        agreed = consented(posting, scopes, self.release, self.entry, self.consent)
        _make_room(posting, scopes, self.release)
        effects: list[Effect] = []
        beyond: dict[str, Scope] = {}
        bases: dict[str, dict[Basis, None]] = {}
        for scope in scopes:
            state, price, after = _asked(posting, scope, self.release)
            if after is not None and price is not None:
                effects += effects_of(scope.name, state, after)
                bases.setdefault(scope.row.root, {}).update(dict.fromkeys(price.bases))
            else:
                full, beyond[scope.name] = _overdrawn(scope, state, price)
                effects += [effect(scope.name, line, before, full[line]) for line, before in state.items()]
        parts = by_root(scopes, effects).items()
        return [self._draft(root, part, beyond, agreed, list(bases.get(root, ())) or None) for root, part in parts]

    def _scopes(self, posting: Posting) -> list[Scope]:
        root, seq = self.entry
        if posting.rows.scope(root) is not None:
            whole(posting.scope(root))
        wrong = posting.rows.entry(root, seq)
        if wrong is None or wrong.entry.kind not in _CHARGES:
            raise InputError(f"entry {seq} of {root} is no charge", argument="entry")
        paths = [posting.catalogue.find(name, posting.rows)[1] for name in charged_by(posting.rows, wrong)]
        return [posting.scope(name) for name in dict.fromkeys(name for path in paths for name in path)]

    def _draft(
        self,
        root: str,
        effects: list[Effect],
        beyond: Mapping[str, Scope],
        agreed: str | None,
        bases: list[Basis] | None,
    ) -> Draft:
        """One root's part."""
        frozen = [scope for scope in beyond.values() if scope.row.root == root]
        body = Body(
            effect=effects,
            released=self.release.text,
            bases=bases,
            consent=agreed,
            corrects=self.entry,
            reason=self.reason,
            overdrawn=[scope.name for scope in frozen],
            scopes=[scope.row for scope in frozen] or None,
        )
        return Draft("correct", root, body)


def correct(
    reader: Reader, entry: Any, what: Any, reason: str, delta: Any = None, consent: str | None = None
) -> Correct:
    """A correction as people give it; the entry itself says which roots there are to lock."""
    place, release = entry_of(entry), release_of(what, delta)
    why = said(reason)
    wrong = reader.entry(*place)
    names = [place[0]] if wrong is None else charged_by(reader, wrong)
    return Correct(place, release, why, tuple(names), None if consent is None else word(consent, "consent"))


def charged_by(reader: Reader, chained: Chained) -> list[str]:
    """The scopes that a charge named or debited, in every root; those of the charge that it corrects, if it does."""
    names: dict[str, None] = {}
    met: set[str] = set()
    following: Chained | None = chained
    while following is not None and following.hash not in met:
        met.add(following.hash)
        body = body_in(following.entry.body)
        names.update(dict.fromkeys([*body.charged(), *body.asked().get("scopes", ())]))
        following = None if body.corrects is None else reader.entry(*body.corrects)
    return list(names)


def _asked(
    posting: Posting, scope: Scope, release: Release
) -> tuple[dict[str, Balance], Price | None, dict[str, Balance] | None]:
    """The state, the price out of its order, and the state after it; None where there is none, or no room."""
    state = posting.lines(scope)
    price, after, _ = corrected(scope, state, release, posting.ran(scope))
    return state, price, None if isinstance(after, Refusal) else after


def _make_room(posting: Posting, scopes: Sequence[Scope], release: Release) -> None:
    """What is only held gives way to what has happened."""
    roots = dict.fromkeys(scope.row.root for scope in scopes)
    for root in roots:
        posting.expire(root)
    short = [scope for scope in scopes if _asked(posting, scope, release)[2] is None]
    for root in roots:
        cancel(posting, root, {scope.name for scope in short if scope.row.root == root})


def _overdrawn(scope: Scope, state: Mapping[str, Balance], price: Price | None) -> tuple[dict[str, Balance], Scope]:
    """The lines filled as far as they go, and the scope with what went beyond; frozen, unless it is closed."""
    known: dict[str, Any] | None
    if price is None or scope.overdrawn is None or any(before.splits is not None for before in state.values()):
        known = None
        after = {line: filled(before)[0] for line, before in state.items()}
    else:
        after, known = {}, {}
        for line, before in state.items():
            after[line], beyond = filled(before, price.amounts.get(line, 0))
            if beyond + scope.overdrawn.get(line, 0):
                known[line] = str(beyond + scope.overdrawn.get(line, 0))
    marked = scope.with_terms(overdrawn=known)
    return after, marked if scope.row.status == "closed" else marked.with_status("frozen")
