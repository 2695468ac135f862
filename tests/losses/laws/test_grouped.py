"""Groups by the best split: against chains of laws that are enumerated, exact groups, and splits tried one by one."""

from __future__ import annotations

import itertools
import json
import math
import random

import pytest
from flint import arb

import bursar as b
from bursar.losses import Directions, grouped
from bursar.losses.laws.grouped import MOST_LINKS
from bursar.numerics.balls import down, up, working
from support.where import TESTS

GOLDEN = {
    row["id"]: float(row["value"])
    for row in json.loads((TESTS / "golden" / "theory2_values.json").read_text(encoding="utf-8"))
    if row["id"].startswith("T12.")
}
EPSILONS = (-1.5, -0.4, 0.0, 0.2, 0.7, 1.3, 2.5)


def test_golden_values() -> None:
    """Two records of a Gaussian cost hardly more than the exact group, and far less than an equal split."""
    with working():
        found = grouped(b.Gaussian(2).losses(), 2, together=True).remove.profile(arb(3))
    assert GOLDEN["T12.split"] == pytest.approx(GOLDEN["T12.exact"], rel=1e-12)
    assert GOLDEN["T12.exact"] <= up(found) <= 1.001 * GOLDEN["T12.exact"] < 0.8 * GOLDEN["T12.equal"]


@pytest.mark.parametrize(
    ("mechanism", "size"),
    [(b.Gaussian(3), 2), (b.Gaussian(4), 7), (b.Laplace(2), 3), (b.Laplace("1/2"), 2), (b.DiscreteLaplace(4), 4)],
    ids=str,
)
def test_exact_groups_are_dominated_and_near(mechanism: b.Mechanism, size: int) -> None:
    """Where noise against a larger sensitivity is the exact group, the split lies above it at every ε, and close."""
    with working():
        exact = b.Group(mechanism, size).losses().remove
        split = grouped(mechanism.losses(), size, together=True).remove
        for x in EPSILONS:
            assert not up(split.profile(x)) < down(exact.profile(x))
            assert up(split.profile(x)) <= 1.002 * up(exact.profile(x)) + 1e-6


