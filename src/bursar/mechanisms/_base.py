"""What a mechanism is: one private release with its parameters, and what it claims.

A mechanism states promises with citations, and its privacy-loss distributions where they are known. It knows nothing
of composition: ``m * 7`` and ``m + n`` make a `Composition`, the only owner of counts.

A class of your own needs no registration: derive from `Mechanism` (a frozen dataclass with a ``name``), return its
`claims`, and, if you know the pair of output distributions, its `losses`. One that derives from a class of the
catalogue and states only one of the two does not inherit the other: that would be its base's noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from flint import arb

from bursar.composition import Composable
from bursar.errors import ConversionRefused, InputError, LossUnknown
from bursar.guarantees import (
    GDP,
    TCDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Claim,
    Guarantee,
    PureDP,
    Renyi,
    RenyiCurve,
    Tightness,
)
from bursar.guarantees.convert import convert
from bursar.identity import KEPT, is_foreign
from bursar.losses import Directions, Leaks
from bursar.mechanisms._foreign import ASKED, guard, sever
from bursar.numerics.balls import ball, maximum, working
from bursar.written import Written

if TYPE_CHECKING:
    from bursar.mechanisms._drawn import Drawn

Kind = TypeVar("Kind", bound=Guarantee)

_SIZE: dict[type[Guarantee], Any] = {
    PureDP: lambda p: p.epsilon.high,
    ApproxDP: lambda p: (p.delta.high, p.epsilon.high),
    BoundedRange: lambda p: p.eta.high,
    ZCDP: lambda p: (p.delta.high, p.rho.high),
    TCDP: lambda p: (-p.omega.low, p.rho.high),
    GDP: lambda p: p.mu.high,
}


class Mechanism(Written, Composable, ABC):
    """One private release."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if is_foreign(cls):
            guard(cls)
            sever(cls, Mechanism)

    def __setattr__(self, name: str, value: Any) -> None:
        """What it states is remembered, also by what it stands in: from then on its parameters stay as they are."""
        if not name.startswith("_") and ASKED in self.__dict__:
            raise InputError(
                f"{type(self).__qualname__} has stated what it costs, and its {name} cannot change any more: make "
                "another one",
                argument=name,
            )
        super().__setattr__(name, value)

    @property
    @abstractmethod
    def relation(self) -> str:
        """Which databases count as neighbours: ``add_remove``, ``replace_one`` or ``zero_out``."""

    @abstractmethod
    def claims(self) -> tuple[Claim, ...]:
        """The promises it keeps, each with its source and its tightness."""

    def losses(self) -> Directions:
        """Its privacy-loss distributions; `LossUnknown` with the reason where none are known."""
        raise LossUnknown(f"{self.text()} states no privacy-loss distribution")

    def leaks(self) -> Leaks:
        """How likely it certainly reveals everything: by its losses where it attains them, else by what it tells
        exactly.
        """
        losses, none = known_losses(self), arb(0)
        if not isinstance(losses, str):
            removed = losses.remove.infinite_mass() if losses.attained else none
            same = losses.same or not losses.attained
            return Leaks(removed, removed if same else losses.add.infinite_mass(), none)
        told = [
            ball(claim.guarantee.delta)
            for claim in self.stated()
            if claim.tightness is Tightness.EXACT and isinstance(claim.guarantee, (ApproxDP, ZCDP))
        ]
        leak = maximum(none, *told)
        return Leaks(leak, leak, none)

    def enlarged(self, size: int) -> Mechanism | None:
        """The same noise against a sensitivity ``size`` times as large, where that is a mechanism of the same kind."""
        return None

    def for_records(self) -> int | None:
        """The number of records that its promise is for, where it is for no other number."""
        return None

    def drawn(self) -> Drawn | None:
        """Where it is Gaussian noise on records of which each is drawn by itself: how much, how likely, how many."""
        return None

    def grown(self, size: int) -> Mechanism | None:
        """The same, unless a subclass claims something else than the class whose noise this is."""
        return self.enlarged(size) if _own_noise(type(self)) else None

    def promise(self, kind: type[Kind]) -> Kind:
        """The best promise of this kind that its claims imply; `ConversionRefused` says why there is none."""
        # Remembered per object, not per value: equal mechanisms may cover different readings of their numbers.
        known = self._remembered("_bursar_promises", dict)
        if kind not in known:
            with working():
                known[kind] = self._find(kind)
        if isinstance(known[kind], str):
            raise ConversionRefused(known[kind], about=f"{self.text()} promises no {kind.__name__}")
        return known[kind]  # type: ignore[no-any-return]

    def text(self) -> str:
        """The text form, which `bursar.parse` reads back."""
        written: str = self._remembered("_bursar_text", super().text)
        return written

    def stated(self) -> tuple[Claim, ...]:
        """The mechanism's `claims`, which are computed once."""
        claims: tuple[Claim, ...] | None = self.__dict__.get("_bursar_stated")
        if claims is None:
            with working():
                claims = self._remembered("_bursar_stated", self.claims)
        return claims

    def _find(self, kind: type[Kind]) -> Guarantee | str:
        found, reasons = [], []
        claims = self.stated()
        if kind is Renyi:
            # A curve that is the mechanism's own cannot be beaten by one that a conversion gives.
            own = [
                claim
                for claim in claims
                if isinstance(claim.guarantee, Renyi) and claim.tightness is not Tightness.BOUND
            ]
            claims = tuple(own) or claims
        for claim in claims:
            try:
                found.append(self._as(claim.guarantee, kind))
            except ConversionRefused as refusal:
                reasons.append(refusal.why)
            except ArithmeticError:
                reasons.append("its numbers are too large to convert")
        if not found:
            return "; ".join(dict.fromkeys(reasons)) or "it makes no claims"
        if kind is Renyi:
            return Renyi.best_of(found)  # type: ignore[arg-type]
        return min(found, key=_SIZE[kind]) if kind in _SIZE else found[0]

    def __getstate__(self) -> dict[str, Any]:
        return {field: value for field, value in self.__dict__.items() if not field.startswith(KEPT)}

    def _remembered(self, key: str, make: Callable[[], Any]) -> Any:
        """Something that is worth computing once for this object."""
        kept = self.__dict__
        if key not in kept:
            kept[key] = make()
        return kept[key]

    @staticmethod
    def _as(promise: Guarantee, kind: type[Kind]) -> Kind:
        if kind is ApproxDP and not isinstance(promise, ApproxDP):
            # Only pure promises come with a δ of their own (none); a curve would need its point chosen.
            try:
                return convert(convert(promise, PureDP), ApproxDP)  # type: ignore[return-value]
            except ConversionRefused:
                raise ConversionRefused("its loss is not bounded, so each δ has an ε of its own") from None
        return convert(promise, kind)


@cache
def _own_noise(kind: type[Mechanism]) -> bool:
    """Whether what a class claims and loses is stated no further down than how it grows."""
    order = kind.__mro__
    where = {
        name: next(i for i, one in enumerate(order) if name in vars(one)) for name in ("claims", "losses", "enlarged")
    }
    return min(where["claims"], where["losses"]) >= where["enlarged"]


def renyi_of_losses(mechanism: Mechanism, citation: str, tightness: Tightness = Tightness.TIGHT) -> Claim:
    """The claim that the mechanism's Rényi curve is its loss distributions' own."""
    losses = mechanism.losses()
    return Claim(RenyiCurve(mechanism.text(), losses.renyi, rough=losses.rough_renyi), citation, tightness)


def known_losses(mechanism: Mechanism) -> Directions | str:
    """The loss distributions, or why they are not known: asked of each object once."""

    def found() -> Directions | str:
        try:
            return mechanism.losses()
        except LossUnknown as unknown:
            return str(unknown)

    known: Directions | str | None = mechanism.__dict__.get("_bursar_known_losses")
    if known is None:
        with working():
            known = mechanism.__dict__["_bursar_known_losses"] = found()
    return known
