"""What an engine does: reads a table once, decides against files, writes a delta, and gives the admitted rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bursar.cohorts.people.charges import Query
from bursar.cohorts.people.files import Folder
from bursar.cohorts.people.keys import Pads
from bursar.errors import BursarError, StorageFailed


class Prepared(ABC):
    """A table whose people have been named and priced; nothing is decided yet."""

    @abstractmethod
    def decide(self, files: Sequence[str], limit: int, rule: str, folder: Folder, place: str) -> None:
        """Write what a query charges, given what was charged before, as a delta at a place of the folder."""

    @abstractmethod
    def rows(self, files: Sequence[str]) -> Any:
        """The rows of the people that a delta says were admitted, as a table of the kind that was given."""


class Engine(ABC):
    """One way to run the statements."""

    @abstractmethod
    def prepare(self, table: Any, person: str, query: Query, pads: Pads) -> Prepared:
        """Name and price everybody in a table."""

    @abstractmethod
    def compact(self, files: Sequence[str], folder: Folder, place: str) -> None:
        """Write what everybody was charged by these files as one snapshot."""

    @abstractmethod
    def about(self, files: Sequence[str], text: str, others: Sequence[str] = ()) -> tuple[int, ...]:
        """What a statement says of what was charged by these files, and by others, in one row: private numbers."""


@contextmanager
def discreet(kind: type[Exception] | tuple[type[Exception], ...]) -> Iterator[None]:
    """An engine's complaints name values of the data, and a lack of memory says for how many rows: only their kind is
    told.
    """
    kinds: tuple[type[Exception], ...] = (*(kind if isinstance(kind, tuple) else (kind,)), MemoryError)
    try:
        yield
    except BursarError:
        raise
    except kinds as problem:
        name = type(problem).__name__
        raise StorageFailed(
            f"the engine failed ({name}); its own message may show data and is left out. Nothing was released"
        ) from None
