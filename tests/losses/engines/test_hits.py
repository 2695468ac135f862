"""Samples that show themselves, against closed profiles of one copy, integrals of two, and enumeration of more."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb

import bursar as b
from bursar.losses import Loss
from bursar.losses.engines import envelope, hits
from bursar.numerics.balls import working

CLEAR = [
    "poisson(gaussian(sigma=0.02), rate=0.003)",
    "poisson(gaussian(sigma=0.01), rate=0.7)",
    "poisson(gaussian(sigma=1e-9), rate=1e-20)",
    "poisson(gaussian(sigma=0.01, relation=replace_one), rate=0.003)",
    "poisson(gaussian(sigma=1e-7, relation=replace_one), rate=0.6)",
    "poisson(laplace(scale=0.001), rate=0.003)",
    "poisson(laplace(scale=1e-9), rate=1e-20)",
    "poisson(discrete_gaussian(sigma=0.1, sensitivity=40), rate=0.003)",
    "poisson(discrete_laplace(scale=0.01, sensitivity=7), rate=0.003)",
    "poisson(leaky_randomized_response(epsilon=300, delta=1e-12), rate=0.2)",
]


def removed(text: str) -> Loss:
    """The loss of one release with the record removed."""
    (term,) = b.parse(text).terms
    return term.mechanism.losses().remove


@pytest.mark.parametrize("text", CLEAR)
def test_one_copy_has_its_closed_profile(text: str) -> None:
    """From far below a hit's loss to far above it, the interval holds what the algebra of profiles says."""
    with working(400):
        loss = removed(text)
        parts = loss.hits(40.0)
        assert parts is not None
        usual = parts.hit + parts.base.mean() if parts.base.mean().is_finite() else parts.hit + 300
        for share in (0.1, 0.8, 0.97, 0.999, 1.0, 1.0005, 1.01, 1.1, 1.5):
            epsilon = arb(float(usual * share))
            found = hits.delta_at([(loss, 1)], epsilon)
            truth = loss.profile(epsilon)
            assert found is not None
            assert found.lower <= truth.upper()
            assert truth.lower() <= found.upper, (share, found, truth)


@pytest.mark.parametrize("share", [0.3, 0.99, 1.05, 2.1])
def test_two_copies_are_an_integral_over_one(share: float) -> None:
    """δ of two copies is E[δ₁(ε − L)] over the first one's loss, by quadrature over its outputs in 30 digits."""
    sigma, rate = mp.mpf("0.02"), mp.mpf("0.003")
    with mp.workdps(30):
        epsilon = mp.mpf(float(share * 1244))

        def log_odds(x: mp.mpf) -> mp.mpf:
            return mp.log(1 - rate + rate * mp.exp((2 * x - 1) / (2 * sigma**2)))

        def one(e: mp.mpf) -> mp.mpf:
            """P(x > c) − e^ε·Q(x > c) where the loss is ε at c."""
            if mp.exp(e) <= 1 - rate:
                return 1 - mp.exp(e)
            c = sigma**2 * mp.log1p((mp.exp(e) - 1) / rate) + mp.mpf(1) / 2
            off = mp.ncdf(-c / sigma)
            return (1 - rate) * off + rate * mp.ncdf((1 - c) / sigma) - mp.exp(e) * off

        def density(x: mp.mpf) -> mp.mpf:
            return (1 - rate) * mp.npdf(x, 0, sigma) + rate * mp.npdf(x, 1, sigma)

        # the profile of the second turns where the first one's loss is ε
        turn = sigma**2 * mp.log1p((mp.exp(epsilon) / (1 - rate) - 1) / rate) + mp.mpf(1) / 2
        near = [turn + side * mp.mpf(2) ** -k for k in range(5, 16) for side in (-1, 1)]
        edges = sorted({mp.mpf(k) / 40 for k in range(-12, 53)} | {turn, *near})
        truth = mp.quad(lambda x: density(x) * one(epsilon - log_odds(x)), edges)
    with working():
        found = hits.delta_at([(removed("poisson(gaussian(sigma=0.02), rate=0.003)"), 2)], arb(float(epsilon)))
    assert found is not None
    assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)
    assert found.upper - found.lower <= 1e-9 * found.upper


@pytest.mark.parametrize("count", [2, 3, 5])
def test_tables_are_enumerated(count: int) -> None:
    """All outcomes of a few copies of a sampled response that leaks, in 400 digits: each end of ε is on its side."""
    with mp.workdps(400):
        e, leak, rate = mp.mpf(300), mp.mpf("1e-12"), mp.mpf(1) / 5
        truth = (1 - leak) / (1 + mp.exp(-e))
        lie = (1 - leak) / (1 + mp.exp(e))
        pairs = [(truth, lie), (lie, truth), (leak, mp.mpf(0)), (mp.mpf(0), leak)]
        sampled = [((1 - rate) * q + rate * p, q) for p, q in pairs]

        def delta(epsilon: float) -> mp.mpf:
            total = mp.mpf(0)
            for outcome in itertools.product(sampled, repeat=count):
                p, q = (mp.fprod(pair[side] for pair in outcome) for side in (0, 1))
                total += max(p - mp.exp(epsilon) * q, 0)
            return total

        losses = [(removed("poisson(leaky_randomized_response(epsilon=300, delta=1e-12), rate=1/5)"), count)]
        for asked in ("0.3", "0.05", "0.001", "1e-9"):
            with working():
                found = hits.epsilon_at(losses, arb(asked), 1e-6)
            assert found is not None
            assert found.upper - found.lower <= 1e-6 * found.upper
            assert delta(found.upper) <= mp.mpf(asked) * (1 + mp.mpf("1e-15"))
            assert found.lower == 0 or delta(found.lower) >= mp.mpf(asked) * (1 - mp.mpf("1e-15"))


