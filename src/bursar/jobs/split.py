"""Split a budget over several releases, or find the smallest budget that meets wanted accuracies.

Gaussian: with μ the budget's GDP parameter, Σ(Δᵢ/σᵢ)² = μ² exactly, and Σ wᵢσᵢ² is least for σᵢ² proportional to
Δᵢ/√wᵢ (Cauchy–Schwarz). Laplace: where losses add up (δ = 0) Σ wᵢ·2bᵢ² is least for bᵢ proportional to (Δᵢ/wᵢ)^{1/3},
where their squares do to (Δᵢ/√wᵢ)^{1/2}; in between, both shapes and their geometric means are scaled to the budget and
the best one is taken. Whatever the shape, `account` decides what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from bursar.composition import Composition
from bursar.errors import InputError, PlanImpossible, understood
from bursar.jobs.account import account
from bursar.jobs.plan import plan
from bursar.jobs.report import Report
from bursar.jobs.report_text import proved
from bursar.mechanisms import Gaussian, Laplace, Mechanism
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown
from bursar.numerics.validate import choice, listed, noise, probability, real
from bursar.presented import Bare, Table, Tabled

NOISES = ("gaussian", "laplace", "better")
_NORMAL = 1.959963984540055  # Φ(1.959963984540054) < 0.975 < Φ(this): the 95 % half-width of a unit normal, upwards
_TWENTY = 2.995732273553992  # ln 20, upwards: the same for a unit Laplace
_HEAD = ("sensitivity", "weight", "scale", "standard error", "95 % half-width")
_SHAPES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, repr=False)
class Share(Tabled):
    """One release's part: its noise in the query's own units, and what that means for its accuracy."""

    sensitivity: float
    weight: float
    scale: float
    """σ of the Gaussian, or b of the Laplace noise."""
    mechanism: Mechanism

    def _table(self) -> Table:
        return Table((), _HEAD, [self._cells()])

    def _cells(self) -> list[str]:
        """Rounded, the noise upward: less than it would cost more."""
        cells = (self.sensitivity, self.weight, self.standard_error, self.half_width)
        sensitivity, weight, *errors = (f"{cell:.6g}" for cell in cells)
        return [sensitivity, weight, shown(self.scale, up=True), *errors]

    @property
    def standard_error(self) -> float:
        """The standard deviation of the noise."""
        return self.scale * (math.sqrt(2.0) if isinstance(self.mechanism, Laplace) else 1.0)

    @property
    def half_width(self) -> float:
        """The noise stays within this with probability 95 %."""
        return self.scale * (_TWENTY if isinstance(self.mechanism, Laplace) else _NORMAL)


@dataclass(frozen=True, repr=False)
class Split(Tabled):
    """The noises of several releases and what they cost together."""

    noise: str
    shares: tuple[Share, ...]
    report: Report

    @property
    def variance(self) -> float:
        """Σ weight·variance, what was minimised."""
        return math.fsum(share.weight * share.standard_error**2 for share in self.shares)

    @property
    def composition(self) -> Composition:
        """The releases of all shares as one composition."""
        return self.report.composition

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        rows = [
            {
                "sensitivity": share.sensitivity,
                "weight": share.weight,
                "scale": share.scale,
                "standard_error": share.standard_error,
                "half_width": share.half_width,
            }
            for share in self.shares
        ]
        return {"noise": self.noise, "shares": rows, "variance": self.variance, "report": self.report.to_dict()}

    def _facts(self) -> list[tuple[str, object]]:
        scales = [Bare(shown(share.scale, up=True)) for share in self.shares]
        ends = self.report.bound
        return [("noise", self.noise), ("scales", scales), ("epsilon", Bare(f"[{ends.lower!r}, {ends.upper!r}]"))]

    def _table(self) -> Table:
        above = (f"{self.noise} noise, Σ weight·variance = {self.variance:.6g}", proved(self.report))
        return Table(above, _HEAD, [share._cells() for share in self.shares])


@understood
def split(
    sensitivities: Sequence[Number],
    *,
    epsilon: Number,
    delta: Number,
    weights: Sequence[Number] | None = None,
    noise: str = "better",
    relation: str = "add_remove",
) -> Split:
    """The noises that fit (epsilon, delta) and minimise the weighted total variance, each query with its sensitivity.

    ``noise`` is "gaussian", "laplace" or "better": whichever of the two gives the smaller variance.
    """
    kind = choice(noise=noise, among=NOISES)
    sizes = _positive(sensitivities, "sensitivities")
    heavy = _positive([1] * len(sizes) if weights is None else weights, "weights")
    if len(heavy) != len(sizes):
        raise InputError(f"{len(sizes)} sensitivities have {len(heavy)} weights", argument="weights")
    found, refusals = [], []
    for one in ("gaussian", "laplace") if kind == "better" else (kind,):
        try:
            found += _splits(one, sizes, heavy, epsilon, delta, relation)
        except PlanImpossible as refusal:
            refusals.append(refusal)
    if not found:
        raise refusals[0]
    return min(found, key=lambda one: one.variance)


@understood
def smallest_budget(
    sensitivities: Sequence[Number],
    *,
    delta: Number,
    standard_errors: Sequence[Number] | None = None,
    half_widths: Sequence[Number] | None = None,
    noise: str = "better",
    relation: str = "add_remove",
) -> Split:
    """The smallest ε at ``delta`` for which every query meets its wanted standard error, or 95 % half-width."""
    kind = choice(noise=noise, among=NOISES)
    if (standard_errors is None) == (half_widths is None):
        raise InputError("give standard_errors= or half_widths=, one of them", argument="standard_errors")
    sizes = _positive(sensitivities, "sensitivities")
    name = "half_widths" if standard_errors is None else "standard_errors"
    wanted = _positive(half_widths if standard_errors is None else standard_errors, name)
    if len(wanted) != len(sizes):
        raise InputError(f"{len(sizes)} sensitivities have {len(wanted)} {name}", argument=name)
    probability(delta=delta)
    found = []
    for one in ("gaussian", "laplace") if kind == "better" else (kind,):
        unit = _unit(one, name)
        scales = [Fraction(math.nextafter(float(x) / unit, 0)) for x in wanted]
        found.append(_split(one, sizes, [Real(1)] * len(sizes), scales, delta, relation))
    return min(found, key=lambda one: one.report.epsilon.upper)


def _unit(kind: str, name: str) -> float:
    if name == "standard_errors":
        return math.sqrt(2.0) if kind == "laplace" else 1.0
    return _TWENTY if kind == "laplace" else _NORMAL


def _positive(values: object, name: str) -> list[Real]:
    given = listed(**{name: values})
    if not given:
        raise InputError(f"{name} must not be empty", argument=name)
    return [noise(**{name: value}) for value in given]


def _splits(
    kind: str, sizes: list[Real], weights: list[Real], epsilon: Number, delta: Number, relation: str
) -> list[Split]:
    """Each shape, scaled until it fits."""
    shapes = _gaussian_shape(sizes, weights) if kind == "gaussian" else _laplace_shapes(sizes, weights, delta)
    found = []
    for shape in shapes:
        top = max(shape)
        ratios = [x / top for x in shape]
        make = partial(_scaled, kind, sizes, ratios, relation)
        best = plan(make, epsilon=epsilon, delta=delta, width=1e-6 if kind == "gaussian" else 1e-5)
        found.append(_split(kind, sizes, weights, _scales(ratios, best.value), delta, relation))
    return found


def _scales(ratios: list[float], scale: Any) -> list[Fraction]:
    """The noises for an overall scale: exactly proportional where that is exact, else to a float's digits."""
    if isinstance(scale, Fraction) and len(set(ratios)) == 1:
        return [scale] * len(ratios)
    return [Fraction(repr(ratio * float(scale))) for ratio in ratios]


