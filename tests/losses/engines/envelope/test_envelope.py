"""The envelope engine's intervals: against enumeration, closed forms, the lattice engine and the optimal theorem."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import envelope, lattice, meet, top
from bursar.losses.engines.answer import Losses, Precision
from bursar.numerics.balls import ball, working
from bursar.theorems.numerical import composed


def one_way(what: b.Composition, direction: int = 0) -> Losses:
    """The composed losses of one direction."""
    ways = composed([(term.mechanism.losses(), term.count) for term in what.terms])
    return ways[min(direction, len(ways) - 1)]


def enumerated(tables: list[tuple[list[Fraction], list[Fraction]]], epsilon: float) -> arb:
    """δ(ε) of a product of tables, outcome by outcome."""
    odds = arb(epsilon).exp()
    total = arb(0)
    for choice in product(*(range(len(p)) for p, _ in tables)):
        p = math.prod((tables[i][0][j] for i, j in enumerate(choice)), start=Fraction(1))
        q = math.prod((tables[i][1][j] for i, j in enumerate(choice)), start=Fraction(1))
        gap = ball(p) - odds * ball(q)
        total += gap if gap > 0 else (arb(0) if gap < 0 else gap.union(arb(0)))
    return total


def drawn(rng: random.Random, outcomes: int) -> list[Fraction]:
    """A random law with no zeros."""
    parts = [rng.randint(1, 60) for _ in range(outcomes)]
    return [Fraction(part, sum(parts)) for part in parts]


@pytest.mark.parametrize("seed", range(12))
def test_ends_are_on_their_side_of_enumeration(seed: int) -> None:
    """Random tables, some several times: δ at the upper end is at most the δ asked, at the lower end at least that."""
    rng = random.Random(seed)
    kinds = [(drawn(rng, size), drawn(rng, size)) for size in (rng.choice([2, 3, 4]) for _ in range(rng.randint(1, 3)))]
    counts = [rng.randint(1, 3) for _ in kinds]
    what = b.Composition([(b.Table(p, q), k) for (p, q), k in zip(kinds, counts, strict=True)])
    tables = [kind for kind, k in zip(kinds, counts, strict=True) for _ in range(k)]
    delta = Fraction(rng.choice(["1/20", "1/1000", "1/100000"]))
    with working():
        for width in (1e-7, 1e-2, 0.3):
            found = envelope.epsilon_at(one_way(what), ball(delta), width)
            assert found.width <= width or found.upper == 0
            assert not enumerated(tables, found.upper) > ball(delta)
            assert found.lower == 0 or not enumerated(tables, found.lower) < ball(delta)
        for epsilon in (0.0, 0.3, 1.7):
            there = envelope.delta_at(one_way(what), arb(epsilon), 1e-7)
            truth = enumerated(tables, epsilon)
            assert not truth < there.lower
            assert not truth > there.upper


@pytest.mark.parametrize(("delta", "epsilon"), [("1e-7", "3.71393400140585"), ("1e-30", "8.09529813020355")])
def test_laplaces_against_their_closed_form(delta: str, epsilon: str) -> None:
    """333 Laplace releases: the alternating sum over interior draws, evaluated elsewhere with hundreds of digits."""
    with working():
        found = envelope.epsilon_at(one_way(b.Laplace(scale=25) * 333), ball(Fraction(delta)), 1e-6)
    assert found.lower < float(epsilon) < found.upper
    assert found.width <= 1e-6


@pytest.mark.parametrize(
    "text",
    [
        "laplace(scale=3)*5 + randomized_response(epsilon=0.2)*7 + gaussian(sigma=9)",
        "poisson(laplace(scale=1), rate=0.05)*40",
        "discrete_gaussian(sigma=3, sensitivity=2)*6 + kary_randomized_response(epsilon=0.4, categories=9)*3",
        "poisson(table(p=[1/2, 1/3, 1/6], q=[1/5, 2/5, 2/5]), rate=0.2)*30",
        "poisson(gaussian(sigma=1), rate=0.01)*3",
        "poisson(laplace(scale=0.02), rate=0.1)*3",
        "leaky_randomized_response(epsilon=0.3, delta=1e-9)*20 + laplace(scale=8)*9",
    ],
)
def test_both_engines_meet(text: str) -> None:
    """The lattice engine's interval overlaps with the envelope engine's, in both directions, for ε and for δ."""
    what = b.parse(text)
    with working():
        for direction in (0, 1):
            losses = one_way(what, direction)
            found = envelope.epsilon_at(losses, ball(Fraction("1e-6")), 1e-6)
            other = lattice.epsilon_at(losses, ball(Fraction("1e-6")), 1e-3)
            assert found.width <= 1e-6
            assert found.lower <= other.upper
            assert other.lower <= found.upper
            at = arb(0.7 * found.upper)
            first, second = envelope.delta_at(losses, at, 1e-5), lattice.delta_at(losses, at, 1e-3)
            assert first.lower <= second.upper
            assert second.lower <= first.upper


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "2", "30"])
@pytest.mark.parametrize("count", [2, 100, 10**5])
@pytest.mark.parametrize("delta", ["1e-2", "1e-9", "1e-100"])
def test_combs_agree_with_the_optimal_theorem(epsilon: str, count: int, delta: str) -> None:
    """Randomized responses, whose optimum is a binomial sum."""
    what = b.RandomizedResponse(epsilon=epsilon) * count
    exact = b.account(what, delta=delta, theorems=["optimal"]).bound
    with working():
        found = meet.epsilon_at([one_way(what)], ball(Fraction(delta)), Precision())
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.width <= 1e-6


def test_single_events_need_nothing_else() -> None:
    """Three Laplaces at a δ far below the chance that all have their largest loss, and noise that is all but none."""
    with working():
        found = top.epsilon_at(one_way(b.Laplace(scale=1) * 3), ball(Fraction("1e-12")))
        assert found is not None
        assert 3 + math.log1p(-8e-12) - 1e-12 < found.lower < 3 <= found.upper
        # two responses: where ε lies above all but the largest loss the event is all there is
        twice = top.epsilon_at(one_way(b.RandomizedResponse(epsilon=1) * 2), ball(Fraction("0.1")))
        assert twice is not None
        assert twice.lower == pytest.approx(2 + math.log1p(-0.1 * (1 + math.exp(-1)) ** 2), rel=1e-14)
        small = top.epsilon_at(one_way(b.DiscreteGaussian(sigma="1/50") * 44), ball(Fraction("1e-200")))
        assert small is not None
        # with so little noise the output is 0 or the sensitivity, and its loss 1/(2σ²)
        assert small.lower <= 44 * 1250 <= small.upper
        assert small.width < 1e-12
        assert top.epsilon_at(one_way(b.Gaussian(sigma=1) * 2), ball(Fraction("1e-6"))) is None


def test_the_event_at_the_top_counts_what_leaks() -> None:
    """Where δ is what leaks or less nothing is claimed, and the chance of the event is that of all releases."""
    leaky = b.LeakyRandomizedResponse(epsilon=1, delta="1e-6") * 4
    with working():
        assert top.epsilon_at(one_way(leaky), ball(Fraction("1e-6"))) is None
        found = top.epsilon_at(one_way(leaky), ball(Fraction("5e-6")))
        assert found is not None
        exact = b.account(leaky, delta="5e-6", theorems=["optimal"]).bound
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper


def test_far_below_all_losses_delta_is_all_but_one() -> None:
    """A Chernoff bound of what is missing, above which the truth lies."""
    what = b.Laplace(scale="1/1000") + b.NameAndShame(delta="1/10")
    with working():
        found = top.delta_at(one_way(what), arb(20))
        assert found is not None
        truth = b.Laplace(scale="1/1000").losses().remove.profile(20) * arb("0.9") + arb("0.1")
        assert found.lower <= truth
        assert found.lower > 1 - 1e-6
        assert top.delta_at(one_way(b.Laplace(scale=1) * 1), arb(0.5)) is None


def test_effort_limits_the_moments() -> None:
    """Less effort gives a wider answer that still holds."""
    what = b.parse("laplace(scale=3)*5 + randomized_response(epsilon=0.2)*7")
    with working():
        wide = envelope.epsilon_at(one_way(what), ball(Fraction("1e-6")), 1e-12, 3000)
        narrow = envelope.epsilon_at(one_way(what), ball(Fraction("1e-6")), 1e-8)
    assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
    assert narrow.width < wide.width


@pytest.mark.parametrize(
    "text",
    [
        "poisson(laplace(scale=0.01), rate=0.1)",
        "poisson(laplace(scale=0.02), rate=0.3)",
        "poisson(discrete_laplace(scale=0.05, sensitivity=3), rate=0.02)",
        "poisson(discrete_gaussian(sigma=0.3, sensitivity=2), rate=0.2)",
        "poisson(table(p=[1/2, 1/3, 1/6], q=[1/5, 2/5, 2/5]), rate=0.2)",
        "laplace(scale=0.01)",
        "kary_randomized_response(epsilon=3, categories=9)",
    ],
)
def test_one_release_is_its_profile_below_zero_too(text: str) -> None:
    """Far below 0 most of the law counts, also what sampling takes from Q: no engine loses it."""
    pair = b.parse(text).terms[0].mechanism.losses()
    with working():
        for loss in (pair.remove, pair.add):
            for x in (-60.0, -16.5, -0.3, 0.0, 0.4, 12.0):
                truth = loss.profile(x)
                for engine in (envelope, lattice):
                    try:
                        found = engine.delta_at([(loss, 1)], arb(x), 1e-4)
                    except (envelope.NoEnvelope, lattice.NoLattice):
                        continue
                    assert not truth < found.lower, (x, engine.__name__)
                    assert not truth > found.upper, (x, engine.__name__)


def test_two_samples_of_a_narrow_laplace() -> None:
    """With little noise it shows whenever it is sampled: δ is about the chance of that, in any engine and for any ε."""
    what = b.parse("poisson(laplace(scale=0.02), rate=0.1)*2")
    assert b.account(what, epsilon=40).delta.upper > 0.185
    assert b.account(what, delta="0.05").epsilon.lower > 40
    thrice = b.account(b.parse("poisson(laplace(scale=0.01), rate=0.1)*3"), delta="1e-3").epsilon
    assert thrice.lower < 195.6 < thrice.upper


def test_sampled_discrete_gaussians_answer_at_an_epsilon() -> None:
    """Their cumulants have no closed form, and nothing asks for one."""
    found = b.account(b.parse("poisson(discrete_gaussian(sigma=1.2), rate=0.01)*100"), epsilon="0.5").delta
    assert 0 < found.lower <= found.upper < found.lower * (1 + 1e-3)


@pytest.mark.parametrize("rate", ["1e-9", "1e-20", "1e-30"])
@pytest.mark.parametrize(
    "base", ["gaussian(sigma=3)", "gaussian(sigma=1e6)", "laplace(scale=0.3)", "laplace(scale=1e9)"]
)
def test_rare_samples_keep_their_digits(base: str, rate: str) -> None:
    """Losses as small as 1e-39: the interval of one sampled release holds its closed profile, and is narrow."""
    with working():
        loss = b.parse(f"poisson({base}, rate={rate})").terms[0].mechanism.losses().remove
        reach = float(loss.profile(arb(0)))
        for share in (0.1, 1.0):
            found = envelope.delta_at([(loss, 1)], arb(share * reach), 1e-4)
            truth = loss.profile(arb(share * reach))
            assert found.lower <= truth.upper()
            assert truth.lower() <= found.upper
            assert found.width <= 1e-3
