"""Who may do what, where: every role at every endpoint, inside and outside its part of the tree."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bursar.ledger.journal.body import body_in
from bursar.service.endpoints import ENDPOINTS
from bursar.service.permissions import MAY
from bursar.service.tokens import ROLES
from bursar.wire import VERBS, Verb, verbs
from support.offices import Office

_KEYS = itertools.count()
WHOLE = {"verify", "export", "metrics", "token_list", "token_add", "token_revoke"}
"""Verbs that concern the whole ledger."""
NOWHERE = {"account", "plan", "scopes"}
"""Verbs that name no scope."""


def body(verb: Verb[Any, Any], scope: str, reservation: str) -> Any:
    """Something valid to ask about a scope."""
    key = f"key-{next(_KEYS)}"
    charge = {"scopes": [scope], "what": "laplace(scale=1000)"}
    status = {"scope": scope, "reason": "test", "key": key}
    return {
        verbs.ACCOUNT: {"composition": "laplace(scale=1)", "delta": "0"},
        verbs.PLAN: {"template": "laplace(scale=?)", "epsilon": "1", "delta": "0"},
        verbs.QUOTE: charge,
        verbs.SPEND: {**charge, "key": key},
        verbs.RESERVE: {**charge, "key": key, "ttl": "60"},
        verbs.DRAW: {"reservation": reservation, "key": key},
        verbs.CLOSE: {"reservation": reservation, "key": key},
        verbs.OPEN: {"scope": f"{scope}/new{next(_KEYS)}", "parent": scope, "epsilon": "1/10", "key": key},
        verbs.LIMIT: {"scope": scope, "epsilon": "1/2", "reason": "test", "key": key},
        verbs.FREEZE: status,
        verbs.THAW: status,
        verbs.RETIRE: status,
        verbs.CORRECT: {"root": scope, "seq": 1, "what": "laplace(scale=1000)", "reason": "test", "key": key},
        verbs.BRING_IN: {"scope": scope, "table": "what\nlaplace(scale=1000)\n", "key": key},
        verbs.SHOW: {"scope": scope},
        verbs.RELEASED: {"scope": scope},
        verbs.ENTRIES: {"scope": scope},
        verbs.VERIFY: {},
        verbs.EXPORT_WITH_FACTS: {"root": scope, "facts": {}},
        verbs.TOKEN_ADD: {"name": "eve", "role": "auditor"},
        verbs.TOKEN_REVOKE: {"id": "none"},
    }.get(verb)


@pytest.mark.parametrize("role", ROLES)
def test_the_matrix(memory: Office, role: str) -> None:
    """Every endpoint, old addresses too, with a token for the whole, for the branch asked about, and for another."""
    for endpoint in ENDPOINTS:
        verb = endpoint.verb
        for bound in () if verb.anybody else ("*", "data/left", "other"):
            held = _prepared(memory)
            branch = "data/left"
            if verb is verbs.RETIRE:  # for good: on a branch of its own
                branch = f"data/left/{next(_KEYS)}"
                opened = {"scope": branch, "parent": "data/left", "epsilon": "1/100", "key": branch}
                assert memory.ask("POST", "/v1/open", opened).status_code == 201
            found = memory.ask(verb.method, endpoint.path, body(verb, branch, held), role=role, scope=bound)
            allowed = verb.name in MAY[role]
            if verb.name in WHOLE and verb is not verbs.EXPORT_WITH_FACTS:
                allowed = allowed and bound == "*"
            elif verb.name not in NOWHERE:
                allowed = allowed and bound in ("*", "data/left")
            said = (role, verb.method, endpoint.path, bound, found.status_code, found.text[:200])
            assert (found.status_code == 403) is (not allowed), said
            assert found.status_code < 500, said
            if not allowed:
                assert found.json()["code"] == "not_permitted", said


def test_what_each_role_may_do() -> None:
    """Word by word: nobody but an owner hands out tokens, nobody but a steward changes budgets, auditors only look."""
    look = ["account", "plan", "scopes", "show", "released", "entries"]
    audit, spend = ["verify", "export", "metrics"], ["quote", "spend", "reserve", "draw", "close"]
    steward = ["open", "limit", "freeze", "thaw", "retire", "correct", "bring_in"]
    assert {
        "auditor": {*look, *audit},
        "analyst": {*look, *spend},
        "steward": {*look, *audit, *spend, *steward},
        "owner": {*look, *audit, *spend, *steward, "token_list", "token_add", "token_revoke"},
    } == MAY


def test_roles_are_made_of_verbs() -> None:
    """Whatever a role may do is a verb of the service, and every verb with a token is somebody's."""
    given = {name for names in MAY.values() for name in names}
    assert given == {verb.name for verb in VERBS if not verb.anybody}


