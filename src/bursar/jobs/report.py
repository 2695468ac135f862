"""What `account` answers: the interval, every theorem's part in it, and the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bursar.composition import Composition
from bursar.errors import BursarError
from bursar.jobs.report_text import plain
from bursar.numerics.shown import shown
from bursar.presented import Bare, Presented
from bursar.references import bibtex
from bursar.theorems import Abstain, Bound, ForEpsilon, Question, Theorem

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, repr=False)
class Row(Presented):
    """One theorem's answer: a bound, or a reason for abstaining."""

    theorem: Theorem
    result: Bound | Abstain

    @property
    def id(self) -> str:
        """The theorem's name in reports."""
        return self.theorem.id

    @property
    def bound(self) -> Bound | None:
        """The interval that the theorem proves, where it proves one."""
        return self.result if isinstance(self.result, Bound) else None

    @property
    def reason(self) -> str | None:
        """The reason why the theorem abstains, where it does."""
        return self.result.reason if isinstance(self.result, Abstain) else None

    def _facts(self) -> list[tuple[str, object]]:
        return [("id", self.id), ("", self.result)]

    def __str__(self) -> str:
        return f"{self.id}: {self.result}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        head = {"id": self.id, "title": self.theorem.title, "adaptivity": self.theorem.adaptivity.value}
        if self.bound is None:
            return {**head, "reason": self.reason}
        return {**head, **bound_to_dict(self.bound)}


@dataclass(frozen=True, repr=False)
class Report(Presented):
    """The certified answer to one question about one composition."""

    composition: Composition
    question: Question
    rows: tuple[Row, ...]
    bound: Bound

    @property
    def epsilon(self) -> Bound:
        """The ε that holds at the δ asked."""
        return self._answer("epsilon")

    @property
    def delta(self) -> Bound:
        """The δ that holds at the ε asked."""
        return self._answer("delta")

    @property
    def theorems(self) -> tuple[Row, ...]:
        """Every theorem asked, the best upper bound first, abstentions last."""
        return tuple(sorted(self.rows, key=lambda row: (1, 0.0) if row.bound is None else (0, row.bound.upper)))

    @property
    def decided_by(self) -> tuple[str, ...]:
        """The ids of the theorems that gave the ends of the interval, the upper one first."""
        ends = []
        for row in self.theorems:
            if row.bound is not None and row.bound.upper == self.bound.upper:
                ends.append(row.id)
                break
        for row in self.rows:
            if row.bound is not None and row.bound.lower == self.bound.lower > 0:
                ends.append(row.id)
                break
        return tuple(dict.fromkeys(ends))

    @property
    def asked(self) -> tuple[str, str]:
        """What was given: ("delta", "1e-06") or ("epsilon", "1")."""
        if isinstance(self.question, ForEpsilon):
            return "delta", self.question.delta.text()
        return "epsilon", self.question.epsilon.text()

    def _answer(self, name: str) -> Bound:
        mine = "epsilon" if isinstance(self.question, ForEpsilon) else "delta"
        if name != mine:
            given, value = self.asked
            raise BursarError(f"this report answers {mine} at {given} = {value}; ask account(…, {mine}=…) for {name}")
        return self.bound

    def explain(self, *, error: bool = False) -> str:
        """The answer in sentences: what holds, and what each theorem said; with ``error`` every error term too."""
        what, (given, value) = self.composition, self.asked
        symbol = "ε" if isinstance(self.question, ForEpsilon) else "δ"
        noun = "release" if what.count == 1 else "releases"
        lines = [
            f"{what.count} {noun} ({what.text()}), neighbours by {what.relation}.",
            f"At {given} = {value}: {self._interval(symbol, digits=12)}.",
            f"Why: {self.bound.because}.",
            "",
        ]
        for row in self.theorems:
            if row.bound is None:
                lines.append(f"- {row.id} abstains: {row.reason}.")
            else:
                said = f"{symbol} ≤ {shown(row.bound.upper, up=True, digits=10)}"
                if row.bound.lower > 0:
                    said += f" and ≥ {shown(row.bound.lower, up=False, digits=10)}"
                lines.append(
                    f"- {row.id} ({row.theorem.title}; {row.theorem.adaptivity.value}): {said}, "
                    f"because {row.bound.because}."
                )
            if error and row.bound is not None and row.bound.budget:
                terms = ", ".join(f"{name} {size:.1e}" for name, size in row.bound.budget)
                lines.append(f"  errors inside that interval, relative to δ: {terms}.")
        return "\n".join(lines)

    def cite(self) -> str:
        """BibTeX for the theorems that decided the answer."""
        keys = [key for row in self.rows if row.id in self.decided_by for key in row.theorem.citations]
        return bibtex(keys)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, the same through every door; infinity is the string "inf"."""
        given, value = self.asked
        name = "epsilon" if isinstance(self.question, ForEpsilon) else "delta"
        return {
            "composition": self.composition.text(),
            "relation": self.composition.relation,
            "asked": {given: value},
            name: bound_to_dict(self.bound),
            "decided_by": list(self.decided_by),
            "theorems": [row.to_dict() for row in self.theorems],
        }

    def _interval(self, symbol: str, *, digits: int) -> str:
        low, high = shown(self.bound.lower, up=False, digits=digits), shown(self.bound.upper, up=True, digits=digits)
        return f"{symbol} = {low}" if self.bound.lower == self.bound.upper else f"{low} ≤ {symbol} ≤ {high}"

    def _facts(self) -> list[tuple[str, object]]:
        name = "epsilon" if isinstance(self.question, ForEpsilon) else "delta"
        ends = f"[{self.bound.lower!r}, {self.bound.upper!r}]"
        given, value = self.asked
        return [
            (name, Bare(ends)),
            (given, Bare(value)),
            ("decided_by", self.decided_by),
            ("composition", self.composition.text()),
        ]

    def __rich__(self) -> RenderableType:
        from bursar.jobs.report_table import table

        return table(self)

    def _repr_html_(self) -> str:
        """The same table in a notebook."""
        from bursar.jobs.report_html import html

        return html(self)

    def __str__(self) -> str:
        return plain(self)


def bound_to_dict(bound: Bound) -> dict[str, Any]:
    """A bound's JSON form."""
    return {"lower": _number(bound.lower), "upper": _number(bound.upper), "because": bound.because}


def _number(x: float) -> float | str:
    return "inf" if math.isinf(x) else x
