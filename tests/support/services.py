"""Fixtures of services that answer on a socket; a conftest that wants them imports them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bursar.ledger.ledger import Ledger
from bursar.service.settings import Settings
from bursar.service.workers import bench, line
from support.offices import Office, open_office


@pytest.fixture(scope="session", autouse=True)
def one_nursery() -> Iterator[None]:
    """All services of this test process fork their workers from one nursery: it takes a second to load."""
    usual = Settings().work_memory * 2**20
    shared = line.Nursery(usual)
    shared._open()  # in the main thread: it dies with the thread that started it

    class Shared(line.Nursery):
        """Forks from that one, unless its workers are to be of another size."""

        async def fork(self) -> line.Worker:
            return await (shared.fork() if self._memory == usual else super().fork())

    real, bench.Nursery = bench.Nursery, Shared  # type: ignore[misc]
    yield
    bench.Nursery = real  # type: ignore[misc]
    shared.close()


@pytest.fixture
def memory() -> Iterator[Office]:
    """Over a ledger in memory."""
    with open_office(Ledger("memory://", alert=None)) as made:
        yield made