def _hockey(p: list[float], q: list[float], epsilon: float) -> float:
    return math.fsum(max(x - math.exp(epsilon) * y, 0.0) for x, y in zip(p, q, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_chains_of_responses_stay_below(seed: int) -> None:
    """Brute force: along random chains whose neighbours' odds differ by at most e^½, and along the worst ones, no two
    ends are further apart than the split says.
    """
    rng, size = random.Random(seed), 2 + seed % 3
    with working():
        bound = grouped(b.RandomizedResponse("1/2").losses(), size, together=True)
        chain = [[1 / 4] * 4]
        for _ in range(size):
            turns = [rng.choice([-0.25, 0.25]) if seed % 2 else rng.uniform(-0.25, 0.25) for _ in range(4)]
            raw = [x * math.exp(turn) for x, turn in zip(chain[-1], turns, strict=True)]
            chain.append([x / sum(raw) for x in raw])
        for p, q in itertools.pairwise(chain):
            assert max(abs(math.log(x / y)) for x, y in zip(p, q, strict=True)) <= 0.5 + 1e-12
        for x in EPSILONS:
            assert _hockey(chain[0], chain[-1], x) <= up(bound.remove.profile(x)) + 1e-12
            assert _hockey(chain[-1], chain[0], x) <= up(bound.add.profile(x)) + 1e-12


def test_atoms_do_no_harm() -> None:
    """Three links of responses: no split into multiples of ½, the losses' own, is better than what is found, and beyond
    the largest loss of 3/2 nothing is left.
    """
    with working():
        one = b.RandomizedResponse("1/2").losses()
        bound = grouped(one, 3, together=True).remove
        best = min(
            sum(math.exp(sum(split[:i])) * float(one.remove.profile(split[i])) for i in range(3))
            for split in itertools.product((-0.5, 0.0, 0.5, 1.0), repeat=3)
            if sum(split) == 1.0
        )
        assert down(bound.profile(1.0)) <= best + 1e-9
        assert up(bound.profile(1.5 + 1e-6)) <= 1e-6


@pytest.mark.parametrize("together", [True, False])
def test_every_split_is_above_and_the_best_is_reached(together: bool) -> None:
    """No split of two links, tried one by one, is below what is found by more than the grid loses."""
    pair = b.PoissonSampled(b.Laplace(1), "1/4").losses()
    with working():
        found = grouped(pair, 2, together=together)
        profile = pair.remove.profile if together else pair.profile
        for x in (0.1, 0.4):
            tried = [
                float(profile(first) + arb(first).exp() * profile(x - first))
                for first in (-0.25 + i / 400 for i in range(320))
            ]
            assert min(tried) * 0.999 <= up(found.remove.profile(x)) <= min(tried) * 1.002
        if together:
            assert up(found.add.profile(0.1)) <= up(found.remove.profile(0.1))
        else:
            assert found.same


def test_leaks_grow_with_the_group() -> None:
    """A leak δ in every link is at most δ·(1 + e^ε + …) of the ends, and what it leaves is what responses lose."""
    with working():
        found = grouped(b.LeakyRandomizedResponse("1/2", "1/1000").losses(), 2, together=True).remove
        assert up(found.profile(arb(1) + arb("1e-6"))) <= 0.001 * (1 + math.exp(0.5)) * (1 + 1e-6)
        assert down(found.profile(50)) >= 0.001


@pytest.mark.parametrize("text", ["poisson(laplace(scale=20), rate=0.1)", "exponential(epsilon=0.1)"])
def test_bounded_losses_stay_bounded(text: str) -> None:
    """Where no loss of a record is infinite none of the group's is, in either direction or reversed."""
    with working():
        found = grouped(b.parse(text).terms[0].mechanism.losses(), 3, together=True)
        for law in (found.remove, found.add):
            table = law.table()
            assert table is not None
            assert law.infinite_mass() == 0
            assert table.reversed().infinite_mass() == 0


def test_links_that_go_either_way_count_the_worse() -> None:
    """Under replace_one each link counts by its worse direction, whichever of the two comes first."""
    pair = b.PoissonSampled(b.Laplace(1), "1/4").losses()
    with working():
        one, other = (
            grouped(Directions(*laws, True), 2, together=False).remove.profile(0.2)
            for laws in ((pair.remove, pair.add), (pair.add, pair.remove))
        )
        assert up(one) == pytest.approx(up(other), rel=1e-3)
        assert down(other) > up(grouped(pair, 2, together=True).add.profile(0.2))


def test_what_is_refused() -> None:
    """Very large groups, and groups of what has no losses, say so; accounts go on with what is promised."""
    with pytest.raises(b.errors.LossUnknown, match=f"more than {MOST_LINKS}"):
        b.Group(b.RandomizedResponse(1), MOST_LINKS + 1).losses()
    with pytest.raises(b.errors.LossUnknown, match="no loss distribution is known for groups of declared"):
        b.Group(b.Declared(b.ZCDP("0.1")), 2).losses()
    assert b.account(b.Group(b.Declared(b.ZCDP("0.001")), 2), delta=1e-6).epsilon.upper < 1


def test_replaced_groups_have_a_price() -> None:
    """Two replaced records of a sampled Gaussian, which had no better price than two of an unsampled one."""
    group = b.parse("group(poisson(gaussian(sigma=1, relation=replace_one), rate=0.01), size=2)*100")
    found = b.account(group, delta=1e-6)
    assert found.epsilon.upper < 1
    assert found.epsilon.lower == 0
    one = b.account(b.parse("poisson(gaussian(sigma=1, relation=replace_one), rate=0.01)*100"), delta=1e-6)
    assert found.epsilon.upper > one.epsilon.lower