def _prepared(memory: Office) -> str:
    """The branch is open, and a reservation on it."""
    memory.ask("POST", "/v1/thaw", {"scope": "data/left", "reason": "test", "key": f"thaw-{next(_KEYS)}"})
    asked = {"scopes": ["data/left"], "what": "laplace(scale=1000)", "ttl": "60", "key": f"held-{next(_KEYS)}"}
    return str(memory.ask("POST", "/v1/reserve", asked).json()["id"])


def test_a_branch_sees_nothing_of_the_others(memory: Office) -> None:
    """Lists, quotes and refusals show what lies below the token's scope only."""
    listed = memory.ask("GET", "/v1/scopes", role="analyst", scope="data/left").json()["scopes"]
    assert [scope["name"] for scope in listed] == ["data/left"]
    memory.spend("data", "laplace(scale=5/4)", key="most")
    quoted = memory.ask(
        "POST", "/v1/quote", {"scopes": ["data/left"], "what": "laplace(scale=4)"}, role="analyst", scope="data/left"
    ).json()
    assert quoted["fits"] == 0
    assert {part["scope"] for part in quoted["parts"]} <= {"data/left"}
    assert "data has" not in str(quoted["reason"])
    refused = memory.ask(
        "POST",
        "/v1/spend",
        {"scopes": ["data/left"], "what": "laplace(scale=4)", "key": "x"},
        role="analyst",
        scope="data/left",
    ).json()
    assert refused["code"] == "insufficient_budget"
    assert "left" not in refused
    assert "limit" not in refused
    unknown = memory.ask("GET", "/v1/show", {"scope": "nowhere"}, role="analyst", scope="data/left")
    foreign = memory.ask("GET", "/v1/show", {"scope": "other"}, role="analyst", scope="data/left")
    assert unknown.status_code == foreign.status_code == 403
    assert unknown.json()["detail"].replace("nowhere", "other") == foreign.json()["detail"]


def test_reservations_of_others_stay_theirs(memory: Office) -> None:
    """A token for one branch neither draws nor closes another's, and cannot tell it from none."""
    asked = {"scopes": ["data/right"], "what": "laplace(scale=10)", "ttl": "60", "key": "r"}
    held = memory.ask("POST", "/v1/reserve", asked).json()["id"]
    for path in ("/v1/draw", "/v1/close"):
        real = memory.ask("POST", path, {"reservation": held, "key": "a"}, role="analyst", scope="data/left")
        none = memory.ask("POST", path, {"reservation": "no", "key": "b"}, role="analyst", scope="data/left")
        assert real.status_code == none.status_code == 403
        assert real.json() == none.json()


def test_the_second_person_is_another_one(memory: Office) -> None:
    """A change of a limit is not approved by whoever asks for it."""
    memory.ask("POST", "/v1/open", {"scope": "pair", "epsilon": "1", "second_person": True, "key": "o"})
    asked = {"scope": "pair", "epsilon": "2", "reason": "more", "key": "l"}
    assert memory.ask("POST", "/v1/limit", asked, role="steward").status_code == 403
    for role, bound in (("steward", "*"), ("auditor", "*"), ("analyst", "*"), ("steward", "data/left")):
        approved = {**asked, "approval": memory.secrets[role, bound]}
        assert memory.ask("POST", "/v1/limit", approved, role="steward").status_code == 403, (role, bound)
    invented = {**asked, "approval": "grace"}
    assert memory.ask("POST", "/v1/limit", invented, role="steward").status_code == 403
    both = {**asked, "approval": memory.secrets["owner", "*"]}
    assert memory.ask("POST", "/v1/limit", both, role="steward").status_code == 200
    (entry,) = [one for one in memory.service.ledger.entries("pair") if one.entry.kind == "limit"]
    assert body_in(entry.entry.body).approved_by == "owner *"
    assert memory.secrets["owner", "*"] not in entry.entry.body


def test_names_outside_tell_nothing(memory: Office) -> None:
    """A bound token opens scopes below its own name only, so it cannot learn which names others have."""
    for name in ("other", "nowhere", "data/right/x"):
        asked = {"scope": name, "parent": "data/left", "epsilon": "1/10", "key": f"o-{name}"}
        found = memory.ask("POST", "/v1/open", asked, role="steward", scope="data/left")
        assert (found.status_code, found.json()["code"]) == (403, "not_permitted")
    assert found.json()["detail"].endswith("data/left/")


def test_keys_tell_nothing_of_others(memory: Office) -> None:
    """A key that somebody else used is refused, without a word about what it was used for."""
    assert memory.spend("other", "laplace(scale=1000)", key="theirs").status_code == 200
    asked = {"scopes": ["data/left"], "what": "laplace(scale=100)", "key": "theirs"}
    found = memory.ask("POST", "/v1/spend", asked, role="analyst", scope="data/left")
    assert found.json()["code"] == "key_reused"
    assert "other" not in found.text.replace("another", "")
    assert "1000" not in found.text


