"""Finds places of a program that share ten lines of code once names and constants are blanked.

Imports, signatures (of functions, of classes, of the fields of a class) and docstrings do not count, nor do lines
without a word in them, such as a closing bracket, nor tables: rows of names and constants alone.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from pathlib import Path

WINDOW = 10
_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
_TEXT = {getattr(tokenize, name, None) for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")}  # from 3.12 on
_CONSTANT = {tokenize.NUMBER, tokenize.STRING, *_TEXT}
_BLANK = "_"
_TABLE = {_BLANK, ",", ":", "(", ")", "[", "]", "{", "}", "."}


@dataclass(frozen=True)
class Line:
    """A line of code: where it stands, and what is left of it."""

    file: str
    number: int
    blanked: str


@dataclass(frozen=True)
class Shared:
    """Two places, by their first lines, and how many lines of code they share."""

    first: Line
    second: Line
    length: int

    def __str__(self) -> str:
        first, second = self.first, self.second
        return f"{first.file}:{first.number} and {second.file}:{second.number} share {self.length} lines"


def code_lines(source: str, file: str = "") -> list[Line]:
    """The lines that count, blanked."""
    apart = set(_apart(ast.parse(source)))
    words: dict[int, list[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT and token.start[0] not in apart:
            words.setdefault(token.start[0], []).append(_blanked(token))
    return [Line(file, number, " ".join(line)) for number, line in sorted(words.items()) if not _table(line)]


def _blanked(token: tokenize.TokenInfo) -> str:
    named = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
    return _BLANK if named or token.type in _CONSTANT else token.string


def _table(line: list[str]) -> bool:
    """Whether a line is a row of a table, or has no word at all."""
    return set(line) <= _TABLE and not any(a == _BLANK and b == "(" for a, b in pairwise(line))


def _apart(tree: ast.Module) -> Iterator[int]:
    """The numbers of the lines that do not count."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (isinstance(node, ast.Expr) and _text(node.value)):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            yield from range(first, max(node.body[0].lineno, node.lineno + 1))
            if isinstance(node, ast.ClassDef):
                for field in node.body:
                    if isinstance(field, ast.AnnAssign):
                        yield from range(field.lineno, (field.end_lineno or field.lineno) + 1)


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def shared(sources: Iterable[tuple[str, str]], window: int = WINDOW) -> list[Shared]:
    """Every pair of places in these (file, source) that share so many lines in a row, each pair at its full length."""
    files = [code_lines(source, file) for file, source in sources]
    seen: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for number, lines in enumerate(files):
        for start in range(len(lines) - window + 1):
            key = tuple(line.blanked for line in lines[start : start + window])
            seen.setdefault(key, []).append((number, start))
    pairs = {
        (a, b)
        for places in seen.values()
        for a, b in combinations(places, 2)
        if a[0] != b[0] or abs(a[1] - b[1]) >= window
    }
    # neighbouring windows that run side by side are one finding
    runs = sorted(pairs, key=lambda pair: (pair[0][0], pair[1][0], pair[1][1] - pair[0][1], pair[0][1]))
    numbered = enumerate(runs)
    found = []
    for _, group in groupby(numbered, key=lambda item: (item[1][0][0], item[1][1][0], *_lag(item))):
        side = [pair for _, pair in group]
        (file, start), (other, place) = side[0]
        found.append(Shared(files[file][start], files[other][place], window + len(side) - 1))
    return found


def _lag(item: tuple[int, tuple[tuple[int, int], tuple[int, int]]]) -> tuple[int, int]:
    """The same for windows that follow each other in both files."""
    position, ((_, start), (_, place)) = item
    return place - start, start - position


def shared_in(folder: Path, window: int = WINDOW) -> list[Shared]:
    """The same for every program in a folder."""
    files = sorted(folder.rglob("*.py"))
    return shared(((str(file.relative_to(folder)), file.read_text(encoding="utf-8")) for file in files), window)
