"""A token bound to a block saw key, person and release of charges beside it in `/v1/entries`."""

from __future__ import annotations

from shared import judged, served

import bursar as b

FOREIGN = ("wide-key", "wendy", "laplace(scale=80)", "held-key", "rita", "laplace(scale=60)", "limit-reason")


def main() -> tuple[bool, str]:
    """What the steward of one block reads of what others did to the whole; her own charges stay readable."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("all", epsilon=1)
        for name in ("all/north", "all/south"):
            ledger.open(name, parent="all", kind="block")
        ledger.spend("all/north", "laplace(scale=100)", key="own-key", by="nora")
        ledger.spend("all", "laplace(scale=80)", key="wide-key", by="wendy")
        ledger.reserve("all", "laplace(scale=60)*2", ttl=600, key="held-key", by="rita")
        ledger.limit("all", epsilon=2, reason="limit-reason", key="limit-key", by="lena")
    with served() as service, service.client(service.token("nora", "steward", "all/north")) as client:
        answer = client.get("/v1/entries", params={"scope": "all/north"})
    answer.raise_for_status()
    seen = [word for word in FOREIGN if word in answer.text]
    return not seen and "own-key" in answer.text, f"{len(answer.json()['entries'])} entries; seen of others: {seen}"


if __name__ == "__main__":
    judged(main)
