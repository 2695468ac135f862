"""Groups whose records are drawn by themselves: a binomial number takes part, and a line is the worst case."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses import Directions
from bursar.mechanisms._binomial import _lifted
from bursar.mechanisms._drawn import MOST_RECORDS
from bursar.numerics.balls import down, up, working
from support.where import TESTS

GOLDEN = {
    row["id"]: float(row["value"])
    for row in json.loads((TESTS / "golden" / "theory2_values.json").read_text(encoding="utf-8"))
    if row["id"].startswith("T12.")
}
SAME = (
    "group(poisson(gaussian(sigma=1), rate=1/100), size=2)",
    "poisson(group(gaussian(sigma=1), size=2), rate=1/100)",
    "poisson(poisson(group(gaussian(sigma=1), size=2), rate=1/10), rate=1/10)",
    "group(group(poisson(gaussian(sigma=1), rate=1/100), size=2), size=1)",
    "poisson(group(poisson(gaussian(sigma=1), rate=1/10), size=2), rate=1/10)",
    "gaussian_mixture(sigma=1, shifts=[0, 1, 2], weights=[9801/10000, 198/10000, 1/10000])",
)


@pytest.mark.parametrize("text", SAME)
def test_however_it_is_written(text: str) -> None:
    """A sample of a group is the group of a sample, and both are the binomial mixture, whose δ is the golden one."""
    found = b.account(b.parse(text), epsilon="1/2").delta
    assert found.lower <= GOLDEN["T12.sg2"] * (1 + 1e-14)
    assert found.upper >= GOLDEN["T12.sg2"] * (1 - 1e-14)
    assert found.upper - found.lower < 1e-15
    assert str(b.parse(str(b.parse(text)))) == str(b.parse(text))


def _plane(steps: int = 400) -> tuple[Any, Any, float]:
    """Points of a plane around 0, and what a cell weighs."""
    line = np.linspace(-9.0, 11.0, steps)
    return *np.meshgrid(line, line, indexing="ij"), float(line[1] - line[0]) ** 2


def _normal(x: Any, y: Any, at: tuple[float, float], sigma: float) -> Any:
    return np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * sigma**2)) / (2 * math.pi * sigma**2)


@pytest.mark.parametrize("seed", range(6))
def test_records_in_any_directions_cost_no_more(seed: int) -> None:
    """Brute force: three records with vectors of norm at most 1 in the plane, each drawn by itself, summed over all
    eight samples, stay below the binomial mixture in both directions; collinear ones attain it.
    """
    rng = random.Random(seed)
    sigma, rate = rng.uniform(0.8, 1.5), Fraction(rng.randint(5, 60), 100)
    x, y, cell = _plane()
    turns = [0.0] * 3 if seed == 0 else [rng.uniform(0, 2 * math.pi) for _ in range(3)]
    sizes = [1.0] * 3 if seed == 0 else [rng.uniform(0.3, 1) for _ in range(3)]
    p, q = 0.0 * x, _normal(x, y, (0.0, 0.0), sigma)
    for chosen in range(8):
        some = [i for i in range(3) if chosen >> i & 1]
        at = (sum(sizes[i] * math.cos(turns[i]) for i in some), sum(sizes[i] * math.sin(turns[i]) for i in some))
        p = p + float(rate) ** len(some) * (1 - float(rate)) ** (3 - len(some)) * _normal(x, y, at, sigma)
    with working():
        losses = b.Group(b.PoissonSampled(b.Gaussian(sigma), rate), 3).losses()
        for epsilon in (-0.5, 0.0, 0.3, 1.0):
            for loss, one, other in ((losses.remove, p, q), (losses.add, q, p)):
                found = float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum()) * cell
                assert found <= up(loss.profile(epsilon)) + 2e-5  # kinks between the points
                if seed == 0:
                    assert found == pytest.approx(float(loss.profile(epsilon)), abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 0.6, 1.5])
def test_an_adversary_who_adapts_gains_nothing(epsilon: float) -> None:
    """Brute force over two steps: whatever the second step's contributions are made to depend on in the first output,
    the two-fold composition of the mixture covers it, add and remove apart.
    """
    sigma, rate = 1.0, 0.2
    line = np.linspace(-8.0, 10.0, 900)
    cell = float(line[1] - line[0])

    def law(shifts: tuple[float, float]) -> Any:
        """Two records, each drawn with the rate, which shift the output so."""
        total = 0.0 * line
        for first in (0, 1):
            for second in (0, 1):
                weight = (rate if first else 1 - rate) * (rate if second else 1 - rate)
                total = total + weight * _line_normal(line, first * shifts[0] + second * shifts[1], sigma)
        return total

    q = _line_normal(line, 0.0, sigma)
    together, apart, alone, half = law((1, 1)), law((1, -1)), law((1, 0)), law((0.5, 1))
    group = b.Group(b.PoissonSampled(b.Gaussian(sigma), "0.2"), 2)
    bound = b.account(group * 2, epsilon=epsilon).delta.upper
    reached = []
    for low, high in ((together, apart), (apart, together), (alone, together), (half, together), (together, together)):
        for switch in (-1.0, 0.5, 2.0):
            second = np.where((line < switch)[:, None], low[None, :], high[None, :])
            p, none = together[:, None] * second, q[:, None] * q[None, :]
            for one, other in ((p, none), (none, p)):
                reached.append(float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum()) * cell * cell)
    assert max(reached) <= bound + 1e-6
    assert max(reached) >= 0.99 * bound  # the worst case is among them


def _line_normal(x: Any, at: float, sigma: float) -> Any:
    return np.exp(-((x - at) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))


def test_large_groups() -> None:
    """A group too large to be counted inside is refused by name, and outside is priced by what holds for any group."""
    with pytest.raises(b.InputError, match=r"put the group outside: group\("):
        b.parse(f"poisson(group(gaussian(sigma=1), size={MOST_RECORDS + 1}), rate=0.1)")
    with pytest.raises(b.InputError, match=r"put the group outside: group\("):
        b.parse("poisson(group(poisson(group(gaussian(sigma=1), size=60), rate=0.1), size=2), rate=0.1)")
    with pytest.raises(b.InputError, match=r"put the group outside: group\("):
        b.parse("poisson(group(gaussian(sigma=1, relation=replace_one), size=2), rate=0.1)")
    found = b.account(b.parse(f"group(poisson(gaussian(sigma=200), rate=0.001), size={MOST_RECORDS + 1})"), delta=1e-6)
    assert 0 < found.epsilon.upper < 1


def test_weights_that_floats_cannot_hold_move_up() -> None:
    """Binomial weights below the range of floats move to larger shifts, so the law dominates, and is not attained."""
    with working():
        for rate, rest in ((arb("1e-5"), arb("0.99999")), (arb("0.99999"), arb("1e-5"))):
            weights = [arb(math.comb(64, k)) * rate**k * rest ** (64 - k) for k in range(65)]
            shifts, lifted = _lifted(weights)
            assert len(shifts) < 65
            assert all(weight > 0 for weight in lifted)
            first = int(float(shifts[0]))
            assert lifted[0].overlaps(sum(weights[: first + 1], arb(0)))  # nothing below it is lost
            assert sum(lifted, arb(0)).overlaps(arb(1))
            for k in range(65):
                tail = sum((weight for shift, weight in zip(shifts, lifted, strict=True) if float(shift) >= k), arb(0))
                assert not tail < sum(weights[k:], arb(0))
        losses = b.Group(b.PoissonSampled(b.Gaussian(1), "1e-5"), 64).losses()
        assert isinstance(losses, Directions)
        assert not losses.attained
        few = b.Group(b.PoissonSampled(b.Gaussian(1), "1e-5"), 10).losses()
        assert few.attained
        assert down(losses.remove.profile(0.2)) > down(few.remove.profile(0.2)) > 0


def test_a_group_of_one_is_its_record() -> None:
    """A group of one record has the losses and the claims of that record."""
    plain, one = (b.parse(text) for text in ("poisson(laplace(scale=2), rate=0.1)", SAME[0].replace("=2)", "=1)")))
    grouped = b.Group(plain.terms[0].mechanism, 1)
    ours, theirs = (b.account(what, delta=1e-6).epsilon for what in (grouped, plain))
    assert (ours.lower, ours.upper) == (theirs.lower, theirs.upper)
    record = b.account(b.parse("poisson(gaussian(sigma=1), rate=1/100)"), delta=1e-6).epsilon
    assert b.account(one, delta=1e-6).epsilon.upper == pytest.approx(record.upper, rel=1e-12)
