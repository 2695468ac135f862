"""The numbers of the referee: prices of releases, plans, curves, and every theorem's bounds for many small questions.

Each part takes the numbers of the answers that are wanted, and gives all of them without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from small_questions import NUMBER_OF_QUESTIONS, small_question
from words_kept import ASKED

import bursar as b
from bursar.errors import BursarError, Refused
from bursar.theorems import THEOREMS
from support.catalogue import CHEAPER, EXAMPLES

Answers = Iterator[tuple[str, Any]]
Numbers = Sequence[int] | None
PROCESSOR_DEPENDENT = ("numerical", "strategies")
"""Theorems whose floats depend on the processor: their intervals are compared as such, not digit by digit."""


def _chosen(items: Sequence[Any], numbers: Numbers) -> Sequence[Any]:
    return items if numbers is None else [items[number] for number in numbers]


def priced() -> list[tuple[dict[str, str], str]]:
    """Scopes, each with the one release that is charged to it."""
    single = [*(str(m) for m in EXAMPLES), *dict.fromkeys(str(m) for family in CHEAPER.values() for m in family)]
    plans = ASKED["whole plans"]
    rows = product(ASKED["scopes"], dict.fromkeys([*single, *plans]))
    some = [*(str(m) for m in EXAMPLES[:24:2]), *plans[:11]]
    return [*rows, *product(ASKED["other currencies"], some)]


def prices(numbers: Numbers = None) -> Answers:
    """What a release takes of each line of a fresh scope, exactly; or the code of its refusal."""
    with b.Ledger("memory://", alert=None) as ledger:
        for number, (terms, text) in enumerate(_chosen(priced(), numbers)):
            relation = b.parse(text).relation
            name = f"s{number}"
            ledger.open(name, relation=relation, **terms)  # type: ignore[arg-type]
            key = " ".join(f"{term}={value}" for term, value in terms.items())
            try:
                ledger.spend(name, text, key=name)
            except Refused as refusal:
                yield f"{key}: {text}", {"refused": refusal.code}
            else:
                yield f"{key}: {text}", {line.name: str(line.spent) for line in ledger.show(name).lines}


def plans(numbers: Numbers = None) -> Answers:
    """The value that meets a target, and what it costs."""
    for template, (epsilon, delta) in _chosen([*product(ASKED["templates"], ASKED["targets"])], numbers):
        key = f"{template} for epsilon={epsilon} delta={delta}"
        try:
            found = b.plan(template, epsilon=epsilon, delta=delta)
        except BursarError as refusal:
            yield key, {"refused": type(refusal).__name__}
        else:
            yield key, {"value": str(found.value), "epsilon": _ends(found.report.epsilon)}


EPSILONS = (0.0, 0.01, 0.1, 0.3, 0.7, 1.0, 2.0, 4.0, 8.0)
RATES = (0.0, 1e-6, 0.01, 0.1, 0.5, 0.9, 1.0)
SLOW_CURVES = ("allocated", "shuffled", "with_replacement", "densities")


def curved() -> list[b.Composition]:
    """Fifty compositions."""
    single = [one * 1 for one in EXAMPLES if one.name not in SLOW_CURVES]
    return [*single, *map(b.parse, ASKED["curves"])]


def curves(numbers: Numbers = None) -> Answers:
    """δ at some ε's, and the trade-off at some false-positive rates, where the loss is known."""
    for composition in _chosen(curved(), numbers):
        try:
            found = b.profile(composition, epsilons=EPSILONS)
            band = found.trade_off(RATES)
        except BursarError as refusal:
            yield str(composition), {"refused": [type(refusal).__name__]}
        else:
            delta = [_decimals(*ends) for ends in zip(found.lower, found.upper, strict=True)]
            trade = [_decimals(*ends) for ends in zip(band.lower, band.upper, strict=True)]  # type: ignore[union-attr]
            yield str(composition), {"delta": delta, "trade_off": trade}


def bounds(numbers: Numbers = None) -> Answers:
    """Both ends of every theorem, in hexadecimal; of those whose floats depend on the processor in decimals."""
    names = [theorem.id for theorem in THEOREMS]
    for number in range(NUMBER_OF_QUESTIONS) if numbers is None else numbers:
        text, asked = small_question(number)
        ((question, at),) = asked.items()
        answers: dict[str, Any] = {}
        for row in b.account(text, theorems=names, **asked).rows:
            if row.bound is not None:
                answers[row.id] = _ends(row.bound) if row.id in PROCESSOR_DEPENDENT else _hexadecimal(row.bound)
        yield f"{number}: {text} at {question}={at}", answers


def _hexadecimal(bound: Any) -> str:
    return f"{bound.lower.hex()} {bound.upper.hex()}"


def _ends(bound: Any) -> list[str]:
    return _decimals(bound.lower, bound.upper)


def _decimals(lower: float, upper: float) -> list[str]:
    """An interval to twelve digits, which may exclude the thirteenth: it is compared to a millionth."""
    return [f"{float(lower):.11e}", f"{float(upper):.11e}"]
