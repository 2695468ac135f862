"""What engines were asked in vain, two δ's asked as one, and ends that a single release proves."""

from __future__ import annotations

import math

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import dominant, meet, steady
from bursar.losses.engines.answer import Answer, Losses, Precision, asked_between
from bursar.losses.engines.asking import Ask, Turn
from bursar.losses.engines.tried import Tried
from bursar.losses.laws.table import TableLoss
from bursar.losses.laws.table_rows import Row
from bursar.numerics.balls import Ball, working


def removed(text: str) -> Losses:
    """The losses with a record removed."""
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


def answer(lower: float, upper: float) -> Answer:
    """An answer of no engine."""
    return Answer(lower, upper, (), "bands", 1, 0.0)


def test_what_was_asked_in_vain_still_proves_its_ends_on_their_sides() -> None:
    """ε falls as δ rises: of a wide answer the lower end is left for smaller δ's and the upper end for larger ones."""
    tried, losses = Tried(), removed("laplace(scale=1)*3")
    with working():
        at, less, more = arb("1e-9"), arb("0.99e-9"), arb("1.01e-9")
        assert tried.before("bands", losses, at) == (False, None)
        tried.note("bands", losses, at, answer(1.0, 2.0), 1e-6)
        for delta, ends in ((less, (1.0, math.inf)), (at, (1.0, 2.0)), (more, (0.0, 2.0))):
            known, left = tried.before("bands", losses, delta)
            assert known
            assert left is not None
            assert (left.lower, left.upper) == ends
        assert tried.before("bands", losses, arb("1e-3")) == (False, None)
        assert tried.before("bands", removed("laplace(scale=1)*3"), at) == (False, None)


def test_an_answer_as_narrow_as_was_asked_is_not_in_vain() -> None:
    """A wide answer to a wide question does not keep an engine from being asked closely."""
    tried, losses = Tried(), removed("laplace(scale=1)*3")
    with working():
        tried.note("bands", losses, arb("1e-9"), answer(1.0, 1.05), 0.1)
        assert tried.before("bands", losses, arb("1e-9")) == (False, None)
        tried.note("bands", losses, arb("1e-9"), None, 0.1)
        assert tried.before("bands", losses, arb("1e-9")) == (True, None)


def test_patience_ends() -> None:
    """An engine that takes long is asked in vain a few times for one question, whatever the losses."""
    tried = Tried()
    with working():
        for scale in range(1, 4):
            losses = removed(f"laplace(scale={scale})")
            asked, _ = tried.before("bands", losses, arb("1e-9"))
            assert asked == (scale > 2)
            tried.note("bands", losses, arb("1e-9"), None, 1e-6)
        assert tried.before("envelope", removed("laplace(scale=9)"), arb("1e-9")) == (False, None)


def test_two_deltas_that_are_all_but_one_are_asked_once() -> None:
    """A ball that holds both is asked; what is wide then, or apart, is asked twice, each end of its own δ."""
    asked: list[Ball] = []

    def solve(delta: Ball) -> Answer:
        asked.append(delta)
        return answer(-float(delta.upper().log()), -float(delta.lower().log()))

    with working():
        least, most = arb("1e-9") * (1 - arb("1e-9")), arb("1e-9")
        found = asked_between(solve, least, most, 1e-6)
        assert len(asked) == 1
        assert asked[0].contains(least)
        assert asked[0].contains(most)
        assert found.lower <= -float(most.log()) <= -float(least.log()) <= found.upper
        asked.clear()
        found = asked_between(solve, most / 2, most, 1e-6)
        assert len(asked) == 2
        assert (found.lower, found.upper) == (-float(most.log()), -float((most / 2).log()))


KINDS = [
    "laplace(scale=1)*7",
    "gaussian(sigma=2)*10",
    "randomized_response(epsilon=0.3)*50",
    "discrete_gaussian(sigma=3, sensitivity=2)*4",
    "poisson(gaussian(sigma=1), rate=0.01)*100",
    "poisson(gaussian(sigma=0.01), rate=0.001)*50",
    "poisson(laplace(scale=0.001), rate=0.001)*50",
    "poisson(gaussian(sigma=0.7, relation=replace_one), rate=0.01)*30",
    "table(p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5])*40 + laplace(scale=4)*3",
    "poisson(laplace(scale=2), rate=1e-3)*1000 + gaussian(sigma=30)*10",
]


@pytest.mark.parametrize("text", KINDS)
@pytest.mark.parametrize("engine", [None, "envelope", "lattice"])
def test_a_delta_that_is_a_wide_ball_has_both_of_its_ends_answered(text: str, engine: str | None) -> None:
    """The interval for a ball of δ's holds what is answered for its least and for its largest member."""
    with working():
        least, most = arb("1e-7"), arb("1.02e-7")
        losses, precision = removed(text), Precision(1e-4, engine=engine)
        whole = meet.epsilon_at([losses], least.union(most), precision)
        above, below = (meet.epsilon_at([losses], at, precision) for at in (least, most))
    assert whole.lower <= below.upper
    assert whole.upper >= above.lower
    assert whole.lower <= whole.upper


