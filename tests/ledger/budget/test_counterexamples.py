"""Shortcuts that look like filters and are none: what an adaptive analyst reaches, computed exactly."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from fractions import Fraction

import mpmath
import pytest

import bursar as b
from bursar.errors import CostInvalid
from bursar.ledger.budget.currencies import Refusal, currency_of
from bursar.ledger.budget.release import release_of
from support.where import GOLDEN

SHEET = json.loads((GOLDEN / "theory_values.json").read_text(encoding="utf-8"))
GOLDEN = {row["id"]: row["value"] for row in SHEET["values"]}
Pair = list[tuple[Fraction, Fraction]]


def response(odds: Fraction) -> Pair:
    """Randomized response with these odds, as (p, q) of each outcome."""
    return [(odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))]


def shame(delta: Fraction) -> Pair:
    """A leak: (p, q) of saying nothing, of naming under P, of naming under Q."""
    return [(1 - delta, 1 - delta), (delta, Fraction(0)), (Fraction(0), delta)]


def advantage(first: Pair, seconds: list[Pair], odds: Fraction) -> Fraction:
    """δ at ε = ln(odds) when the second release depends on the first one's outcome."""
    total = Fraction(0)
    for (p, q), second in zip(first, seconds, strict=True):
        total += sum((max(p * p2 - odds * q * q2, Fraction(0)) for p2, q2 in second), Fraction(0))
    return total


def test_a_growing_curve_is_no_filter() -> None:
    """Within (ln 3, 1/9): two fixed sequences fit exactly, and choosing between them by the first answer gives 4/27."""
    first, again, leak = response(Fraction(2)), response(Fraction(2)), shame(Fraction(1, 9))
    assert advantage(first, [again, again], Fraction(3)) == Fraction(1, 9)
    assert advantage(first, [leak, leak], Fraction(3)) == Fraction(1, 9)
    adaptive = max(advantage(first, [x, y], Fraction(3)) for x in (again, leak) for y in (again, leak))
    assert adaptive == Fraction(4, 27)
    assert math.isclose(float(adaptive), float(GOLDEN["S7.counterexample.natural"]))
    # each fixed sequence is within the budget by the best theorem, so a filter on that curve would admit both
    fixed = b.account(b.RandomizedResponse(epsilon="0.69314718055994") * 2, epsilon="1.0986122886682")
    assert fixed.delta.upper <= 1 / 9 + 1e-12


def test_the_optimal_theorem_is_no_filter() -> None:
    """At (1, 1e-6) an adaptive choice after a tiny first release reaches 1.487e-6."""
    mpmath.mp.dps = 30
    eps = mpmath.mpf(1)

    def tail(count: int, each: mpmath.mpf, rest: mpmath.mpf) -> mpmath.mpf:
        """δ at ``rest`` of ``count`` randomized responses."""
        p = 1 / (1 + mpmath.exp(-each))
        total = mpmath.mpf(0)
        for k in range(count + 1):
            loss = (2 * k - count) * each
            if loss > rest:
                mass = mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k)
                total += mass * (1 - mpmath.exp(rest - loss))
        return total

    one, small = mpmath.mpf("0.999002735"), mpmath.mpf("0.001")
    many = mpmath.mpf("0.02401108")
    p = 1 / (1 + mpmath.exp(-small))

    def fixed(count: int, each: mpmath.mpf) -> mpmath.mpf:
        return p * tail(count, each, eps - small) + (1 - p) * tail(count, each, eps + small)

    assert fixed(1, one) <= mpmath.mpf("1.0001e-6")
    assert fixed(100, many) <= mpmath.mpf("1.0001e-6")
    adaptive = p * tail(1, one, eps - small) + (1 - p) * tail(100, many, eps + small)
    assert adaptive > 1.4e-6
    assert math.isclose(float(adaptive), float(GOLDEN["S7.counterexample.mv16"]), rel_tol=1e-5)


