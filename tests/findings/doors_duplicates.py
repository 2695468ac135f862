"""Requests that can be read in two ways were accepted: JSON members given twice, and two Authorization headers."""

from __future__ import annotations

from shared import judged, served

import bursar as b

BODY = b'{"scopes": ["data"], "what": "laplace(scale=10)", "key": "k", "what": "laplace(scale=1000)"}'
FORM = '{"bursar": 1, "terms": [{"mechanism": {"name": "laplace", "scale": "1", "scale": "9"}, "count": 1}]}'


def main() -> tuple[bool, str]:
    """A charge that says twice what it is; two tokens, in either order; and a composition's own JSON."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
    with served() as service, service.client() as client:
        headers = {"Content-Type": "application/json"}
        body = client.post("/v1/spend", content=BODY, headers=headers).status_code
        tokens = []
        weak = service.token("weak", "auditor")
        for pair in ((service.secret, weak), (weak, service.secret)):
            lines = "".join(f"Authorization: Bearer {secret}\r\n" for secret in pair)
            asked = f"GET /v1/scopes HTTP/1.1\r\nHost: x\r\n{lines}Connection: close\r\n\r\n"
            tokens.append(int(service.raw(asked.encode()).split(b" ")[1]))
    try:
        form = f"read as {b.from_json(FORM)}"
    except b.SpecError:
        form = "refused"
    return body == 400 and tokens == [400, 400] and form == "refused", (
        f"members given twice: {body}; two Authorization headers: {tokens}; a composition's JSON: {form}"
    )


if __name__ == "__main__":
    judged(main)
