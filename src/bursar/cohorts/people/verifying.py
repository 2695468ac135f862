"""A look at the files of a person filter: what each says is compared with the journal, and with the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bursar.cohorts.people.commit import counted
from bursar.cohorts.people.desk import Desk, Seen
from bursar.cohorts.people.engines import Engine
from bursar.cohorts.people.statements import statement
from bursar.errors import StorageFailed
from bursar.ledger.journal.rows import DeltaRow


class Checked(NamedTuple):
    """What a look at the files found; it says nothing about anybody."""

    problems: tuple[str, ...]
    orphans: int
    """Places of admissions that were interrupted, or are under way: they count for nothing."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verified(desk: Desk, engine: Engine) -> Checked:
    """Look at everything; an engine adds up what has to be."""
    seen = desk.look()
    desk.folder.forget()
    problems = [problem for row in seen.rows if (problem := desk.folder.wrong(row)) is not None]
    orphans: list[str] = []
    try:
        if not problems:  # what is missing or changed cannot be added up
            problems += _sums(desk, seen, engine)
        orphans = desk.folder.orphans(seen.rows)
    except StorageFailed as problem:  # a store that does not answer is what a look is there to find
        problems.append(f"{desk.name}: {problem}")
    return Checked(tuple(problems), len(orphans))


def _sums(desk: Desk, seen: Seen, engine: Engine) -> Iterator[str]:
    """What is wrong with what files add up to."""
    deltas = [row for row in seen.rows if row.kind == "delta"]
    most = desk.largest_limit() - desk.reserve()
    if deltas and engine.about(desk.folder.checked(deltas), statement("overspent", limit=most))[0]:
        yield f"{desk.name}: somebody was admitted beyond the limit"
    for place, row in enumerate(seen.rows):
        if row.kind == "snapshot" and _differs(desk, engine, counted(seen.scope, seen.rows[:place]), row):
            yield f"{desk.name}: snapshot {row.path} of entry {row.seq} is not what the files before it add up to"


def _differs(desk: Desk, engine: Engine, before: Sequence[DeltaRow], snapshot: DeltaRow) -> bool:
    """Whether a snapshot charges anybody something else than the files that it stands for."""
    files, others = desk.folder.checked(before), desk.folder.checked([snapshot])
    return bool(engine.about(files, statement("differing"), others)[0])
