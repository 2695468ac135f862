"""Invalid UTF-8 in a JSON string was a fault of the service, 500, not a bad request."""

from __future__ import annotations

from shared import judged, served

import bursar as b

BODY = b'{"scopes": ["data"], "what": "laplace(scale=10)", "key": "k"}'


def main() -> tuple[bool, str]:
    """In a value, in the name of a member, and half of a surrogate pair."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
    bodies = [
        BODY.replace(b'"k"', b'"\xff"'),
        BODY.replace(b'"key"', b'"k\xffy"'),
        BODY.replace(b'"k"', b'"\xed\xa0\x80"'),
    ]
    with served() as service, service.client() as client:
        headers = {"Content-Type": "application/json"}
        codes = [client.post("/v1/spend", content=body, headers=headers).status_code for body in bodies]
    return codes == [400] * 3, f"answered {codes}"


if __name__ == "__main__":
    judged(main)