def _scaled(kind: str, sizes: list[Real], ratios: list[float], relation: str, scale: Any) -> Composition:
    return _composition(kind, sizes, _scales(ratios, scale), relation)


def _gaussian_shape(sizes: list[Real], weights: list[Real]) -> list[list[float]]:
    return [[math.sqrt(float(s) / math.sqrt(float(w))) for s, w in zip(sizes, weights, strict=True)]]


def _laplace_shapes(sizes: list[Real], weights: list[Real], delta: Number) -> list[list[float]]:
    pairs = [(float(s), float(w)) for s, w in zip(sizes, weights, strict=True)]
    pure = probability(delta=delta).high == 0
    shapes = []
    for share in (0.0,) if pure else _SHAPES:
        added, squared = [(s / w) ** (1 / 3) for s, w in pairs], [math.sqrt(s / math.sqrt(w)) for s, w in pairs]
        shapes.append([a ** (1 - share) * b**share for a, b in zip(added, squared, strict=True)])
    same = all(max(shape) == min(shape) for shape in shapes)
    return shapes[:1] if same else shapes


def _composition(kind: str, sizes: list[Real], scales: list[Fraction], relation: str) -> Composition:
    return Composition((_mechanism(kind, size, scale, relation), 1) for size, scale in zip(sizes, scales, strict=True))


def _mechanism(kind: str, size: Real, scale: Fraction, relation: str) -> Mechanism:
    # noise ÷ sensitivity, for the dearest reading of the sensitivity
    relative = real(scale=scale / size.high, above=0)
    return Gaussian(relative, relation=relation) if kind == "gaussian" else Laplace(relative, relation=relation)


def _split(
    kind: str, sizes: list[Real], weights: list[Real], scales: list[Fraction], delta: Number, relation: str
) -> Split:
    shares = tuple(
        Share(float(size), float(weight), float(scale), _mechanism(kind, size, scale, relation))
        for size, weight, scale in zip(sizes, weights, scales, strict=True)
    )
    return Split(kind, shares, account(_composition(kind, sizes, scales, relation), delta=delta))
