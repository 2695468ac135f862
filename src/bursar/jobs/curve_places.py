"""The ε's at which a curve is computed: those given, or evenly from 0 to where nothing is left of δ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bursar.composition import Composition
from bursar.errors import InputError
from bursar.jobs.account import account
from bursar.numerics.arrays import Array
from bursar.numerics.balls import up, working
from bursar.numerics.validate import listed, real

_POINTS = 129
_MOST_POINTS = 100_000
_FAINTEST = (1e-12, 1e-9, 1e-6, 1e-3, 0.1)  # the range of ε ends where δ, less what leaks, falls below the first it can


def places(what: Composition, epsilons: Sequence[float] | None) -> Array:
    """The ε's of a curve, in order."""
    if epsilons is None:
        return np.linspace(0.0, _top(what), _POINTS)
    given = listed(epsilons=epsilons)
    if not 0 < len(given) <= _MOST_POINTS:
        raise InputError(f"epsilons must be 1 to {_MOST_POINTS} numbers, not {len(given)}", argument="epsilons")
    # a float is itself in every reading, and there may be many
    plain = all(isinstance(x, float) and 0 <= x < math.inf for x in given)
    return np.array(sorted({float(x if plain else real(epsilons=x, at_least=0)) for x in given}))


def _top(what: Composition) -> float:
    """Where the range of ε ends."""
    leaks = what.leaks()
    with working():
        leak = max(up(leaks.removed), up(leaks.added))
    for faint in _FAINTEST:
        if leak + faint < 1:
            top = account(what, delta=leak + faint, width=1e-2, effort="low").epsilon.upper
            if math.isfinite(top):
                return top if top > 0 else 1.0
    return 1.0
