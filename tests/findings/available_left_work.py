"""Whoever stopped waiting did not stop the work: an account went on counting in the service's own process, for minutes,
after its client had left, and without any ceiling.
"""

from __future__ import annotations

import time
from contextlib import suppress

from shared import judged, served

import bursar as b

SLOW = " + ".join(f"laplace(scale=100.{10_000 + number})" for number in range(600))


def main() -> tuple[bool, str]:
    """How long the processor works on in the 20 s after the client has gone."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
    with served() as service:
        with suppress(Exception), service.client(timeout=4) as leaving:
            leaving.post("/v1/account", json={"composition": SLOW, "delta": "1e-6"})
        time.sleep(1)
        before = service.seconds()
        time.sleep(20)
        used = service.seconds() - before
    return used < 2, f"in the 20 s after its client had left, the service used {used:.1f} s of the processor"


if __name__ == "__main__":
    judged(main)
