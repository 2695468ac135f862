"""The dashboard's page of a block ledger, and what it says of a person filter: its public terms."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

import bursar as b
from bursar.cohorts import BlockLedger, PersonFilter
from bursar.cohorts.people.keys import person_of
from bursar.ledger.ledger import Ledger
from support.offices import Office, open_office

COUNT = 73519
"""A number of people that is not met by chance."""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Office]:
    """A service with blocks and people."""
    with Ledger(tmp_path / "budget.db", alert=None) as ledger:
        blocks = BlockLedger.create(ledger, "ads", {"day": 30, "segment": 400, "slice": 3}, rho="1/50")
        blocks.spend(b.Gaussian(sigma=8), day=(2, 5), segment=(100, 140))
        people = PersonFilter.create(
            ledger, "visits", folder=tmp_path / "visits", person="user", rho="1/100", secret=bytes(32)
        )
        people.admit(
            pa.table({"user": [f"somebody {number}" for number in range(COUNT)]}), b.Gaussian(sigma=50), key="q"
        )
        with open_office(ledger) as made:
            yield made


@contextmanager
def signed_in(office: Office, role: str = "owner", scope: str = "*") -> Iterator[httpx.Client]:
    """A browser's cookies, as far as the pages look at them."""
    origin = str(office.client.base_url).rstrip("/")
    with httpx.Client(base_url=origin, timeout=office.client.timeout, follow_redirects=True) as client:
        client.post("/sign-in", data={"token": office.secrets[role, scope]}, headers={"Origin": origin})
        yield client


def test_worst_blocks_and_the_map(running: Office) -> None:
    """The worst blocks by name, and a map whose darkest cells have their share; without styles or scripts in it."""
    with signed_in(running) as client:
        page = client.get("/blocks", params={"name": "ads"}).text
        assert "day 2, segment 100, slice 0" in page
        assert "40 %" in page  # 39.06, rounded up
        assert 'fill-opacity="0.391"' in page
        assert "style=" not in page
        other = client.get("/blocks", params={"name": "ads", "across": "segment", "down": "day"}).text
        assert "segment from left to right" in other


def test_the_page_of_the_root_leads_there(running: Office) -> None:
    """With the verbs that such a root takes, and none that it refuses."""
    with signed_in(running) as client:
        page = client.get("/scope", params={"name": "ads"}).text
        assert 'href="/blocks?name=ads"' in page
        assert "verb=freeze" in page
        for refused in ("verb=reserve", "verb=correct", "verb=bring_in", "verb=open", 'id="ask"'):
            assert refused not in page
        assert "/blocks" not in client.get("/scope", params={"name": "visits"}).text


def test_a_person_filter_shows_its_terms_only(running: Office) -> None:
    """Its page has the limit, and neither people nor counts; it is no block ledger."""
    with signed_in(running) as client:
        page = client.get("/scope", params={"name": "visits"}).text
        assert "1/100" in page or "0.01" in page
        assert "somebody" not in page
        assert f">{COUNT}<" not in page
        refused = client.get("/blocks", params={"name": "visits"})
        assert refused.status_code == 422
        assert "does not keep blocks" in refused.text


def test_nothing_of_people_is_in_metrics_logs_or_answers(running: Office, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever the service says of a filter to its owner: no id, no hash, no count, and nothing of what they spent."""
    caplog.set_level(logging.DEBUG)
    asked = [running.ask("GET", path, {"scope": "visits"}).text for path in ("/metrics", "/v1/show", "/v1/entries")]
    asked += [running.ask("GET", "/v1/export", {"root": "visits"}).text, running.spend("visits").text]
    with signed_in(running) as client:
        asked += [client.get("/scope", params={"name": "visits"}).text, client.get("/").text]
    assert "bursar_" in asked[0]
    assert "does not keep" in asked[4] or "cohort" in asked[4]
    logs = [record.getMessage() for record in caplog.records if record.name.startswith("bursar")]
    said = "\n".join([*asked, *logs])
    people = [person_of(bytes(32), f"somebody {number}").hex() for number in range(COUNT)]
    assert "somebody" not in said
    assert not any(person in said for person in people)
    assert not re.search(rf"(?<![0-9a-f]){COUNT}(?![0-9a-f])", said)


def test_bad_questions_and_other_peoples_blocks(running: Office) -> None:
    """An unknown name or dimension is a problem; whoever has a token for elsewhere does not see them."""
    with signed_in(running) as client:
        assert client.get("/blocks", params={"name": "nowhere"}).status_code in (403, 404)
        assert client.get("/blocks", params={"name": "ads", "across": "hour"}).status_code == 422
    with signed_in(running, "analyst", "data") as client:
        refused = client.get("/blocks", params={"name": "ads"})
        assert refused.status_code in (403, 404)
        assert "segment 100" not in refused.text