def test_some_order_within_its_budget_is_no_filter() -> None:
    """At (4, 1e-6) with orders 8 and 32 an adaptive choice reaches 1.28e-6; each branch keeps its order's budget."""
    mpmath.mp.dps = 40
    p1 = 1 / (1 + mpmath.exp(-mpmath.mpf("0.045")))
    first = [(p1, 1 - p1), (1 - p1, p1)]
    branches = [("5.9120453481e-5", "1.0972732622e-6", 32), ("5.52228076013e-6", "8.46068170788e-8", 8)]
    odds, total = mpmath.exp(4), mpmath.mpf(0)
    for (a, c), (p, q, order) in zip(first, branches, strict=True):
        p2, q2 = mpmath.mpf(p), mpmath.mpf(q)
        moment = p2**order * q2 ** (1 - order) + (1 - p2) ** order * (1 - q2) ** (1 - order)
        first_moment = sum(u**order * v ** (1 - order) for u, v in first)
        used = (mpmath.log(moment) + mpmath.log(first_moment)) / (order - 1)
        budget = currency_of("renyi", {"order": order, "epsilon": 4, "delta": "1e-6"}).lines["renyi"].limit
        assert used <= mpmath.mpf(budget.numerator) / budget.denominator + mpmath.mpf("1e-9")
        for x, y in ((p2, q2), (1 - p2, 1 - q2)):
            total += max(a * x - odds * c * y, mpmath.mpf(0))
    assert total > 1.28e-6
    assert math.isclose(float(total), float(GOLDEN["S7.counterexample.rdp_exists"]), rel_tol=1e-6)


@pytest.mark.parametrize("name", ["numerical", "pld", "optimal", "rdp", "any_order"])
def test_they_are_refused_as_currencies(name: str) -> None:
    """A ledger does not open such a scope."""
    with b.Ledger("memory://") as ledger, pytest.raises(b.InputError, match="not a valid filter"):
        ledger.open("data", epsilon=1, delta="1e-6", currency=name)


def test_a_late_gaussian_is_not_its_square() -> None:
    """On a residue line: beside a certified release a forgotten Gaussian, charged by its square afterwards, fits B² in
    every transcript, and an analyst who chose by its outcome reaches more than δ. So it has no price there.
    """
    currency = currency_of("residue", {"epsilon": "4", "delta": "1e-6", "leak": "1e-12", "splits": [["0", "1"]]})
    pure = release_of("declared(pure_dp(epsilon=0.3))")
    opening = currency.opening()
    line = currency.lines["gaussian"]
    first = currency.price(pure, opening).payments[0]
    assert first is not None
    charge = first.gaussian * line.unit
    forgotten, instead = (float(square) * (1 - 1e-9) for square in (line.limit - charge, charge))
    epsilon, odds = 4.0, math.exp(0.3)

    def gaussian(mean: float, at: float) -> mpmath.mpf:
        return mpmath.ncdf(mean / 2 - at / mean) - mpmath.exp(at) * mpmath.ncdf(-mean / 2 - at / mean)

    def responded(at: float) -> mpmath.mpf:
        return mpmath.mpf(max((odds - mpmath.exp(max(at, -0.3))) / (1 + odds), 1 - mpmath.exp(at)) if at < 0.3 else 0)

    def reached(loss: float, choose: bool) -> mpmath.mpf:
        at = epsilon - loss
        best = gaussian(math.sqrt(instead), at)
        return mpmath.npdf(loss, forgotten / 2, math.sqrt(forgotten)) * (max(best, responded(at)) if choose else best)

    points = [epsilon - 8, *(epsilon + step / 10 for step in range(-20, 21)), epsilon + 10]
    fixed, adaptive = (mpmath.quad(lambda loss, c=choose: reached(loss, c), points) for choose in (False, True))
    assert fixed <= 1e-6
    assert adaptive > 1.05e-6
    late = release_of(b.Gaussian(sigma=2))
    for before, fits in ((pure, False), (release_of("gaussian(sigma=3)*2"), True)):
        after = currency.step(opening, currency.price(before, opening))
        assert not isinstance(after, Refusal)
        with nullcontext() if fits else pytest.raises(CostInvalid, match="out of its order"):
            assert any(currency.price(late, after, late=True).payments)
