"""The conversion graph: which promise implies which, and why the other arrows do not exist.

Converting before composing loses: compose in the richest common language and convert once, at the end. Derived
numbers are rounded up, so a converted promise is true of whatever the first one is true of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flint import arb

from bursar.errors import ConversionRefused, InputError, described
from bursar.guarantees._base import Guarantee, rounded_up
from bursar.guarantees.approx import ApproxDP
from bursar.guarantees.bounded_range import BoundedRange
from bursar.guarantees.gdp import GDP
from bursar.guarantees.profile import Profile, ProfileCurve
from bursar.guarantees.pure import PureDP
from bursar.guarantees.renyi import Renyi, RenyiCurve
from bursar.guarantees.tcdp import EVERY_ORDER, TCDP
from bursar.guarantees.zcdp import ZCDP
from bursar.numerics import normal
from bursar.numerics.balls import Ball, ball, down, infinity, working
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import probability, real

Kind = TypeVar("Kind", bound=Guarantee)
Arrow = Callable[[Any], Guarantee]


def convert(promise: Guarantee, to: type[Kind], *, delta: Number | None = None, epsilon: Number | None = None) -> Kind:
    """The promise of kind ``to`` that this one implies; `ConversionRefused` says why there is none.

    ApproxDP needs the point: ``delta=`` (its ε is computed) or ``epsilon=`` (its δ is).
    """
    if not isinstance(promise, Guarantee):
        raise InputError(
            f"promise must be a promise such as PureDP(epsilon=1), not {described(promise)}", argument="promise"
        )
    if not (isinstance(to, type) and issubclass(to, Guarantee)):
        raise InputError(f"to must be a kind of promise such as ZCDP, not {described(to)}", argument="to")
    if to is ApproxDP:
        return _approximate(promise, delta, epsilon)  # type: ignore[return-value]
    if delta is not None or epsilon is not None:
        raise InputError(f"delta= and epsilon= choose a point of (ε, δ); {to.__name__} takes neither", argument="delta")
    arrow = ARROWS.get((_kind(type(promise)), _kind(to)))
    if arrow is None:
        raise InputError(f"to must be a kind of promise such as ZCDP, not {described(to)}", argument="to")
    if isinstance(arrow, str):
        raise ConversionRefused(arrow, about=f"{_kind(type(promise)).__name__} does not imply {to.__name__}")
    with working():
        return arrow(promise)  # type: ignore[return-value]


def _approximate(promise: Guarantee, delta: Number | None, epsilon: Number | None) -> ApproxDP:
    if isinstance(promise, ApproxDP) and delta is None and epsilon is None:
        return promise
    if isinstance(promise, PureDP) and delta is None and epsilon is None:
        return ApproxDP(promise.epsilon, 0)
    if (delta is None) == (epsilon is None):
        raise InputError("choose the point: give delta= or epsilon=, one of them", argument="delta")
    with working():
        if delta is not None:
            chosen = probability(delta=delta)
            result = promise.epsilon_at(ball(chosen))
            if not result.is_finite():
                raise ConversionRefused(f"{promise!r} proves no finite ε at δ = {chosen.text()}")
            return ApproxDP(rounded_up(result), chosen)
        point = real(epsilon=epsilon, at_least=0)
        return ApproxDP(point, min(rounded_up(promise.delta_at(ball(point))), Real(1)))


def _curve(promise: Any) -> ProfileCurve:
    return ProfileCurve(repr(promise), promise.delta_at)


def _concentrated_curve(promise: ZCDP | TCDP, largest_order: float) -> Renyi:
    if isinstance(promise, ZCDP) and promise.delta > 0:
        raise ConversionRefused(
            "a δ-approximate promise bounds no Rényi divergence: the leaked mass may lose everything"
        )
    rho = ball(promise.rho)

    def at(alpha: Ball) -> Ball:
        return rho * alpha if alpha <= largest_order else infinity()

    near = float(rho)
    return RenyiCurve(repr(promise), at, rough=lambda a: near * a, largest_order=largest_order)


def _pure_to_gdp(promise: PureDP) -> GDP:
    epsilon = ball(promise.epsilon)
    return GDP(rounded_up(-2 * normal.quantile((-epsilon).exp() / (1 + (-epsilon).exp()))) if epsilon > 0 else 0)


def _pure_to_rho(promise: PureDP) -> Real:
    epsilon = ball(promise.epsilon)
    return rounded_up(epsilon * (epsilon / 2).tanh())


def _bounded_range_to_renyi(promise: BoundedRange) -> Renyi:
    rho, pure = promise.concentrated(), PureDP(promise.eta)
    near = float(rho)
    return RenyiCurve(
        repr(promise),
        lambda alpha: (rho * alpha).min(pure.renyi(alpha)),
        rough=lambda a: min(near * a, pure.rough_renyi(a)),
    )


def _unleaking(promise: ZCDP) -> ZCDP:
    if promise.delta > 0:
        raise ConversionRefused("a δ-approximate promise says nothing about the mass δ that it sets aside")
    return promise


_LEAK = "with δ > 0 the loss may be infinite with probability δ, so every Rényi divergence may be infinite"
_UNBOUNDED = "its loss may be unbounded, and pure privacy bounds every loss"
_RANGE = "its loss may be unbounded, and bounded range bounds it"
_SHAPE = (
    "its tail may be heavier than any Gaussian's: randomized response with ε = 1 has ρ = 0.462 "
    "but needs μ = 1.232, more than √(2ρ) = 0.961"
)
_LINEAR = "a Rényi curve known at some orders need not stay below a line ρα at all orders"
_FINITE = "a profile known point by point may leave mass at infinity, where every Rényi divergence is infinite"
_KNOWN_POINTS = "a profile known point by point does not bound the trade-off between its points by a Gaussian's"


def _pure_if_no_leak(promise: ApproxDP, why: str = _UNBOUNDED) -> PureDP:
    if promise.delta > 0:
        raise ConversionRefused(why)
    return PureDP(promise.epsilon)


def _profile_to_pure(promise: Profile) -> PureDP:
    closed = [epsilon for epsilon, delta in promise.points if delta.high == 0]
    if not closed:
        raise ConversionRefused("no point of the profile has δ = 0")
    return PureDP(min(closed))


def _renyi_to_tcdp(promise: Renyi) -> TCDP:
    """A curve known up to some order ω is below the line ρα there, with ρ the largest γ/α at the corners."""
    if not promise.orders:
        raise ConversionRefused("the Rényi curve is a function; write it down with .points(orders)")
    # γ is non-decreasing, so on each stretch γ(α)/α is at most the right end's γ over the left end's order (1 for the
    # first).
    lefts = [arb(1), *(ball(order) for order in promise.orders[:-1])]
    ratios = [ball(value) / left for value, left in zip(promise.values, lefts, strict=True)]
    rho = ratios[0]
    for ratio in ratios[1:]:
        rho = rho.max(ratio)
    return TCDP(rounded_up(rho), promise.orders[-1])


ARROWS: dict[tuple[type[Guarantee], type[Guarantee]], Arrow | str] = {
    (PureDP, PureDP): lambda p: p,
    (PureDP, BoundedRange): lambda p: BoundedRange(p.epsilon.times(2)),
    (PureDP, Renyi): lambda p: RenyiCurve(repr(p), p.renyi, rough=p.rough_renyi),
    (PureDP, ZCDP): lambda p: ZCDP(_pure_to_rho(p)),
    (PureDP, TCDP): lambda p: TCDP(_pure_to_rho(p), EVERY_ORDER),
    (PureDP, GDP): _pure_to_gdp,
    (PureDP, Profile): _curve,
    (ApproxDP, PureDP): _pure_if_no_leak,
    (ApproxDP, BoundedRange): lambda p: convert(_pure_if_no_leak(p, _RANGE), BoundedRange),
    (ApproxDP, Renyi): lambda p: convert(_pure_if_no_leak(p, _LEAK), Renyi),
    (ApproxDP, ZCDP): lambda p: ZCDP(_pure_to_rho(PureDP(p.epsilon)), p.delta),
    (ApproxDP, TCDP): lambda p: convert(_pure_if_no_leak(p, _LEAK), TCDP),
    (ApproxDP, GDP): lambda p: convert(
        _pure_if_no_leak(p, "no Gaussian loss is infinite with positive probability"), GDP
    ),
    (ApproxDP, Profile): _curve,
    (BoundedRange, PureDP): lambda p: PureDP(p.eta),
    (BoundedRange, BoundedRange): lambda p: p,
    (BoundedRange, Renyi): _bounded_range_to_renyi,
    (BoundedRange, ZCDP): lambda p: ZCDP(rounded_up(p.concentrated())),
    (BoundedRange, TCDP): lambda p: TCDP(rounded_up(p.concentrated()), EVERY_ORDER),
    (BoundedRange, GDP): lambda p: _pure_to_gdp(PureDP(p.eta)),
    (BoundedRange, Profile): _curve,
    (Renyi, PureDP): _UNBOUNDED,
    (Renyi, BoundedRange): _RANGE,
    (Renyi, Renyi): lambda p: p,
    (Renyi, ZCDP): _LINEAR,
    (Renyi, TCDP): _renyi_to_tcdp,
    (Renyi, GDP): _SHAPE,
    (Renyi, Profile): _curve,
    (ZCDP, PureDP): _UNBOUNDED,
    (ZCDP, BoundedRange): _RANGE,
    (ZCDP, Renyi): lambda p: _concentrated_curve(p, float("inf")),
    (ZCDP, ZCDP): lambda p: p,
    (ZCDP, TCDP): lambda p: TCDP(_unleaking(p).rho, EVERY_ORDER),
    (ZCDP, GDP): _SHAPE,
    (ZCDP, Profile): _curve,
    (TCDP, PureDP): _UNBOUNDED,
    (TCDP, BoundedRange): _RANGE,
    (TCDP, Renyi): lambda p: _concentrated_curve(p, down(ball(p.omega))),
    (TCDP, ZCDP): "nothing is promised at orders from ω on",
    (TCDP, TCDP): lambda p: p,
    (TCDP, GDP): _SHAPE,
    (TCDP, Profile): _curve,
    (GDP, PureDP): _UNBOUNDED,
    (GDP, BoundedRange): _RANGE,
    (GDP, Renyi): lambda p: convert(convert(p, ZCDP), Renyi),
    (GDP, ZCDP): lambda p: ZCDP(p.mu.half_square()),
    (GDP, TCDP): lambda p: TCDP(p.mu.half_square(), EVERY_ORDER),
    (GDP, GDP): lambda p: p,
    (GDP, Profile): _curve,
    (Profile, PureDP): _profile_to_pure,
    (Profile, BoundedRange): _RANGE,
    (Profile, Renyi): _FINITE,
    (Profile, ZCDP): _FINITE,
    (Profile, TCDP): _FINITE,
    (Profile, GDP): _KNOWN_POINTS,
    (Profile, Profile): lambda p: p,
}


def _kind(cls: type[Guarantee]) -> type[Guarantee]:
    return Renyi if issubclass(cls, Renyi) else Profile if issubclass(cls, Profile) else cls
