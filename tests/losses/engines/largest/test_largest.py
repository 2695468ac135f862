"""The largest-loss engine: layers of compositions against enumeration, balls, other engines and other layers."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.bands.solve import epsilon_at as by_bands
from bursar.losses.engines.largest import layers
from bursar.losses.engines.largest.cutting import cut, empty, mass
from bursar.losses.engines.largest.layers import Group
from bursar.losses.engines.largest.solve import Parts, Sums, epsilon_at
from bursar.numerics.balls import ball, positive_part, working

MOMENTS = 1 << 18
RARE = [
    ("poisson(gaussian(sigma=5.441), rate=3.85e-06)*47", "1.569e-286"),
    ("poisson(gaussian(sigma=3.83), rate=1.528e-05)*2625", "4.062e-243"),
    ("poisson(gaussian(sigma=1.039, relation=replace_one), rate=1.749e-06)*230981", "3.341e-134"),
    ("poisson(gaussian(sigma=1.098, relation=replace_one), rate=0.0004578)*2664", "1.255e-269"),
    ("poisson(discrete_gaussian(sigma=310.5, sensitivity=57), rate=0.001567)*717", "2.471e-203"),
    ("poisson(discrete_gaussian(sigma=17.7, sensitivity=29), rate=1.039e-05)*7794", "2.502e-09"),
    ("poisson(gaussian(sigma=685), rate=0.04825)*15 + poisson(gaussian(sigma=2.639), rate=0.002286)*224", "1.058e-80"),
]


def removed(text: str) -> Losses:
    """The losses with a record removed."""
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


def rare_table(rng: random.Random) -> tuple[str, list[tuple[arb, arb]]]:
    """A table with common outcomes of small losses and rare ones of large losses, as text and as pairs."""
    common = [(rng.randint(40, 60), rng.randint(40, 60)) for _ in range(2)]
    rare = []
    for _ in range(2):
        p = Fraction(1, 10 ** rng.randint(5, 20))
        rare.append((p, p / rng.randint(8, 500)))
    columns = []
    for i in (0, 1):
        rest = 1 - sum((row[i] for row in rare), Fraction(0))
        whole = sum(row[i] for row in common)
        columns.append([rest * Fraction(row[i], whole) for row in common] + [row[i] for row in rare])
    text = ", ".join(f"{name}=[{', '.join(map(str, column))}]" for name, column in zip("pq", columns, strict=True))
    pairs = [
        (arb(p.numerator) / p.denominator, arb(q.numerator) / q.denominator) for p, q in zip(*columns, strict=True)
    ]
    return f"table({text})", pairs


def multinomial(pairs: list[tuple[arb, arb]], count: int, epsilon: float) -> arb:
    """δ(ε) of so many copies of a table, over every number of each outcome."""
    total, scale = arb(0), arb(epsilon).exp()

    def visit(at: int, left: int, p: arb, q: arb) -> None:
        nonlocal total
        if at == len(pairs) - 1:
            total += positive_part(p * pairs[at][0] ** left - scale * q * pairs[at][1] ** left)
            return
        for n in range(left + 1):
            ways = math.comb(left, n)
            visit(at + 1, left - n, p * pairs[at][0] ** n * ways, q * pairs[at][1] ** n * ways)

    visit(0, count, arb(1), arb(1))
    return total


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_layers_hold_the_enumerated_delta(seed: int) -> None:
    """Tables with rare large losses, in layers of many kinds: δ over all outcomes lies between both ends."""
    rng = random.Random(f"largest {seed}")
    text, pairs = rare_table(rng)
    count = rng.choice([3, 12, 30])
    with working(400):
        near = rng.uniform(0.3, 1.5) * float((pairs[2][0] / pairs[2][1]).log())
        truth = multinomial(pairs, count, near)
    log_delta = float(truth.log())
    with np.errstate(all="ignore"):
        sums = Sums(Parts(removed(f"{text}*{count}"), log_delta), arb(0), near, 0.02, MOMENTS)
        lower, upper = sums.evaluate(near)
    with working(400):
        assert lower <= truth
        assert truth <= upper


@pytest.mark.parametrize(("text", "delta"), RARE)
def test_other_layers_give_the_same_epsilon(text: str, delta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the layers are, and however many are taken together: all intervals have a point in common, and with that
    of the bands engine.
    """
    losses, target = removed(text), ball(Fraction(delta))
    found = []
    for bent, loose in ((12.0, 1.0), (5.0, -99.0), (30.0, 0.3)):
        monkeypatch.setattr(layers, "_BENT", bent)
        monkeypatch.setattr(layers, "_LOOSE", loose)
        found.append(epsilon_at(losses, target, 1e-6, MOMENTS))
    assert min(one.width for one in found) <= 1e-6
    try:
        other = by_bands(losses, target)
    except ArithmeticError:  # it has limits of its own
        other = None
    ends = found if other is None else [*found, other]
    assert max(one.lower for one in ends) <= min(one.upper for one in ends)


