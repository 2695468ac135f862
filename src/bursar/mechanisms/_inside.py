"""What stands inside a mechanism, however deep; and promises that are for one number of records only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bursar.errors import InputError
from bursar.mechanisms._base import Mechanism


def inside(value: object, wanted: Callable[[Mechanism], bool]) -> Mechanism | None:
    """The first such mechanism in a mechanism, a composition or their fields."""
    if isinstance(value, Mechanism) and wanted(value):
        return value
    if isinstance(value, (tuple, list)):
        parts = list(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        return None
    return next((found for part in parts if (found := inside(part, wanted)) is not None), None)


def refuse_counted(value: object, doing: str, *, records: int | None = None) -> None:
    """Refuse what promises something for exactly so many records where their number changes, or is another one."""
    found = inside(value, lambda one: one.for_records() not in (None, records))
    if found is not None:
        raise InputError(
            f"{doing} changes how many records there are, but {found.text()} promises something for exactly "
            f"{found.for_records()} of them",
            argument="mechanism",
        )
