"""Tables with one loss that is far larger than all others and all but never seen."""

from __future__ import annotations

import itertools

import mpmath as mp
import pytest
from flint import arb

import bursar as b
from bursar.losses.laws.table import TableLoss
from bursar.losses.twins import Twins
from bursar.numerics.balls import working


def table(rare: str) -> TableLoss:
    """Three outcomes, the last of which has this chance and a loss of ln 9."""
    p, q = arb("0.501"), arb("0.5")
    r, s = arb(rare), arb(rare) / 9
    return TableLoss.of([p, 1 - p - r, r], [q, 1 - q - s, s])


def twins_of(loss: TableLoss) -> Twins:
    """The tables on either side, which are there."""
    found = loss.twins()
    assert found is not None
    return found


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_table_costs_no_more_and_one_no_less(count: int) -> None:
    """δ of all products, by enumeration, at ε's on both sides of every loss."""
    with working(400):
        loss = table("1e-25")
        low, high = twins_of(loss)[:2]
        assert isinstance(low, TableLoss)
        assert isinstance(high, TableLoss)
        for epsilon in ("0", "0.0005", "0.0019", "0.0021", "0.005", "0.5", "2.1", "2.3", "4.5"):
            small, own, large = (enumerated(one, count, arb(epsilon)) for one in (low, loss, high))
            assert not small > own
            assert not own > large
            assert abs(large - small) <= count * arb("2e-25")
        assert enumerated(high, count, arb(9)) > arb("0.88e-25")  # 8/9 of it


def test_a_rare_loss_that_is_tiny_is_hardly_seen() -> None:
    """In the larger table so much is infinite as tells the rare outcome from the others, not all of its mass."""
    with working(400):
        p, rare = arb("0.5") + arb("1e-40"), arb("1e-25")
        loss = TableLoss.of(
            [p, 1 - p - rare, rare], [arb("0.5"), arb("0.5") - rare * (1 - arb("1e-12")), rare * (1 - arb("1e-12"))]
        )
        low, high = twins_of(loss)[:2]
        assert arb("0.99e-37") < high.infinite_mass() < arb("1.01e-37")
        for epsilon in ("0", "1e-13", "2e-12"):
            small, own, large = (
                enumerated(one, 2, arb(epsilon)) for one in (low, loss, high) if isinstance(one, TableLoss)
            )
            assert not small > own
            assert not own > large


def enumerated(loss: TableLoss, count: int, epsilon: arb) -> arb:
    """Σ (Πp − e^ε·Πq)₊ over all sequences of outcomes."""
    total = arb(0)
    for rows in itertools.product(loss.rows, repeat=count):
        p, q = arb(1), arb(1)
        for row in rows:
            p, q = p * row.p, q * row.q
        total += (p - epsilon.exp() * q).max(arb(0))
    return total


def test_common_or_near_losses_have_no_twins() -> None:
    """A loss that is seen, or that is not far larger than the others, stays in the table."""
    with working():
        assert table("1e-3").twins() is None
        p, q, tiny = arb("0.6"), arb("0.5"), arb("1e-30")
        assert TableLoss.of([p, 1 - p - tiny, tiny], [q, 1 - q - tiny / 2, tiny / 2]).twins() is None


def test_a_sampled_leak_is_narrow_and_right() -> None:
    """Six copies: both directions by enumeration in 120 digits enclose the δ asked."""
    text = "poisson(leaky_randomized_response(epsilon=1.2e-9, delta=1e-90), rate=1e-12)"
    found = b.account(b.parse(text) * 6, delta="1e-23").epsilon
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-6)
    with mp.workdps(120):
        at = [max(exact(mp.mpf(end), side) for side in (False, True)) for end in (found.lower, found.upper)]
        assert at[0] >= mp.mpf("1e-23") * (1 - mp.mpf("1e-12"))
        assert at[1] <= mp.mpf("1e-23") * (1 + mp.mpf("1e-12"))


def exact(epsilon: mp.mpf, added: bool) -> mp.mpf:
    """δ of six copies, over how often each of the four outcomes was seen."""
    e0, leak, rate, count = mp.mpf("1.2e-9"), mp.mpf("1e-90"), mp.mpf("1e-12"), 6
    yes = (1 - leak) * mp.exp(e0) / (1 + mp.exp(e0))
    with_record, without = [leak, yes, 1 - leak - yes, mp.mpf(0)], [mp.mpf(0), 1 - leak - yes, yes, leak]
    drawn = [(1 - rate) * q + rate * p for p, q in zip(with_record, without, strict=True)]
    one, other = (without, drawn) if added else (drawn, without)
    total = mp.mpf(0)
    for seen in itertools.product(range(count + 1), repeat=4):
        if sum(seen) == count:
            ways = mp.factorial(count) / mp.fprod(mp.factorial(n) for n in seen)
            p = mp.fprod(a**n for a, n in zip(one, seen, strict=True))
            q = mp.fprod(a**n for a, n in zip(other, seen, strict=True))
            total += ways * max(p - mp.exp(epsilon) * q, mp.mpf(0))
    return total
