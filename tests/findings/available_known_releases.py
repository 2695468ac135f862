"""Releases that were "known" were priced on the event loop once the allowance had fallen a rung, since what was known
was remembered by scopes and release, and prices by rung: the others' median went from 0.012 s to 3.4 s.
"""

from __future__ import annotations

import statistics
import time

from shared import judged, ordinary, quiet, served

import bursar as b

WHOLE = " + ".join(f"laplace(scale={5000 + number})" for number in range(48))
"""Dear to price, cheap to charge."""
LOWER = "gaussian(sigma=9)"
"""Takes more than a rung of what is left."""


def main() -> tuple[bool, str]:
    """A token charges the same two things by turns, down the rungs, for as long as it fits or for 40 s."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=2, delta="1e-6")
        ledger.open("other", epsilon=1)
    with served() as service, service.client(service.token("hostile")) as hostile:

        def charge(what: str, key: str) -> int:
            return int(hostile.post("/v1/spend", json={"scopes": ["data"], "what": what, "key": key}).status_code)

        assert charge(WHOLE, "first") == 200
        with ordinary(service, "other") as waits:
            usual = quiet(waits)
            first, turns, begun = waits.sent, 0, time.monotonic()
            while time.monotonic() < begun + 40 and charge(LOWER, f"l{turns}") == charge(WHOLE, f"w{turns}") == 200:
                turns += 1
            last = waits.sent
        during = waits.since(first)[: last - first]
    found, worst = statistics.median(during), max(during)
    return found < 10 * usual and worst < 1 + 20 * usual, (
        f"{turns} turns; another client's charges: median {found:.3f} s, longest {worst:.2f} s; "
        f"when quiet {usual:.4f} s"
    )


if __name__ == "__main__":
    judged(main)
