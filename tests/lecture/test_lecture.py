"""What the lecture does with the loss: the simulation lemma, Laplace from one bit, the worst case, probabilistic DP."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import MPContext
from scipy import integrate, stats

import bursar as b
from bursar.guarantees import ProbabilisticDP, probabilistic
from bursar.numerics.balls import ball, down, up, working

Law = list[Fraction]
mp = MPContext()
mp.dps = 30


def law(rng: random.Random, size: int) -> Law:
    """A random law with small rational probabilities, zeros among them."""
    while not sum(weights := [rng.choice((0, 1, 1, 2, 3, 5, 9)) for _ in range(size)]):
        pass
    return [Fraction(w, sum(weights)) for w in weights]


def excess(p: Law, q: Law, odds: Fraction) -> Fraction:
    """Σ (p − odds·q)₊."""
    return sum((max(x - odds * y, Fraction(0)) for x, y in zip(p, q, strict=True)), Fraction(0))


def pushed(found: b.lecture.SimulationMap, weights: tuple[Fraction, ...]) -> Law:
    """The law of F applied to an input with these four weights."""
    rows = (found.zero, found.one, found.reveal_u, found.reveal_v)
    return [sum((w * row[i] for w, row in zip(weights, rows, strict=True)), Fraction(0)) for i in range(len(rows[0]))]


def checked(p: Law, q: Law, odds: Fraction, delta: Fraction) -> None:
    """F is a table of laws that turns the two leaky responses into p and q, exactly."""
    found = b.lecture.simulation_map(p, q, odds=odds, delta=delta)
    for row in (found.zero, found.one, found.reveal_u, found.reveal_v):
        assert sum(row) == 1
        assert min(row) >= 0
    truth, lie = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    assert pushed(found, (truth, lie, delta, Fraction(0))) == p
    assert pushed(found, (lie, truth, Fraction(0), delta)) == q


def test_simulation_map_on_random_pairs() -> None:
    """On 10 000 exact instances F(U) = P and F(V) = Q, mostly with different δ's in the two directions."""
    rng, uneven, edges = random.Random(31), 0, {"odds = 1": 0, "delta = 0": 0, "delta = 1": 0, "tight": 0}
    for i in range(10_000):
        size = rng.randint(1, 5)
        p, q = law(rng, size), law(rng, size)
        odds = Fraction(1) if i % 10 == 0 else 1 + Fraction(rng.randint(1, 40), rng.randint(1, 12))
        if i % 7 == 0:
            p, q = [(1 + odds * x) / (odds + size) for x in p], [(1 + odds * y) / (odds + size) for y in q]
            odds = max(odds, 1 + odds)
        one, other = excess(p, q, odds), excess(q, p, odds)
        worst = max(one, other)
        delta = worst if i % 2 else worst + (1 - worst) * Fraction(rng.randint(0, 5), 5)
        checked(p, q, odds, delta)
        uneven += one != other
        edges["odds = 1"] += odds == 1
        edges["delta = 0"] += delta == 0
        edges["delta = 1"] += delta == 1
        edges["tight"] += delta == worst
    assert uneven > 4_000
    assert min(edges.values()) > 500


def test_simulation_map_refuses_with_the_true_delta() -> None:
    """Where P and Q are not that close the refusal names the δ they need, and that δ is then accepted."""
    rng = random.Random(7)
    for _ in range(300):
        p, q, odds = law(rng, 4), law(rng, 4), 1 + Fraction(rng.randint(0, 9), 7)
        worst = max(excess(p, q, odds), excess(q, p, odds))
        if worst == 0:
            continue
        with pytest.raises(b.InputError, match=rf"delta ≥ {worst} ") as refusal:
            b.lecture.simulation_map(p, q, odds=odds, delta=worst * Fraction(99, 100))
        assert refusal.value.argument == "delta"
        checked(p, q, odds, worst)


