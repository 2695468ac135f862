"""The first job: what does this composition cost? Every theorem is asked that can matter, and their bounds are met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from bursar.composition import Composition
from bursar.errors import ContradictionError, InputError, described, nearest, understood
from bursar.jobs.report import Report, Row
from bursar.jobs.spec import Releases, releases
from bursar.losses.engines.answer import EFFORTS, Precision
from bursar.numerics.balls import working
from bursar.numerics.real import Number
from bursar.numerics.validate import choice, probability, real
from bursar.theorems import ALIASES, THEOREMS, Abstain, Bound, ForDelta, ForEpsilon, Question, Theorem
from bursar.theorems._width import why_open
from bursar.theorems.plugins import plugin, plugins

_CLOSE = 1e-4
"""How closely, relative to itself, an answer must be enclosed where no width was asked."""


@understood
def account(
    composition: Releases,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    theorems: Sequence[str] | None = None,
    width: float | None = None,
    effort: str = "normal",
) -> Report:
    """The certified cost of a composition, given as a value or as its text form: its ε at ``delta``, or its δ at
    ``epsilon``.

    All theorems hold at once, so the answer is the intersection of their intervals; `ContradictionError` says that
    two do not meet, in which case one proof or its code is wrong. Where the answer is enclosed as closely as asked,
    theorems that would take long are left unasked, and the report says so; ``theorems`` asks just these, by id or by
    a name that textbooks have for them ("advanced"). A theorem of your own (`bursar.theorems.plugins`) is asked where
    it is named there, and nowhere else.

    ``width`` asks the numerical theorem for an interval this narrow, relative to the answer: 1e-6 by default.
    ``effort`` ("low", "normal", "high") limits its work; where the limit comes first, the report says the width
    reached.
    """
    what = releases(composition)
    question = ask(delta=delta, epsilon=epsilon, width=width, effort=effort)
    with working():
        rows = _rows(chosen(theorems), what, question, every=theorems is not None)
        bound = meet(rows, question)
        if bound.lower == 0 < bound.upper and what.terms:
            bound = replace(bound, because=f"{bound.because}; {why_open(what)}")
    return Report(what, question, rows, bound)


def _rows(asked: Sequence[Theorem], what: Composition, question: Question, *, every: bool) -> tuple[Row, ...]:
    """Each theorem's answer. No proof leads below the truth, so where the truth is enclosed as closely as asked, what
    others could prove is bounded before it is computed: those that take long are left unasked, unless they were asked
    for by name.
    """
    answers: dict[str, Bound | Abstain] = {}
    close = _CLOSE if question.precision.width is None else question.precision.width
    dear = {theorem.id: theorem.dear(what) for theorem in asked}
    reason, endless = "", False
    for theorem in sorted(asked, key=lambda one: dear[one.id]):
        if reason and (dear[theorem.id] or endless) and not every:
            answers[theorem.id] = Abstain(reason)
            continue
        found = answers[theorem.id] = theorem.ask(what, question)
        if isinstance(found, Bound) and not reason and found.encloses(close):
            size = (found.upper - found.lower) / found.upper if found.upper > found.lower else 0.0
            reason = f"left unasked: {theorem.id} encloses the answer to {size:.0e} of itself, which no proof betters"
            endless = found.lower == math.inf  # engines would only find the same
    return tuple(Row(theorem, answers[theorem.id]) for theorem in asked)


def ask(
    *, delta: Number | None, epsilon: Number | None, width: float | None = None, effort: str = "normal"
) -> Question:
    """The question that the arguments put."""
    if (delta is None) == (epsilon is None):
        raise InputError("ask one thing: give delta= to learn ε, or epsilon= to learn δ", argument="delta")
    precision = Precision(
        None if width is None else float(real(width=width, at_least=Fraction(1, 2**40), at_most=1)),
        choice(effort=effort, among=tuple(EFFORTS)),
    )
    if delta is not None:
        return ForEpsilon(probability(delta=delta), precision)
    return ForDelta(real(epsilon=epsilon, at_least=0), precision)


def chosen(ids: Sequence[str] | None) -> tuple[Theorem, ...]:
    """The theorems to ask."""
    if ids is None:
        return THEOREMS
    known = {theorem.id: theorem for theorem in THEOREMS}
    names = ", ".join([*known, *plugins()])
    if isinstance(ids, str) or not isinstance(ids, Iterable) or not (asked := list(ids)):
        raise InputError(f"theorems must be a list of some of {names}, not {described(ids)}", argument="theorems")
    found = []
    for name in asked:
        meant = ALIASES.get(name, name) if isinstance(name, str) else name
        own = plugin(meant) if isinstance(meant, str) and meant not in known else None
        if own is not None:
            known[own.id] = own
        if not isinstance(meant, str) or meant not in known:
            others = ", ".join(f"{alias} for {id}" for alias, id in ALIASES.items())
            near = nearest(name, [*known, *plugins(), *ALIASES])
            raise InputError(
                f"unknown theorem {described(name)}{near}; there are {names}; also {others}", argument="theorems"
            )
        found.append(known[meant])
    return tuple(found)


def meet(rows: Sequence[Row], question: Question) -> Bound:
    """The intersection of all bounds, and which theorems decide its ends."""
    bounds = [(row.theorem, row.bound) for row in rows if row.bound is not None]
    if not bounds:
        nothing = "no theorem applies: every one abstains"
        return Bound(0.0, float("inf") if isinstance(question, ForEpsilon) else 1.0, nothing)
    above, top = min(bounds, key=lambda pair: pair[1].upper)
    below, bottom = max(bounds, key=lambda pair: pair[1].lower)
    if bottom.lower > top.upper:
        raise ContradictionError(
            f"{below.id} proves at least {bottom.lower!r} ({bottom.because}), "
            f"but {above.id} proves at most {top.upper!r} ({top.because}): "
            "one of the two proofs, or its code, is wrong. Please report this composition."
        )
    because = f"upper by {above.id}: {top.because}"
    if bottom.lower > 0:
        because += "; lower by the same" if below is above else f"; lower by {below.id}: {bottom.because}"
    return Bound(bottom.lower, top.upper, because)
