"""Four bodies burned minutes each: `laplace(scale=1e30)*10^12` as a quote, a density that swings a million times, 399
distinct responses, 29 sampled Laplaces. Each is to be answered, or refused, within 10 s of the processor to read it and
10 s to price it.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from support import judged, served

import bursar as b

MOST = 20.0
"""Seconds of the processor after which nobody need wait for the end."""
BODIES = {
    "tiny": "laplace(scale=1e30)*1000000000000",
    "density": "densities(p='1+sin(1000000*x)/2', q='1', low=0, high=1)",
    "responses": " + ".join(f"randomized_response(epsilon=0.{1000 + number})" for number in range(399)),
    "sampled": " + ".join(f"poisson(laplace(scale=1.{100 + number}), rate=0.1)" for number in range(29)),
}


def tried(what: str, ledger: str) -> tuple[str, float]:
    """What a quote of it is answered, and the processor time until then, or until it was beyond the ceiling."""
    said = list[str]()
    with served(ledger) as service:
        time.sleep(2)  # until all of it is loaded
        before = service.seconds()

        def ask() -> None:
            with suppress(Exception), service.client() as client:
                answer = client.post("/v1/quote", json={"scopes": ["data"], "what": what})
                said.append(answer.json().get("code", "answered"))

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        while asking.is_alive() and (used := service.seconds() - before) < MOST:
            time.sleep(0.1)
        return (said or ["no answer"])[0], used


def main() -> tuple[bool, str]:
    """Each on a service of its own."""
    found, late, begun = [], 0, time.monotonic()
    for name, what in BODIES.items():
        if late and time.monotonic() > begun + 200:  # on a busy machine: there is enough to be seen
            break
        with b.Ledger(f"sqlite:///{name}.db", alert=None) as ledger:
            ledger.open("data", epsilon=1, delta="1e-6")
        said, used = tried(what, f"sqlite:///{name}.db")
        late += said == "no answer"
        found.append(f"{name}: {said} after {used:.1f} s of the processor")
    return late == 0, "; ".join(found)


if __name__ == "__main__":
    judged(main)
