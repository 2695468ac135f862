"""Ledgers that older versions have written, kept as files: read, verified, repriced and continued by this one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.inspection.check_journal import check
from bursar.ledger.ledger import Ledger
from support.kept import Clock, main, told
from support.where import DATA

KEPT = DATA / "ledgers"
NAMES = sorted(file.stem for file in KEPT.glob("*.json"))


def said(name: str) -> dict[str, Any]:
    """What the version that wrote it said of it."""
    found: dict[str, Any] = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return found


def moved(now: Any, before: Any, parts: Iterable[str]) -> set[str]:
    """Which of these parts differ. What releases cost in hindsight may become narrower with every version, so there the
    old interval and the new one need only meet.
    """
    now["scopes"] = _known(now["scopes"], before["scopes"])
    for name, scope in now["scopes"].items():
        old, new = (side.pop("hindsight", None) for side in (before["scopes"][name], scope))
        for question in () if old is None or new is None else ("epsilon", "delta"):
            if isinstance(old.get(question), dict):
                assert old[question]["lower"] <= new[question]["upper"]
                assert new[question]["lower"] <= old[question]["upper"]
    return {part for part in parts if now[part] != before[part]}


def _known(now: Any, before: Any) -> Any:
    """What is said now of what was said before: later versions say more."""
    if isinstance(now, dict) and isinstance(before, dict):
        return {key: _known(value, before[key]) for key, value in now.items() if key in before}
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [_known(one, other) for one, other in zip(now, before, strict=True)]
    return now


@pytest.fixture(params=NAMES)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A copy of such a ledger, open, at the time at which it ends, and what was said of it."""
    for file in KEPT.glob(f"{request.param}.db*"):
        shutil.copy(file, tmp_path)
    clock = Clock()
    clock.now += 10**9
    with Ledger(f"sqlite:///{tmp_path}/{request.param}.db", alert=None, clock=clock) as ledger:
        yield ledger, said(request.param)


def test_it_says_what_it_said(kept: Any) -> None:
    """Every balance, every statement, every hash and both exports are as the older version gave them."""
    ledger, before = kept
    now = told(ledger)
    assert moved(now, before, now) == set()


def test_it_is_verified_and_repriced(kept: Any) -> None:
    """Nothing is wrong with it, and no charge was cheaper than its price is now."""
    ledger, _ = kept
    found = ledger.verify(reprice=True)
    assert found.ok, str(found)
    assert found.anchored == found.roots


def test_it_goes_on(kept: Any) -> None:
    """Open reservations are drawn, keys find what they did, the rest is spent, and the whole chain verifies."""
    ledger, before = kept
    for id in before["open"].values():
        ledger.draw(id)
    again = ledger.spend("pure", "laplace(scale=50)", key="spend pure")
    assert (again.replayed, again.seq) == (True, 2)
    with pytest.raises(b.BudgetExceeded) as refusal:
        ledger.spend("gdp", "gaussian(sigma=1)", key="refused gdp")
    assert refusal.value.replayed
    with pytest.raises(b.errors.KeyReused):
        ledger.spend("pure", "laplace(scale=49)", key="spend pure")
    for name, fits in before["fits"].items():
        if isinstance(fits, int) and fits and "data" not in name:
            ledger.spend(name, "laplace(scale=500)", key=f"new {name}")
            assert ledger.quote(name, "laplace(scale=500)").fits == fits - 1
    assert ledger.verify(reprice=True).ok
    assert check(ledger.export("jsonl").splitlines(), b"")[0] == []


def test_the_same_verbs_leave_the_same_tables(tmp_path: Path) -> None:
    """Balances, releases, odometers and what fits are as the last version left them after the same verbs."""
    main(tmp_path, "now")
    now, before = json.loads((tmp_path / "now.json").read_text(encoding="utf-8")), said("before-rooms")
    assert moved(now, before, ("scopes", "fits", "csv", "open")) == set()


def test_the_same_verbs_write_the_same_bytes(tmp_path: Path) -> None:
    """Asked the same at the same times, this version writes the journal that the last one wrote, hash by hash; only in
    the entry that restores a ledger the request has moved to the end, where all others have it.
    """
    main(tmp_path, "now")
    entries = [json.loads(line) for line in said("before-rooms")["jsonl"].splitlines()[1:]]
    written = json.loads((tmp_path / "now.json").read_text(encoding="utf-8"))["jsonl"].splitlines()[1:]
    assert len(written) == len(entries)
    restored = [place for place, one in enumerate(entries) if one["entry"][3] == "restore"]
    for place, (line, before) in enumerate(zip(written, entries, strict=True)):
        now = json.loads(line)
        assert now["entry"] == before["entry"]
        assert now["hash"] == before["hash"] or place in restored