@pytest.mark.parametrize("wrong", [{"p": ["1/2", "1/3"]}, {"q": [1]}, {"odds": "9/10"}, {"delta": 2}, {"p": []}])
def test_simulation_map_refuses_what_is_no_law(wrong: dict[str, object]) -> None:
    """Columns that do not sum to 1 or differ in length, odds below 1 and δ above 1 are refused."""
    given = {"p": ["1/2", "1/2"], "q": ["1/4", "3/4"], "odds": 3, "delta": 1} | wrong
    with pytest.raises(b.InputError):
        b.lecture.simulation_map(given["p"], given["q"], odds=given["odds"], delta=given["delta"])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_laplace_simulation_density(epsilon: float) -> None:
    """Each row is a density, and mixed as randomized response mixes them the rows are Laplace around 0 and around 1."""
    found = b.lecture.LaplaceSimulation(epsilon)
    truth = 1 / (1 + math.exp(-epsilon))
    for bit in (0, 1):
        pieces = [(-60 / epsilon, 0.0), (0.0, 1.0), (1.0, 1 + 60 / epsilon)]
        mass = sum(integrate.quad(found.density, *piece, args=(bit,), epsabs=1e-13)[0] for piece in pieces)
        assert mass == pytest.approx(1, abs=1e-10)
        for z in np.linspace(-3, 4, 141):
            mix = truth * found.density(z, bit) + (1 - truth) * found.density(z, 1 - bit)
            assert mix == pytest.approx(epsilon / 2 * math.exp(-epsilon * abs(z - bit)), rel=1e-12)
    below = integrate.quad(found.density, -60 / epsilon, 0, args=(0,), epsabs=1e-13)[0]
    assert found.mass_below_zero() == pytest.approx(below, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_laplace_simulation_sampler(epsilon: float) -> None:
    """Samples for both bits follow the density, and fed with true and lying bits they are Laplace (fixed seeds)."""
    found, size, rng = b.lecture.LaplaceSimulation(epsilon), 40_000, np.random.default_rng(12)
    grid = np.linspace(-40 / epsilon, 1 + 40 / epsilon, 200_001)
    for bit in (0, 1):
        density = np.array([found.density(z, bit) for z in grid[:: 10 if epsilon < 1 else 1]])
        places = grid[:: 10 if epsilon < 1 else 1]
        cumulative = integrate.cumulative_trapezoid(density, places, initial=0)
        plain = found.sample(np.full(size, bit), rng)
        assert stats.kstest(plain, lambda z: np.interp(z, places, cumulative)).pvalue > 1e-3
        lies = rng.random(size) >= 1 / (1 + math.exp(-epsilon))
        noisy = found.sample(np.where(lies, 1 - bit, bit), rng)
        assert stats.kstest(noisy, stats.laplace(bit, 1 / epsilon).cdf).pvalue > 1e-3


@pytest.mark.parametrize("epsilons", [["1"], ["1/10", "1/5", "3/2"], ["1/20"] * 40, ["1/3", "2"]])
def test_worst_case_makes_basic_composition_optimal(epsilons: list[str]) -> None:
    """The all-true transcript loses exactly Σε, so every smaller ε needs δ > 0, as much as the definition says."""
    found = b.lecture.worst_case(epsilons)
    total = sum(map(Fraction, epsilons))
    assert found.epsilon == found.epsilon.low == found.epsilon.high == total
    weight = [mp.exp(mp.mpf(e.numerator) / e.denominator) for e in map(Fraction, epsilons)]
    p = mp.fprod(w / (1 + w) for w in weight)
    q = mp.fprod(1 / (1 + w) for w in weight)
    assert found.probability.lower <= p <= found.probability.upper
    assert found.probability_elsewhere.lower <= q <= found.probability_elsewhere.upper
    for share in (Fraction(0), Fraction(1, 2), Fraction(9, 10), 1 - Fraction(1, 10**12)):
        needed, x = found.delta_needed(total * share), total * share
        assert needed.lower > 0
        assert needed.lower <= p - mp.exp(mp.mpf(x.numerator) / x.denominator) * q <= needed.upper
    assert found.delta_needed(total).upper < 1e-30
    assert found.delta_needed(total + 1).upper == 0


def test_worst_case_never_needs_a_negative_delta() -> None:
    """The δ that is needed is at least 0, also at the loss itself, where it is 0."""
    found = b.lecture.worst_case(["1/10", "1/5", "3/2"])
    assert found.delta_needed("9/5").lower >= 0
    assert found.delta_needed(2).lower >= 0


def test_worst_case_is_below_the_exact_optimum() -> None:
    """The δ that one transcript forces is at most the δ of all transcripts together, by enumeration."""
    epsilons = ["1/2", "1/3", "1"]
    found, values = b.lecture.worst_case(epsilons), [Fraction(e) for e in epsilons]
    for x in (Fraction(0), Fraction(1), Fraction(8, 5)):
        odds, total = mp.exp(mp.mpf(x.numerator) / x.denominator), mp.mpf(0)
        for truths in itertools.product((True, False), repeat=3):
            p = q = mp.mpf(1)
            for true, e in zip(truths, values, strict=True):
                good = 1 / (1 + mp.exp(-mp.mpf(e.numerator) / e.denominator))
                p, q = (p * good, q * (1 - good)) if true else (p * (1 - good), q * good)
            total += max(p - odds * q, 0)
        assert found.delta_needed(x).lower <= total


def test_worst_case_needs_a_response() -> None:
    """No responses, or an ε of 0, are refused."""
    for wrong in ([], [0], ["1", -1]):
        with pytest.raises(b.InputError):
            b.lecture.worst_case(wrong)


def test_probabilistic_implies_approximate() -> None:
    """On random tables P(L > ε) ≤ δ in both directions makes the pair (ε, δ)-close, and not conversely."""
    rng, strict = random.Random(17), 0
    for _ in range(2_000):
        p, q, odds = law(rng, 4), law(rng, 4), 1 + Fraction(rng.randint(0, 12), 5)
        tails = [sum(x for x, y in zip(*pair, strict=True) if x > odds * y) for pair in ((p, q), (q, p))]
        promise = ProbabilisticDP(Fraction(math.log(odds)), max(tails)).approximate()
        assert promise.epsilon == Fraction(math.log(odds))
        assert promise.delta == max(tails)
        needed = max(excess(p, q, odds), excess(q, p, odds))
        assert needed <= max(tails)
        strict += needed < max(tails)
    assert strict > 500


@pytest.mark.parametrize("eta", ["1/10", "1/2", "3"])
def test_approximate_implies_probabilistic(eta: str) -> None:
    """On random tables (ε, δ) bounds P(L > ε + η) by δ/(1 − e^{−η}), and some table comes close to it."""
    rng, step, nearest = random.Random(23), Fraction(eta), 0.0
    share = -math.expm1(-float(step))
    for _ in range(1_000):
        p, q, odds = law(rng, 5), law(rng, 5), 1 + Fraction(rng.randint(0, 12), 5)
        delta = max(excess(p, q, odds), excess(q, p, odds))
        with working():
            epsilon = b.ApproxDP(0, 0).epsilon if odds == 1 else Fraction(down(ball(odds).log()))
            found = probabilistic(b.ApproxDP(epsilon, delta), eta=step)
            assert found.epsilon >= epsilon + step
            assert found.delta <= 1
            assert found.delta == 1 or up(arb(float(delta)) / share) >= found.delta * (1 - Fraction(1, 10**9))
            level = (ball(found.epsilon)).exp()
        for pair in ((p, q), (q, p)):
            tail = sum((x for x, y in zip(*pair, strict=True) if ball(x) > level * ball(y)), Fraction(0))
            assert tail <= found.delta
            nearest = max(nearest, float(tail / found.delta) if found.delta else 0.0)
    assert nearest > 0.9
