"""OpenDP: what a measurement promises, and releases that are charged before they run, and run once.

OpenDP's samplers make the noise; bursar has none of its own for releases.

    release(ledger, "census", measurement, data, d_in=1, key="query-0001")
"""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from fractions import Fraction
from typing import Any

import bursar as b
from bursar.errors import AlreadyRun, InputError
from bursar.extras import needs
from bursar.guarantees._base import Guarantee

with needs("opendp", "the adapter of OpenDP"):
    from opendp import mod as opendp

_ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0)
_EPSILONS = tuple(round(0.05 * 1.25**step, 6) for step in range(32))


def guarantee(measurement: opendp.Measurement, d_in: Any) -> Guarantee:
    """What the measurement's privacy map promises for neighbours at distance ``d_in``."""
    if not isinstance(measurement, opendp.Measurement):
        raise InputError("measurement must be an OpenDP measurement", argument="measurement")
    kind, loss = str(measurement.output_measure), measurement.map(d_in)
    if kind == "MaxDivergence":
        return b.PureDP(epsilon=_finite(loss))
    if kind == "ZeroConcentratedDivergence":
        return b.ZCDP(rho=_finite(loss))
    if kind == "Approximate(MaxDivergence)":
        return b.ApproxDP(epsilon=_finite(loss[0]), delta=Fraction(loss[1]))
    if kind == "Approximate(ZeroConcentratedDivergence)":
        return b.ZCDP(rho=_finite(loss[0]), delta=Fraction(loss[1]))
    if kind == "RenyiDivergence":
        return b.Renyi({Fraction(order): _finite(loss(order)) for order in _ORDERS})
    if kind == "SmoothedMaxDivergence":
        return b.Profile([(Fraction(epsilon), Fraction(min(loss.delta(epsilon), 1.0))) for epsilon in _EPSILONS])
    raise InputError(f"bursar has no promise like {kind}", argument="measurement")


def _finite(loss: float) -> Fraction:
    """A float of OpenDP's as it is: it was rounded up to this, so a shorter decimal might be too small."""
    if not math.isfinite(loss):
        raise InputError("the measurement promises nothing at this distance", argument="d_in")
    return Fraction(loss)


def declared(measurement: opendp.Measurement, d_in: Any, *, relation: str = "add_remove") -> b.Declared:
    """The measurement as a mechanism for account, plan and spend. ``relation`` says what ``d_in`` measures."""
    return b.Declared(guarantee(measurement, d_in), relation=relation)


def release(
    ledger: b.Ledger,
    scopes: str | list[str],
    measurement: opendp.Measurement,
    data: Any,
    *,
    d_in: Any,
    key: str,
    outputs: MutableMapping[str, Any] | None = None,
    relation: str = "add_remove",
    by: str | None = None,
) -> Any:
    """Charge, durably, then run the measurement once.

    A key that was charged before never runs again: its output comes from ``outputs``, if it was kept there, and else
    `AlreadyRun` says so, for the first run may have been seen by somebody.
    """
    if not key:
        raise InputError("a release that runs once needs a key of its own", argument="key")
    receipt = ledger.spend(scopes, declared(measurement, d_in, relation=relation), key=key, by=by)
    if receipt.replayed:
        if outputs is not None and key in outputs:
            return outputs[key]
        raise AlreadyRun(
            f"key {key!r} was charged before, and its output is not kept: it must not run again; charge a new key"
        )
    output = measurement(data)
    if outputs is not None:
        outputs[key] = output
    return output
