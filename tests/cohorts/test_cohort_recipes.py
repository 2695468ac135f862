"""The recipes run: a filter before an OpenDP release, and block budgets for advertising measurement."""

from __future__ import annotations

import importlib
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

import bursar as b
from bursar.cohorts import BlockLedger
from support.where import TOP


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> object:
    """Examples as modules."""
    monkeypatch.syspath_prepend(str(TOP / "examples"))
    return importlib.import_module


def test_the_filter_as_a_step_before_opendp(load: object, tmp_path: Path) -> None:
    """Daily visitors drop out after ten days, rare ones stay, and every day has its answer."""
    example: ModuleType = load("person_filter")  # type: ignore[operator]
    with b.Ledger("memory://", alert=None) as ledger:
        answers = example.main(ledger, str(tmp_path / "visits"), days=12)
        assert ledger.verify()
    there = [example.visits(day).num_rows for day in range(12)]
    assert len(answers) == 12
    assert all(abs(answer - count) < 60 for answer, count in zip(answers[:10], there, strict=False))
    daily = sum(1 for person in range(300) if person % 7 == 0)
    assert abs(answers[11] - (there[11] - daily)) < 40


def test_block_budgets_for_advertising(load: object) -> None:
    """The analyst who asks again ends with three refusals' blocks named; other campaigns keep their budgets."""
    example: ModuleType = load("ad_measurement")  # type: ignore[operator]
    with b.Ledger("memory://", alert=None) as ledger:
        named = example.main(ledger)
        blocks = BlockLedger(ledger, "ads")
        assert {"day", "campaign", "region"} == set(named[0])
        assert all(5 <= block["day"] < 9 and block["campaign"] == 7 and block["region"] < 3 for block in named)
        assert blocks.left(campaign=7).share == 0
        assert blocks.left(campaign=8).share == Fraction(3, 4)
        assert ledger.verify(reprice=True)
