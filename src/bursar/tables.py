"""Tables that people bring as CSV: columns by name, each once, and rows of just that length. Nothing is guessed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from typing import NamedTuple

from bursar.errors import InputError, described

_COUNT = re.compile(r"[0-9]{1,18}")


class Row(NamedTuple):
    """A row of a table: its line in the text, and its cells by column; what is missing is empty."""

    line: int
    cells: dict[str, str]
    columns: tuple[str, ...]

    def refused(self, column: str, why: object) -> InputError:
        """An error about a cell."""
        place = f"line {self.line}, column {self.columns.index(column) + 1} ({column})"
        return InputError(f"{place}: {why}", argument="file")

    def count(self, column: str) -> int:
        """A cell as a whole number; 1 where it is empty."""
        cell = self.cells.get(column, "")
        if cell and not _COUNT.fullmatch(cell):
            raise self.refused(column, f"a whole number is wanted, not {described(cell)}")
        return int(cell or 1)


def read_table(text: object, required: str, optional: Collection[str] = ()) -> list[Row]:
    """The rows of a CSV table with one column that must be there and others that may be. A semicolon separates cells if
    it does so in the first line; blanks around names and cells do not count, nor do empty lines.
    """
    if not isinstance(text, str):
        raise InputError(f"give the text of a CSV table, not {described(text)}", argument="file")
    plain = text.removeprefix("\ufeff")
    first = plain.partition("\n")[0]
    mark = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(plain, newline=""), delimiter=mark, strict=True, skipinitialspace=True)
    rows: list[Row] = []
    columns: tuple[str, ...] | None = None
    try:
        for cells in reader:
            stripped = tuple(cell.strip() for cell in cells)
            if columns is None:
                columns = _columns(stripped, required, optional)
            elif any(stripped):
                rows.append(_row(reader.line_num, stripped, columns))
    except csv.Error as problem:
        raise InputError(f"line {reader.line_num}: this is no CSV table: {problem}", argument="file") from None
    if columns is None:
        raise _refused(1, "", f"the first line must name the columns, and one of them must be {required!r}")
    return rows


def _columns(names: tuple[str, ...], required: str, optional: Collection[str]) -> tuple[str, ...]:
    known = [required, *optional]
    for place, name in enumerate(names, start=1):
        if name in names[: place - 1]:
            raise _refused(1, f", column {place}", f"{name!r} is named twice")
        if name not in known:
            meant = next((one for one in known if one == "".join(name.split()).casefold()), None)
            said = f"write {meant!r}" if meant else f"the columns are {', '.join(known)}"
            raise _refused(1, f", column {place}", f"there is no column {name!r} here: {said}")
    if required not in names:
        raise _refused(1, "", f"one of the columns must be {required!r}")
    return names


def _row(line: int, cells: tuple[str, ...], columns: tuple[str, ...]) -> Row:
    if len(cells) != len(columns):
        place = f", column {min(len(cells), len(columns)) + 1}"
        raise _refused(line, place, f"there are {len(cells)} cells where {len(columns)} columns are named")
    return Row(line, dict(zip(columns, cells, strict=True)), columns)


def _refused(line: int, place: str, why: str) -> InputError:
    return InputError(f"line {line}{place}: {why}", argument="file")
