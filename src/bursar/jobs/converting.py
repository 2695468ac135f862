"""From one promise to another, in whichever form they are given: values, or their text forms."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from bursar.errors import InputError, described, nearest, understood
from bursar.guarantees import KINDS, ApproxDP, Guarantee, Profile, ProfileCurve, RenyiCurve
from bursar.guarantees.convert import convert as between
from bursar.jobs.spec import promise as read
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown_exactly

Kind = TypeVar("Kind", bound=Guarantee)


@overload
def convert(
    promise: Guarantee | str, to: type[Kind], *, delta: Number | None = None, epsilon: Number | None = None
) -> Kind: ...


@overload
def convert(
    promise: Guarantee | str, to: str, *, delta: Number | None = None, epsilon: Number | None = None
) -> Guarantee: ...


@understood
def convert(
    promise: Guarantee | str,
    to: type[Guarantee] | str,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
) -> Guarantee:
    """The promise of kind ``to`` that this one implies; `ConversionRefused` says why there is none.

    ApproxDP needs the point: ``delta=`` (its ε is computed) or ``epsilon=`` (its δ is). Either may be written:
    ``convert("zcdp(rho=1/2)", "approx_dp", delta=1e-6)``.
    """
    given = read(promise) if isinstance(promise, str) else promise
    kind = _kind(to) if isinstance(to, str) else to
    return between(given, kind, delta=delta, epsilon=epsilon)


def _kind(name: str) -> type[Guarantee]:
    """The kind of a promise by its name, however it is spelled: pure_dp, PureDP, pure-dp."""
    spelled = {_bare(known): kind for known, kind in KINDS.items()}
    if _bare(name) in spelled:
        return spelled[_bare(name)]
    raise InputError(
        f"to must be one of {', '.join(KINDS)}, not {described(name)}{nearest(name, KINDS)}", argument="to"
    )


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").strip()


_ORDERS = (2, 4, 8, 16, 32, 64)
_EPSILONS = ("0.1", "0.5", "1", "2", "4", "8")


def written(promise: Guarantee) -> Guarantee:
    """A promise that has a text form: of a curve some of its points, rounded up."""
    if isinstance(promise, RenyiCurve):
        return promise.points([order for order in _ORDERS if order < promise.largest_order])
    if isinstance(promise, ProfileCurve):
        approximate = [between(promise, ApproxDP, epsilon=point) for point in _EPSILONS]
        return Profile((one.epsilon, one.delta) for one in approximate)
    return promise


def spoken(promise: Guarantee) -> str:
    """A promise for people: six digits of each number, rounded to the safe side."""
    parts = [f"{name} = {_digits(value, up=name != 'omega')}" for name, value in promise.written_fields()]
    return f"{promise.name}: {', '.join(parts)}"


def _digits(value: Any, *, up: bool) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_digits(one, up=up) for one in value)}]"
    if not isinstance(value, Real):
        return str(value)
    text = value.text()
    return text if len(text) <= 12 else shown_exactly(value, up=up)
