"""Reading what callers give: scopes, keys, reasons; each refused by name where it cannot be meant."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from bursar.errors import InputError, described
from bursar.keys import own_key
from bursar.ledger.budget.scope import scope_name
from bursar.ledger.receipt import Receipt, Reservation

_LONGEST_KEY = 255  # bytes


def names_of(scopes: str | Sequence[str]) -> list[str]:
    """The scopes that a request names, in order."""
    if isinstance(scopes, str):
        return [_checked(scopes)]
    if not isinstance(scopes, (list, tuple, set, frozenset)):
        raise InputError(f"name a scope, or a list of them, not {described(scopes)}", argument="scopes")
    names = list(scopes)
    if not 1 <= len(names) <= 64:
        raise InputError("name one to 64 scopes", argument="scopes")
    if len(names) == 1:
        return [_checked(names[0])]
    return sorted({scope_name(name) for name in names})


def _checked(name: Any) -> str:
    """A name that was found good before is good."""
    if isinstance(name, str):
        return _good_name(str.__str__(name))  # of the exact type: equality is nobody else's to define
    return scope_name(name)


@lru_cache(maxsize=4096)
def _good_name(name: str) -> str:
    return scope_name(name)


def key_of(key: str | None) -> str:
    """An idempotency key, or one of our own."""
    if key is None:
        return own_key()
    if not isinstance(key, str) or not key or not key.isprintable() or len(key.encode()) > _LONGEST_KEY:
        raise InputError(
            f"key must be 1 to {_LONGEST_KEY} bytes of printable text, not {described(key)}", argument="key"
        )
    return str.__str__(key)


def word(text: Any, name: str) -> str:
    """A short text, such as a person's name."""
    if not isinstance(text, str) or len(text) > 255 or not (text.isprintable() or not text):
        raise InputError(f"{name} must be a short printable text, not {described(text)}", argument=name)
    return str.__str__(text)


def said(reason: Any) -> str:
    """A reason, which must say something."""
    if not isinstance(reason, str) or not reason.strip() or len(reason) > 2000 or not _speakable(reason):
        raise InputError("say why: reason= takes a text of up to 2000 characters", argument="reason")
    return str.__str__(reason)


def said_if(reason: Any) -> str | None:
    """A reason where one is given."""
    return None if reason is None else said(reason)


def with_reason(fields: dict[str, Any], reason: str | None) -> dict[str, Any]:
    """What was asked, with the reason if there is one: without, the journal has the text that it always had."""
    return fields if reason is None else {**fields, "reason": reason}


def _speakable(text: str) -> bool:
    """Whether it can be written down at all: half a character cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def texts(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, as texts: the journal holds no floats."""
    kept = {key: value for key, value in given.items() if value not in (None, False)}
    return {key: value if value is True or key == "splits" else str(value) for key, value in kept.items()}


def reservation_id(reservation: str | Reservation) -> str:
    """The id of a reservation, given as either."""
    id = reservation.id if isinstance(reservation, Reservation) else reservation
    if not isinstance(id, str) or not id or not id.isprintable():
        raise InputError(f"reservation must be a reservation or its id, not {described(id)}", argument="reservation")
    return str.__str__(id)


def entry_of(entry: Any) -> tuple[str, int]:
    """An entry's place, given by its receipt or as (root, seq)."""
    root, seq = (entry.root, entry.seq) if isinstance(entry, Receipt) else _pair(entry)
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 < seq < 2**63:
        raise InputError(f"an entry has a number from 1 on, not {described(seq)}", argument="entry")
    return scope_name(root), seq


def _pair(entry: Any) -> tuple[Any, Any]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise InputError(f"entry must be a receipt, or a root and a number, not {described(entry)}", argument="entry")
    return entry[0], entry[1]


def file_name(path: Any, name: str) -> str:
    """The name of a file."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise InputError(f"{name} must name a file, not {described(path)}", argument=name)
    return os.fspath(path)