def test_corrections_stay_within_reach(memory: Office) -> None:
    """A charge over two roots is corrected in both, so a token for one of them may not."""
    charge = {"scopes": ["data", "other"], "what": "laplace(scale=1000)", "key": "two"}
    receipt = memory.ask("POST", "/v1/spend", charge).json()
    asked = {"root": "other", "seq": 0, "what": "laplace(scale=1.2)", "reason": "more", "key": "fix"}
    asked["seq"] = memory.service.ledger.last("other")
    refused = memory.ask("POST", "/v1/correct", asked, role="steward", scope="other")
    assert refused.status_code == 403
    assert "data" not in refused.json()["detail"]
    asked |= {"root": receipt["root"], "seq": receipt["seq"]}
    price = memory.ask("POST", "/v1/correct", asked, role="steward")  # nothing is left for Gaussians in other
    assert price.json()["code"] == "consent_needed"
    done = memory.ask("POST", "/v1/correct", {**asked, "consent": price.json()["consent"]}, role="steward")
    assert done.status_code == 200


def test_a_name_implies_its_place(memory: Office) -> None:
    """Without a parent a scope opens below the one that its name lies under, as far as the token reaches."""

    def opened(name: str, scope: str = "*", **more: Any) -> Any:
        asked = {"scope": name, "epsilon": "1/10", "key": f"open-{next(_KEYS)}", **more}
        return memory.ask("POST", "/v1/open", asked, role="steward", scope=scope)

    assert opened("data/middle").status_code == 201
    assert memory.service.ledger.scope("data/middle").row.parent == "data"
    assert opened("data/apart", kind="root").status_code == 201
    assert memory.service.ledger.scope("data/apart").kind == "root"
    assert opened("data/left/x", "data/left").status_code == 201
    assert memory.service.ledger.scope("data/left/x").row.parent == "data/left"
    assert opened("data/left/x/y", "data/left").status_code == 201
    assert opened("data/left/z", "data/left", kind="root").status_code == 403
    assert opened("data/left/own", kind="root").status_code == 201  # somebody else's, whatever its name
    beside = opened("data/left/own/x", "data/left")
    assert (beside.status_code, beside.json()["code"]) == (403, "not_permitted")
    memory.secrets["steward", "gone"] = memory.service.tokens.add("tim", "steward", "gone")[1]
    assert opened("gone/x", "gone").status_code == 403
    assert {scope.name for scope in memory.service.ledger.scopes()} == {
        *("data", "data/left", "data/right", "other", "data/middle", "data/apart"),
        *("data/left/x", "data/left/x/y", "data/left/own"),
    }


def test_past_releases_stay_within_reach(memory: Office) -> None:
    """A table is charged as a release would be, and a scope above that refuses it tells no numbers."""
    asked = {"scope": "data/left", "table": "what,count\nlaplace(scale=10),2\n", "key": "old"}
    done = memory.ask("POST", "/v1/bring_in", asked, role="steward", scope="data/left")
    assert (done.status_code, done.json()["kind"]) == (200, "import")
    assert memory.ask("POST", "/v1/bring_in", asked, role="steward", scope="data/left").json()["replayed"]
    shown = memory.ask("GET", "/v1/released", {"scope": "data/left"}, role="analyst", scope="data/left").json()
    assert shown == {"released": [{"what": "laplace(scale=10)*2", "count": 1}]}
    memory.spend("data/right", "laplace(scale=2)", key="most")
    memory.spend("data", "laplace(scale=5)", key="more")
    refused = memory.ask("POST", "/v1/bring_in", {**asked, "key": "again"}, role="steward", scope="data/left").json()
    assert refused["code"] == "insufficient_budget"
    assert "limit" not in refused
    wrong = memory.ask("POST", "/v1/bring_in", {**asked, "table": "what\nnonsense(", "key": "x"}, role="steward")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "input_invalid")
    assert "line 2" in wrong.json()["detail"]


def test_what_ran_in_a_branch_is_told_alike_everywhere(memory: Office) -> None:
    """The release of a charge on two branches is in no list of one of them, as it is blank among its entries; what was
    charged to the branch alone is, however often others ran the same.
    """
    both = {"scopes": ["data/left", "data/right"], "what": "laplace(scale=200)", "key": "both", "reason": "for right"}
    own = {"scopes": ["data/left"], "what": "laplace(scale=300)", "key": "own"}

    def asked(verb: str) -> Any:
        return memory.ask("GET", f"/v1/{verb}", {"scope": "data/left"}, role="analyst", scope="data/left").json()

    for asks, told in (
        (both, []),
        (own, [{"what": "laplace(scale=300)", "count": 1}]),
        ({**both, "what": "laplace(scale=300)", "key": "more"}, [{"what": "laplace(scale=300)", "count": 1}]),
    ):
        assert memory.ask("POST", "/v1/spend", asks).status_code == 200
        assert asked("released")["released"] == told
        assert asked("show")["released"] == told
    assert len(memory.ask("GET", "/v1/released", {"scope": "data/left"}).json()["released"]) == 2
