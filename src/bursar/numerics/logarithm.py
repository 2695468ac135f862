"""The logarithm of a formula, as a formula: ln of e^a is a, ln of a product is a sum, and so on.

So written it neither underflows far out in a tail nor loses digits there, and it is analytic where its parts are. How
it is taken apart is only a choice: what is no logarithm of a positive number evaluates to nothing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.formula import Term
from bursar.numerics.real import Real
from bursar.numerics.running import running, steady

_SMALL = 1e-100
_ALWAYS = ("exp", "cosh", "erfc", "pi")


def logarithm(term: Term, sample: Array) -> Term:
    """ln of a formula that is positive on an interval; the sample tells which of its parts seem to be."""
    parts = term.parts
    if term.kind == "exp":
        return parts[0]
    if term.kind == "sqrt":
        return Term("*", (Term("number", number=Real(Fraction(1, 2))), logarithm(parts[0], sample)))
    if term.kind == "**" and _positive(parts[0], sample):
        return Term("*", (parts[1], logarithm(parts[0], sample)))
    whole = Term("log", (term,))
    if term.kind in _LOGARITHMS and all(_positive(part, sample) for part in parts):
        apart = Term(_LOGARITHMS[term.kind], tuple(logarithm(part, sample) for part in parts))
        # ln(1 + x²) has fewer singularities than ln 1 and ln x² have
        keep = term.kind == "+" and _large(term, sample) and any(_singular(part) for part in apart.parts)
        return whole if keep else apart
    return whole


_LOGARITHMS = {"*": "+", "/": "-", "+": "log_sum"}


def _large(term: Term, sample: Array) -> bool:
    """Whether a sum is nowhere so small that floats lose it."""
    value, error = running(term, sample)
    return bool(np.all(value > _SMALL) and np.all(error < value))


def _singular(term: Term) -> bool:
    """Whether the logarithm or a root of something that x moves occurs."""
    return (term.kind in ("log", "sqrt") and not steady(term)) or any(_singular(part) for part in term.parts)


def _positive(term: Term, sample: Array) -> bool:
    """Whether a part seems to be positive."""
    if term.kind in _ALWAYS:
        return True
    if term.kind in ("+", "*", "/", "sqrt") and all(_positive(part, sample) for part in term.parts):
        return True
    value, error = running(term, sample)
    return bool(np.all(value > error))
