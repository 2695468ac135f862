"""The law behind a certificate is found once for all scopes that may leak as much, whatever their limits."""

from __future__ import annotations

from typing import Any

import pytest

import bursar as b
from bursar.ledger.budget.currencies import _certificates, currency_of
from bursar.ledger.budget.currencies.residue import Residue
from bursar.ledger.budget.release import release_of
from bursar.losses import Directions


class Own(b.Laplace):
    """A class of one's own, which may have other losses tomorrow."""

    def losses(self) -> Directions:
        """Those of the base."""
        return super().losses()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The slack of each law that is looked for, none of them known before."""
    seen: list[float] = []
    found = _certificates.law_of_directions

    def noted(directions: Directions, cut: float) -> Any:
        seen.append(cut)
        return found(directions, cut)

    monkeypatch.setattr(_certificates, "law_of_directions", noted)
    monkeypatch.setattr(_certificates, "_LAWS", {})
    return seen


def scope(epsilon: str, delta: str) -> Residue:
    """A currency of its own, of which nothing is remembered."""
    like = currency_of(None, {"epsilon": epsilon, "delta": delta})
    assert isinstance(like, Residue)
    return Residue(like.epsilon, like.delta, like.leak, like.shares)


def test_another_limit_takes_the_law_that_is_known(asked: list[float]) -> None:
    """Two limits, one law, the price of each as if it were alone; another δ has another slack, and its own law."""
    release = release_of("laplace(scale=101)")
    first, second, third = scope("1", "1e-6"), scope("7", "1e-6"), scope("7", "1e-9")
    first.price(release, first.opening())
    price = second.price(release, second.opening())
    assert len(asked) == 1
    third.price(release, third.opening())
    assert len(set(asked)) == len(asked) == 2
    _certificates._LAWS.clear()
    alone = scope("7", "1e-6")
    assert alone.price(release, alone.opening()) == price
    assert len(asked) == 3


def test_classes_of_ones_own_are_asked_again(asked: list[float]) -> None:
    """By every scope: what their name means is not for one scope to tell the others, nor is that of what holds them."""
    for what in (Own(scale=101), b.Group(Own(scale=101), size=2)):
        before = len(asked)
        for limit in ("1", "7"):
            scope(limit, "1e-6").finder._law(what)
        assert len(asked) == before + 2
    assert not _certificates._LAWS
