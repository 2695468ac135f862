"""Bring in: charge what was released before there was a ledger, all of it or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from bursar.errors import InputError
from bursar.ledger.arguments import word
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import scope_name
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Basis, Body, Draft, Effect, effects_of
from bursar.ledger.verbs._base import Told, refused
from bursar.ledger.verbs.consent import brought_in, consented_to_import
from bursar.tables import read_table


class BringIn(Told, frozen=True):
    """Past releases, and the scope that they are charged to."""

    name: ClassVar[str] = "import"
    scope: str
    releases: tuple[Release, ...]
    consent: str | None = None
    """What whoever asks agrees to, where it does more than charge the releases."""

    @property
    def about(self) -> Sequence[str]:
        """The scope that is charged."""
        return (self.scope,)

    def fields(self) -> dict[str, Any]:
        """The scope and every release."""
        return {"scope": self.scope, "releases": [release.request() for release in self.releases]}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Charge the list as one entry."""
        scopes = posting.debited(self.about, *self.releases)
        root = scopes[0].row.root
        if any(scope.row.root != root for scope in scopes):
            raise InputError("an import stays within one root", argument="scope")
        posting.expire(root)
        effects: list[Effect] = []
        outcomes = []
        bases: dict[Basis, None] = {}
        for scope in scopes:
            one = brought_in(posting, scope, self.releases)
            if one.short is not None:
                return refused(scope, one.short)
            assert one.after is not None  # nothing was short
            outcomes.append(one)
            bases |= dict.fromkeys(one.bases)
            effects += effects_of(scope.name, one.before, one.after)
        texts = [release.text for release in self.releases]
        agreed = consented_to_import(outcomes, self.scope, texts, self.consent)
        return [Draft("import", root, Body(effect=effects, imported=texts, consent=agreed, bases=list(bases) or None))]


def bring_in(scope: str, table: str, consent: str | None = None) -> BringIn:
    """An import as people give it: the text of a CSV table."""
    agreed = None if consent is None else word(consent, "consent")
    return BringIn(scope_name(scope), tuple(read_past(table)), agreed)


def read_past(text: str) -> list[Release]:
    """Past releases from CSV: a column ``what`` (the text form), and perhaps ``count`` and ``delta``."""
    found = []
    for row in read_table(text, "what", ("count", "delta")):
        column = "what"
        try:
            release = release_of(row.cells["what"])
            column = "delta"
            release = release_of(release, row.cells.get("delta") or None)
            column = "count"
            count = row.count("count")
            found.append(release_of(release.composition * count, release.delta) if count != 1 else release)
        except InputError as problem:
            raise problem if str(problem).startswith("line ") else row.refused(column, problem) from None
    if not found:
        raise InputError("there is nothing to import", argument="file")
    return found
