"""The table of verbs: complete, without doubles, and made of types alone."""

from __future__ import annotations

import json
import subprocess
import sys

import msgspec

from bursar import wire
from bursar.wire import VERBS, verbs

LOADED = "import json, sys, bursar.wire; print(json.dumps(sorted(sys.modules)))"


def test_the_table_has_every_verb_once() -> None:
    """Every description of the module is in it, at an address of its own, as is every one of before."""
    described = [value for value in vars(verbs).values() if isinstance(value, wire.Verb)]
    assert set(described) == set(VERBS)
    places = [(verb.method, path) for verb in VERBS for path in (verb.path, *verb.old)]
    assert len(set(places)) == len(places)


def test_addresses_are_names() -> None:
    """/v1 and the name; only what probes and collectors look for is where they look."""
    elsewhere = {verb.name: verb.path for verb in VERBS if verb.path != f"/v1/{verb.name}"}
    assert elsewhere == {"health": "/health", "metrics": "/metrics"}


def test_what_changes_something_has_a_key() -> None:
    """So that asking again is asking once; what has none reads, or changes nothing the second time, or says so."""
    keyless = {
        verb.name
        for verb in VERBS
        if verb.method == "POST" and "key" not in verb.body.__struct_fields__ and verb.repeatable
    }
    assert keyless == {"account", "plan", "quote", "verify", "export", "token_revoke"}
    assert [verb.name for verb in VERBS if not verb.repeatable] == ["token_add"]


def test_every_type_can_be_described() -> None:
    """Bodies and answers have a schema, and every body a sentence."""
    for verb in VERBS:
        if verb.body is not None:
            assert msgspec.json.schema(verb.body)
            assert verb.body.__doc__
        assert verb.answer in (str, wire.Report) or msgspec.json.schema(verb.answer)


def test_the_wire_knows_no_ledger() -> None:
    """Loading it loads itself and nothing else of bursar's."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = {name for name in json.loads(done.stdout) if name.partition(".")[0] == "bursar"}
    assert loaded == {
        "bursar",
        "bursar.wire",
        *(f"bursar.wire.{one}" for one in ("answers", "asked", "looked", "verbs")),
    }
