"""Parquet files of whole numbers whose codes are known already: one page for each column of a row group.

A writer for any table looks each number up to find its code, which takes longer than deciding it. Here a column is a
short list of its values and a code of one, two or four bytes for each row; both are written as they lie. Files have
nothing that a reader of Parquet 1.0 would not know: the encodings PLAIN and RLE_DICTIONARY, no compression.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_BOOLEAN, _INT32, _INT64 = 0, 1, 2
_PLAIN, _RLE, _RLE_DICTIONARY = 0, 3, 8
_DATA, _DICTIONARY = 0, 2
_KINDS: dict[str, tuple[int, int | None, str]] = {
    "bool": (_BOOLEAN, None, "?"),
    "int8": (_INT32, 15, "<i4"),
    "int16": (_INT32, 16, "<i4"),
    "int32": (_INT32, None, "<i4"),
    "int64": (_INT64, None, "<i8"),
    "uint8": (_INT32, 11, "<i4"),
    "uint16": (_INT32, 12, "<i4"),
    "uint32": (_INT32, 13, "<i4"),
    "uint64": (_INT64, 14, "<i8"),
}
"""Of each kind how Parquet keeps it, what it is converted from, and how its values lie."""
_MAGIC = b"PAR1"
_GROUP = 8  # codes that are packed together
_LONGEST = 15  # lists whose length fits into their first byte are shorter
_MOST_CODES = 1 << 16


class Column(NamedTuple):
    """A column without gaps."""

    name: str
    kind: str
    values: Any
    """One for each row, or those that codes stand for."""
    codes: Any = None


def coded(name: str, numbers: Any, least: int, kind: str) -> Column:
    """A column of whole numbers counted from the least: by codes, where there are few of them."""
    most = int(numbers.max())
    if most >= min(_MOST_CODES, len(numbers)):
        return Column(name, kind, numbers.astype(np.int64) + least)
    return Column(name, kind, np.arange(most + 1) + np.int64(least), numbers.astype(np.min_scalar_type(most)))


def write_groups(path: Path, groups: Iterable[Sequence[Column]]) -> None:
    """Write groups of rows, each as columns of one length, of the same names and kinds each time; where there is no
    group, no file.
    """
    waiting = iter(groups)
    columns = next(waiting, ())
    if not columns:
        return
    with open(path, "wb") as file:
        file.write(_MAGIC)
        written = [_group(file, group) for group in chain([columns], waiting)]
        footer = _footer(columns, sum(rows for rows, _ in written), [group for _, group in written])
        file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)


def _group(file: Any, columns: Sequence[Column]) -> tuple[int, bytes]:
    """Write a group of rows; how many there are, and what the end of the file says of it."""
    begin, chunks = file.tell(), []
    rows = len(columns[0].values if columns[0].codes is None else columns[0].codes)
    for column in columns:
        start, pages = file.tell(), []
        for kind, count, encoding, parts in _pages(column):
            pages.append(file.tell())
            size = sum(len(memoryview(part).cast("B")) for part in parts)
            file.write(_page_header(kind, count, encoding, size))
            for part in parts:
                file.write(part)
        chunks.append(_chunk(column, rows, start, pages, file.tell() - start))
    return rows, _struct({1: chunks, 2: _Long(file.tell() - begin), 3: _Long(rows)})


def _pages(column: Column) -> list[tuple[int, int, int, list[Any]]]:
    """Kind, number of values, encoding and bytes of each page of a column."""
    lie = np.dtype(_KINDS[column.kind][2])
    if column.kind == "bool":
        return [(_DATA, len(column.values), _PLAIN, [np.packbits(column.values, bitorder="little")])]
    values = np.ascontiguousarray(column.values.astype(lie, copy=False))
    if column.codes is None:
        return [(_DATA, len(values), _PLAIN, [values])]
    width, count = column.codes.dtype.itemsize, len(column.codes)
    groups = -(-count // _GROUP)
    head = bytes([8 * width]) + _varint(groups << 1 | 1)  # one run of packed codes
    tail = bytes((groups * _GROUP - count) * width)
    data = [head, np.ascontiguousarray(column.codes), tail]
    return [(_DICTIONARY, len(values), _PLAIN, [values]), (_DATA, count, _RLE_DICTIONARY, data)]


def _page_header(kind: int, count: int, encoding: int, size: int) -> bytes:
    about = _struct({1: count, 2: encoding, 3: _RLE, 4: _RLE} if kind == _DATA else {1: count, 2: encoding})
    return _struct({1: kind, 2: size, 3: size, 5 if kind == _DATA else 7: about})


def _chunk(column: Column, rows: int, start: int, pages: Sequence[int], size: int) -> bytes:
    encodings = [_PLAIN] if column.codes is None else [_PLAIN, _RLE_DICTIONARY]
    fields: dict[int, Any] = {1: _KINDS[column.kind][0], 2: encodings, 3: [column.name], 4: 0, 5: _Long(rows)}
    fields |= {6: _Long(size), 7: _Long(size), 9: _Long(pages[-1])}
    if len(pages) > 1:
        fields[11] = _Long(pages[0])
    return _struct({2: _Long(start), 3: _struct(fields)})


def _footer(columns: Sequence[Column], rows: int, groups: list[bytes]) -> bytes:
    schema = [_struct({4: "schema", 5: len(columns)})]
    for column in columns:
        kept, converted, _ = _KINDS[column.kind]
        fields: dict[int, Any] = {1: kept, 3: 0, 4: column.name}
        schema.append(_struct(fields if converted is None else {**fields, 6: converted}))
    return _struct({1: 1, 2: schema, 3: _Long(rows), 4: groups, 6: "bursar"})


class _Long(int):
    """A whole number that the format has in 64 bits."""


def _struct(fields: dict[int, Any]) -> bytes:
    """Fields by number, as the compact protocol of Thrift has them; a struct within is bytes."""
    whole, before = bytearray(), 0
    for number, value in fields.items():
        kind, body = _field(value)
        whole.append((number - before) << 4 | kind)
        whole += body
        before = number
    return bytes(whole) + b"\0"


def _field(value: Any) -> tuple[int, bytes]:
    """What kind of field a value is, and how it is written."""
    if isinstance(value, int):  # none is below 0
        return (6 if isinstance(value, _Long) else 5), _varint(value << 1)
    if isinstance(value, bytes):
        return 12, value
    if isinstance(value, str):
        return 8, _varint(len(value.encode())) + value.encode()
    kind = _field(value[0])[0]
    head = bytes([len(value) << 4 | kind]) if len(value) < _LONGEST else bytes([240 | kind]) + _varint(len(value))
    return 9, head + b"".join(_field(one)[1] for one in value)


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    whole = bytearray()
    while number >= 1 << 7:
        whole.append(number & 127 | 128)
        number >>= 7
    whole.append(number)
    return bytes(whole)
