"""The strongest test speaks of a function that `spend` does not call: `Currency.step` decided openings, repricing and
the adversary test, while spend, reserve and fits had ways of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bursar.ledger.currencies import Currency
from shared import judged

import bursar as b

GAUSSIAN, RESPONSE = b.Gaussian(sigma=12), b.RandomizedResponse(epsilon=0.1)


class Noticed(Exception):
    """The step was asked."""


VERBS: dict[str, Callable[[b.Ledger, Any], Any]] = {
    "spend": lambda ledger, _: ledger.spend("data", GAUSSIAN),
    "reserve": lambda ledger, _: ledger.reserve("data", GAUSSIAN, ttl=1000),
    "correct": lambda ledger, first: ledger.correct(first, GAUSSIAN, reason="forgotten"),
    "import": lambda ledger, _: ledger.bring_in("data", f"what\n{GAUSSIAN}\n"),
    "fits": lambda ledger, _: ledger.quote("data", GAUSSIAN),
    "open": lambda ledger, _: ledger.open("other", epsilon=1, delta="1e-6", spent=[GAUSSIAN]),
    "reprice": lambda ledger, _: ledger.verify(reprice=True),
}


def asks(verb: str) -> bool:
    """Whether a verb asks the step: it is made to fail."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        first = ledger.spend("data", GAUSSIAN)
        real = Currency.step

        def fails(*_: Any, **__: Any) -> Any:
            raise Noticed

        Currency.step = fails  # type: ignore[method-assign]
        try:
            VERBS[verb](ledger, first)
        except Noticed:
            return True
        finally:
            Currency.step = real  # type: ignore[method-assign]
        return False


def main() -> tuple[bool, str]:
    """Which verbs do not ask it; and with a step that leaves given-up ways open, whether spend shows that."""
    aside = [verb for verb in VERBS if not asks(verb)]
    real = Currency.step

    def forgetful(self: Currency, *given: Any, **more: Any) -> Any:
        after = real(self, *given, **more)
        if not isinstance(after, dict):
            return after
        return {line: balance._replace(dead=False) for line, balance in after.items()}

    Currency.step = forgetful  # type: ignore[method-assign]
    passed = 0
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        try:
            for what in [GAUSSIAN] * 5 + [RESPONSE] * 10:
                ledger.spend("data", what)
                passed += 1
        except b.Refused:
            pass
    return not aside, (
        f"verbs that do not ask the step: {', '.join(aside) or 'none'}; with a step that leaves given-up ways open "
        f"spend admits {passed} of 5 Gaussians and 10 responses"
    )


if __name__ == "__main__":
    judged(main)
