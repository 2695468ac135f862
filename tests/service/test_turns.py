"""Whose turn it is to be counted: by what jobs and their tokens have used, without a clock that anybody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from bursar.service.workers import job as jobs
from bursar.service.workers.job import SLICE, Job, Uses
from bursar.service.workers.turns import MOST_STANDING, Turns


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """What `time.monotonic` is called for."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which jobs wait."""
    clock = Clock()
    monkeypatch.setattr(jobs, "time", clock)
    return clock


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The loop that answers belong to."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


class Queue:
    """Jobs made by hand."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.uses, self._loop, self._made = Uses(), loop, 0
        self.turns = Turns(self.uses)

    def job(self, token: str, used: float = 0.0, before: float = 0.0) -> Job:
        """One of a token, for which so much has been counted."""

        async def made() -> Job:
            return Job("price", b"", before, self._made)

        self._made += 1
        job = self._loop.run_until_complete(made())
        job.tokens[token] += 1
        job.used = used
        return job


@pytest.fixture
def queue(clock: Clock, loop: asyncio.AbstractEventLoop) -> Queue:
    """An empty one."""
    return Queue(loop)


def test_a_new_job_stops_an_old_one_at_once(queue: Queue, clock: Clock) -> None:
    """Even in the middle of a turn for which the old one has waited long, and whatever the two tokens have used."""
    old, new = queue.job("hostile", used=5.0), queue.job("ordinary")
    queue.uses.add("ordinary", 2.0)
    clock.now += 100.0
    old.go_on()
    assert queue.turns.yields(old, new)


def test_two_old_jobs_do_not_stop_each_other_within_a_turn(queue: Queue, clock: Clock) -> None:
    """Each has its turn: work that stops and goes on all the time gets nowhere."""
    one, other = queue.job("a", used=5.0), queue.job("b", used=5.0)
    clock.now += 100.0
    one.go_on()
    assert not queue.turns.yields(one, other)
    clock.now += 2 * SLICE
    assert queue.turns.yields(one, other), "it has had its turn, and nothing of its waiting is left"


def test_what_was_counted_in_vain_makes_a_job_no_newer(queue: Queue, clock: Clock) -> None:
    """A job that has to begin again ranks behind one that has never begun, and so does a request's second job."""
    again, second = queue.job("a", used=3.0), queue.job("b", before=3.0)
    again.lose()
    new = queue.job("c")
    assert again.used == 0.0
    assert min((again, second, new), key=queue.turns.rank) is new
    assert queue.turns.rank(again)[0] == queue.turns.rank(second)[0] > queue.turns.rank(new)[0]


def test_a_new_job_has_room_and_a_lost_one_waits_for_it(queue: Queue, clock: Clock) -> None:
    """Where as many stand as may, only what has never begun begins; of one token no more than its share stands."""
    standing = [queue.job(f"t{number}", used=1.0) for number in range(MOST_STANDING)]
    new, lost = queue.job("n"), queue.job("l")
    lost.lose()
    assert queue.turns.may_begin(new, standing)
    assert not queue.turns.may_begin(lost, standing)
    assert not queue.turns.may_displace(lost, standing)
    assert queue.turns.may_begin(lost, standing[1:])
    third = [queue.job("n", used=1.0), queue.job("n", used=1.0)]
    assert not queue.turns.may_begin(new, third)
    queue.uses.add("t3", 9.0)
    assert queue.turns.may_displace(lost, standing)
    assert queue.turns.heaviest(standing) is standing[3]


def test_waiting_brings_a_job_nearer(queue: Queue, clock: Clock) -> None:
    """So that nobody waits for ever; a turn that was hardly begun takes nothing of the waiting away."""
    job = queue.job("a", used=20.0)
    before = queue.turns.rank(job)[0]
    clock.now += 3.0
    assert queue.turns.rank(job)[0] == before - 3
    job.go_on()
    clock.now += SLICE / 2
    job.stand()
    assert queue.turns.rank(job)[0] == before - 3
    job.go_on()
    clock.now += 2 * SLICE
    job.stand()
    assert queue.turns.rank(job)[0] == before