@pytest.mark.parametrize(
    ("text", "count", "delta"),
    [
        ("poisson(gaussian(sigma=0.05), rate=1e-4)", 1000, "1e-5"),
        ("poisson(gaussian(sigma=0.03, relation=replace_one), rate=1e-3)", 100, "1e-6"),
        ("poisson(laplace(scale=0.008), rate=1e-4)", 30, "1e-8"),
        ("poisson(discrete_gaussian(sigma=0.4, sensitivity=20), rate=1e-4)", 100, "1e-7"),
    ],
)
def test_the_envelope_engine_agrees(text: str, count: int, delta: str) -> None:
    """Where both engines serve, their intervals meet."""
    with working():
        losses = [(removed(text), count)]
        found, other = hits.closer_epsilon_at(losses, arb(delta), 1e-6), envelope.epsilon_at(losses, arb(delta), 1e-5)
    assert found is not None
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)
    assert found.width <= 1e-5


@pytest.mark.parametrize("text", CLEAR)
def test_answers_are_narrow(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From likely hits to a δ that only many of them reach, what is summed is narrow to a millionth; where too many
    numbers of hits matter, the bound by their number alone may be wide, and other engines are asked too.
    """
    monkeypatch.setattr("bursar.losses.engines.hit_counts.by_counts", lambda *_: None)
    for count, delta in ((3, "1e-3"), (1000, "1e-30"), (10**6 if "gaussian(" in text[:17] else 10**4, "1e-60")):
        with working():
            found = hits.epsilon_at([(removed(text), count)], arb(delta), 1e-6)
        if found is not None:
            assert found.upper == 0 or found.width <= 2e-6, (text, count, delta, found)


def test_each_doubt_is_counted() -> None:
    """An outcome between hits and misses, rare as it is, is part of δ: three outcomes by hand."""
    never, rare, likelier = Fraction(1, 10**60), Fraction(1, 10**9), Fraction(3, 10**6)
    p, q, rate = [1 - likelier - never, never, likelier], [never, 1 - rare - never, rare], Fraction(1, 1000)
    with working(), mp.workdps(100):
        loss = b.PoissonSampled(b.Table(p=p, q=q), rate=rate).losses().remove
        for epsilon in (0.5, 1.0, 1.3):
            odds, truth = mp.exp(epsilon), mp.mpf(0)
            for a, c in zip(p, q, strict=True):
                both, alone = ((1 - rate) * c + rate * a, c)
                left, right = (mp.mpf(x.numerator) / x.denominator for x in (both, alone))
                truth += max(left - odds * right, 0)
            found = hits.delta_at([(loss, 1)], arb(epsilon))
            assert found is not None
            assert found.lower <= truth <= found.upper, (epsilon, found, truth)
            assert found.upper - found.lower <= 1e-4 * found.upper


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("apart", [0.01, 1.0, 5.0, 19.9, 20.1, 30.0])
def test_one_more_laplace_is_an_integral(count: int, apart: float) -> None:
    """δ of n + 1 copies is the mean of δ of n, at what the last one leaves of ε: by quadrature over its density."""
    with working():
        loss = b.Laplace(scale="0.1").losses().remove
        epsilon = mp.mpf(10 * (count + 1) - apart)

        def fewer(x: mp.mpf) -> mp.mpf:
            found = loss.copies_profile(count, arb(float(x)))
            assert found is not None
            return mp.mpf(float(found))

        atoms = fewer(epsilon - 10) / 2 + mp.exp(-10) / 2 * fewer(epsilon + 10)
        turn = epsilon - 10 * count  # where the others cannot reach ε
        edges = sorted({mp.mpf(-10), mp.mpf(0), mp.mpf(5), mp.mpf(8), mp.mpf(10), min(max(turn, -10), 10)})
        truth = atoms + mp.quad(lambda v: mp.exp((v - 10) / 2) / 4 * fewer(epsilon - v), edges)
        closed = loss.copies_profile(count + 1, arb(float(epsilon)))
    assert closed is not None
    assert closed.lower() * (1 - 1e-8) <= float(truth) <= closed.upper() * (1 + 1e-8)
    assert closed.rad() <= 1e-3 * closed.mid()


@pytest.mark.parametrize(
    "text", ["poisson(gaussian(sigma=1), rate=0.01)", "poisson(laplace(scale=1), rate=0.01)", "gaussian(sigma=1e-9)"]
)
def test_what_does_not_show_itself_is_left_to_others(text: str) -> None:
    """Where a miss may look like a hit, and where nothing is sampled, the engine abstains."""
    with working():
        assert hits.epsilon_at([(removed(text), 10)], arb("1e-6"), 1e-6) is None
        assert hits.delta_at([(removed(text), 10)], arb(1)) is None


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(sigma=0.01), rate=1e-30)*3",
        "poisson(gaussian(sigma=0.01, relation=replace_one), rate=1e-30)*3",
        "poisson(laplace(scale=0.001), rate=1e-30)*3",
        "poisson(gaussian(sigma=0.01), rate=1e-30)*3 + poisson(gaussian(sigma=0.011), rate=1e-30)*3",
    ],
)
def test_what_misses_may_cost_at_most_is_no_lower_end(text: str) -> None:
    """Where nobody is seen with more than the chance 6q, ε is 0 at larger δ's, and no smaller ε has a larger δ."""
    for delta in ("1e-20", "1e-25", "7e-30"):
        assert b.account(text, delta=delta).bound.lower == 0
    if "+" not in text:
        assert b.account(text, epsilon="1e-19").bound.lower <= 6e-30
