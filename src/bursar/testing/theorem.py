"""Laws of theorems, tried on compositions of every kind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache

from bursar.composition import Composition
from bursar.errors import BursarError
from bursar.jobs.account import account, ask
from bursar.jobs.spec import parse
from bursar.numerics.balls import working
from bursar.theorems import Abstain, Bound, ForDelta, ForEpsilon, Question, Theorem
from bursar.theorems.plugins import guarded

Problems = Iterator[str]
COMPOSITIONS = (
    "randomized_response(epsilon=0.1)",
    "randomized_response(epsilon=0.1)*100",
    "laplace(scale=10)*30",
    "laplace(scale=1)*3 + gaussian(sigma=4)*5",
    "gaussian(sigma=2)",
    "gaussian(sigma=20)*1000",
    "declared(pure_dp(epsilon=1/2))*4",
    "declared(approx_dp(epsilon=0.1, delta=1e-8))*20",
    "leaky_randomized_response(epsilon=1/2, delta=1e-7)*3",
    "name_and_shame(delta=1e-9)*50",
    "declared(zcdp(rho=0.01))*10",
    "declared(gdp(mu=0.1))*25",
    "exponential(epsilon=1/2)*4",
    "poisson(gaussian(sigma=1), rate=0.01)*1000",
    "discrete_laplace(scale=5)*8",
    "laplace(scale=10, relation=replace_one)*12",
)
DELTAS = (0, "1e-12", "1e-6", "1e-3")
EPSILONS = (0, "1/10", 1, 5)


def questions() -> list[Question]:
    """What is asked of each composition, the δ's in growing order first."""
    return [ask(delta=delta, epsilon=None) for delta in DELTAS] + [ask(delta=None, epsilon=x) for x in EPSILONS]


def states_itself(one: Theorem) -> Problems:
    """It has a name, a title and sources."""
    if not one.id.isidentifier() or not one.title or not one.citations:
        yield "it needs an id, a title and at least one source"


def answers_or_abstains(one: Theorem) -> Problems:
    """It never raises; a refusal is an `Abstain` with a reason."""
    for text in COMPOSITIONS:
        for question in questions():
            try:
                found = _asked(one, text, question)
            except BursarError as problem:
                yield f"of {text} at {_said(question)}: {problem}"
                continue
            if isinstance(found, Abstain) and not found.reason.strip():
                yield f"it abstains from {text} without a reason"


def contradicts_nobody(one: Theorem) -> Problems:
    """Its interval meets that of all others together."""
    for text in COMPOSITIONS:
        for question in questions():
            if (found := _bound(one, text, question)) is None:
                continue
            others = _known(text, question)
            if found.upper < others.lower or found.lower > others.upper:
                yield (
                    f"of {text} at {_said(question)} it says [{found.lower!r}, {found.upper!r}], "
                    f"the truth is in [{others.lower!r}, {others.upper!r}]"
                )


def counts_are_kept(one: Theorem) -> Problems:
    """Fifty times a composition costs more than one."""
    question = ask(delta="1e-6", epsilon=None)
    for text in COMPOSITIONS:
        alone, many = (_bound(one, f"({text})*{count}", question) for count in (1, 50))
        if alone is not None and many is not None and 0 < alone.upper < math.inf and many.upper <= alone.upper:
            yield f"it bills fifty of {text} with {many.upper!r}, and one with {alone.upper!r}"


def more_delta_costs_no_more(one: Theorem) -> Problems:
    """A larger δ never makes its lower end exceed an upper end before."""
    for text in COMPOSITIONS:
        found = [_bound(one, text, question) for question in questions() if isinstance(question, ForEpsilon)]
        bounds = [bound for bound in found if bound is not None]
        for dear, cheap in itertools.pairwise(bounds):
            if cheap.lower > dear.upper:
                yield f"of {text} it says at most {dear.upper!r}, and at least {cheap.lower!r} at a larger δ"


def _bound(one: Theorem, text: str, question: Question) -> Bound | None:
    try:
        found = _asked(one, text, question)
    except BursarError:
        return None  # which another law tells
    return found if isinstance(found, Bound) else None


def _asked(one: Theorem, text: str, question: Question) -> Bound | Abstain:
    with working():
        return guarded(one, one.id).ask(_composition(text), question)


@cache
def _composition(text: str) -> Composition:
    return parse(text)


@cache
def _known(text: str, question: Question) -> Bound:
    if isinstance(question, ForEpsilon):
        return account(_composition(text), delta=question.delta).bound
    return account(_composition(text), epsilon=question.epsilon).bound


def _said(question: Question) -> str:
    return f"ε = {question.epsilon.text()}" if isinstance(question, ForDelta) else f"δ = {question.delta.text()}"


LAWS: dict[str, Callable[[Theorem], Problems]] = {
    law.__name__: law
    for law in (
        states_itself,
        answers_or_abstains,
        contradicts_nobody,
        counts_are_kept,
        more_delta_costs_no_more,
    )
}
