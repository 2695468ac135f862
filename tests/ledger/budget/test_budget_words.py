"""The words of every door: rounded to the safe side, and together a hundred."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bursar as b
from bursar.ledger.budget import instead as advice
from bursar.ledger.budget import words
from bursar.ledger.budget.instead import instead, passes
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.ledger import Ledger
from bursar.ledger.views import looks

SHARES = st.fractions(min_value=0, max_value=1)


def number(text: str) -> Fraction:
    """The number in a text."""
    found = re.search(r"[0-9.]+", text)
    assert found is not None
    return Fraction(found[0])


@given(SHARES)
def test_left_is_never_more_than_there_is(share: Fraction) -> None:
    """Left is rounded down, used and left make a hundred, and something is never called nothing."""
    left, used = words.left(share), words.used(share)
    if "than" in left:
        assert 0 < share * 100 < number(left)
        assert "than" in used
    else:
        assert number(left) <= share * 100 < number(left) + 1
        assert number(left) + number(used) == 100
        assert (number(left) == 0) == (share == 0)


@given(st.fractions(min_value=0, max_value=20))
def test_what_is_taken_is_never_less_than_it_is(share: Fraction) -> None:
    """A price is rounded up, to two digits or a whole number."""
    said = words.taken(share)
    if share == 0:
        assert said == "nothing"
    elif "than" in said:
        assert share * 100 < number(said)
    elif "times" in said:
        assert 10 <= share <= number(said) < share + 1
    else:
        assert share * 100 <= number(said) <= share * 100 * Fraction(11, 10) + Fraction(1, 1000)
        assert len(said.split()[0].strip("0.").replace(".", "")) <= 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1", "1"),
        ("1e-6", "10⁻⁶"),
        ("3e-8", "3·10⁻⁸"),
        ("1/3", "1/3"),
        ("0.123456", "0.1235"),
        ("0.05", "0.05"),
    ],
)
def test_figures(given: str, said: str) -> None:
    """Exact where four digits or a short ratio do, rounded up elsewhere; small ones as powers of ten."""
    assert words.figure(Fraction(given)) == said


def test_promises() -> None:
    """Every kind of limit has its words."""
    with Ledger("memory://", alert=None) as ledger:
        for name, limits, said in (
            ("a", {"epsilon": 1, "delta": "1e-6"}, "ε = 1 at δ = 10⁻⁶"),
            ("b", {"epsilon": 2}, "ε = 2 (pure)"),
            ("c", {"rho": "1/2"}, "ρ = 0.5 (zCDP)"),
            ("d", {"mu": 1}, "μ = 1 (Gaussian DP)"),
            ("e", {"order": 32, "epsilon": 1, "delta": "1e-6"}, "ε = 1 at δ = 10⁻⁶ by Rényi order 32"),
            ("f", {"order": 8, "renyi": 1}, "a divergence of 1 at Rényi order 8"),
        ):
            ledger.open(name, **limits)  # type: ignore[arg-type]
            assert words.promise(ledger.scope(name).target) == said


@pytest.mark.parametrize(
    "what",
    [
        "gaussian(sigma=1)",
        "gaussian(sigma=3)*40",
        "laplace(scale=1/2)",
        "randomized_response(epsilon=4)",
        "laplace(scale=2)*9",
    ],
)
def test_what_would_pass_passes_and_hardly_less_would(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release that a refusal names is admitted; with a twentieth less noise it is not."""
    monkeypatch.setattr(advice, "_SECONDS", 1e9)
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        with pytest.raises(b.BudgetExceeded) as refusal:
            ledger.spend("data", what)
        named = refusal.value.would_pass
        assert named is not None
        assert f"{named} would pass" in str(refusal.value)
        release = release_of(what)
        seen = looks.states(ledger.office, "data", release)
        assert named == instead(seen, release)
        value = re.search(r"=([0-9.]+)", named)
        assert value is not None
        less = float(value[1]) * (1.05 if "epsilon" in named else 0.95)
        assert not passes(seen, release_of(named.replace(value[0], f"={less:.4g}")))
        ledger.spend("data", named)


def test_a_refusal_is_printed_without_waiting_for_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other price is asked for once enough was counted: each of these takes longer than that."""
    prices: list[Release] = []
    monkeypatch.setattr(advice, "thread_time", lambda: 1e3 * len(prices))
    monkeypatch.setattr(advice, "passes", lambda _, release, caps: bool(prices.append(release)))
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        for count, what in enumerate(("exponential(epsilon=5)*9", "declared(pure_dp(epsilon=1))*9"), 1):
            with pytest.raises(b.BudgetExceeded) as refusal:
                ledger.spend("data", what)
            assert "would pass" not in str(refusal.value)
            assert len(prices) == count


def test_nothing_passes_where_nothing_is_left() -> None:
    """A refusal of an exhausted scope names no release."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", "laplace(scale=1)")
        with pytest.raises(b.BudgetExceeded) as refusal:
            ledger.spend("data", "laplace(scale=5)")
        assert refusal.value.would_pass is None
        assert str(refusal.value) == "data: asked for 20 %, 0 % is left. Nothing was charged"
