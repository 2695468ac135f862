"""Sums of mechanisms: one at a time or all at once, the same composition."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import bursar as b
from bursar.errors import InputError, RelationMismatch
from bursar.numerics.validate import MAX_COUNT


def test_sums_one_by_one_are_the_composition_of_all() -> None:
    """Whatever the order, equal mechanisms are one term, and terms stand in the order of their texts."""
    rng = random.Random(1)
    for _ in range(20):
        kinds = [b.Gaussian(rng.choice([1.0, 2.0, 3.5])) for _ in range(6)]
        kinds += [b.Laplace(rng.choice([1.0, 2.0])) for _ in range(4)]
        rng.shuffle(kinds)
        counts = [rng.choice([1, 1, 2, 7]) for _ in kinds]
        whole = b.Composition(zip(kinds, counts, strict=True))
        steps = sum((kind * count for kind, count in zip(kinds, counts, strict=True)), b.Composition())
        assert steps == whole
        assert steps.terms == whole.terms
        assert str(steps) == str(whole)
        assert steps + kinds[0] == b.Composition([*whole.terms, (kinds[0], 1)])


def test_sums_leave_what_they_started_from() -> None:
    """Two sums that start alike do not share what is added later."""
    start = b.Gaussian(1.0) + b.Laplace(2.0)
    one, other = start + b.Gaussian(5.0), start + b.Gaussian(7.0)
    assert len(start) == 2
    assert one + b.Gaussian(7.0) == other + b.Gaussian(5.0)
    assert one != other


def test_two_readings_of_one_number_still_widen() -> None:
    """0.1 as a float and 0.1 exactly are one term, which covers both."""
    mixed = b.Gaussian(0.1) + b.Gaussian(Fraction(1, 10))
    assert mixed == b.Composition([(b.Gaussian(0.1), 1), (b.Gaussian(Fraction(1, 10)), 1)])
    assert len(mixed.terms) == 1
    assert mixed.count == 2


def test_sums_are_checked_like_compositions() -> None:
    """Too many copies and two relations are refused, however they come together."""
    with pytest.raises(InputError):
        b.Gaussian(1.0) * MAX_COUNT + b.Gaussian(1.0)
    with pytest.raises(RelationMismatch):
        b.Gaussian(1.0) + b.Laplace(1.0) + b.Gaussian(1.0, relation="replace_one")
