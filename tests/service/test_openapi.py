"""The description of the service, fuzzed: whatever fits it is answered as it says, for every role, never by a fault."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
import schemathesis

from bursar.ledger.ledger import Ledger
from bursar.service.endpoints import ENDPOINTS
from bursar.service.openapi import document
from bursar.service.tokens import ROLES
from support.offices import Office, open_office

SCHEMA = schemathesis.openapi.from_dict(document(ENDPOINTS))
ON_PURPOSE = {503, 507}


def fuzz(office: Office, role: str, bound: str, examples: int) -> int:
    """Every operation with made-up requests; says how many were answered."""
    answered = 0
    headers = {"Authorization": f"Bearer {office.secrets[role, bound]}"}
    for result in SCHEMA.get_all_operations():
        operation = result.ok()

        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        def ask(case: Any) -> None:
            nonlocal answered
            response = case.call(base_url=str(office.client.base_url).rstrip("/"), headers=headers)
            assert response.status_code < 500 or response.status_code in ON_PURPOSE, (case, response.text)
            case.operation.validate_response(response)
            assert "data/right" not in response.text or bound != "data/left", (case, response.text)
            answered += 1

        ask()
    return answered


@pytest.mark.parametrize("role", ROLES)
def test_no_request_is_answered_by_a_fault(role: str) -> None:
    """With a token for the whole ledger and with one for a branch, which reads nothing of the others."""
    with open_office(Ledger("memory://", alert=None), guesses=10**6) as office:
        office.spend("data/right", "laplace(scale=100)", key="secret")
        assert fuzz(office, role, "*", 6) > 50
        assert fuzz(office, role, "data/left", 6) > 50
        assert office.ask("POST", "/v1/verify", {}).json()["ok"]


@pytest.mark.soak
@pytest.mark.parametrize("role", ROLES)
def test_no_request_is_answered_by_a_fault_at_length(role: str) -> None:
    """The same with many more requests."""
    with open_office(Ledger("memory://", alert=None), guesses=10**6) as office:
        assert fuzz(office, role, "*", 300) > 2000
        assert office.ask("POST", "/v1/verify", {}).json()["ok"]
