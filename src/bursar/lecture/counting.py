"""The lecture's question: d counting queries under one (ε, δ). Which noise does each count need?

Every record is in every count, so each query has sensitivity 1 and all of them compose. Four ways: Laplace noise paid
for by basic composition, by strong composition, by optimal composition (exact for pure releases), and Gaussian noise.
Basic composition needs noise that grows with d, the others with √d: the crossover is where that begins to pay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from bursar.composition import Composition
from bursar.errors import InputError, understood
from bursar.guarantees import PureDP
from bursar.jobs.account import account
from bursar.jobs.plan import plan
from bursar.jobs.plan_search import Search
from bursar.mechanisms import Declared, Gaussian
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, probability, real, whole
from bursar.presented import Bare, Table, Tabled

WAYS = ("laplace, basic", "laplace, strong", "laplace, optimal", "gaussian")


@dataclass(frozen=True, repr=False)
class Counting(Tabled):
    """The standard error per count for each d and each way, at one budget."""

    epsilon: Real
    delta: Real
    queries: tuple[int, ...]
    errors: dict[str, tuple[float, ...]]

    def best(self) -> tuple[str, ...]:
        """The way with the least noise at each d."""
        return tuple(min(WAYS, key=lambda way: self.errors[way][i]) for i in range(len(self.queries)))

    def crossover(self, way: str = "gaussian") -> int | None:
        """The least d, shown or between those shown, from which a way beats Laplace noise with basic composition; None
        where it beats it at none of those shown.
        """
        basic, ahead = self.errors[WAYS[0]], 0
        for i, d in enumerate(self.queries):
            if self.errors[way][i] < basic[i]:
                return _first(way, self.epsilon, self.delta, ahead, d)
            ahead = d
        return None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "epsilon": self.epsilon.text(),
            "delta": self.delta.text(),
            "queries": list(self.queries),
            "errors": {way: list(values) for way, values in self.errors.items()},
            "crossover": {way: self.crossover(way) for way in WAYS[1:]},
        }

    def _facts(self) -> list[tuple[str, object]]:
        target = [("epsilon", Bare(self.epsilon.text())), ("delta", Bare(self.delta.text()))]
        return [*target, ("queries", self.queries), ("best", self.best()[-1])]

    def _table(self) -> Table:
        above = [f"standard error of each of d counts, ε = {self.epsilon.text()}, δ = {self.delta.text()}"]
        rows = [[str(d), *(f"{self.errors[way][i]:.6g}" for way in WAYS)] for i, d in enumerate(self.queries)]
        turns = "; ".join(f"{way} from d = {self.crossover(way)}" for way in WAYS[1:] if self.crossover(way))
        below = [f"less noise than basic composition: {turns or 'none of those shown'}"]
        return Table(above, ("d", *WAYS), rows, below)


@understood
def counting(queries: Sequence[int], *, epsilon: Number, delta: Number) -> Counting:
    """The noise that each of d counts needs, for each d given, by each of the four ways."""
    target, risk = real(epsilon=epsilon, above=0), probability(delta=delta)
    if not 0 < risk < 1:
        raise InputError("delta must be above 0 and below 1: without it only basic composition holds", argument="delta")
    ds = [whole(queries=d, at_least=1, at_most=10**9) for d in listed(queries=queries)]
    if not ds:
        raise InputError("queries must not be empty", argument="queries")
    errors = {way: tuple(_error(way, d, target, risk) for d in sorted(ds)) for way in WAYS}
    return Counting(target, risk, tuple(sorted(ds)), errors)


def _error(way: str, d: int, target: Real, delta: Real) -> float:
    """The standard error of each of d counts."""
    if way == WAYS[0]:
        return math.sqrt(2.0) * d / float(target)
    if way == WAYS[3]:
        return float(plan(partial(_gaussians, d), epsilon=target, delta=delta).value)
    return math.sqrt(2.0) / _per_query(d, target, delta, way.removeprefix("laplace, "))


@lru_cache(maxsize=256)
def _first(way: str, target: Real, delta: Real, behind: int, ahead: int) -> int:
    """The least d at which a way beats basic composition: it does at ``ahead``, and does not at ``behind``. The noise
    of basic composition grows as d, that of the others as √d, so the way stays ahead once it is.
    """
    while ahead - behind > 1:
        middle = (behind + ahead) // 2
        if _error(way, middle, target, delta) < _error(WAYS[0], middle, target, delta):
            ahead = middle
        else:
            behind = middle
    return ahead


def _gaussians(d: int, sigma: float) -> Composition:
    return Gaussian(sigma) * d


def _per_query(d: int, target: Real, delta: Real, theorem: str) -> float:
    """The largest ε of each of d pure releases that a theorem proves to fit; at least the d-th part, by basic."""

    def cost(each: float, rough: bool) -> float:
        what = Composition([(Declared(PureDP(each)), d)])
        return account(what, delta=delta, theorems=["basic", theorem]).epsilon.upper

    search = Search(cost, lambda each: 1e-29 < each < 1e6, _below(target), lambda _: 1e-9)
    good, _ = search.run()
    return float(good)


def _below(target: Real) -> float:
    near = float(target.low)
    return near if near <= target.low else math.nextafter(near, 0.0)
