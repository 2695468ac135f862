"""Audit exports: the journal as JSON Lines (with a verifier that needs only Python's standard library), and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files

from bursar.ledger.budget.amounts import shown
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.entry import Chain, Chained
from bursar.ledger.stores._base import Reader

FORMAT = 1


def json_lines(reader: Reader, chain: Chain) -> Iterator[str]:
    """A head line with the ends of all chains, then every entry with its hash."""
    heads = {root: [head.seq, head.hash] for root, head in reader.heads().items()}
    yield json.dumps({"bursar": "journal", "format": FORMAT, "chain": chain.name, "heads": heads}, ensure_ascii=False)
    for root in heads:
        for chained in reader.entries(root):
            yield f'{{"hash":"{chained.hash}","entry":{chained.entry.line()}}}'


def verifier() -> str:
    """The script that checks such a file without bursar."""
    return files(__name__.rpartition(".")[0]).joinpath("check_journal.py").read_text(encoding="utf-8")


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
    entry, content = chained.entry, chained.entry.content()
    request = content.get("request") or {}
    common = [entry.root, entry.seq, _time(entry.at), entry.kind, entry.key, entry.actor, request.get("what") or ""]
    if "refusal" in content:
        scope, line, _, spent, held, limit, _ = content["refusal"]
        yield [*common, scope, line, *_numbers(scopes[scope], line, int(spent), int(held), int(limit))]
    for scope, line, *_, limit, spent, held, _dead, _window in content["effect"]:
        yield [*common, scope, line, *_numbers(scopes[scope], line, spent, held, limit)]


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
