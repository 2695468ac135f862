"""What loading the client loads: what it asks with and how it is told no, and nothing that counts."""

from __future__ import annotations

import json
import subprocess
import sys

LOADED = "import json, sys, bursar.client; print(json.dumps(sorted(sys.modules)))"
MODULES = {
    *("bursar", "bursar.extras", "bursar.keys"),
    *("bursar.errors", "bursar.errors._base", "bursar.errors.refused", "bursar.errors.spelling"),
    *("bursar.wire", "bursar.wire.answers", "bursar.wire.asked", "bursar.wire.looked", "bursar.wire.verbs"),
    *("bursar.client", "bursar.client.arguments", "bursar.client.calls", "bursar.client.verbs"),
    *("bursar.client.asynchronous", "bursar.client.synchronous"),
}
HEAVY = {"numpy", "flint", "scipy", "apsw", "starlette", "uvicorn"}


def test_the_client_loads_no_numerics() -> None:
    """Neither the packages that count nor a module of bursar's that does: eighteen in all."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    found = set(json.loads(done.stdout))
    assert {name.partition(".")[0] for name in found} & HEAVY == set()
    assert {name for name in found if name.partition(".")[0] == "bursar"} == MODULES
