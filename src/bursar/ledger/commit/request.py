"""What is asked of a ledger: a verb with its arguments as a value, who asks, and the key that makes a retry safe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from bursar.ledger.journal.entry import Chained, canonical

if TYPE_CHECKING:
    from bursar.ledger.budget.scope import Scope
    from bursar.ledger.commit.posting import Posting
    from bursar.ledger.journal.body import Draft

Answer = TypeVar("Answer")
Met = Callable[[str], "Scope"]
"""A scope by its name."""


class Verb(msgspec.Struct, Generic[Answer], frozen=True):
    """One thing that somebody can ask: a plain value, with what it decides and how its answer is read.

    Deciding happens inside a transaction and gives drafts of entries; the answer is read from the first of them, the
    same way when it has just been written as when its key comes again years later.
    """

    name: ClassVar[str]
    """As the journal writes it."""

    @property
    def about(self) -> Sequence[str]:
        """The scopes whose roots are locked before it decides."""
        return ()

    @property
    def held_by(self) -> str | None:
        """The reservation that it is about, if it is about one."""
        return None

    def fields(self) -> dict[str, Any]:
        """What was asked, as the journal writes it."""
        raise NotImplementedError

    def text(self) -> str:
        """The same as canonical text: a key answers for this text alone."""
        return canonical({"verb": self.name, **self.fields()})

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """The entries that this becomes, the one that answers first; a `BursarError` where it becomes none."""
        raise NotImplementedError

    def answer(self, chained: Chained, again: bool, scope: Met) -> Answer:
        """What an entry says to whoever asked, the first time or ``again``; a recorded refusal is raised."""
        raise NotImplementedError


class Request(msgspec.Struct, Generic[Answer], eq=False):
    """A verb on its way through the office, and what became of it."""

    verb: Verb[Answer]
    key: str
    actor: str
    text: str
    """What was asked, as the journal has it."""
    outcome: Answer | None = None
    failure: BaseException | None = None
