"""A leak that δ does not cover is infinite from both sides, whatever else is released, and bounds δ at every ε."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest

import bursar as b
from support.catalogue import REPLACE

SHAME = b.NameAndShame(delta="1/10")
BOX = b.Declared(b.ApproxDP(epsilon="1/10", delta="1/10"))
LEAKY_TABLE = b.Table(["1/2", "1/2", 0], ["1/2", "2/5", "1/10"])
BESIDE = (b.Laplace(scale=1), b.Gaussian(sigma=1), b.Declared(b.ZCDP(rho=1)), b.Exponential(epsilon=1))
EXCEEDED = (
    SHAME,
    BOX,
    b.LeakyRandomizedResponse(epsilon=1, delta="1/10"),
    b.Declared(b.ZCDP(rho="1/10", delta="1/10")),
    b.Declared(b.Profile([(1, "1/2"), (3, "1/10")])),
    LEAKY_TABLE,
    b.PoissonSampled(SHAME, rate="1/2"),
    b.PoissonSampled(BOX, rate="1/2"),
    b.PoissonSampled(b.Declared(b.ZCDP(rho="1/10", delta="1/10")), rate="1/2"),
    b.PoissonSampled(b.PoissonSampled(SHAME, rate="1/2"), rate="1/2"),
    b.Group(SHAME, size=3),
    b.Disjoint(SHAME, b.Laplace(scale=1)),
    b.Disjoint(b.Laplace(scale=1), SHAME * 3),
)
REPLACED = (
    b.PoissonSampled(b.NameAndShame(delta="1/10", relation=REPLACE), rate="1/2"),
    b.FixedSizeSampled(b.Declared(b.ApproxDP(epsilon=1, delta="1/10"), relation=REPLACE), sample=5, population=10),
    b.FixedSizeSampled(b.LeakyRandomizedResponse(epsilon=1, delta="1/10", relation=REPLACE), sample=5, population=10),
    b.Disjoint(SHAME, relation=REPLACE),
)


@pytest.mark.parametrize("beside", BESIDE, ids=str)
@pytest.mark.parametrize("leaky", EXCEEDED, ids=str)
def test_a_leak_beyond_delta_is_infinite_from_both_sides(leaky: b.Mechanism, beside: b.Mechanism) -> None:
    """No finite ε holds at δ = 1e-6, and δ is at least the leak at every ε, beside anything."""
    found = b.account(leaky + beside, delta=1e-6).epsilon
    assert (found.lower, found.upper) == (math.inf, math.inf)
    for epsilon in (0, 1, 50):
        delta = b.account(leaky + beside, epsilon=epsilon).delta
        assert 0.024 <= delta.lower <= delta.upper


@pytest.mark.parametrize("leaky", REPLACED, ids=str)
def test_a_record_that_is_shown_is_shown_under_replacement_too(leaky: b.Mechanism) -> None:
    """Sampled or in a block, a published record leaks at least a twentieth under replace_one."""
    what = leaky + b.Laplace(scale=1, relation=REPLACE)
    assert b.account(what, delta=1e-6).epsilon.lower == math.inf
    assert b.account(what, epsilon=3).delta.lower >= 0.05 - 1e-12


@dataclass(frozen=True, init=False, repr=False)
class Own(b.Mechanism):
    """A class of one's own that tells its (ε, δ) exactly, or only bounds it."""

    tightness: object
    relation: str = "add_remove"
    name = "own"

    def __init__(self, tightness: object) -> None:
        self._set(tightness=tightness)

    def claims(self) -> tuple[object, ...]:
        """(1, 1/10)-DP."""
        from bursar.guarantees import Claim

        return (Claim(b.ApproxDP(epsilon=1, delta="1/10"), "declared", self.tightness),)


def test_what_is_only_bounded_is_not_said_to_leak() -> None:
    """A δ that is merely an upper bound leaves ε open; one that is told exactly does not. A sampled table says nothing
    about what replaces its record, and absence is never certain from a sample.
    """
    from bursar.guarantees import Tightness

    beside = b.Laplace(scale=1)
    assert b.account(Own(Tightness.BOUND) + beside, delta=1e-6).epsilon.lower < 1  # what the one beside it costs
    assert b.account(Own(Tightness.EXACT) + beside, delta=1e-6).epsilon.lower == math.inf
    replaced = b.Table(["1/2", "1/2", 0], ["1/2", "2/5", "1/10"], relation=REPLACE)
    sampled = b.PoissonSampled(replaced, rate="1/2") + b.Laplace(scale=1, relation=REPLACE)
    assert b.account(sampled, delta=1e-6).epsilon.lower < 1
    absent = b.PoissonSampled(LEAKY_TABLE, rate="1/2").leaks()
    assert float(absent.removed) == float(absent.added) == 0
    present = b.PoissonSampled(b.Table(["1/2", "2/5", "1/10"], ["1/2", "1/2", 0]), rate="1/2").leaks()
    assert float(present.removed) == pytest.approx(0.05)
    assert float(present.added) == 0


def test_leaks_that_exceed_delta_only_together() -> None:
    """Ten leaks of 1/100 are 1 − 0.99¹⁰ = 0.0956 together: infinite below, finite above, never a contradiction."""
    what = b.NameAndShame(delta="1/100") * 10 + b.Laplace(scale=1)
    truth = 1 - Fraction(99, 100) ** 10
    for share, infinite in ((Fraction(999, 1000), True), (Fraction(1001, 1000), False)):
        found = b.account(what, delta=truth * share).epsilon
        assert (found.lower == math.inf, found.upper == math.inf) == (infinite, infinite)
    at = b.account(what, delta=truth).epsilon
    assert at.lower <= 1 <= at.upper
    floats = b.account(b.NameAndShame(delta=0.1) + b.Laplace(scale=1), delta=0.1).epsilon
    assert floats.lower <= 1 <= floats.upper


def test_directions_do_not_add_up() -> None:
    """A leak of presence and a leak of absence are two directions: the larger one counts, not both."""
    absent, present = LEAKY_TABLE, b.Table(["3/10", "1/2", "1/5"], ["1/2", "1/2", 0])
    leak = (absent + present).leaks()
    assert float(leak.removed) == pytest.approx(0.2)
    assert float(leak.added) == pytest.approx(0.1)
    assert b.account(absent + present, delta="0.199").epsilon.lower == math.inf
    assert b.account(absent + present, delta="0.21").epsilon.upper < math.inf


def test_everything_may_be_revealed_for_certain() -> None:
    """A certain leak is 1, composed too."""
    what = b.Table([1, 0], [0, 1]) + b.Laplace(scale=1)
    assert b.account(what, delta="0.999").epsilon.lower == math.inf
    assert b.account(what, epsilon=1).delta.lower == 1
    parts = b.Table([0, "3/20", "17/20"], [1, 0, 0]) + b.Table(["4/9", "5/9", 0], ["1/2", 0, "1/2"]) * 2
    assert b.account(parts, epsilon=1).delta.lower > 1 - 1e-12
    assert b.profile(parts).trade_off([0, 0.5], width=1e-9).upper.max() < 1e-9
