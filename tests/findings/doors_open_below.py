"""`ledger open a/b` without a parent opened a second root beside `a`, with a whole budget of its own."""

from __future__ import annotations

import json

from shared import bursar, judged


def main() -> tuple[bool, str]:
    """a and a/b, each with ε = 1, are spent as far as they go; --root insists on a budget of its own."""
    bursar("ledger", "open", "a", "--epsilon", "1")
    bursar("ledger", "open", "a/b", "--epsilon", "1")
    passed = 0
    for scope in ("a/b", "a"):
        passed += bursar("ledger", "spend", scope, "laplace(scale=1)").returncode == 0
    bursar("ledger", "open", "a/c", "--epsilon", "1", "--root")
    parents = {one["scope"]: one["parent"] for one in json.loads(bursar("ledger", "show", "--json").stdout)}
    return passed == 1 and parents == {"a": "", "a/b": "a", "a/c": ""}, (
        f"{passed} charges of ε = 1 were admitted below a, whose limit is 1; parents: {parents}"
    )


if __name__ == "__main__":
    judged(main)
