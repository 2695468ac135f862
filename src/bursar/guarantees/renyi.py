"""Rényi differential privacy: D_α(P‖Q) ≤ γ(α), both ways, at one order or along a curve."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flint import arb

from bursar.errors import ConversionRefused, InputError
from bursar.guarantees._base import Counted, Guarantee, rounded_up
from bursar.guarantees.order import (
    optimal_delta,
    optimal_epsilon,
    rough_simple_epsilon,
    rough_simple_log_delta,
)
from bursar.numerics.balls import Ball, ball, down, infinity, maximum, minimum
from bursar.numerics.real import Number, Real
from bursar.numerics.search import minimiser
from bursar.numerics.validate import listed, real

_SMALLEST_EXCESS = math.log(1e-2)  # below α = 1.01 the conversion only gets worse
_LARGEST_EXCESS = math.log(1e7)


@dataclass(frozen=True, init=False, repr=False)
class Renyi(Guarantee):
    """γ known at finitely many orders. Between them (α − 1)γ(α) is convex, so chords bound it; below the first order γ
    only falls.
    """

    orders: tuple[Real, ...]
    values: tuple[Real, ...]
    name = "renyi"

    def __init__(
        self,
        points: Mapping[Number, Number] | None = None,
        *,
        orders: Iterable[Number] | None = None,
        values: Iterable[Number] | None = None,
    ) -> None:
        given = _pairs(points, orders, values)
        pairs = sorted((real(order=a, above=1), real(value=g, at_least=0)) for a, g in given)
        if not pairs:
            raise InputError("renyi needs at least one order with its value", argument="orders")
        if any(first[0] == second[0] for first, second in itertools.pairwise(pairs)):
            raise InputError("renyi was given the same order twice", argument="orders")
        self._set(orders=tuple(a for a, _ in pairs), values=tuple(g for _, g in pairs))

    @property
    def largest_order(self) -> float:
        """Beyond this order nothing is promised."""
        return down(ball(self.orders[-1]))

    def at(self, alpha: Ball) -> Ball:
        """γ(α): its upper end is proved."""
        first = ball(self.orders[0])
        if alpha <= first:
            return ball(self.values[0])
        for a, b, low, high in zip(self.orders, self.orders[1:], self.values, self.values[1:], strict=False):
            left, right = ball(a), ball(b)
            if left <= alpha <= right:
                k0, k1 = (left - 1) * ball(low), (right - 1) * ball(high)
                chord = k0 + (k1 - k0) * (alpha - left) / (right - left)
                return (chord / (alpha - 1)).min(ball(high))
        return infinity()

    def rough(self, alpha: float) -> float:
        """γ(α) in floats, for searching."""
        return float(self.at(arb(alpha)))

    def candidates(self) -> tuple[float, ...]:
        """Orders worth trying besides what a search suggests: here the given ones."""
        return tuple(down(ball(order)) for order in self.orders)

    def epsilon_at(self, delta: Ball) -> Ball:
        """The best order's optimal conversion."""
        return self.best_epsilon(delta)[1]

    def delta_at(self, epsilon: Ball) -> Ball:
        """The best order's optimal conversion."""
        return self.best_delta(epsilon)[1]

    def best_epsilon(self, delta: Ball) -> tuple[float, Ball]:
        """The order that proves the smallest ε at δ, and that ε."""
        if not delta > 0:
            return math.inf, infinity()
        if delta >= 1:
            return 2.0, arb(0)
        log_delta = float(delta.log())
        return self._best(
            lambda alpha: rough_simple_epsilon(alpha, self.rough(alpha), log_delta),
            lambda alpha: optimal_epsilon(alpha, self.at(alpha), delta),
        )

    def best_delta(self, epsilon: Ball) -> tuple[float, Ball]:
        """The order that proves the smallest δ at ε, and that δ."""
        near = float(epsilon)
        return self._best(
            lambda alpha: rough_simple_log_delta(alpha, self.rough(alpha), near),
            lambda alpha: optimal_delta(alpha, self.at(alpha), epsilon),
        )

    def _best(self, rough: Callable[[float], float], certified: Callable[[Ball], Ball]) -> tuple[float, Ball]:
        """Search the order in floats, then certify the most promising few."""
        if self.largest_order < 1 + 1e-9:
            return math.nan, infinity()
        high = (
            min(_LARGEST_EXCESS, math.log(self.largest_order - 1)) if self.largest_order < math.inf else _LARGEST_EXCESS
        )
        low = min(_SMALLEST_EXCESS, high - 1)
        excess = minimiser(lambda u: rough(1 + math.exp(u)), low, high, points=14, steps=9)
        tried = sorted({1 + math.exp(excess), *self.candidates()}, key=rough)[:2]
        # The optimal conversion prefers slightly smaller orders than the simple one where ε is small.
        tried.append(1 + 0.6 * (tried[0] - 1))
        results = [(float(bound.upper()), alpha, bound) for alpha, bound in ((a, certified(arb(a))) for a in tried)]
        best = min(results, key=lambda row: row[0] if row[0] == row[0] else math.inf)
        return best[1], best[2]

    @classmethod
    def compose(cls, promises: Counted) -> RenyiCurve:
        """Curves add up order by order."""
        counted = [(promise, count) for promise, count in promises if count]
        return RenyiCurve(
            "sum of " + ", ".join(f"{count} × {promise.label}" for promise, count in counted[:3]),
            lambda alpha: sum((count * promise.at(alpha) for promise, count in counted), arb(0)),
            rough=lambda alpha: math.fsum(count * promise.rough(alpha) for promise, count in counted),
            largest_order=min((promise.largest_order for promise, _ in counted), default=math.inf),
            candidates=tuple(sorted({order for promise, _ in counted for order in promise.candidates()})),
        )

    @classmethod
    def worst(cls, promises: Sequence[Renyi]) -> RenyiCurve:
        """The largest value at each order."""
        return _pointwise("largest", promises, lambda balls: maximum(*balls))

    @classmethod
    def best_of(cls, promises: Sequence[Renyi]) -> Renyi:
        """The smallest value at each order: all of these hold of the same mechanism."""
        return promises[0] if len(promises) == 1 else _pointwise("smallest", promises, lambda balls: minimum(*balls))

    def group(self, size: int) -> Renyi:
        """Groups of 2^c: 3^c γ(2^c α) at orders α ≥ 2 (Mironov 2017, Prop. 2); other sizes round up, other orders are
        below order 2's.
        """
        if size == 1:
            return self
        steps = (size - 1).bit_length()
        factor, spread = 3**steps, 2**steps
        return RenyiCurve(
            f"{self.label} for groups of {size}",
            lambda alpha: factor * self.at(alpha.max(arb(2)) * spread),
            rough=lambda alpha: factor * self.rough(max(alpha, 2.0) * spread),
            largest_order=self.largest_order / spread,
        )

    @property
    def label(self) -> str:
        """A few words for reports."""
        return self.text()


