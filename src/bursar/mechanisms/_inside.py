"""What stands inside a mechanism, however deep; and promises that are for one number of records only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bursar.errors import InputError
from bursar.mechanisms._base import Mechanism
from bursar.numerics.real import Real


def inside(value: object, wanted: Callable[[Mechanism], bool]) -> Mechanism | None:
    """The first such mechanism in a mechanism, a composition or their fields."""
    kind = type(value)
    if kind is Real or kind is str:  # most fields are, and every mechanism asks when it is made
        return None
    if isinstance(value, Mechanism) and wanted(value):
        return value
    parts = value if isinstance(value, (tuple, list)) else [getattr(value, name) for name in _fields(kind)]
    for part in parts:
        found = inside(part, wanted)
        if found is not None:
            return found
    return None


def _fields(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields; none for others."""
    if kind not in _names:
        shown = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        _names[kind] = tuple(field.name for field in shown)
    return _names[kind]


_names: dict[type, tuple[str, ...]] = {}  # which is never cleared: classes are few


def refuse_counted(value: object, doing: str, *, records: int | None = None) -> None:
    """Refuse what promises something for exactly so many records where their number changes, or is another one."""
    found = inside(value, lambda one: one.for_records() not in (None, records))
    if found is not None:
        raise InputError(
            f"{doing} changes how many records there are, but {found.text()} promises something for exactly "
            f"{found.for_records()} of them",
            argument="mechanism",
        )
