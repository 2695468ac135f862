"""One lock of the whole process was held for a whole account, plan or price: six account bodies of 16 KB stopped new
prices and `/health` for 60 s.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from shared import Service, judged, served

import bursar as b

MOST = 60.0
"""Seconds that somebody is observed to wait, at most."""


def body(number: int) -> str:
    """16 KB of a composition."""
    terms = [f"laplace(scale={100 + number}.{10_000 + term})" for term in range(1000)]
    return " + ".join(terms[: 16_000 // (len(terms[0]) + 3)])


def accounting(service: Service, number: int) -> None:
    """Somebody asks what that costs, and waits."""
    with suppress(Exception), service.client(service.token(f"hostile {number}")) as client:
        client.post("/v1/account", json={"composition": body(number), "delta": "1e-6"})


def waited(service: Service, path: str, **asked: object) -> float:
    """How long somebody else does."""
    begun = time.monotonic()
    with suppress(Exception), service.client(timeout=MOST) as client:
        (client.post(path, json=asked) if asked else client.get(path)).raise_for_status()
        return time.monotonic() - begun
    return max(MOST, time.monotonic() - begun)


def main() -> tuple[bool, str]:
    """The price of something new, and the health while somebody draws two of three releases, before and meanwhile."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=2, delta="1e-6")
        held = ledger.reserve("data", "laplace(scale=71)*3", ttl=10_000)
    with served() as service:
        waited(service, "/v1/quote", scopes=["data"], what="laplace(scale=70)")
        usual = waited(service, "/v1/quote", scopes=["data"], what="laplace(scale=72)"), waited(service, "/health")
        for number in range(6):
            threading.Thread(target=accounting, args=(service, number), daemon=True).start()
        time.sleep(4)
        prices = list[float]()
        fresh = threading.Thread(
            target=lambda: prices.append(waited(service, "/v1/quote", scopes=["data"], what="laplace(scale=73)"))
        )
        fresh.start()
        time.sleep(0.5)
        part = {"reservation": held.id, "what": "laplace(scale=71)*2", "key": "draw"}
        threading.Thread(target=waited, args=(service, "/v1/draw"), kwargs=part, daemon=True).start()
        health = 0.0
        for _ in range(10):
            time.sleep(0.1)
            health = max(health, waited(service, "/health"))
        fresh.join()
        price = prices[0]
    return price < 2 + 20 * usual[0] and health < 1 + 20 * usual[1], (
        f"beside six accounts a new price took {price:.2f} s ({usual[0]:.3f} s when quiet), "
        f"/health up to {health:.2f} s ({usual[1]:.3f} s)"
    )


if __name__ == "__main__":
    judged(main)
