"""A leak that δ does not cover is infinite from both sides, whatever else is released, and bounds δ at every ε."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest

import bursar as b
from bursar.guarantees import Claim, Tightness
from support.catalogue import ADD, REPLACE

SHAME = b.NameAndShame(delta="1/10")
BOX = b.Declared(b.ApproxDP(epsilon="1/10", delta="1/10"))
PROMISE = b.Declared(b.ZCDP(rho="1/10", delta="1/10"))
ABSENT = b.Table(["1/2", "1/2", 0], ["1/2", "2/5", "1/10"])
BESIDE = (b.Laplace(scale=1), b.Gaussian(sigma=1), b.Declared(b.ZCDP(rho=1)), b.Exponential(epsilon=1))
EXCEEDED = (
    SHAME,
    BOX,
    b.LeakyRandomizedResponse(epsilon=1, delta="1/10"),
    PROMISE,
    b.Declared(b.Profile([(1, "1/2"), (3, "1/10")])),
    ABSENT,
    *(b.PoissonSampled(inner, rate="1/2") for inner in (SHAME, BOX, PROMISE, b.PoissonSampled(SHAME, rate="1/2"))),
    b.Group(SHAME, size=3),
    b.Disjoint(SHAME, b.Laplace(scale=1)),
    b.Disjoint(b.Laplace(scale=1), SHAME * 3),
    b.PoissonSampled(b.NameAndShame(delta="1/10", relation=REPLACE), rate="1/2"),
    b.FixedSizeSampled(b.Declared(b.ApproxDP(epsilon=1, delta="1/10"), relation=REPLACE), sample=5, population=10),
    b.FixedSizeSampled(b.LeakyRandomizedResponse(epsilon=1, delta="1/10", relation=REPLACE), sample=5, population=10),
    b.Disjoint(SHAME, relation=REPLACE),
)


@pytest.mark.parametrize("leaky", EXCEEDED, ids=str)
def test_a_leak_beyond_delta_is_infinite_from_both_sides(leaky: b.Mechanism) -> None:
    """No finite ε holds at δ = 1e-6, and δ is at least the leak at every ε, beside anything, under either relation."""
    besides, least = (BESIDE, 0.024) if leaky.relation == ADD else ([b.Laplace(scale=1, relation=REPLACE)], 0.05)
    for beside in besides:
        found = b.account(leaky + beside, delta=1e-6).epsilon
        assert (found.lower, found.upper) == (math.inf, math.inf)
        for epsilon in (0, 1, 3, 50):
            delta = b.account(leaky + beside, epsilon=epsilon).delta
            assert least - 1e-12 <= delta.lower <= delta.upper


@dataclass(frozen=True)
class Own(b.Mechanism):
    """A class of one's own that tells its (ε, δ) exactly, or only bounds it."""

    tightness: Tightness
    name = "own"
    relation = ADD

    def claims(self) -> tuple[Claim, ...]:
        """(1, 1/10)-DP."""
        return (Claim(b.ApproxDP(epsilon=1, delta="1/10"), "declared", self.tightness),)


def test_what_is_only_bounded_is_not_said_to_leak() -> None:
    """A δ that is merely an upper bound leaves ε open, and a sampled table says nothing of what replaces its record."""
    replaced = b.Table(["1/2", "1/2", 0], ["1/2", "2/5", "1/10"], relation=REPLACE)
    sampled = b.PoissonSampled(replaced, rate="1/2") + b.Laplace(scale=1, relation=REPLACE)
    for what in (Own(Tightness.BOUND) + b.Laplace(scale=1), sampled):
        assert b.account(what, delta=1e-6).epsilon.lower < 1  # what the one beside it costs


PRESENT = b.Table(["3/10", "1/2", "1/5"], ["1/2", "1/2", 0])
TEN, TOGETHER = b.NameAndShame(delta="1/100") * 10 + b.Laplace(scale=1), 1 - Fraction(99, 100) ** 10


def test_leaks_that_exceed_delta_only_together() -> None:
    """Leaks of one direction compose, and those of two do not: infinite from both sides or from none."""
    for what, delta, infinite in (
        (TEN, TOGETHER * Fraction(999, 1000), True),
        (TEN, TOGETHER * Fraction(1001, 1000), False),
        (ABSENT + PRESENT, "0.199", True),
        (ABSENT + PRESENT, "0.21", False),
        (Own(Tightness.EXACT) + b.Laplace(scale=1), 1e-6, True),
        (b.Table([1, 0], [0, 1]) + b.Laplace(scale=1), "0.999", True),
    ):
        found = b.account(what, delta=delta).epsilon
        assert (found.lower == math.inf, found.upper == math.inf) == (infinite, infinite), str(what)


def test_leaks_that_are_as_large_as_delta() -> None:
    """Just covered, of ten together or of a float: the answer contains what the one beside them costs."""
    for what, delta in ((TEN, TOGETHER), (b.NameAndShame(delta=0.1) + b.Laplace(scale=1), 0.1)):
        found = b.account(what, delta=delta).epsilon
        assert found.lower <= 1 <= found.upper


def test_each_direction_has_its_leak() -> None:
    """A leak of presence and one of absence are told apart, and absence is never certain from a sample."""
    seen = b.PoissonSampled(b.Table(["1/2", "2/5", "1/10"], ["1/2", "1/2", 0]), rate="1/2")
    unseen = b.PoissonSampled(ABSENT, rate="1/2")
    for what, removed, added in ((ABSENT + PRESENT, 0.2, 0.1), (seen, 0.05, 0), (unseen, 0, 0)):
        leak = what.leaks()
        assert [float(leak.removed), float(leak.added)] == pytest.approx([removed, added], rel=1e-6, abs=0)


def test_everything_may_be_revealed_for_certain() -> None:
    """A certain leak is 1, composed too."""
    assert b.account(b.Table([1, 0], [0, 1]) + b.Laplace(scale=1), epsilon=1).delta.lower == 1
    parts = b.Table([0, "3/20", "17/20"], [1, 0, 0]) + b.Table(["4/9", "5/9", 0], ["1/2", 0, "1/2"]) * 2
    assert b.account(parts, epsilon=1).delta.lower > 1 - 1e-12
    assert b.profile(parts).trade_off([0, 0.5], width=1e-9).upper.max() < 1e-9
