"""A store that cannot be read was called `storage_full`, and the answer carried the path of its socket and its host."""

from __future__ import annotations

import time

from shared import judged, postgres, served


def main() -> tuple[bool, str]:
    """A charge, a look and a page while PostgreSQL is away."""
    with postgres() as server, served(server.get_uri(), anchor="anchor") as service, service.client() as client:
        client.post("/v1/open", json={"scope": "data", "epsilon": "1", "key": "o"}).raise_for_status()
        folder = str(server.pgdata)
        client.post("/sign-in", data={"token": service.secret})
        server.cleanup()
        time.sleep(2)
        body = {"scopes": ["data"], "what": "laplace(scale=100)", "key": "k"}
        answers = [
            client.post("/v1/spend", json=body),
            client.get("/v1/scopes"),
            client.get("/v1/statement", params={"scope": "data"}),
            client.get("/scope?name=data"),
            client.get("/metrics"),
        ]
    leaks = [answer.url.path for answer in answers if any(word in answer.text for word in (folder, "PGSQL", "socket"))]
    codes = sorted({str(answer.json().get("code")) for answer in answers[:3]})
    return not leaks and codes == ["storage_unavailable"], (
        f"codes: {', '.join(codes)}; the path of the socket is told by: {', '.join(leaks) or 'none of 5'}"
    )


if __name__ == "__main__":
    judged(main)
