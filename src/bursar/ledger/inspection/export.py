"""Exports: the journal as JSON Lines (with a verifier that needs Python alone), as CSV, and for a registry."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from bursar.errors import InputError
from bursar.ledger.budget.amounts import shown
from bursar.ledger.budget.scope import Scope, scope_name
from bursar.ledger.budget.shares import measured
from bursar.ledger.inspection.registry import deployment
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chain, Chained
from bursar.ledger.stores._base import Reader

FORMAT = 1


def exported(reader: Reader, chain: Chain, form: str, root: str | None, facts: Mapping[str, Any] | None) -> str:
    """The journal in one of its forms."""
    if form == "opendp" and root is not None:
        return deployment(reader, scope_name(root), facts or {})
    if facts is not None:
        raise InputError("facts are for the registry: export as opendp with root=", argument="facts")
    if form == "jsonl":
        return "\n".join(json_lines(reader, chain)) + "\n"
    if form == "csv":
        return comma_separated(reader)
    raise InputError("export as jsonl or csv, or as opendp with root=", argument="form")


def json_lines(reader: Reader, chain: Chain) -> Iterator[str]:
    """A head line with the ends of all chains, then every entry with its hash."""
    heads = {root: [head.seq, head.hash] for root, head in reader.heads().items()}
    yield json.dumps({"bursar": "journal", "format": FORMAT, "chain": chain.name, "heads": heads}, ensure_ascii=False)
    for root in heads:
        for chained in reader.entries(root):
            yield f'{{"hash":"{chained.hash}","entry":{chained.entry.line()}}}'


def verifier() -> str:
    """The script that checks such a file without bursar."""
    return files(__package__).joinpath("check_journal.py").read_text(encoding="utf-8")


def comma_separated(reader: Reader) -> str:
    """One line for each change of a line of a scope, and for each refusal."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["root", "seq", "time", "kind", "key", "actor", "what", "scope", "line", "spent", "held", "limit"])
    scopes = {row.name: Scope(row) for row in reader.scopes()}
    for root in reader.heads():
        for chained in reader.entries(root):
            for row in _rows(chained, scopes):
                table.writerow([_safe(cell) for cell in row])
    return out.getvalue()


def _rows(chained: Chained, scopes: dict[str, Scope]) -> Iterator[list[object]]:
    entry, body = chained.entry, body_in(chained.entry.body)
    what = body.asked().get("what") or ""
    common = [entry.root, entry.seq, _time(entry.at), entry.kind, entry.key, entry.actor, what]
    if body.refusal is not None:
        short, units = body.refusal, body.refusal.numbers()
        numbers = _numbers(scopes[short.scope], short.line, units["spent"], units["held"], units["limit"])
        yield [*common, short.scope, short.line, *numbers]
    for one in body.effect:
        for name, after in measured({one.line: one.after}).items():
            yield [*common, one.scope, name, *_numbers(scopes[one.scope], name, after.spent, after.held, after.limit)]


def _numbers(scope: Scope, line: str, spent: int, held: int, limit: int) -> list[str]:
    unit = scope.currency.lines[line].unit
    return [
        shown(spent * unit, up=True, digits=17),
        shown(held * unit, up=True, digits=17),
        shown(limit * unit, up=False, digits=17),
    ]


def _safe(cell: object) -> object:
    """Spreadsheets run cells that look like formulas."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _time(at: int) -> str:
    return datetime.fromtimestamp(at // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
