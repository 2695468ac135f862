"""Freeze, thaw and retire: whether a scope accepts charges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from bursar.errors import InputError
from bursar.ledger.arguments import said
from bursar.ledger.budget.scope import scope_name
from bursar.ledger.commit.catalogue import usable
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Body, Draft
from bursar.ledger.verbs._base import Told


class Status(Told, frozen=True):
    """A scope and how it is to be: ``frozen``, ``open`` again, or ``closed`` for good."""

    name: ClassVar[str] = "status"
    scope: str
    status: str
    reason: str

    @property
    def about(self) -> Sequence[str]:
        """The scope whose status changes."""
        return (self.scope,)

    def fields(self) -> dict[str, Any]:
        """The scope, the status and the reason."""
        return {"scope": self.scope, "status": self.status, "reason": self.reason}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Change it; a closed scope's children close with it."""
        scope = posting.scope(self.scope)
        if scope.row.status == "closed":
            usable(scope)
        if self.status == "open" and scope.overdrawn != {}:
            raise InputError(
                f"{self.scope} is overdrawn: it opens again when a larger limit has paid for that", argument="scope"
            )
        rows = [scope.with_status(self.status).row]
        if self.status == "closed":
            every, below = posting.rows.scopes(scope.row.root), [self.scope]
            for above in below:  # which grows
                below += [row.name for row in every if row.parent == above]
            rows += [row._replace(status="closed") for row in every if row.name in below[1:] and row.status != "closed"]
        return [Draft("status", scope.row.root, Body(effect=[], scopes=rows))]


def status(scope: str, wanted: str, reason: str) -> Status:
    """A change as people give it."""
    return Status(scope_name(scope), wanted, said(reason))