def test_those_that_take_long_have_their_turn_last() -> None:
    """First all that is quick, then the rest, and no engine twice."""
    called: list[str] = []

    def engine(name: str) -> Answer | None:
        called.append(name)
        return None

    names = ("single event", "few moments", "envelope", "bands", "lattice", "drawn")
    ask = Ask(Precision(), {name: (lambda *_, name=name: engine(name)) for name in names})  # type: ignore[misc]
    for turn in (Turn.FIRST, Turn.LAST):
        with pytest.raises(Exception, match="no engine serves"):
            ask(removed("laplace(scale=1)"), turn)
    assert called == list(names)


def test_largest_losses_that_are_tiny_cost_nothing_below_delta() -> None:
    """A record added to samples at rates of 1e-27 is never told from none, though the profile at 0 has no digits."""
    text = "poisson(poisson(gaussian(sigma=4.62e-14), rate=9e-29), rate=2.7e-27)*44382"
    found = b.account(b.parse(text), delta="1.9e-45").epsilon
    assert (found.lower, found.upper) == (0, 0)
    added = [(term.mechanism.losses().add, term.count) for term in b.parse(text).terms]
    with working():
        assert dominant.nothing(added, arb("1e-60")) is None


def test_what_leaks_is_seen_though_all_finite_losses_are_negative() -> None:
    """δ(0) is at least what leaks: a largest loss below 0 takes nothing off it."""
    q = arb("1.6e-24")
    rows = (Row(q, arb(0), None), Row(1 - q, arb(1), (-q).log1p()))
    with working():
        assert dominant.nothing([(TableLoss(rows), 1000)], arb("1e-22")) is None
        assert dominant.nothing([(TableLoss(rows), 1000)], arb("1.7e-21")) is not None
    text = "poisson(leaky_randomized_response(epsilon=2.461e+10, delta=1.769e-140), rate=1.592e-24)*344250"
    found = b.account(b.parse(text), delta="1.166e-23").epsilon
    assert 2.46e10 < found.lower <= found.upper < 2.4611e10


def test_a_single_release_has_a_lower_end() -> None:
    """Where δ is below what one release shows, forgetting the others leaves a cost that is no more than the truth."""
    text = "poisson(gaussian(sigma=0.1945, relation=replace_one), rate=1.258e-27)"
    with working():
        least = dominant.alone(removed(f"{text}*2"), arb("2.261e-68"))
        assert least > 0
    with working(640):
        assert removed(text)[0][0].profile(arb(least)) > arb("2.261e-68")
    found = b.account(b.parse(f"{text}*2"), delta="2.261e-68").epsilon
    assert found.lower >= least


def test_samples_with_a_record_added_are_steady_at_their_top() -> None:
    """Little noise: the loss is −ln(1 − q) but for chances that are nothing, and others are asked alone."""
    text = "poisson(gaussian(sigma=1e-6), rate=1e-9)*1000 + laplace(scale=10)*5"
    losses = [(term.mechanism.losses().add, term.count) for term in b.parse(text).terms]
    with working():
        parts = steady.split(losses, arb("1e-9"))
        assert parts is not None
        assert [type(loss).__name__ for loss, _ in parts.rest] == ["LaplaceLoss"]
        assert parts.low <= 1000 * -arb(-1e-9).log1p() <= parts.high
        found = meet.epsilon_at([losses], arb("1e-9"), Precision(1e-7))
        others = meet.epsilon_at([parts.rest], arb("1e-9"), Precision(1e-7))
    assert found.lower <= others.upper + 1e-6 <= found.upper + 3e-7


def test_absurd_questions_warn_nobody() -> None:
    """Floats that overflow on the way are nobody's business: the answer is narrow, and no warning is seen."""
    text = "poisson(gaussian(sigma=7.52e+06, relation=replace_one), rate=0.01467)*4"
    found = b.account(b.parse(text), delta="1.756e-256").epsilon
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-6)


def test_losses_that_vary_are_not_taken_at_their_top() -> None:
    """With more noise the loss of a record added is often far below its largest: nothing is steady then."""
    text = "poisson(gaussian(sigma=1), rate=0.3)*1000 + laplace(scale=1e-3)*5"
    losses = [(term.mechanism.losses().add, term.count) for term in b.parse(text).terms]
    with working():
        parts = steady.split(losses, arb("1e-9"))
        assert parts is None or any(type(loss).__name__ != "LaplaceLoss" for loss, _ in parts.rest)
