"""The commands that count and keep nothing: what they do, whoever read their words."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from bursar.cli.shared import busy, failing, fitted


def account(
    composition: str,
    *,
    delta: str | None = None,
    epsilon: str | None = None,
    theorem: Sequence[str] | None = None,
    width: str | None = None,
    effort: str = "normal",
    as_json: bool = False,
    explain: bool = False,
    cite: bool = False,
) -> None:
    """Print what a sequence of releases costs."""
    from bursar.errors import InputError
    from bursar.jobs.account import account as run
    from bursar.jobs.spec import parse

    with failing(as_json), busy("accounting"):
        if (delta is None) == (epsilon is None):
            raise InputError("ask one thing: --delta to learn ε, or --epsilon to learn δ")
        text = sys.stdin.read() if composition == "-" else composition
        report = run(
            parse(text),
            delta=_number(delta, "delta"),
            epsilon=_number(epsilon, "epsilon"),
            theorems=theorem or None,
            width=_number(width, "width"),
            effort=effort,
        )
    if as_json:
        print(json.dumps(report.to_dict(), ensure_ascii=False))
    elif explain or cite:
        parts = (fitted(report.explain()) if explain else "", report.cite() if cite else "")
        print("\n\n".join(part for part in parts if part))
    else:
        _show(report)


def plan(
    template: str,
    *,
    epsilon: str,
    delta: str,
    width: str | None = None,
    effort: str = "normal",
    as_json: bool = False,
    explain: bool = False,
) -> None:
    """Print how much of the unknown fits a target."""
    from bursar.jobs.plan import plan as run

    with failing(as_json), busy("planning"):
        found = run(
            sys.stdin.read() if template == "-" else template,
            epsilon=_number(epsilon, "epsilon"),
            delta=_number(delta, "delta"),
            width=_number(width, "width"),
            effort=effort,
        )
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    elif explain:
        print(fitted(found.explain()))
    else:
        _show(found)


def training(*, sampling: str, relation: str | None, as_json: bool = False, **numbers: str | None) -> None:
    """Print the noise of a training run, or what it costs."""
    from bursar.jobs.training import training as run

    with failing(as_json), busy("planning"):
        given: dict[str, Any] = {name: _number(text, name) for name, text in numbers.items()}
        found = run(sampling=sampling, relation=relation, **given)
        said = _said(found, as_json)
    print(said)


def split(
    sensitivities: Sequence[str],
    *,
    delta: str,
    epsilon: str | None,
    standard_errors: str | None,
    weights: str | None,
    noise: str,
    relation: str | None,
    as_json: bool = False,
) -> None:
    """Print the noises that share a budget, or the smallest budget for wanted accuracies."""
    from bursar.errors import InputError
    from bursar.jobs.split import smallest_budget
    from bursar.jobs.split import split as run

    with failing(as_json), busy("planning"):
        sizes = [_number(one, "sensitivities") for one in sensitivities]
        under = {} if relation is None else {"relation": relation}
        risk = _number(delta, "delta")
        if (epsilon is None) == (standard_errors is None):
            raise InputError("ask one thing: --epsilon to share it, or --standard-errors for the smallest ε")
        if standard_errors is not None:
            if weights is not None:
                raise InputError("weights are for sharing an --epsilon: leave them out", argument="weights")
            errors = _numbers(standard_errors, "standard_errors")
            found = smallest_budget(sizes, delta=risk, standard_errors=errors, noise=noise, **under)
        else:
            heavy = None if weights is None else _numbers(weights, "weights")
            share = _number(epsilon, "epsilon")
            found = run(sizes, epsilon=share, delta=risk, weights=heavy, noise=noise, **under)
        said = _said(found, as_json)
    print(said)


def counting(queries: Sequence[str], *, epsilon: str, delta: str, as_json: bool = False) -> None:
    """Print the noise that each of d counts needs."""
    from bursar.lecture.counting import counting as run

    with failing(as_json), busy("planning"):
        sizes = [_number(one, "queries") for one in queries]
        found = run(sizes, epsilon=_number(epsilon, "epsilon"), delta=_number(delta, "delta"))
        said = _said(found, as_json)
    print(said)


def convert(promise: str, *, to: str, delta: str | None, epsilon: str | None, as_json: bool = False) -> None:
    """Print the promise that another one implies."""
    from bursar.jobs.converting import convert as run
    from bursar.jobs.converting import spoken, written

    with failing(as_json):
        found = run(promise, to, delta=_number(delta, "delta"), epsilon=_number(epsilon, "epsilon"))
        form = written(found)
        said = json.dumps({"promise": form.to_dict(), "text": form.text()}, ensure_ascii=False)
        print(said if as_json else spoken(form))


def _said(found: Any, as_json: bool) -> str:
    """An answer for machines or for people."""
    return json.dumps(found.to_dict(), ensure_ascii=False) if as_json else str(found)


def _numbers(text: str, name: str) -> list[Any]:
    return [_number(part, name) for part in text.split(",")]


def _number(text: str | None, name: str) -> Any:
    """A number from the command line means what it means in a text form."""
    from bursar.numerics.real import read_text

    return None if text is None else read_text(text.strip(), name)


def _show(answer: Any) -> None:
    """Colours on a terminal only; 80 columns of plain text elsewhere."""
    if not sys.stdout.isatty():
        print(answer)
        return
    from rich.console import Console

    Console(highlight=False).print(answer)
