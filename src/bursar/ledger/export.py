"""Audit exports: the journal as JSON Lines (with a verifier that needs only Python's standard library), as CSV, and a
draft entry for the public registry of deployments.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from importlib.resources import files

from bursar.errors import ScopeUnknown
from bursar.ledger.amounts import shown
from bursar.ledger.entry import Chain, Chained
from bursar.ledger.scope import Scope
from bursar.ledger.stores._base import Reader

FORMAT = 1
_UNKNOWN = "to be filled in by the curator"
_FLAVOURS = {"pure": "Pure DP", "zcdp": "Zero-concentrated DP", "renyi": "Rényi DP", "gdp": "Gaussian DP"}


def json_lines(reader: Reader, chain: Chain) -> Iterator[str]:
    """A head line with the ends of all chains, then every entry with its hash."""
    heads = {root: [head.seq, head.hash] for root, head in reader.heads().items()}
    yield json.dumps({"bursar": "journal", "format": FORMAT, "chain": chain.name, "heads": heads}, ensure_ascii=False)
    for root in heads:
        for chained in reader.entries(root):
            yield f'{{"hash":"{chained.hash}","entry":{chained.entry.line()}}}'


def verifier() -> str:
    """The script that checks such a file without bursar."""
    return files("bursar.ledger").joinpath("check_journal.py").read_text(encoding="utf-8")


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


def deployment(reader: Reader, root: str, *, curator: str = _UNKNOWN, use: str = _UNKNOWN) -> str:
    """A draft for the OpenDP deployments registry, with what the ledger knows; the rest is marked."""
    row = reader.scope(root)
    if row is None or row.kind != "root":
        raise ScopeUnknown(f"there is no root scope {root!r}")
    scope = Scope(row)
    first = next(iter(reader.entries(root, most=1)))
    parts = [root, *(row.name for row in reader.scopes(root) if row.kind == "block")]
    released = [
        (what if part == root else f"{part}: {what}", count) for part in parts for what, count in reader.released(part)
    ]
    mechanisms = [f"{count} × {what}" for what, count in released] or ["nothing so far"]
    parameters = {key: value for key, value in scope.target.items() if key in ("epsilon", "delta", "rho")}
    lines = [
        f"url_slug: {_text(root.lower().replace(' ', '-'))}",
        "status: Draft",
        "tier: 2",
        "deployment:",
        "  product:",
        f"    name: {_text(root)}",
        "    data_curators:",
        f"      - {_text(curator)}",
        f"    intended_use: {_text(use)}",
        f"    data_product_type: {_text(_UNKNOWN)}",
        f"    description: {_text(_UNKNOWN)}",
        f"    publication_date: {_text(_time(first.entry.at)[:10])}",
        "  dp_flavor:",
        f"    name: {_text(_FLAVOURS.get(row.currency, 'Approximate DP'))}",
        f"    data_domain: {_text(_UNKNOWN)}",
        f"    unprotected_quantities: {_text(_UNKNOWN)}",
        "  privacy_loss:",
        f"    privacy_unit: {_text(scope.unit)}",
        f"    privacy_unit_description: {_text(_neighbours(scope))}",
        "    privacy_parameters:",
        *(f"      {key}: {float(Fraction(value))!r}" for key, value in parameters.items()),
        f"    privacy_parameters_description: {_text(_limit(scope))}",
        "  model:",
        "    model_name: Central",
        "    release_type: Many releases",
        "    access_type: Interactive",
        "  accounting:",
        f"    post_processing: {_text(_UNKNOWN)}",
        f"    composition: {_text(_composition(scope))}",
        "  implementation:",
        f"    pre_processing_eda_hyperparameter_tuning: {_text(_UNKNOWN)}",
        f"    mechanisms: {_text('; '.join(mechanisms))}",
        f"    justification: {_text(_UNKNOWN)}",
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """A YAML scalar that can only be text: JSON strings are YAML."""
    return json.dumps(value, ensure_ascii=False)


def _neighbours(scope: Scope) -> str:
    change = "adding or removing" if scope.relation == "add_remove" else "replacing"
    return f"Neighbouring data sets differ by {change} the data of one {scope.unit}."


def _limit(scope: Scope) -> str:
    target = ", ".join(f"{key} = {value}" for key, value in scope.target.items())
    return f"The limit that the ledger enforces: {target}. Releases are refused before it would be exceeded."


def _composition(scope: Scope) -> str:
    return (
        f"Fully adaptive, by the filter '{scope.row.currency}' of bursar; every release is charged in a durable, "
        "hash-chained ledger before it runs."
    )
