"""The certificate itself against balls: it refuses what is too small by a hair, and what it accepts is enough."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import bursar as b
from bursar.losses.residue import certificate, certified, law_of_directions, smallest_charge
from bursar.losses.residue.law import ResidueLaw
from bursar.numerics.balls import working
from support.residues import excess

BITS = 160


def test_the_certificate_refuses_charges_that_are_too_small() -> None:
    """Two percent less than the smallest charge found has no certificate, and balls show that it is wrong."""
    law = law_of_directions(b.RandomizedResponse(epsilon=0.1).losses(), 1e-17)
    charge = smallest_charge(law, 0.5, 1e-17)
    assert charge is not None
    assert certified(law, 0.5, charge, 1e-17)
    assert not certified(law, 0.5, 0.98 * charge, 1e-17)
    with working(BITS):
        atoms = [(a.loss, a.mass) for a in b.RandomizedResponse(epsilon=0.1).losses().remove.atoms()]
        small = Fraction(0.98 * charge)
        assert any(
            excess(atoms, Fraction(1, 2), Fraction(1, 2) - small, x) > 0 for x in np.linspace(0, 4, 200).tolist()
        )


@pytest.mark.parametrize(("epsilon", "allowance"), [("0.3", 0.5), ("0.6", 1.0), ("1", 2.0), ("1.5", 4.0), ("2", 8.0)])
def test_a_millionth_less_than_enough_has_no_certificate(epsilon: str, allowance: float) -> None:
    """For one response the inequality is tightest at x = 0: a charge that balls refute there by a hair is refused,
    which each term of Taylor's formula is needed for.
    """
    losses = b.RandomizedResponse(epsilon=epsilon).losses()
    law = law_of_directions(losses, 1e-17)
    with working(BITS):
        atoms = [(a.loss, a.mass) for a in losses.remove.atoms()]
        low, high = 0.0, allowance
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            wrong = excess(atoms, Fraction(allowance), Fraction(allowance) - Fraction(middle), 0.0) > 1e-17
            low, high = (middle, high) if wrong else (low, middle)
        for less in (1e-8, 1e-7, 5e-7, 1e-6, 2e-6):
            charge = low * (1 - less)
            assert excess(atoms, Fraction(allowance), Fraction(allowance) - Fraction(charge), 0.0) > 1e-17
            assert not certified(law, allowance, charge, 1e-17), less
    assert certified(law, allowance, high * (1 + 1e-4), 1e-17)


def test_a_charge_does_not_depend_on_the_order_of_a_sum() -> None:
    """Libraries add in an order that suits the processor: charges have the same last digits whatever it is."""
    law = law_of_directions(b.Laplace(scale=3).losses(), 1e-17)
    charge = smallest_charge(law, 1.0, 1e-17)
    assert charge is not None
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(law.sides[0][0]) - 1)
        sides = tuple(
            (np.append(losses[:-1][order], losses[-1]), np.append(masses[:-1][order], masses[-1]))
            for losses, masses in law.sides
        )
        assert smallest_charge(ResidueLaw(sides, law.leak), 1.0, 1e-17) == charge, seed


@pytest.mark.parametrize("lie", [True, False])
def test_what_the_search_finds_has_a_certificate(lie: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the quick look says, the smallest charge is one that balls find enough; at worst there is none."""
    monkeypatch.setattr(certificate, "_plausible", lambda *_: lie)
    losses = b.RandomizedResponse(epsilon="0.3").losses()
    charge = smallest_charge(law_of_directions(losses, 1e-17), 0.5, 1e-17)
    assert (charge is not None) is lie
    if charge is not None:
        with working(BITS):
            atoms = [(a.loss, a.mass) for a in losses.remove.atoms()]
            for x in np.linspace(0, 4, 50).tolist():
                assert not excess(atoms, Fraction(1, 2), Fraction(1, 2) - Fraction(charge), x) > 1e-17


def test_a_charge_serves_every_larger_allowance() -> None:
    """The certificate of a rung also holds above it, which is what makes prices constant between rungs."""
    law = law_of_directions(b.Laplace(scale=10.0).losses(), 1e-17)
    charge = smallest_charge(law, 0.1, 1e-17)
    assert charge is not None
    for larger in (0.11, 0.2, 0.7, 2.0):
        assert certified(law, larger, charge * (1 + 1e-3), 1e-17)


@pytest.mark.parametrize("lie", [True, False])
def test_a_wrong_guess_is_never_charged(lie: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the look at some of the cells says, what is charged has its certificate."""
    law = law_of_directions(b.PoissonSampled(b.Gaussian(sigma=1), rate="0.0001").losses(), 1e-17)
    honest = smallest_charge(law, 37.0, 1e-17)
    monkeypatch.setattr(certificate, "_likely", lambda *_: lie)
    charge = smallest_charge(law, 37.0, 1e-17)
    assert charge is not None
    assert charge == honest
    assert certified(law, 37.0, charge, 1e-17)


@pytest.mark.parametrize("allowance", [44.5, 37.5, 20.0])
def test_small_losses_are_certified_a_few_times_only(allowance: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all of the finest cells are needed the search guesses on its way, and its end is the one that
    certificates alone would find.
    """
    law = law_of_directions(b.PoissonSampled(b.Gaussian(sigma=1), rate="0.0001").losses(), 1e-17)
    asked = []
    monkeypatch.setattr(certificate, "certified", lambda *given: asked.append(given) or certified(*given))
    charge = smallest_charge(law, allowance, 1e-17)
    assert len(asked) <= 4
    monkeypatch.setattr(certificate, "_likely", certified)
    assert smallest_charge(law, allowance, 1e-17) == charge