class RenyiCurve(Renyi):
    """A curve given by a function of the order, as mechanisms state it."""

    def __init__(
        self,
        label: str,
        curve: Callable[[Ball], Ball],
        *,
        rough: Callable[[float], float] | None = None,
        largest_order: float = math.inf,
        candidates: tuple[float, ...] = (),
    ) -> None:
        self._set(orders=(), values=(), _label=label, _curve=curve, _rough=rough)
        self._set(_largest=largest_order, _candidates=candidates)

    _label: str
    _curve: Callable[[Ball], Ball]
    _rough: Callable[[float], float] | None
    _largest: float
    _candidates: tuple[float, ...]

    @property
    def largest_order(self) -> float:
        """Beyond this order nothing is promised."""
        return self._largest

    def at(self, alpha: Ball) -> Ball:
        """γ(α): its upper end is proved."""
        return self._curve(alpha)

    def rough(self, alpha: float) -> float:
        """γ(α) in floats, for searching."""
        return self._rough(alpha) if self._rough is not None else float(self._curve(arb(alpha)))

    def candidates(self) -> tuple[float, ...]:
        """Orders worth trying besides what a search suggests."""
        return self._candidates

    @property
    def label(self) -> str:
        """A few words for reports."""
        return self._label

    def points(self, orders: Iterable[Number]) -> Renyi:
        """This curve at some orders, rounded up: a promise that can be written down."""
        chosen = [real(order=order, above=1) for order in orders]
        return Renyi(orders=chosen, values=[rounded_up(self.at(ball(order))) for order in chosen])

    def text(self) -> str:
        """Refused: a function has no text form."""
        raise ConversionRefused(f"the Rényi curve of {self._label} is a function; write it down with .points(orders)")

    def __repr__(self) -> str:
        return f"<Rényi curve of {self._label}>"

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def _pointwise(word: str, promises: Sequence[Renyi], choose: Callable[[list[Ball]], Ball]) -> RenyiCurve:
    return RenyiCurve(
        f"the {word} of " + ", ".join(promise.label[:80] for promise in promises[:3]),
        lambda alpha: choose([promise.at(alpha) for promise in promises]),
        rough=lambda alpha: (max if word == "largest" else min)(promise.rough(alpha) for promise in promises),
        largest_order=(min if word == "largest" else max)(promise.largest_order for promise in promises),
        candidates=tuple(sorted({order for promise in promises for order in promise.candidates()})),
    )


def _pairs(
    points: Mapping[Number, Number] | None, orders: Iterable[Number] | None, values: Iterable[Number] | None
) -> list[tuple[Number, Number]]:
    if points is not None and orders is None and values is None:
        if not isinstance(points, Mapping):
            raise InputError("renyi points must be a mapping from orders to values", argument="points")
        return list(points.items())
    if points is None and orders is not None and values is not None:
        first, second = listed(orders=orders), listed(values=values)
        if len(first) != len(second):
            raise InputError(f"renyi has {len(first)} orders but {len(second)} values", argument="values")
        return list(zip(first, second, strict=True))
    raise InputError("renyi takes either a mapping of orders to values, or orders= with values=", argument="orders")
