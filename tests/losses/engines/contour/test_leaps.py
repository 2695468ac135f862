"""Contours where the mean of the tilted law leaps: narrow, and where other engines say it is."""

from __future__ import annotations

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import contour, envelope
from bursar.losses.engines.answer import Losses


def _removed(text: str) -> Losses:
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("poisson(gaussian(sigma=3.57), rate=0.0176)*116", "1.7e-258"),
        ("poisson(gaussian(sigma=3), rate=0.01)*200", "1e-150"),
        ("poisson(gaussian(sigma=2), rate=0.02)*50", "1e-120"),
        ("poisson(gaussian(sigma=4), rate=0.05)*40", "1e-280"),
    ],
)
def test_leaps_agree_with_listed_places(text: str, delta: str) -> None:
    """δ at both ends, by the envelope engine, lies on the sides that the contour proves."""
    losses = _removed(text)
    found = contour.by_leaps(losses, arb(delta))
    assert found is not None
    assert found.width < 1e-5
    for x, side in ((found.upper, 1), (found.lower, -1)):
        checked = envelope.delta_at(losses, arb(x), 1e-2, 1 << 18)
        if side > 0:
            assert arb(checked.lower) <= arb(delta)
        else:
            assert arb(checked.upper) >= arb(delta)


def test_losses_of_one_scale_have_no_leaps() -> None:
    """Where the saddle point of δ serves, this way is not taken."""
    assert contour.by_leaps(_removed("poisson(gaussian(sigma=1), rate=0.1)*10000"), arb("1e-6")) is None
