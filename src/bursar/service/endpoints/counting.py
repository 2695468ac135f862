"""Account and plan: the jobs that need no ledger."""

from __future__ import annotations

from typing import Any

from bursar import wire
from bursar.errors import InputError
from bursar.jobs.account import account
from bursar.jobs.plan import plan
from bursar.jobs.spec import parse
from bursar.numerics.real import read_text
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint
from bursar.service.tokens import Token


async def _account(service: Service, token: Token, asked: wire.Account) -> dict[str, Any]:
    if (asked.delta is None) == (asked.epsilon is None):
        raise InputError("ask one thing: delta to learn ε, or epsilon to learn δ", argument="delta")
    return await service.count(
        token,
        lambda: account(
            parse(asked.composition),
            delta=number(asked.delta, "delta"),
            epsilon=number(asked.epsilon, "epsilon"),
            theorems=asked.theorems,
            width=number(asked.width, "width"),
            effort=asked.effort,
        ).to_dict(),
    )


async def _plan(service: Service, token: Token, asked: wire.Plan) -> dict[str, Any]:
    return await service.count(
        token,
        lambda: plan(
            asked.template,
            epsilon=number(asked.epsilon, "epsilon"),
            delta=number(asked.delta, "delta"),
            width=number(asked.width, "width"),
            effort=asked.effort,
        ).to_dict(),
    )


def number(text: str | None, name: str) -> Any:
    """A number in text means what it means on the command line."""
    return None if text is None else read_text(text.strip(), name)


ENDPOINTS = (
    Endpoint("POST", "/v1/account", "account", "What do releases cost?", wire.Account, wire.Report, _account),
    Endpoint("POST", "/v1/plan", "plan", "Which noise or how many releases fit?", wire.Plan, wire.Report, _plan),
)
