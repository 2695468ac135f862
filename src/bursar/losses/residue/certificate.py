"""The certificate of a charge on a Gaussian allowance.

A release may be charged c at an allowance B² if what it adds to the rest stays under the Gaussian with mean B:

    Σ p·δ_{B′}(x − l) ≤ δ_B(x) + slack for every x ≥ 0, with B′² = B² − c,

in both directions and their reverses. A charge that is valid at B is valid at every larger allowance (compose both
sides with a Gaussian), so charges are looked up at fixed rungs. The proof is in proofs/residue.md; §4 there bounds the
function between the nodes and its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from bursar.losses.residue.law import ResidueLaw
from bursar.numerics.arrays import Array, Truths
from bursar.numerics.trusted import NORMAL, SAFETY, UNIT, normal_cdf

VERSION = 4
_CELLS = 4  # per standard deviation of the narrower Gaussian, at first
_PARTS, _DIVISIONS = 4, 4  # of a cell that does not show it; the finest are a sixty-fourth of the first
_APART = 8  # finest cells between those that a guess looks at
_SMALLEST_REST = 1 / 64  # of B: with less left than this the cells would be too many
_CLOSE = 1e-3  # of the charge: how near the smallest one the search goes
_LARGEST = 8.0  # of B: with more, e^x and the tails of the Gaussian leave the range of floats
_FAINT = 1e-188  # bounds whatever underflows
_MOST = 4_000_000  # evaluations in one test
_BLOCK = 16_000  # evaluations at a time: the arrays stay in the caches, which halves the time


def smallest_charge(law: ResidueLaw, allowance: float, slack: float) -> float | None:
    """A certified charge close to the smallest one at this allowance B²; None where there is none.

    Many small releases cost their variance, so the search starts there. It asks for signs at a few places, which is
    cheap and proves nothing; what it returns has its certificate, whatever the search did. The start is summed exactly:
    a product of arrays ends in other digits on another processor, and so would the price.
    """
    most = allowance * (1 - 1.01 * _SMALLEST_REST**2)
    least = 1e-12 * allowance
    start = max(1.005 * max(math.fsum(masses * np.square(losses)) for losses, masses in law.sides), least)
    near = _search(lambda c: _plausible(law, allowance, c, slack), (least, start, most))
    if near is None:
        return None
    for more in (0, 1, 4):
        c = min(near * (1 + more * _CLOSE / 2), most)
        if (not more or _likely(law, allowance, c, slack)) and certified(law, allowance, c, slack):
            return c
    # where the losses are small beside B all of the finest cells are needed: on the way a guess is enough
    found = _search(lambda c: _likely(law, allowance, c, slack), (least, near, most))
    if found is not None and certified(law, allowance, found, slack):
        return found
    return _search(lambda c: certified(law, allowance, c, slack), (least, near, most))


def _search(passes: Callable[[float], bool], range: tuple[float, float, float]) -> float | None:
    """The smallest charge that passes, nearly, from (least, start, most): a bracket around the start, then halves."""
    least, c, most = range
    low, high = 0.0, math.inf
    step = 1.0079  # then three halvings are enough
    while high == math.inf or low == 0.0:
        if passes(min(c, most)):
            high = min(c, most)
            c = high / step
        else:
            low = c
            c = low * step
            if low >= most:
                return None
        if c < least:
            return high
        step **= 2
    while high - low > _CLOSE * high:
        c = math.sqrt(low) * math.sqrt(high)
        if passes(c):
            high = c
        else:
            low = c
    return high


def _plausible(law: ResidueLaw, allowance: float, charge: float, slack: float) -> bool:
    """Whether the inequality seems to hold: at some places first, since too small a charge fails nearly everywhere."""
    big, small = math.sqrt(allowance), math.sqrt(allowance - charge)
    for width in (8 * small / _CELLS, small / _CELLS):
        for losses, masses in law.sides:
            end = _reach(losses, small, slack)
            if end / width * (len(losses) + 1) > _MOST:
                return False
            for x in _blocks(np.arange(0.0, end, width), len(losses)):
                left = _sums(_delta(np.subtract.outer(x, losses), small), masses)
                if np.any(_delta(x, big) + slack < left):
                    return False
    return True


def certified(law: ResidueLaw, allowance: float, charge: float, slack: float) -> bool:
    """Whether the charge provably suffices at this allowance. ``allowance`` and ``charge`` are exact floats."""
    ends = _means(allowance, charge, slack)
    return ends is not None and all(_under(losses, masses, *ends, slack) for losses, masses in law.sides)


def _likely(law: ResidueLaw, allowance: float, charge: float, slack: float) -> bool:
    """Whether there seems to be a certificate: some of the finest cells, then those around the worst. No proof."""
    ends = _means(allowance, charge, slack)
    return ends is not None and all(_seems_under(losses, masses, *ends, slack) for losses, masses in law.sides)


def _means(allowance: float, charge: float, slack: float) -> tuple[float, float] | None:
    """B and B′, or None where nothing is certified: rounding makes the Gaussian on the right a little narrower than B,
    the one on the left a little wider than B′.
    """
    rest = allowance - charge
    if not (0 < charge < allowance <= _LARGEST**2 and rest >= _SMALLEST_REST**2 * allowance and slack > 1e-150):
        return None
    return math.sqrt(allowance) * (1 - 4 * UNIT), math.sqrt(rest) * (1 + 4 * UNIT)


def _seems_under(losses: Array, masses: Array, big: float, small: float, slack: float) -> bool:
    """One side, as far as a guess looks."""
    width = small / (_CELLS * _PARTS ** (_DIVISIONS - 1))
    count = max(1, math.ceil(_reach(losses, small, slack) / width))
    if count * (len(losses) + 1) > _MOST:
        return _under(losses, masses, big, small, slack)  # which divides only where it must
    cells = np.arange(count, dtype=np.float64)[_APART // 2 :: _APART]
    clear: list[float] = []
    for block in _blocks(cells, len(losses)):
        part = _block_under((block + 0.5) * width, losses, masses, big, small, width, slack)
        if part is None or not part[0].all():
            return False
        clear.extend(part[1].tolist())
    worst = cells[np.argmin(clear)] if clear else 0.0
    around = np.arange(max(worst - _APART, 0.0), min(worst + _APART + 1, count))
    part = _block_under((around + 0.5) * width, losses, masses, big, small, width, slack)
    return part is not None and bool(part[0].all())


def _under(losses: Array, masses: Array, big: float, small: float, slack: float) -> bool:
    """One side, on cells up to where the left side is below the slack, and no further; cells that do not show it are
    divided, a few times.
    """
    end = _reach(losses, small, slack)
    width = small / _CELLS
    count = math.ceil(max(end, width) / width)
    if count * (len(losses) + 1) > _MOST:
        return False
    last = count * width
    if not SAFETY * math.fsum(masses * normal_cdf(small / 2 - (last - losses) / small)) <= slack:
        return False
    x = (np.arange(count, dtype=np.float64) + 0.5) * width
    for division in range(1, _DIVISIONS + 1):
        found = []
        for block in _blocks(x, len(losses)):
            part = _block_under(block, losses, masses, big, small, width, slack)
            if part is None or (division == _DIVISIONS and not part[0].all()):
                return False
            found.append(part[0])
        shown = np.concatenate(found)
        if shown.all():
            return True
        width /= _PARTS
        x = np.add.outer(x[~shown], width * np.array([-1.5, -0.5, 0.5, 1.5])).ravel()
    return False


def _blocks(x: Array, losses: int) -> Iterator[Array]:
    """Places in pieces that fit the caches with so many losses each."""
    size = max(1, _BLOCK // losses)
    return (x[start : start + size] for start in range(0, len(x), size))


def _block_under(
    x: Array, losses: Array, masses: Array, big: float, small: float, width: float, slack: float
) -> tuple[Truths, Array] | None:
    """Which cells show it, by Taylor's formula: the quadratic's own minimum, the cubic term and a bound of the fourth;
    and how clearly. None where the middle of a cell certainly shows the contrary.
    """
    half = width / 2 * (1 + 1e-7)  # middles are rounded, so cells overlap a little
    right, right_error = _values(x, big, half)
    shifted = np.subtract.outer(x, losses)
    left, left_error = _values(shifted, small, half)
    f, d1, d2, d3 = (a - _sums(b, masses) for a, b in zip(right, left, strict=True))
    rounding = right_error + _sums(left_error, masses) + (len(losses) + 8) * UNIT * _sums(left[0], masses)
    if np.any(f + slack < -SAFETY * rounding):
        return None
    fourth = _fourth(x, big, 2 * half, -right[1]) + _sums(_fourth(shifted, small, 2 * half, -left[1]), masses)
    quadratic = np.minimum(f - np.abs(d1) * half + d2 * half * half / 2, f)
    inside = (d2 > 0) & (np.abs(d1) < d2 * half)
    lowest = np.where(inside, f - np.square(d1) / (2 * np.where(inside, d2, 1.0)), quadratic)
    doubt = np.abs(d3) * half**3 / 6 + fourth * half**4 / 24 + rounding
    return lowest + slack >= SAFETY * doubt, (lowest + slack) / doubt


def _sums(values: Array, masses: Array) -> Array:
    """Σ p·value of each row. Not by BLAS: its threads wait busily, and its last digit depends on how many there are."""
    found: Array = np.sum(values * masses, axis=1)
    return found


def _reach(losses: Array, small: float, slack: float) -> float:
    """Where the left side is about the slack."""
    return float(losses[-1]) + small * (math.sqrt(-2 * math.log(slack)) + 1 + small / 2)


def _delta(x: Array, mean: float) -> Array:
    """δ of the Gaussian pair."""
    z = x / mean - mean / 2
    return normal_cdf(-z) - np.exp(np.minimum(x, 690.0)) * normal_cdf(-z - mean)


def _values(x: Array, mean: float, half: float) -> tuple[tuple[Array, Array, Array, Array], Array]:
    """δ of the Gaussian pair at x with three derivatives, and a bound of what rounding does to Taylor's formula.

    With T = e^x·Φ(−x/μ − μ/2) and g the density of the loss: δ′ = −T, δ″ = g − T, δ‴ = g − T + g′.
    """
    z = x / mean - mean / 2
    above = normal_cdf(-z)
    below = np.exp(np.minimum(x, 690.0)) * normal_cdf(-z - mean)
    density = np.exp(-0.5 * z * z) / (math.sqrt(2 * math.pi) * mean)
    second = density - below
    third = second - density * z / mean
    error = NORMAL * (above + below * math.exp(half) + density * half * half * (1 + half * np.abs(z) / mean)) + _FAINT
    return (above - below, -below, second, third), error


def _fourth(x: Array, mean: float, width: float, below: Array) -> Array:
    """A bound of |δ⁗| = |g − T + g′ + g″| in the whole cell around x, where T is ``below``. As T′ = T − g, it grows to
    the right by at most e^{half the cell}, and to the left by at most half the cell times the largest g.
    """
    z = np.abs(x / mean - mean / 2)
    slip = width / (2 * mean)
    near = np.maximum(z - slip, 0.0)
    density = np.exp(-0.5 * near * near) / (math.sqrt(2 * math.pi) * mean)
    far = z + slip
    bent = density * (1 + width / 2 + far / mean + (far * far + 1) / (mean * mean))
    return bent + math.exp(width / 2) * (1 + NORMAL) * below + _FAINT
