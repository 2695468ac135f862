"""Copies of losses on equal steps, by all of their places: against enumeration of outputs."""

from __future__ import annotations

import itertools

import mpmath as mp
import pytest
from flint import arb

import bursar as b
from bursar.losses import Loss
from bursar.losses.engines import meet
from bursar.losses.engines.answer import Precision
from bursar.losses.engines.hit_profiles import plain_profile
from bursar.losses.engines.hit_steps import Copies, Steps, copies_of
from bursar.numerics.balls import working

KINDS = [
    ("discrete_gaussian(sigma=0.3, sensitivity=2)", 12),
    ("discrete_gaussian(sigma=0.7, sensitivity=1)", 14),
    ("discrete_laplace(scale=0.5, sensitivity=4)", 60),
    ("discrete_laplace(scale=2, sensitivity=3)", 150),
]


def loss_of(text: str) -> Loss:
    """The loss of one release, a record removed."""
    return b.parse(text).terms[0].mechanism.losses().remove


def copies(text: str, count: int) -> Copies:
    """So many of them."""
    with working(1400):
        steps = loss_of(text).equal_steps()
        assert steps is not None
        found = copies_of(steps, count)
    assert found is not None
    return found


def exact(text: str, count: int, far: int, x: mp.mpf) -> mp.mpf:
    """δ over all outputs of up to ``far`` either way, from the noise itself: a mass against the one that is shifted."""
    kind, first, second = text.replace("(", ",").replace(")", "").split(",")
    noise, shift = mp.mpf(first.split("=")[1]), int(second.split("=")[1])

    def height(y: int) -> mp.mpf:
        return mp.exp(-mp.mpf(y * y) / (2 * noise**2)) if "gaussian" in kind else mp.exp(-mp.mpf(abs(y)) / noise)

    norm = mp.fsum(height(y) for y in range(-400, 401))
    rows = [(height(y) / norm, height(y - shift) / norm) for y in range(-far, far + shift + 1)]
    law: dict[mp.mpf, mp.mpf] = {mp.mpf(0): mp.mpf(1)}
    for _ in range(count):
        law_next: dict[mp.mpf, mp.mpf] = {}
        for (loss, mass), (p, q) in itertools.product(law.items(), rows):
            place = mp.nint((loss + mp.log(p / q)) * mp.mpf(10) ** 30) / mp.mpf(10) ** 30
            law_next[place] = law_next.get(place, mp.mpf(0)) + mass * p
        law = law_next
    return mp.fsum(mass * -mp.expm1(x - loss) for loss, mass in law.items() if loss > x)


@pytest.mark.parametrize(("text", "far"), KINDS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_profiles_are_those_of_the_outputs(text: str, far: int, count: int) -> None:
    """Between places and next to them, from below the mean to deep in the tail."""
    found = copies(text, count)
    with mp.workdps(60), working():
        for share in ("-0.3", "0", "0.1", "0.25", "0.4"):
            x = arb(share) * found.top
            near = mp.mpf(x.mid().str(40, radius=False))
            truth, ball = exact(text, count, far, near), found.profile(x)
            slack = truth * mp.mpf(10) ** -18 + mp.mpf(10) ** -40
            assert mp.mpf(ball.lower().str(40, radius=False)) <= truth + slack
            assert mp.mpf(ball.upper().str(40, radius=False)) >= truth - slack
            assert ball.rad() <= 1e-12 * ball.mid() + arb("1e-36")


def test_a_place_itself_has_nothing_left() -> None:
    """At a loss that is one of the places, and a little beside it, the profile hardly changes; above all it is 0."""
    found = copies("discrete_laplace(scale=0.5, sensitivity=4)", 3)
    with working():
        for number in (0, 1, 5):
            place = found.top - number * found.step
            here, above, below = (found.profile(place + arb(off)) for off in ("0", "1e-30", "-1e-30"))
            assert above.lower() <= here.upper()
            assert here.lower() <= below.upper()
            assert below - above <= arb("1e-28")
        assert found.profile(found.top + 1) == 0
        assert found.profile(arb(0, 1) + found.top - 1).upper() > found.profile(found.top - 1).upper()


def test_what_is_not_listed_is_added() -> None:
    """Above the largest place of the list there is what was left out of it, for each of the copies."""
    with working():
        steps = Steps(arb(5), arb(1), [arb("0.25"), arb("0.5"), arb("0.2")], arb("0.05"))
        found = copies_of(steps, 2)
        assert found is not None
        assert found.profile(arb(11)).upper() >= arb("0.1")
        assert found.profile(arb(11)).lower() <= 0


def test_too_many_places_are_not_listed() -> None:
    """A long range, or many copies, are left to bounds."""
    assert loss_of("discrete_laplace(scale=1, sensitivity=100000)").equal_steps() is None
    assert loss_of("discrete_gaussian(sigma=50, sensitivity=1)").equal_steps() is None
    steps = loss_of("discrete_laplace(scale=2, sensitivity=3)").equal_steps()
    assert steps is not None
    assert copies_of(steps, 10_000) is None


@pytest.mark.parametrize("text", ["laplace(scale=20)", "discrete_laplace(scale=30, sensitivity=2)"])
@pytest.mark.parametrize("count", [40, 3000])
def test_bounds_by_tilts_hold_what_an_engine_says(text: str, count: int) -> None:
    """Many copies, from far below their mean to far above it: the bounds enclose the engines' δ."""
    loss = loss_of(text)
    with working():
        mean, spread = count * loss.mean(), (count * loss.variance()).sqrt()
        for deviations in (-2, 0, 2, 6):
            x = arb(float(mean + deviations * spread))
            bounds, answer = plain_profile(loss, count, x), meet.delta_at([[(loss, count)]], x, Precision(1e-4))
            assert bounds.lower() <= answer.upper
            assert bounds.upper() >= answer.lower
        assert plain_profile(loss, count, arb(float(mean - 9 * spread))).lower() > 0.9
        assert plain_profile(loss, count, arb(float(mean + 9 * spread))).upper() < 1e-9
