"""The lecture's question: d counting queries under one (ε, δ). Which noise does each count need?

Every record is in every count, so each query has sensitivity 1 and all of them compose. Four ways: Laplace noise paid
for by basic composition, by strong composition, by optimal composition (exact for pure releases), and Gaussian noise.
Basic composition needs noise that grows with d, the others with √d: the crossover is where that begins to pay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bursar.composition import Composition
from bursar.errors import InputError
from bursar.guarantees import PureDP
from bursar.jobs.account import account
from bursar.jobs.plan import plan
from bursar.jobs.plan_search import Search
from bursar.mechanisms import Declared, Gaussian
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, probability, real, whole

WAYS = ("laplace, basic", "laplace, strong", "laplace, optimal", "gaussian")


@dataclass(frozen=True)
class Counting:
    """The standard error per count for each d and each way, at one budget."""

    epsilon: Real
    delta: Real
    queries: tuple[int, ...]
    errors: dict[str, tuple[float, ...]]

    def best(self) -> tuple[str, ...]:
        """The way with the least noise at each d."""
        return tuple(min(WAYS, key=lambda way: self.errors[way][i]) for i in range(len(self.queries)))

    def crossover(self, way: str = "gaussian") -> int | None:
        """The first d shown at which a way beats Laplace noise with basic composition."""
        basic = self.errors[WAYS[0]]
        return next((d for i, d in enumerate(self.queries) if self.errors[way][i] < basic[i]), None)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "epsilon": self.epsilon.text(),
            "delta": self.delta.text(),
            "queries": list(self.queries),
            "errors": {way: list(values) for way, values in self.errors.items()},
            "crossover": {way: self.crossover(way) for way in WAYS[1:]},
        }

    def __str__(self) -> str:
        lines = [f"standard error of each of d counts, ε = {self.epsilon.text()}, δ = {self.delta.text()}", ""]
        lines.append("d".rjust(8) + "".join(way.rjust(18) for way in WAYS))
        for i, d in enumerate(self.queries):
            cells = "".join(f"{self.errors[way][i]:18.6g}" for way in WAYS)
            lines.append(f"{d:8d}{cells}")
        turns = ", ".join(f"{way} from d = {self.crossover(way)}" for way in WAYS[1:] if self.crossover(way))
        return "\n".join([*lines, "", f"less noise than basic composition: {turns or 'none of those shown'}"])


def counting(queries: Sequence[int], *, epsilon: Number, delta: Number) -> Counting:
    """The noise that each of d counts needs, for each d given, by each of the four ways."""
    target, risk = real(epsilon=epsilon, above=0), probability(delta=delta)
    if not 0 < risk < 1:
        raise InputError("delta must be above 0 and below 1: without it only basic composition holds", argument="delta")
    ds = [whole(queries=d, at_least=1, at_most=10**9) for d in listed(queries=queries)]
    if not ds:
        raise InputError("queries must not be empty", argument="queries")
    rows: dict[str, list[float]] = {way: [] for way in WAYS}
    for d in sorted(ds):
        rows[WAYS[0]].append(math.sqrt(2.0) * d / float(target))
        rows[WAYS[1]].append(math.sqrt(2.0) / _per_query(d, target, risk, "strong"))
        rows[WAYS[2]].append(math.sqrt(2.0) / _per_query(d, target, risk, "optimal"))
        rows[WAYS[3]].append(float(plan(partial(_gaussians, d), epsilon=target, delta=risk).value))
    return Counting(target, risk, tuple(sorted(ds)), {way: tuple(values) for way, values in rows.items()})


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
