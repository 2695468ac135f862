"""Audit exports: checked by a script that needs no bursar, readable in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.inspection.export import verifier
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import canonical
from bursar.ledger.journal.fold import Books
from bursar.ledger.ledger import Ledger


@pytest.fixture
def lived(ledger: Ledger) -> Ledger:
    """A ledger with charges, a refusal, a reservation and two roots."""
    ledger.open("data", epsilon=1, delta="1e-6", unit="person", key="=open")
    ledger.open("plain", epsilon=1)
    ledger.spend("data", b.Gaussian(sigma=50.0), key="a", by="ann")
    ledger.spend("plain", b.Laplace(scale=10), key="b")
    held = ledger.reserve("plain", b.Laplace(scale=10) * 3, ttl=100)
    ledger.draw(held, b.Laplace(scale=10))
    ledger.close(held)
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("data", b.Gaussian(sigma=1.0), key="c")
    return ledger


def checked(folder: Path, text: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the standalone script on an export, in a Python that cannot see bursar."""
    (folder / "check.py").write_text(verifier(), encoding="utf-8")
    (folder / "journal.jsonl").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "check.py"), str(folder / "journal.jsonl")],
        capture_output=True,
        text=True,
        env=environment or {},
        check=False,
    )
    return done.returncode, done.stdout


def test_the_export_checks_itself(lived: Ledger, tmp_path: Path) -> None:
    """The script agrees with the export, and finds every kind of change in it."""
    text = lived.export()
    code, said = checked(tmp_path, text)
    assert code == 0
    assert "agree" in said
    lines = text.splitlines()
    assert json.loads(lines[0])["heads"].keys() == {"data", "plain"}
    for broken in (
        text.replace("sigma=50", "sigma=51"),
        text.replace('"ann"', '"bob"'),
        "\n".join([*lines[:2], *lines[3:]]) + "\n",
        "\n".join(lines[:-1]) + "\n",
        "\n".join([lines[0], *reversed(lines[1:])]) + "\n",
        text.replace('"hash":"', '"hash":"0', 1),
    ):
        assert broken != text
        code, said = checked(tmp_path, broken)
        assert code == 1, said


def test_a_recomputed_chain_that_overspends_is_found(tmp_path: Path) -> None:
    """Hashes alone are not enough: a line beyond its limit, or from nowhere, is found too."""
    import hashlib

    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        receipt = ledger.spend("data", b.Laplace(scale=10), key="a")
        head, first, second = ledger.export().splitlines()
    before, after = receipt.body["effect"][0][2:]
    for wrong in ([before, [before[0], before[0] + 1, 0, None]], [[1, 2, 3, None], after]):
        entry = json.loads(second)["entry"]
        entry[6]["effect"][0][2:] = wrong
        text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        heads = json.loads(head)
        heads["heads"]["data"] = [2, digest]
        code, said = checked(
            tmp_path, "\n".join([json.dumps(heads), first, f'{{"hash":"{digest}","entry":{text}}}', ""])
        )
        assert code == 1
        assert "limit" in said or "start" in said


def test_members_are_named_once(tmp_path: Path) -> None:
    """Readers disagree about which of two counts, so a journal that has two is not in order, whatever its hashes."""
    import hashlib

    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        head, first = ledger.export().splitlines()
    entry = first.partition(',"entry":')[2][:-1]
    twice = entry.replace('{"effect":', '{"effect":[],"effect":', 1)
    digest = hashlib.sha256(twice.encode()).hexdigest()
    heads = {**json.loads(head), "heads": {"data": [1, digest]}}
    code, said = checked(tmp_path, f'{json.dumps(heads)}\n{{"hash":"{digest}","entry":{twice}}}\n')
    assert code == 1
    assert "given twice" in said


def test_an_entry_recomputed_with_its_hash_breaks_the_chain(lived: Ledger, tmp_path: Path) -> None:
    """Whoever changes an exported entry and its own hash is found out by the entry that follows it."""
    import hashlib

    lines = lived.export().splitlines()
    place = next(i for i, line in enumerate(lines) if '"ann"' in line)
    text = json.dumps(json.loads(lines[place])["entry"], separators=(",", ":"), ensure_ascii=False)
    edited = text.replace('"ann"', '"bob"')
    lines[place] = f'{{"hash":"{hashlib.sha256(edited.encode()).hexdigest()}","entry":{edited}}}'
    code, said = checked(tmp_path, "\n".join([*lines, ""]))
    assert code == 1
    assert "does not follow" in said


@pytest.mark.parametrize(("spent", "held"), [(11, 0), (6, 5), (0, 11), (-1, 0), (0, -1)])
def test_books_count_what_is_held(spent: int, held: int) -> None:
    """Spent and held together are within the limit, in every entry, or verifying says which one is not."""
    books = Books()
    body = {"effect": [["data", "epsilon", [0, 0, 0, None], [10, spent, held, None]]], "scopes": []}
    books.apply("data", 1, "open", "", body_in(canonical({**body, "request": {"verb": "open"}})))
    assert books.problems == ["entry 1 exceeds the limit of data.epsilon"]


def test_csv(lived: Ledger) -> None:
    """Every change is a row, numbers are exact decimals, and no cell can run as a formula."""
    rows = list(csv.DictReader(io.StringIO(lived.export("csv"))))
    assert {row["kind"] for row in rows} >= {"open", "spend", "refuse", "reserve", "draw", "close"}
    spent = [row for row in rows if row["kind"] == "spend" and row["scope"] == "plain"]
    assert [(row["spent"], row["limit"], row["what"]) for row in spent] == [("0.1", "1", "laplace(scale=10)")]
    assert any(row["key"] == "'=open" for row in rows)


def test_a_keyed_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script takes the same key from the same variable."""
    monkeypatch.setenv("BURSAR_CHAIN_KEY", "secret")
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        text = ledger.export()
    assert checked(tmp_path, text, {"BURSAR_CHAIN_KEY": "secret"})[0] == 0
    assert checked(tmp_path, text)[0] == 1
