"""Lower ends for samples of anything, against closed forms, sums over all outcomes and other engines."""

from __future__ import annotations

import math

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import dominant, drawn, meet
from bursar.losses.engines.answer import Answer, Losses, Precision
from bursar.losses.laws.laplace import LaplaceLoss
from bursar.numerics.balls import Ball, working


def ends(text: str, count: int, delta: str) -> tuple[float, Answer]:
    """The lower end of copies of one sample by the number of draws, and what all engines say."""
    with working():
        losses = [(b.parse(text).terms[0].mechanism.losses().remove, count)]
        found = drawn.epsilon_at(losses, arb(delta))
        return 0.0 if found is None else found.lower, meet.epsilon_at([losses], arb(delta), Precision())


@pytest.mark.parametrize("rate", ["0.001", "0.05", "0.6"])
@pytest.mark.parametrize(
    "inside", ["gaussian(sigma=0.2)", "gaussian(sigma=2)", "laplace(scale=0.05)", "laplace(scale=1)"]
)
def test_it_never_exceeds_the_answer(inside: str, rate: str) -> None:
    """Against the engines, at likely and unlikely δ's, for few copies and many."""
    proved = 0
    for count in (1, 7, 400, 20_000):
        for delta in ("0.01", "1e-9", "1e-60"):
            lower, found = ends(f"poisson({inside}, rate={rate})", count, delta)
            assert lower <= found.upper
            proved += lower > 0.5 * found.upper
    assert proved or "scale=1" in inside or "sigma=2" in inside


def test_sums_over_all_outcomes_lie_above_it() -> None:
    """Sampled responses have two losses each: δ is a sum over how many of the copies have the larger one."""
    with working():
        epsilon, rate, count = arb(30), arb("0.2"), 300
        yes = 1 / (1 + (-epsilon).exp())
        p = rate * yes + (1 - rate) * (1 - yes)
        high, low = (p / (1 - yes)).log(), ((1 - p) / yes).log()

        def delta_at(x: Ball) -> Ball:
            total = arb(0)
            for j in range(count + 1):
                loss = j * high + (count - j) * low
                if loss > x:
                    total += math.comb(count, j) * p**j * (1 - p) ** (count - j) * (1 - (x - loss).exp())
            return total

        for delta in ("1e-3", "1e-12", "1e-40"):
            several = drawn.Several(b.RandomizedResponse(epsilon=30).losses().remove, rate, count, arb(delta))
            lower = several.usual()
            assert lower > 0
            assert delta_at(arb(lower)) > arb(delta)


def test_a_number_less_likely_than_delta_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats suggest a number; where balls do not agree that it is likely enough, smaller ones are tried."""
    with working():
        several = drawn.Several(LaplaceLoss(arb(9)), arb("0.1"), 50, arb("1e-6"))
        right = several.usual()
        monkeypatch.setattr(several, "most", lambda: 40)
        assert several.usual() == right > 0


def test_many_samples_at_a_tiny_delta_have_a_lower_end() -> None:
    """Where no engine resolves the question, the number of draws says much of it."""
    found = b.account(b.parse("poisson(gaussian(sigma=1.206), rate=0.0002577)*404686"), delta="1.4e-294").epsilon
    assert 0.5 * found.upper < found.lower < found.upper
    assert "samples that contain the record" in found.because or found.upper < (1 + 1e-3) * found.lower


def test_each_release_by_itself_encloses_the_answer() -> None:
    """δ is shared among the releases: two that cost nothing alone at this δ cost something together."""
    with working():
        one, other = LaplaceLoss(arb("0.1")), LaplaceLoss(arb("0.11"))
        delta = one.profile(arb(0)).max(other.profile(arb(0)))

        def solve(losses: Losses, at: Ball, width: float) -> Answer:
            return meet.epsilon_at([losses], at, Precision(width=width))

        whole = solve([(one, 1), (other, 1)], delta, 1e-6)
        found = dominant.one_by_one([(one, 1), (other, 1)], delta, 1e-6, solve)
    assert whole.lower > 0
    assert found is not None
    assert found.lower <= whole.upper
    assert whole.lower <= found.upper < math.inf
