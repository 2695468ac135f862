"""The commands that count and keep nothing: what `account`, `plan` and `training` do, whoever read their words."""

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


def training(
    *,
    epochs: str,
    delta: str,
    epsilon: str | None = None,
    sigma: str | None = None,
    as_json: bool = False,
    **drawn: Any,
) -> None:
    """Print the noise of a training run, or what it costs; ``drawn`` is how its batches are."""
    from bursar.jobs.training import training as run

    with failing(as_json), busy("planning"):
        found = run(
            epochs=_number(epochs, "epochs"),
            delta=_number(delta, "delta"),
            epsilon=_number(epsilon, "epsilon"),
            sigma=_number(sigma, "sigma"),
            **drawn,
        )
        said = json.dumps(found.to_dict(), ensure_ascii=False) if as_json else str(found)
    print(said)


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
