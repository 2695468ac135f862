"""The residue certificate against balls: no certified charge may be too small."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bursar as b
from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.budget.currencies import Refusal, currency_of
from bursar.ledger.budget.currencies._residue_costs import LEVELS, level_below
from bursar.ledger.budget.currencies.residue import Residue
from bursar.ledger.budget.currencies.splits import UNUSED
from bursar.ledger.budget.release import release_of
from bursar.ledger.journal.rows import Split
from bursar.losses import Loss
from bursar.numerics.balls import ball, working
from bursar.numerics.trusted import normal_cdf
from support.residues import excess

BITS = 160


def places(reach: float, seed: int) -> list[float]:
    """Where the inequality is tried: both signs, dense near 0, some at random."""
    rng = random.Random(seed)
    even = [reach * j / 24 for j in range(-24, 25)]
    return even + [rng.gauss(0, reach / 4) for _ in range(24)]


def random_table(rng: random.Random) -> b.Mechanism:
    """Two columns of a random pair, sometimes with an outcome that only one of them can produce."""
    size = rng.randint(2, 4)
    scale = 10 ** rng.uniform(-2.5, 0)
    weights = [rng.uniform(0.2, 1) for _ in range(size)]
    p = [w * np.exp(scale * rng.uniform(-1, 1)) for w in weights]
    fractions_p = [Fraction(w / sum(p)).limit_denominator(10**9) for w in p]
    fractions_q = [Fraction(w / sum(weights)).limit_denominator(10**9) for w in weights]
    leak = Fraction(rng.choice([0, 0, 1]), 10 ** rng.randint(10, 13))
    rest_p, rest_q = 1 - sum(fractions_p[1:]) - leak, 1 - sum(fractions_q[1:])
    return b.Table([rest_p, *fractions_p[1:], leak], [rest_q, *fractions_q[1:], Fraction(0)])


def check(mechanism: b.Mechanism, currency: Residue, band: int, seed: int) -> bool:
    """The charge at a level against balls, in both directions; False where there is none."""
    with working(BITS):
        charge = currency.finder.get("charge", release_of(mechanism), 0, band)
        if charge is None:
            return False
        unit, leak_unit = currency.lines["gaussian"].unit, currency.lines["delta"].unit
        before = LEVELS[band] * unit
        after = before - charge.units * unit
        if after < 0:
            return False
        allowed = (charge.leak + charge.certified * currency._slack) * leak_unit
        directions = mechanism.losses()
        for direction in (directions.remove, directions.add):
            atoms = [(atom.loss, atom.mass) for atom in direction.atoms()]
            reach = 8 * float(before) ** 0.5 + max(abs(float(loss)) for loss, _ in atoms)
            for x in places(reach, seed):
                assert not excess(atoms, before, after, x) + direction.infinite_mass() > ball(allowed), (
                    mechanism,
                    band,
                    x,
                )
    return True


def campaign(seeds: range) -> int:
    """How many random charges were checked."""
    checked = 0
    for seed in seeds:
        rng = random.Random(seed)
        terms = {"epsilon": Fraction(rng.randint(1, 60), 10), "delta": Fraction(1, 10 ** rng.randint(2, 12))}
        currency = currency_of("residue", terms)
        assert isinstance(currency, Residue)
        for _ in range(3):
            kind = rng.randrange(3)
            mechanism: b.Mechanism
            if kind == 0:
                mechanism = b.RandomizedResponse(epsilon=Fraction(rng.randint(1, 400), 1000))
            elif kind == 1:
                mechanism = b.LeakyRandomizedResponse(
                    epsilon=Fraction(rng.randint(1, 400), 1000), delta=Fraction(1, 10 ** rng.randint(9, 14))
                )
            else:
                mechanism = random_table(rng)
            checked += check(mechanism, currency, rng.randrange(0, 30), seed)
    return checked


def test_charges_against_balls() -> None:
    """Random tables, leaks and responses at random levels and targets: the inequality holds at every place tried."""
    assert campaign(range(40)) > 60


@pytest.mark.soak
def test_charges_against_balls_at_length() -> None:
    """The same, thousands of times."""
    assert campaign(range(1000, 2500)) > 2000


def smooth_excess(loss: Loss, mean: float, before: Fraction, after: Fraction, x: float, seed: int) -> float:
    """E[δ_{B′}(x − L)] − δ_B(x) for a loss with a density, by Monte Carlo with the same draws for every x."""
    rng = np.random.default_rng(seed)
    sample = loss.sample(rng, 200_000)
    small, big = float(after) ** 0.5, float(before) ** 0.5
    z = (x - sample) / small
    values = normal_cdf(small / 2 - z) - np.exp(x - sample) * normal_cdf(-small / 2 - z)
    y = x / big
    right = normal_cdf(big / 2 - y) - np.exp(x) * normal_cdf(-big / 2 - y)
    return float(values.mean() - right - 5 * values.std() / np.sqrt(len(values)))


@pytest.mark.parametrize(
    "mechanism",
    [b.Laplace(scale=10.0), b.PoissonSampled(b.Gaussian(sigma=2.0), rate=0.05), b.DiscreteLaplace(scale=8.0)],
)
def test_smooth_charges_against_samples(mechanism: b.Mechanism) -> None:
    """For losses with densities: no excess beyond five standard errors, near where the test is tight."""
    currency = currency_of("residue", {"epsilon": 3, "delta": "1e-5"})
    assert isinstance(currency, Residue)
    for band in (0, 6):
        charge = currency.finder.get("charge", release_of(mechanism), 0, band)
        assert charge is not None
        unit = currency.lines["gaussian"].unit
        before, after = LEVELS[band] * unit, (LEVELS[band] - charge.units) * unit
        for direction in (mechanism.losses().remove, mechanism.losses().add):
            for x in (-0.5, 0.0, 0.3, 0.8, 1.5):
                assert smooth_excess(direction, 0.0, before, after, x, 7) <= 0


def test_levels() -> None:
    """They fall from the whole allowance, and the one below is found."""
    assert LEVELS[0] == PARTS
    assert all(high > low for high, low in itertools.pairwise(LEVELS))
    assert level_below(PARTS) == 0
    assert level_below(PARTS - 1) == 1
    assert level_below(LEVELS[-1] - 1) is None


def test_gaussians_cost_their_squares() -> None:
    """Gaussian releases subtract μ² exactly, declared or not."""
    currency = currency_of("residue", {"epsilon": 1, "delta": "1e-6"})
    assert isinstance(currency, Residue)
    line = currency.lines["gaussian"]
    for mechanism in (b.Gaussian(sigma=50), b.Declared(b.GDP(Fraction(1, 50)))):
        charge = currency.finder.get("charge", release_of(mechanism), 0, 3)
        assert charge is not None
        assert charge.units <= line.price(Fraction(1, 2500))


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        ({"epsilon": 1, "delta": 1e-6}, b.PoissonSampled(b.Gaussian(sigma=0.05), rate=0.01)),
        ({"epsilon": 0.1, "delta": 1e-9}, b.PoissonSampled(b.Gaussian(sigma=0.3), rate=0.01)),
        ({"epsilon": 0.001, "delta": 1e-9}, b.Laplace(scale=5)),
    ],
)
def test_a_release_far_too_large_is_refused_in_little_space(limits: dict[str, Any], what: Any) -> None:
    """Losses that are long against what is left of an allowance: no price, and no gigabytes on the way."""
    currency = currency_of(None, limits)
    assert isinstance(currency, Residue)
    currency.finder._law(what)
    tracemalloc.start()
    try:
        assert currency.finder.charge(what, len(LEVELS) - 1) is None
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "laplace(scale=20)*3",
        "randomized_response(epsilon=0.03)*7",
        "gaussian(sigma=40)*2",
        "laplace(scale=60)*2 + gaussian(sigma=60)*3",
        "randomized_response(epsilon=0.1) + laplace(scale=15)",
    ],
)
def test_how_many_plans_fit_is_how_many_are_admitted(text: str) -> None:
    """Counted in strides within a level, and one by one: the same."""
    currency = currency_of("residue", {"epsilon": "1", "delta": "1e-6"})
    release = release_of(text)
    for before in (None, "gaussian(sigma=8)", "laplace(scale=5)", "laplace(scale=4) + gaussian(sigma=9)"):
        state: Any = currency.opening()
        if before is not None:
            state = currency.step(state, currency.price(release_of(before), state))
        fits, admitted = currency.fits(release, state), 0
        while not isinstance(after := currency.step(state, currency.price(release, state)), Refusal):
            state, admitted = after, admitted + 1
        assert fits == admitted
        assert fits > 0 or before is not None


def test_what_is_remembered_of_a_release_is_what_it_asks() -> None:
    """What is kept of a whole release at a level is what is found anew, at every allowance."""
    currency = currency_of("residue", {"epsilon": "1", "delta": "1e-6"})
    assert isinstance(currency, Residue)
    for text in (
        "laplace(scale=40)*3 + randomized_response(epsilon=0.02)*5",
        "gaussian(sigma=90)*4 + laplace(scale=70)",
    ):
        release = release_of(text)
        for left in [PARTS * share // 997 for share in (997, 996, 990, 900, 838, 830, 700, 500, 120, 40, 7)] * 2:
            found = currency.finder.payment(release, split := Split(left, 0, 0, UNUSED))
            currency.finder._payments.clear()
            assert currency.finder.payment(release, split) == found
