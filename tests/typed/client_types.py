"""What the type checker knows of the clients: arguments and answers of every verb, blocking and awaited."""

from typing import Any, assert_type

from bursar import wire
from bursar.client import AsyncClient, Client


async def ask(one: Client, other: AsyncClient) -> None:
    """The last three calls are mistakes, and an unused ``type: ignore`` would be an error of its own."""
    assert_type(one.spend("a", "b", key="k"), wire.Receipt)
    assert_type(await other.spend("a", "b", key="k"), wire.Receipt)
    assert_type(one.scopes(), list[wire.Scope])
    assert_type(await other.scopes(), list[wire.Scope])
    assert_type(one.account("a", delta=1), dict[str, Any])
    assert_type(one.export("csv"), str)
    assert_type(await other.token_revoke("a"), bool)
    one.spend("a")  # type: ignore[call-arg]
    await other.open("a", epsilno=1)  # type: ignore[call-arg]
    one.plan("a", epsilon=1, delta=0, effort="huge")  # type: ignore[arg-type]
