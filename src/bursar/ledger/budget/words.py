"""The words in which every door speaks of a budget; docs/reference/words.md has them as a table.

A budget has a *limit*, the promise that it keeps. Of the limit a part is *used* and the rest is *left*, in per cent; a
release *takes* a part, and *about so many more* like the last one fit. What is left is rounded down, what something
takes is rounded up, and used and left make a hundred.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor

from bursar.ledger.budget.amounts import shown, written
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import Figures

COUNTED = "How this is counted"
"""The heading under which experts find the lines, ways and certificates."""
_SMALL = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAKS = "the part of δ that is kept for leaks"
_LINES = {
    ("residue", "gaussian"): ("Gaussian-like", "for Gaussian-like releases"),
    ("residue", "pure"): ("pure", "for pure releases"),
    ("residue", "delta"): ("leaks", _LEAKS),
    ("advanced", "delta"): ("leaks", _LEAKS),
    ("concentrated", "delta"): ("leaks", _LEAKS),
    ("zcdp", "delta"): ("leaks", _LEAKS),
}
"""Of lines that are not all there is: the one name of each, and what it is."""


_DONE = {
    "spend": "charged",
    "refuse": "refused",
    "reserve": "reserved",
    "draw": "drawn",
    "close": "closed",
    "expire": "expired",
    "cancel": "reservation ended",
    "correct": "corrected",
    "import": "brought in",
    "open": "opened",
    "limit": "new limit",
    "status": "status",
    "restore": "restored",
}
"""What the kinds of entries are called."""


def left(share: Fraction) -> str:
    """A share that is left, in per cent, rounded down: with a decimal near the ends, where that matters."""
    number, tiny = _left(share)
    return "less than 0.1 %" if tiny else f"{_plain(number)} %"


def used(share: Fraction) -> str:
    """The rest of a hundred, where this share is left."""
    number, tiny = _left(share)
    return "more than 99.9 %" if tiny else f"{_plain(100 - number)} %"


def taken(share: Fraction) -> str:
    """What something takes, in per cent, rounded up to two digits; or in limits, where it is many."""
    hundred = share * 100
    if hundred <= 0:
        return "nothing"
    if hundred < Fraction(1, 1000):
        return "less than 0.001 %"
    if hundred >= 1000:
        return f"{ceil(share)} times the limit"
    return f"{_plain(_above(hundred))} %"


def percent(share: Fraction, *, up: bool) -> str:
    """A share in per cent for machines: four digits, rounded to the safe side."""
    return shown(share * 100, up=up, digits=4)


def figure(value: Fraction, *, up: bool = True) -> str:
    """A number that people read: exactly if four digits or a short ratio do, else rounded to four digits."""
    if value == 0:
        return "0"
    rounded = shown(value, up=up, digits=4)
    exact = Fraction(rounded) == value
    if not exact and len(written(value)) <= 7:
        return written(value)
    power = floor_log(value)
    if -4 <= power <= 6:
        return rounded
    lead = _plain(Fraction(rounded) / Fraction(10) ** power)
    ten = f"10{str(power).translate(_SMALL)}"
    return ten if lead == "1" else f"{lead}·{ten}"


def floor_log(value: Fraction) -> int:
    """The power of ten below a positive number."""
    text = shown(value, up=False, digits=1)
    lead, _, power = text.partition("e")
    return int(power) if power else len(lead) - 1 if "." not in lead else -len(lead.partition(".")[2])


def promise(target: Mapping[str, str]) -> str:
    """A limit in words, such as ε = 1 at δ = 10⁻⁶."""
    given = {name: figure(Fraction(value)) for name, value in target.items()}
    at = f" at δ = {given['delta']}" if given.get("delta", "0") != "0" else ""
    if "order" in given:
        order = f"Rényi order {given['order']}"
        return f"ε = {given['epsilon']}{at} by {order}" if at else f"a divergence of {given['renyi']} at {order}"
    if "rho" in given:
        return f"ρ = {given['rho']} (zCDP){at}"
    if "mu" in given:
        return f"μ = {given['mu']} (Gaussian DP)"
    return f"ε = {given['epsilon']}{at or ' (pure)'}"


def budget(scope: Scope) -> str:
    """A scope and its promise."""
    return f'budget "{scope.name}": {promise(scope.target)}, protects each {scope.unit}'


def standing(share: Fraction) -> str:
    """How a budget stands."""
    return f"{used(share)} used, {left(share)} left"


def both(figures: Figures) -> str:
    """How a target with splits stands: 56 % left for Gaussian-like releases · ε 0.8 left for pure ones."""
    return f"{left(figures.gaussian)} left for Gaussian-like releases · {epsilon_left(figures)} left for pure ones"


def epsilon_left(figures: Figures) -> str:
    """What is left for pure releases."""
    return f"ε {figure(figures.pure, up=False)}"


def figures_left(figures: Figures | None) -> dict[str, str | None]:
    """Both figures for machines, rounded down; None where there are no splits."""
    if figures is None:
        return {"gaussian_left": None, "pure_left": None}
    return {"gaussian_left": percent(figures.gaussian, up=False), "pure_left": shown(figures.pure, up=False, digits=6)}


def more(count: int | None, like: str | None) -> str:
    """How many more fit."""
    if count is None or like is None:
        return ""
    return f"no more like {like}" if count == 0 else f"about {count} more like {like}"


def line_name(currency: str, line: str) -> str:
    """The one name of a line, in the expert's part."""
    return _LINES.get((currency, line), ("limit", ""))[0]


def of_line(currency: str, line: str) -> str:
    """What a share is of, where the line is not all there is; empty where it is the budget itself."""
    said = _LINES.get((currency, line), ("", ""))[1]
    return f" of {said}" if said == _LEAKS else f" {said}" if said else ""


def alerted(line: str) -> str:
    """What an alert is about, whose currency nobody names."""
    return {"delta": f"of {_LEAKS}"}.get(line, "of the limit")


def done(kind: str) -> str:
    """What an entry of the journal came to, by its kind."""
    return _DONE.get(kind, kind)


def _left(share: Fraction) -> tuple[Fraction, bool]:
    """Per cent left, rounded down, and whether that would hide that there is something."""
    hundred = min(share, Fraction(1)) * 100
    scale = 10 if hundred < 10 or hundred > 90 else 1
    number = Fraction(floor(hundred * scale), scale)
    return max(number, Fraction(0)), number == 0 < hundred


def _above(hundred: Fraction) -> Fraction:
    """Rounded up to two digits, or to a whole number."""
    step = Fraction(1)
    while hundred < 10 * step and step > Fraction(1, 10_000):
        step /= 10
    return ceil(hundred / step) * step


def _plain(number: Fraction) -> str:
    return shown(number, up=False, digits=6)