def test_moments_of_a_layer_are_those_of_the_difference() -> None:
    """N(t) = Π(F + G)^k − ΠF^k in balls, for few and for very many copies, at frequencies near and far."""
    for count in (5, 40_000):
        columns = "p=[3/10, 6999999/10000000, 1/10000000], q=[7/10, 299999999/1000000000, 1/1000000000]"
        losses = removed(f"table({columns})*{count}")
        parts = Parts(losses, -60.0)
        top = len(parts.layers.bounds) - 1
        (layer,) = parts.factors(Group(top, top, True, 1.0))
        tau, frequencies = 0.7, np.arange(64) * 0.11
        moments = layer.moments(tau, frequencies)
        (lead,) = layer.cumulants([tau])
        with working(300):
            tenth = arb(1) / 10
            rows = [(3 * tenth, 7 * tenth), (1 - 3 * tenth - tenth**7, 3 * tenth - tenth**9), (tenth**7, tenth**9)]
            atoms = [(mass, (mass / other).log()) for mass, other in rows]
            low, inside = cut(parts.kept[0], parts.layers.bounds[top - 1])
            assert not empty(inside)
            kept = len(low.losses)
            for j, s in enumerate(frequencies.tolist()):
                t = acb(tau, s)
                small = sum((weight * (t * loss).exp() for weight, loss in atoms[:kept]), acb(0))
                whole = sum((weight * (t * loss).exp() for weight, loss in atoms), acb(0))
                truth = whole**count - small**count
                turn = acb(0, 1) * (moments.drift * s + float(moments.turn[j]))
                said = (lead + float(moments.log_size[j]) + turn).exp()
                size = abs(said)
                assert abs(truth - said) <= size * (math.expm1(float(moments.error[j])) + 1e-9) + size * lead.rad()


def test_a_cut_law_has_all_of_its_mass() -> None:
    """Both parts together weigh what the whole does, wherever it is cut."""
    for text in ("poisson(gaussian(sigma=1), rate=0.01)*1", "poisson(laplace(scale=0.5), rate=0.1)*1"):
        law = removed(text)[0][0].lattice_law(60.0)
        for at in (-0.005, 0.3, 2.0):
            low, high = cut(law, at)
            assert (mass(low) + mass(high)).overlaps(mass(law))
            assert float(mass(high)) == pytest.approx(float(removed(text)[0][0].tail(arb(at))), rel=1e-9)


def test_very_many_copies_do_not_overflow() -> None:
    """Where a layer is common among hundreds of thousands of copies, its sums agree with the plain engine's."""
    text = "poisson(gaussian(sigma=0.06722), rate=0.01724)*29 + poisson(gaussian(sigma=0.06016), rate=0.05412)*210105"
    losses, delta = removed(text), ball(Fraction("3.010e-198"))
    near = 1969696.0
    with np.errstate(all="ignore"):
        parts = Parts(losses, float(delta.log()))
        apart = [Group(0, 0, True, 1e-3), Group(1, len(parts.layers.bounds) - 1, True, 1e-3)]
        together = [Group(0, len(parts.layers.bounds) - 1, True, 1e-3)]
        ends = []
        for groups in (apart, together):
            parts.layers.groups = lambda _, groups=groups: groups  # type: ignore[method-assign]
            ends.append(Sums(parts, arb(0), near, 1e-6, MOMENTS).evaluate(near))
    assert ends[0][0] <= ends[1][1]
    assert ends[1][0] <= ends[0][1]
    assert ends[0][0] > 0


def test_what_lies_above_all_layers_is_given_up() -> None:
    """The upper end counts all of it: with a δ so large that the rarest losses are left out, they are still there."""
    losses = removed("poisson(gaussian(sigma=2), rate=0.001)*50")
    with np.errstate(all="ignore"):
        parts = Parts(losses, -12.0)
        assert parts.given_up > 0
        near = parts.layers.guess()
        sums = Sums(parts, arb(0), near, 1e-4, MOMENTS)
        plain = sum((one.evaluate(near)[1] for one in sums.envelopes), arb(0))
        bounded = sum(((bound - arb(tilt) * near).exp() for tilt, bound in sums.bounds), arb(0))
        assert float(sums.evaluate(near)[1]) - float(plain + bounded) >= 0.99 * float(parts.given_up)


def test_layers_that_are_bounded_count() -> None:
    """A layer that is bounded instead of summed still raises the upper end, by no less than it has."""
    losses = removed("poisson(gaussian(sigma=2), rate=0.001)*50")
    with np.errstate(all="ignore"):
        parts = Parts(losses, -40.0)
        near, top = parts.layers.guess(), len(parts.layers.bounds) - 1
        summed = [Group(0, top - 2, True, 1.0), Group(top - 1, top, True, 1.0)]
        tilt = parts.layers.bound(top - 1, top, near)[1]
        ends = []
        for groups in (summed, [summed[0], Group(top - 1, top, False, tilt)]):
            parts.layers.groups = lambda _, groups=groups: groups  # type: ignore[method-assign]
            ends.append(Sums(parts, arb(0), near, 1e-4, MOMENTS).evaluate(near))
    assert ends[1][1] >= ends[0][0]  # these two layers have nearly all of it
    assert ends[1][0] <= ends[0][0] / 2


def test_what_others_leave_out_is_given_up_too() -> None:
    """A Laplace whose range is longer than anybody looks, beside rare losses: what its law leaves out is counted."""
    losses = removed("laplace(scale=0.001)*3 + poisson(gaussian(sigma=2), rate=0.001)*50")
    with np.errstate(all="ignore"):
        parts = Parts(losses, -40.0)
        own = parts.counts[0] * (parts.beyond[0] + arb(parts.laws[0].log_lost).exp())
        assert parts.others[0].given_up > 0
        assert float(parts.given_up) >= 0.999 * float(parts.others[0].given_up + own)
