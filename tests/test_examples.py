"""The examples run: private k-means and gradient descent, noise by OpenDP, planned and paid for."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bursar as b

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def load(name: str) -> ModuleType:
    """An example, as a module."""
    return importlib.import_module(name)


def test_noise_grows_like_the_root_of_the_steps() -> None:
    """Composed as what they are, 64 steps need about eight times the noise of one; added up, about 64 times."""
    noise = load("private_steps").noise
    one = noise("numerical", 1, 1.0, 1e-6)
    assert noise("numerical", 64, 1.0, 1e-6) == pytest.approx(8 * one, rel=0.02)
    assert noise("basic", 64, 1.0, 1e-6) > 50 * one
    assert noise("numerical", 64, 1.0, 1e-6) < noise("strong", 64, 1.0, 1e-6) < noise("basic", 64, 1.0, 1e-6)


@pytest.mark.parametrize("way", ["basic", "strong", "numerical"])
def test_the_noise_is_within_the_budget(way: str) -> None:
    """Whatever the accounting, T steps cost at most the target, and the ledger admits T of them."""
    steps = load("private_steps")
    sigma = steps.noise(way, 10, 1.0, 1e-6)
    assert b.account(b.Gaussian(sigma) * 10, delta=1e-6).epsilon.upper <= 1
    with b.Ledger("memory://") as ledger:
        paid = steps.budget(ledger, "run", way, 10, epsilon=1.0, delta=1e-6, norm=1.0)
        for _ in range(10):
            assert len(paid.step([0.0, 0.0])) == 2
        if way == "numerical":
            with pytest.raises(b.BudgetExceeded):
                paid.step([0.0, 0.0])


@pytest.mark.parametrize(("name", "better"), [("kmeans", min), ("gradient_descent", max)])
def test_composition_buys_accuracy(name: str, better: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many steps the numerical accounting wins clearly; the picture is drawn."""
    example = load(name)
    monkeypatch.setattr(example, "COUNTS", (2, 32))
    scores = example.main(str(tmp_path / "picture.svg"))
    assert set(scores) == {"basic", "strong", "numerical"}
    many = {way: row[-1] for way, row in scores.items()}
    assert better(many, key=lambda way: many[way]) == "numerical"
    assert math.isfinite(sum(many.values()))
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_rows_by_opendp_until_the_budget_ends() -> None:
    """Counts, a histogram and a mean over real rows under one scope; the query that no longer fits is refused."""
    example = load("opendp_rows")
    with b.Ledger("memory://") as ledger:
        rows = example.ages()
        found = example.main(ledger, rows)
        assert "Nothing was charged" in found["refused"]
        assert "count once more" not in found
        assert len(found["histogram"]) == len(example.DECADES) + 1
        assert abs(found["count"] - 400) < 200
        assert abs(found["mean"] - sum(rows) / len(rows)) < 60
        assert ledger.show("people").line("epsilon").left < Fraction(1, 4)
        assert ledger.verify()
