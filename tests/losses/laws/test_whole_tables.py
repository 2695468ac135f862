"""Tables of losses that mechanisms of one's own state: whole laws, or none."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

import bursar as b
from bursar.losses import Directions, TableLoss, connect_the_dots, leaky_response
from bursar.losses.laws.table import Row, both_directions
from bursar.numerics.balls import working

HALF, LN2 = Fraction(1, 2), arb(2).log()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([Row(HALF, Fraction(1, 4), LN2)], "sum to 1, not 0.5"),
        ([Row(HALF, HALF, arb(0)), Row(HALF, Fraction(1, 4), LN2)], "probabilities q .* not 0.75"),
        ([Row(HALF, HALF, arb(0)), Row(Fraction(1, 4), HALF, -LN2)], "probabilities p .* not 0.75"),
        ([Row(HALF, HALF, arb(0))] * 3, "sum to 1, not 1.5"),
        ([Row(0.5, 0.5, arb(0)), Row(0.4999999999, 0.5, None)], "row 1 .* ln"),
        ([Row(HALF, HALF, arb(0)), Row(HALF, HALF, None)], "row 1 .* not None"),
        ([Row(Fraction(1), Fraction(1), LN2)], "row 0 .* its loss is ln"),
        ([Row(Fraction(3, 2), Fraction(1), arb(3).log() - LN2), Row(-HALF, 0, None)], "row 1 .* at least 0"),
        ([], "sum to 1"),
    ],
)
def test_what_is_no_pair_of_laws_is_refused(rows: list[Row], words: str) -> None:
    """Missing mass, too much of it, negative mass and losses that are not ln(p/q) are named, in either direction."""
    with working(), pytest.raises(b.InputError, match=words):
        TableLoss(tuple(rows))


def test_a_mechanism_of_ones_own_cannot_leave_out_mass() -> None:
    """Half of the outcomes left out would halve δ; account refuses with the reason instead."""

    class Short(b.RandomizedResponse):
        name = "short"

        def losses(self) -> Directions:
            return both_directions(TableLoss((Row(HALF, Fraction(1, 4), LN2),)))

    with pytest.raises(b.InputError, match=r"sum to 1, not 0\.5"):
        b.account(Short(epsilon=1) * 2, epsilon=0)


def test_numbers_of_any_kind_are_read() -> None:
    """Floats mean their shortest decimals: 0.1 and 0.9 are a law, though their binary numbers are none."""
    with working():
        table = TableLoss((Row(0.1, 0.9, -arb(9).log()), Row("0.9", Fraction(1, 10), arb(9).log())))
        assert float(table.profile(0)) == pytest.approx(0.8)
        assert float(table.reversed().profile(1)) == pytest.approx(0.9 - 0.1 * math.e)


def test_the_catalogues_own_tables_are_whole() -> None:
    """Leaky responses at any size and profiles joined up pass the same check."""
    with working():
        for epsilon in map(arb, ("0", "1e-30", "1", "700", "1e20", "1e100")):
            for leak in map(arb, ("0", "1e-300", "0.3", "1")):
                assert len(leaky_response(epsilon, leak).rows) == (2 if leak == 0 else 4)
        corners = [(arb(0), arb(1)), (arb(1), arb(1) / 4), (arb(3), arb(1) / 10)]
        assert len(connect_the_dots(corners).rows) == 4


def test_an_outcome_that_may_be_impossible_may_have_any_loss() -> None:
    """Where q is a ball around 0 the loss may be infinite or not: it is neither surely above a number nor surely below
    it, in the table and in a sample of it.
    """
    with working():
        unsure = TableLoss.of([arb("0.5"), arb("0.25"), arb("0.25")], [arb("0.75"), arb("0.25"), arb(0, 1e-30)])
        sampled = unsure.sampled_pair(both_directions(unsure), arb("0.5")).remove.table()
        assert sampled is not None
        for loss, p, above in ((unsure, 0.25, 100), (sampled, 0.125, 100)):
            for seen in (loss.tail(arb(above)), loss.infinite_mass()):
                assert seen.overlaps(arb(0))
                assert seen.overlaps(arb(p))
            assert loss.cdf(arb(above)).overlaps(arb(1))
        # what the sample's row may be for every q, the largest included
        (row,) = [row for row in sampled.rows if row.loss is None]
        assert row.p.contains(0.5 * arb("0.25") + 0.5 * arb(1e-30))


def test_an_outcome_that_p_may_not_have_is_sampled_for_every_reading() -> None:
    """Where p is a ball around 0 a sample has the outcome by Q alone or by both; and what only P may have may leak."""
    with working():
        unsure = arb(0, 0.01)
        rest = 1 - unsure
        table = TableLoss((Row(unsure, arb("0.5"), None), Row(rest, arb("0.5"), (rest / arb("0.5")).log())))
        sampled = table.sampled_pair(both_directions(table), arb("0.5")).remove.table()
        assert sampled is not None
        for p in ("0", "0.01"):
            seen = (arb("0.5") + arb(p)) / 2
            assert any(row.p.contains(seen) and row.loss.contains((seen / arb("0.5")).log()) for row in sampled.rows)
        rare = TableLoss((Row(arb("0.5"), unsure, None), Row(arb("0.5"), rest, (arb("0.5") / rest).log())))
        seen = rare.sampled_pair(both_directions(rare), arb("1e-30")).remove.infinite_mass()
        assert seen.contains(arb("5e-31"))
        assert seen.contains(0)
