"""JSON in which every member is named once.

Readers of JSON disagree about ``{"key": "a", "key": "b"}``: some take the first, most the last. Whoever looks at a
request before it arrives (a proxy, a log) may see another one than the ledger does, so such a text is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

_DEEPEST = 500
_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
"""Texts in quotes, in which brackets mean nothing, and brackets."""


class Repeated(ValueError):
    """A member that an object has twice; ``name`` is the member."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the member {name[:60]!r} is given twice")
        self.name = name


def loads(text: str | bytes) -> Any:
    """As ``json.loads``, and `Repeated` for a member that is given twice."""
    return json.loads(text, object_pairs_hook=_object)


def once(text: bytes) -> None:
    """`Repeated` for a member that is given twice, in a JSON text that has been read already: it builds nothing."""
    if text.count(b"[") + text.count(b"{") > _DEEPEST:
        _shallow(text)
    _once.raw_decode(text.decode().lstrip())


def _shallow(text: bytes) -> None:
    """RecursionError for a text that is nested too deeply, whatever a library has made of the interpreter's limit."""
    depth = 0
    for mark in _MARKS.findall(text):
        depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
        if depth > _DEEPEST:
            raise RecursionError(f"it is nested more than {_DEEPEST} levels deep")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _check(pairs)
    return found


def _check(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        seen: set[str] = set()
        raise Repeated(next(name for name, _ in pairs if name in seen or seen.add(name)))  # type: ignore[func-returns-value]


def _nothing(_: str) -> None:
    """Numbers are not looked at: a long one would take its time."""


_once = json.JSONDecoder(object_pairs_hook=_check, parse_int=_nothing, parse_float=_nothing, parse_constant=_nothing)
