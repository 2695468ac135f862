"""`correct` could cost far more than the release itself, by giving up a way of paying, without saying so first."""

from __future__ import annotations

from shared import bursar, judged

import bursar as b

RESPONSE = "randomized_response(epsilon=0.01)"


def main() -> tuple[bool, str]:
    """A response is added late on the default scope: that leaves only sums of ε."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        ledger.spend("data", RESPONSE)
        before = ledger.quote("data", RESPONSE).fits
    done = bursar("ledger", "correct", "data", "2", RESPONSE, "--reason", "forgotten")
    said = " ".join((done.stdout + done.stderr).split())
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        after = ledger.quote("data", RESPONSE).fits
    return done.returncode != 0 and after == before and (
        "gives up" in said or "is given up" in said or "ends for good" in said
    ), (f"exit code {done.returncode}; {before} more fitted before, {after} after; said: {said[:110]}")


if __name__ == "__main__":
    judged(main)
