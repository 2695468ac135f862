"""How results meet people: named in a line in Python, whole in print, as HTML in a notebook.

A result derives from `Presented`, or from `Tabled` where it is a table; a dataclass that does so says ``repr=False``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

LONGEST = 300
"""Characters of a repr."""
_WIDEST = 120  # of one value in it
_FEW = 8  # items of a list in it
_STYLE = "text-align: right"


def cut(text: str, most: int = _WIDEST) -> str:
    """A text in one line of so many characters at most; what is left out is a …"""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def spread(size: int, most: int = 9) -> list[int]:
    """The places of a few items of a list, evenly from the first to the last."""
    if size <= most:
        return list(range(size))
    return [round(step * (size - 1) / (most - 1)) for step in range(most)]


def few(items: Sequence[str]) -> list[str]:
    """The first and the last items of a long list, and how many there are between them."""
    if len(items) <= _FEW:
        return list(items)
    return [*items[: _FEW - 3], f"… {len(items) - _FEW + 2} more …", items[-1]]


def named(kind: str, facts: Iterable[tuple[str, object]]) -> str:
    """``Kind(name=value, …)``, with long values cut; no longer than `LONGEST` in all."""
    parts = [f"{name}={_value(value)}" if name else _value(value) for name, value in facts]
    return cut(f"{kind}({', '.join(parts)})", LONGEST)


def _value(value: object) -> str:
    if isinstance(value, Bare):
        return cut(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(few([_value(item) for item in value]))}]"
    return cut(repr(value))


class Bare(str):
    """A text that a repr shows without quotes."""

    __slots__ = ()


class Presented:
    """A result with a short repr, and its own words as HTML."""

    __slots__ = ()

    def _facts(self) -> Iterable[tuple[str, object]]:
        """What its repr tells: names with values. All fields, unless a class has something shorter to say."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return named(type(self).__name__, self._facts())

    def _repr_html_(self) -> str:
        """Its words, as a notebook shows them."""
        from html import escape

        return f'<pre style="white-space: pre-wrap">{escape(str(self))}</pre>'


class Named(Presented):
    """A value whose repr is the whole of it, also in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """What Python calls it, as a notebook shows it."""
        from html import escape

        return f"<code>{escape(repr(self))}</code>"


@dataclass(frozen=True)
class Table:
    """Words above, columns with their heads, rows of texts, and words below. The first column is set to the left if
    ``words`` is 1, the first two if it is 2; numbers stand to the right.
    """

    above: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str] = ()
    words: int = 0

    def text(self) -> str:
        """Columns of plain text."""
        sizes = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(size) if place < self.words else cell.rjust(size)
                for place, (cell, size) in enumerate(zip(row, sizes, strict=True))
            ).rstrip()
            for row in (self.head, *self.rows)
        ]
        gap = [""] if self.above else []
        return "\n".join([*self.above, *gap, *lines, *([""] if self.below else []), *self.below])

    def html(self) -> str:
        """The same as HTML, everything escaped."""
        from html import escape

        def row(cells: Sequence[str], tag: str) -> str:
            made = (
                f"<{tag}>{escape(cell)}</{tag}>"
                if place < self.words
                else f'<{tag} style="{_STYLE}">{escape(cell)}</{tag}>'
                for place, cell in enumerate(cells)
            )
            return f"<tr>{''.join(made)}</tr>"

        body = "".join(row(cells, "td") for cells in self.rows)
        above, below = (
            "".join(f"<p>{escape(line)}</p>" for line in lines if line) for lines in (self.above, self.below)
        )
        return f"<div>{above}<table><thead>{row(self.head, 'th')}</thead><tbody>{body}</tbody></table>{below}</div>"


class Tabled(Presented):
    """A result that is a table."""

    __slots__ = ()

    def _table(self) -> Table:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        """The table, as a notebook shows it."""
        return self._table().html()


def columns(head: Sequence[str], rows: Sequence[Sequence[Any]], *, words: int = 1) -> str:
    """A table of plain text alone; so many of its first columns are set to the left."""
    return Table((), head, [[str(cell) for cell in row] for row in rows], words=words).text()
