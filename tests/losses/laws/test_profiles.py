"""Every mechanism's profile, in both directions, against the definition of its two output distributions."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

import bursar as b
from bursar.losses import DiscreteGaussianLoss
from bursar.numerics.balls import ball, working
from support.definitions import LAWS, Curve, Lattice, contains, mp, num

EPSILONS = tuple(map(Fraction, ("-2", "-1/2", "0", "3/10", "1", "5/2")))


def profile(law: Lattice | Curve, epsilon: Fraction) -> tuple[Any, Any]:
    """∫ (p − e^ε q)₊, from the definition, with its error."""
    odds = mp.exp(num(epsilon))
    return law.integral(lambda p, q: p - odds * q, num(epsilon))


@pytest.mark.parametrize("name", LAWS)
def test_profile_is_the_definition(name: str) -> None:
    """Both directions' δ(ε) enclose the integral (or sum) of (p − e^ε q)₊, at negative ε too."""
    mechanism, law = LAWS[name]
    with working():
        losses = mechanism.losses()
        for epsilon in EPSILONS:
            for loss, pair in ((losses.remove, law), (losses.add, law.reversed())):
                assert contains(loss.profile(ball(epsilon)), *profile(pair, epsilon)), (epsilon, pair is law)


@pytest.mark.parametrize(("epsilon", "utility"), [("1/2", "general"), ("1", "monotone"), ("3", "general")])
def test_exponential_dominates_bounded_range(epsilon: str, utility: str) -> None:
    """Its profile is the largest over the two-point worst pairs, and random exponential mechanisms stay below it."""
    eta, rng = num(epsilon) / (2 if utility == "monotone" else 1), random.Random(5)
    low = 0 if utility == "monotone" else -1
    with working():
        losses = b.Exponential(epsilon, utility=utility).losses()
        found = {x: losses.remove.profile(ball(x)) for x in EPSILONS}
        for x, delta in found.items():
            left, right, odds = mp.mpf(0), eta, mp.exp(num(x))
            top = (1 - mp.exp(-eta)) ** -1

            def pair(t: Any) -> Any:
                return (1 - mp.exp(t - eta)) * top * (1 - odds * mp.exp(-t))

            for _ in range(200):
                one, two = (2 * left + right) / 3, (left + 2 * right) / 3
                left, right = (one, right) if pair(one) < pair(two) else (left, two)
            assert contains(delta, max(pair(left), mp.mpf(0))), x
        for _ in range(200):
            utilities = [rng.uniform(0, 3) for _ in range(rng.randint(2, 6))]
            weights = [(u, u + rng.uniform(low, 1)) for u in utilities]
            columns = [[mp.exp(num(epsilon) * pair[i] / 2) for pair in weights] for i in (1, 0)]
            law = Lattice(*[[w / mp.fsum(column) for w in column] for column in columns])
            for x, delta in found.items():
                for direction in (law, law.reversed()):
                    assert not delta < arb(float(profile(direction, x)[0])) * (1 - arb(2) ** -50), x


def test_tails_that_another_thread_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A discrete Gaussian's tails are kept; whoever asked for many has them, though another asked for fewer."""
    with working():
        loss, calm = (b.DiscreteGaussian(sigma=3).losses().remove for _ in range(2))
        assert isinstance(loss, DiscreteGaussianLoss)
        assert isinstance(calm, DiscreteGaussianLoss)
        real = DiscreteGaussianLoss._sum_tails
        asked: list[int] = []

        def interrupted(self: DiscreteGaussianLoss, most: int) -> Any:
            asked.append(most)
            found = real(self, most)
            if len(asked) == 1:
                self._tail(1)  # as another thread might, just before this one has its answer
            return found

        monkeypatch.setattr(DiscreteGaussianLoss, "_sum_tails", interrupted)
        assert loss._tail(60).mid() == real(calm, 60)[60].mid()
        assert loss._tail(59).overlaps(real(calm, 60)[59])
        assert len(asked) >= 2


@pytest.mark.parametrize(("sigma", "epsilon"), [("1e17", "1e-17"), ("1e20", "2e-20"), ("3e25", "1e-26")])
def test_wide_discrete_noise_costs_about_what_gaussian_noise_does(sigma: str, epsilon: str) -> None:
    """Where a threshold lies beyond all outputs that are told apart, the profile is wide, never 0."""
    with working():
        rough = b.DiscreteGaussian(sigma=sigma).losses().profile(arb(epsilon))
        smooth = b.Gaussian(sigma=sigma).losses().profile(arb(epsilon))
    assert rough.overlaps(smooth)
    assert b.account(b.DiscreteGaussian(sigma=sigma), epsilon=epsilon).bound.upper >= float(smooth)


@pytest.mark.parametrize("epsilon", ["0", "1", "1e12"])
def test_discrete_noise_far_below_its_sensitivity_hides_nothing(epsilon: str) -> None:
    """Where even the middle between the two laws is beyond all outputs that are told apart, δ may be 1, and not 0."""
    with working():
        assert DiscreteGaussianLoss(arb(100), 4 * 10**15).profile(arb(epsilon)).upper() >= 1


@pytest.mark.parametrize(("scale", "sensitivity"), [("101", 1), ("200", 3), ("150", 70), ("1e4", 5), ("1e9", 10**11)])
def test_discrete_laplace_noise_lies_between_two_continuous_ones(scale: str, sensitivity: int) -> None:
    """At every ε, negative ones too, the three profiles are in order, and the outer two are close."""
    with working(200):
        loss = b.DiscreteLaplace(scale=scale, sensitivity=sensitivity).losses().remove
        pair = loss.bracket()
        assert pair is not None
        below, above = pair
        top = loss.support()[1]
        for i in range(-60, 61):
            x = top * i / 59
            assert not below.profile(x) > loss.profile(x), i
            assert not loss.profile(x) > above.profile(x), i
        assert above.support()[1] - below.support()[1] < 2 * top / (sensitivity * float(scale))
