"""A whole privacy profile: several (ε, δ) statements that hold together, or a curve of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from flint import arb

from bursar.errors import ConversionRefused, InputError, described
from bursar.guarantees._base import Counted, Guarantee
from bursar.guarantees.approx import ApproxDP
from bursar.numerics.balls import Ball, ball, maximum
from bursar.numerics.convex import falling_convex_minorant, interpolate
from bursar.numerics.real import Number, Real
from bursar.numerics.search import crossing
from bursar.numerics.validate import listed, probability, real
from bursar.presented import cut


@dataclass(frozen=True, init=False, repr=False)
class Profile(Guarantee):
    """(εᵢ, δᵢ)-DP for all i at once. Between the points it is the largest convex curve in e^ε that they allow, in both
    directions.
    """

    points: tuple[tuple[Real, Real], ...]
    name = "profile"

    def __init__(self, points: Iterable[tuple[Number, Number]]) -> None:
        pairs = []
        for point in listed(points=points):
            if isinstance(point, (str, bytes)) or not isinstance(point, Iterable) or len(pair := list(point)) != 2:
                raise InputError(
                    f"a profile is a list of (epsilon, delta) points, not {described(point)}", argument="points"
                )
            pairs.append((real(epsilon=pair[0], at_least=0), probability(delta=pair[1])))
        if not pairs:
            raise InputError("a profile needs at least one (epsilon, delta) point", argument="points")
        best: dict[Real, tuple[Real, Real]] = {}
        for epsilon, delta in sorted(pairs, reverse=True):
            best[epsilon] = (epsilon, delta)  # of several statements at one ε the smallest δ counts
        self._set(points=tuple(sorted(best.values())))

    def corners(self) -> list[tuple[Ball, Ball]]:
        """The corners (e^ε, δ) of the implied curve, from (0, 1) on; constant after the last."""
        mirrored = []
        for epsilon, delta in reversed(self.points):
            t = (-ball(epsilon)).exp()
            mirrored.append((t, 1 - t * (1 - ball(delta))))
        given = [(ball(epsilon).exp(), ball(delta)) for epsilon, delta in self.points]
        return falling_convex_minorant([(arb(0), arb(1)), *mirrored, *given])

    def delta_at(self, epsilon: Ball) -> Ball:
        """The implied curve."""
        return interpolate(self.corners(), epsilon.exp())

    def epsilon_at(self, delta: Ball) -> Ball:
        """The inverse, found by a certified search."""
        return inverse_profile(self.delta_at, delta)

    @classmethod
    def compose(cls, promises: Counted) -> Profile:
        """Refused: profiles compose through their loss distributions, not point by point."""
        raise ConversionRefused("profiles do not add up point by point; compose their loss distributions")

    @classmethod
    def worst(cls, promises: Sequence[Profile]) -> Profile:
        """The pointwise largest curve."""
        return ProfileCurve("the largest of several", lambda e: maximum(*(p.delta_at(e) for p in promises)))

    def group(self, size: int) -> Profile:
        """Each point's own group form."""
        grouped = [ApproxDP(epsilon, delta).group(size) for epsilon, delta in self.points]
        return Profile((promise.epsilon, promise.delta) for promise in grouped)


class ProfileCurve(Profile):
    """A profile given by a function of ε, as mechanisms state it."""

    def __init__(self, label: str, curve: Callable[[Ball], Ball]) -> None:
        self._set(points=(), label=label, _curve=curve)

    label: str
    _curve: Callable[[Ball], Ball]

    def delta_at(self, epsilon: Ball) -> Ball:
        """The function's δ at ε."""
        return self._curve(epsilon)

    def corners(self) -> list[tuple[Ball, Ball]]:
        """Refused: a smooth curve has none."""
        raise ConversionRefused(f"the profile of {self.label} is a function; choose points on it first")

    def group(self, size: int) -> Profile:
        """Refused: no group form of a whole curve is proved here."""
        if size == 1:
            return self
        raise ConversionRefused(f"no group form is proved for the profile of {self.label}")

    def text(self) -> str:
        """Refused: a function has no text form."""
        raise ConversionRefused(f"the profile of {self.label} is a function; choose points on it first")

    def __repr__(self) -> str:
        return cut(f"<profile of {self.label}>")

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def inverse_profile(falling: Callable[[Ball], Ball], delta: Ball) -> Ball:
    """An ε at which a non-increasing profile is certainly at most δ."""
    return arb(crossing(lambda x: falling(arb(x)), delta).upper)
