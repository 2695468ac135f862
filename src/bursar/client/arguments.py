"""What callers give, as it travels: releases and numbers as text, scopes as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bursar import wire

Names = str | Sequence[str]
Text = str | None


def text_of(what: Any) -> str:
    """A text as it is; a mechanism or a composition as the text that means it, or not at all."""
    if isinstance(what, str):
        return what
    # whoever has a mechanism has loaded the numerics; whoever sends texts need not
    from bursar.composition import as_composition
    from bursar.jobs.spec import read_back

    return read_back(as_composition(what)).text()


def names_of(scopes: Names) -> list[str]:
    """The scopes that a request names."""
    return [scopes] if isinstance(scopes, str) else list(scopes)


def id_of(reservation: str | wire.Reservation) -> str:
    """The id of a reservation, given as either."""
    return reservation.id if isinstance(reservation, wire.Reservation) else reservation


def number(value: Any) -> str | None:
    """A number as it travels: as text, so that nothing of it is lost."""
    return None if value is None else str(value)


def numbers(given: Mapping[str, Any]) -> dict[str, str | None]:
    """Several numbers as they travel, by name."""
    return {name: number(value) for name, value in given.items()}
