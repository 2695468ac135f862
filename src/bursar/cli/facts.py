"""Facts from a file: JSON, or as much of YAML as facts need, read strictly.

Names with texts, lists of texts, and sections of them, by indentation. Every value is a text, so that no region is read
as a truth value (NO) and no day as something else than it says; what a text cannot say without doubt is refused, with
its line.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from bursar import members
from bursar.errors import InputError, described

_PAIR = re.compile(r"([A-Za-z_][\w-]*):(?:\s+(.*))?\Z")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_ITEM = re.compile(rf"\s*({_QUOTED.pattern}|[^,\[\]{{}}\"'\s][^,\[\]{{}}\"']*)")
_NEXT = re.compile(r"\s*([,\]])")
_REST = re.compile(r"\s*(?:#.*)?\Z")
_BLOCK = re.compile(r"([|>])-?\s*(?:#.*)?\Z")
_SPECIAL = tuple("&*!|>%@`{}[],?\"'#")


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


def read_facts(path: Path) -> dict[str, Any]:
    """The facts in a file."""
    text = path.read_text(encoding="utf-8-sig")
    if text.lstrip().startswith("{"):
        try:
            found: dict[str, Any] = members.loads(text)
        except (ValueError, RecursionError) as problem:
            raise InputError(f"{path}: this is not JSON as it should be: {problem}", argument="facts") from None
        return found
    return _Reader(str(path), text).whole()


class _Reader:
    """Reads a text from its first line to its last."""

    def __init__(self, path: str, text: str) -> None:
        self._path, self._at = path, 0
        self._lines: list[_Line] = []
        self._raw = text.splitlines()
        for number, raw in enumerate(self._raw, start=1):
            bare = raw.strip()
            if bare and not bare.startswith("#") and not (bare == "---" and not self._lines):
                lead = raw[: len(raw) - len(raw.lstrip())]
                if "\t" in lead:
                    raise self._wrong(number, "indent with spaces, not with tabs")
                self._lines.append(_Line(number, len(lead), bare))

    def whole(self) -> dict[str, Any]:
        """All facts of the text."""
        found = self._mapping(0)
        if self._at < len(self._lines):
            raise self._wrong(self._lines[self._at].number, "this is indented in another way than what is above it")
        if not found:
            raise InputError(f"{self._path}: there are no facts in it", argument="facts")
        return found

    def _wrong(self, number: int, why: str) -> InputError:
        return InputError(f"{self._path}, line {number}: {why}", argument="facts")

    def _next(self, indent: int) -> _Line | None:
        """The next line, if it is indented so."""
        line = self._lines[self._at] if self._at < len(self._lines) else None
        return line if line is not None and line.indent == indent else None

    def _mapping(self, indent: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (line := self._next(indent)) is not None:
            pair = _PAIR.match(line.text)
            if pair is None:
                raise self._wrong(line.number, f"this is no name with a value: {described(line.text)}")
            name, given = pair[1], (pair[2] or "").strip()
            if name in found:
                raise self._wrong(line.number, f"{name} is given twice")
            self._at += 1
            found[name] = self._below(line) if _REST.match(given) else self._value(line, given)
        return found

    def _below(self, above: _Line) -> Any:
        """What stands in the lines under a name: a list, or names of its own."""
        line = self._lines[self._at] if self._at < len(self._lines) else None
        if line is not None and line.indent >= above.indent and line.text.startswith("- "):
            items, indent = [], line.indent
            while (one := self._next(indent)) is not None and one.text.startswith("- "):
                self._at += 1
                items.append(self._scalar(one, one.text[2:].strip()))
            return items
        if line is None or line.indent <= above.indent:
            raise self._wrong(above.number, "there is nothing after this name")
        return self._mapping(line.indent)

    def _value(self, line: _Line, given: str) -> Any:
        if block := _BLOCK.match(given):
            return self._folded(line, block[1] == ">")
        if given.startswith("["):
            return [self._scalar(line, item) for item in self._items(line, given)]
        return self._scalar(line, given)

    def _items(self, line: _Line, given: str) -> list[str]:
        """The items of a list in brackets, one after another: no place of the text is looked at twice."""
        items, at, after = list[str](), 1, None
        while after is None or after[1] == ",":
            item = _ITEM.match(given, at)
            after = None if item is None else _NEXT.match(given, item.end())
            if item is None or after is None:
                break
            items.append(item[1].strip())
            at = after.end()
        if after is None or not _REST.match(given, at):
            raise self._wrong(line.number, "a list in brackets has its items, with commas between them, in its line")
        return items

    def _folded(self, above: _Line, fold: bool) -> str:
        """A text over several lines, each indented; where they are folded, an empty one begins a paragraph."""
        lines: list[str] = []
        for raw in self._raw[above.number :]:
            if raw.strip() and len(raw) - len(raw.lstrip()) <= above.indent:
                break
            lines.append(raw.strip())
        end = above.number + len(lines)
        while self._at < len(self._lines) and self._lines[self._at].number <= end:
            self._at += 1
        text = "\n".join(lines).strip()
        if not text:
            raise self._wrong(above.number, "there is nothing after this name")
        return re.sub(r"\n+", lambda found: "\n" * (len(found[0]) - 1) or " ", text) if fold else text

    def _scalar(self, line: _Line, given: str) -> str:
        """One text, in quotes or plain."""
        quoted = _QUOTED.match(given)
        if quoted is not None and _REST.match(given[quoted.end() :]):
            if quoted[0][0] == "'":
                return quoted[0][1:-1].replace("''", "'")
            try:
                return str(members.loads(quoted[0]))
            except ValueError as problem:
                raise self._wrong(line.number, f"{problem}") from None
        plain = re.split(r"\s#", given, maxsplit=1)[0].strip()
        if not plain or plain.startswith(_SPECIAL) or ": " in plain or plain.endswith(":") or plain.startswith("- "):
            raise self._wrong(line.number, f"put this in quotes: {described(given)}")
        return plain
