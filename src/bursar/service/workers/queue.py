"""Who counts when: fairly among tokens, and for no longer than is allowed.

At most as many workers count at a time as there are cores beside the service's own. A job that has counted for long is
stopped where it stands for one that has not, and goes on later, so that a charge with a new price never waits for
somebody's endless plan (`turns` says who comes first). A job ends when its time is up, when its memory is, or when
nobody waits for it any more: then its worker is killed, and another is forked when one is needed.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
from typing import Any

from bursar.errors import RateLimited, TooMuchWork
from bursar.service.settings import Settings
from bursar.service.workers.bench import Bench
from bursar.service.workers.job import WOULD_PASS, Counted, Job, Uses, kind_of
from bursar.service.workers.line import meant
from bursar.service.workers.turns import MOST_STANDING, Turns

_LOOK = 0.025  # seconds between two looks
_FORK = 0.02  # seconds that a fresh worker counts for
_TRIES = 2  # of a job whose worker dies
_BRIEF = {"instead": 0.5}  # seconds for what nobody asked for


class _Died(Exception):
    """A worker is gone, and nobody knows why."""


class Workers:
    """The queue before the processes."""

    def __init__(self, settings: Settings, cores: int | None = None) -> None:
        self._settings = settings
        self.most = max(1, (cores or _cores()) - 1)
        self._bench = Bench(self.most, settings.work_memory * 2**20)
        self._jobs: dict[bytes, Job] = {}
        self._uses = Uses()
        self._turns = Turns(self._uses)
        self._orders = 0
        self._next_look: asyncio.TimerHandle | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._shut = False

    def start(self) -> None:
        """Have them ready before anybody asks."""
        self._bench.start()

    async def run(self, token: str, kind: str, *given: Any, counted: Counted) -> Any:
        """The answer; `TooMuchWork` where it would take too long with what was ``counted`` before for the same request,
        `RateLimited` where too many of one token wait.
        """
        if self._shut:
            raise TooMuchWork("the service is shutting down")
        data = pickle.dumps((kind, given))
        job = self._jobs.get(data)
        if job is None:
            self._check(token)
            self._orders += 1
            job = self._jobs[data] = Job(kind, data, counted.seconds, self._orders)
        job.ceiling = max(job.ceiling, self._ceiling(kind) - counted.seconds)  # several may wait for one job
        job.tokens[token] += 1
        self._look()
        try:
            return await asyncio.shield(job.done)
        finally:
            counted.seconds += job.used
            if job.tokens[token] == 1 and not job.done.done():
                self._note()  # while it is known whose it was
            job.tokens[token] -= 1
            if not +job.tokens and not job.done.done():
                self._end(job, None)

    def _check(self, token: str) -> None:
        """Refuse a token that has had its share while others want theirs."""
        mine = sum(1 for job in self._jobs.values() if job.tokens[token])
        if mine >= self._settings.most_waiting:
            raise RateLimited("too many requests of this token wait to be counted", after=1.0)
        if mine < len(self._jobs) and self._uses.of(token) > self._settings.work_a_minute:
            raise TooMuchWork(
                f"this token has counted for more than {self._settings.work_a_minute:g} s within about a minute, and "
                "others wait: ask again in a minute, or for less"
            )

    def used(self, token: str) -> float:
        """Seconds of the processor that a token has used lately."""
        return self._uses.of(token)

    @property
    def busy(self) -> int:
        """How many jobs count, stand or wait."""
        return len(self._jobs)

    async def shut(self) -> None:
        """End all of it at once: nothing that is counted here is lost by that."""
        self._shut = True
        for job in list(self._jobs.values()):
            self._end(job, TooMuchWork("the service is shutting down"))
        if self._next_look is not None:
            self._next_look.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        await self._bench.shut()

    def _ceiling(self, kind: str) -> float:
        price = kind_of(kind) == "price"
        most = self._settings.price_seconds if price else self._settings.work_seconds
        return min(most, _BRIEF.get(kind, most))

    def _look(self) -> None:
        """Let the right jobs count; look again soon while there is anything to decide."""
        self._note()
        for job in [job for job in self._jobs.values() if job.used >= job.ceiling]:
            most, passing = self._ceiling(job.kind), WOULD_PASS[job.kind]
            self._end(job, TooMuchWork(f"counting this took more than {most:g} s. What would pass: {passing}"))
        counting = [job for job in self._jobs.values() if job.counting]
        others = [job for job in self._jobs.values() if not job.counting]
        for job in sorted(others, key=self._turns.rank):
            if not self._room(job):
                continue
            if len(counting) >= self.most and not self._gave_way(job, counting):
                break
            self._resume(job)
            counting.append(job)
        if self._jobs and self._next_look is None:
            self._next_look = asyncio.get_running_loop().call_later(_LOOK, self._look_again)

    def _look_again(self) -> None:
        self._next_look = None
        self._look()

    def _note(self) -> None:
        """What has been used since the last look."""
        for job in self._jobs.values():
            if job.worker is not None and job.counting:
                clock = job.worker.counted()
                spent, job.seen = clock - job.seen, clock
                job.used += spent
                self._pays(job, spent)

    def _pays(self, job: Job, seconds: float) -> None:
        """Whoever asked for it first, of those who wait."""
        for token in list(+job.tokens)[:1]:
            self._uses.add(token, seconds)

    def _gave_way(self, job: Job, counting: list[Job]) -> bool:
        """Whether one that counts stands still for this one; where too many stand, the heaviest has to begin again."""
        heaviest = max(counting, key=self._turns.rank)
        if not self._turns.yields(heaviest, job):
            return False
        heaviest.stand()
        counting.remove(heaviest)
        standing = self._standing()
        if len(standing) > MOST_STANDING:
            self._begin_again(self._turns.heaviest(standing))
        return True

    def _room(self, job: Job) -> bool:
        """Whether one more may begin; if not, one of a token that has used much more may have to make room."""
        standing = self._standing()
        if job.talk is not None or self._turns.may_begin(job, standing):
            return True
        if not self._turns.may_displace(job, standing):
            return False
        self._begin_again(self._turns.heaviest(standing))
        return True

    def _standing(self) -> list[Job]:
        return [one for one in self._jobs.values() if one.talk is not None and not one.counting]

    def _begin_again(self, job: Job) -> None:
        self._dismiss(job)
        job.lose()

    def _resume(self, job: Job) -> None:
        job.go_on()
        if job.talk is None:
            job.talk = asyncio.get_running_loop().create_task(self._converse(job))
            self._talks.add(job.talk)
            job.talk.add_done_callback(self._talks.discard)

    async def _converse(self, job: Job) -> None:
        """One job from its first moment to its answer; it has been ended, or begun again, where it is not its talk."""
        mine, worker = asyncio.current_task(), None
        try:
            worker = await self._bench.taken(lambda: job.talk is mine, lambda: self._pays(job, _FORK))
            if job.talk is not mine or worker is None:
                await self._bench.kept(worker)
                return
            job.worker, job.seen = worker, worker.counted()
            worker.ask(job.data)
            if not job.counting:
                worker.signal(signal.SIGSTOP)
            found = meant(*await worker.answer())
        except (OSError, EOFError, pickle.UnpicklingError):
            found = _Died()  # by the system, by this queue, or by somebody else
        if job.talk is mine:
            self._note()
            if isinstance(found, _Died) and (tries := job.tries + 1) < _TRIES:
                job.tries = tries  # whoever ended it, this job need not be why
                self._dismiss(job)
                self._look()
            elif isinstance(found, (_Died, MemoryError)):
                passing = WOULD_PASS[job.kind]
                self._end(job, TooMuchWork(f"counting this takes too much memory. What would pass: {passing}"))
            else:
                job.worker, free = None, worker
                self._end(job, found)
                await self._bench.kept(free)
                return
        if worker is not None:
            await worker.gone()

    def _end(self, job: Job, outcome: Any) -> None:
        """Tell whoever waits, and let go of a worker that still counts."""
        self._jobs.pop(job.data, None)
        self._dismiss(job)
        if not job.done.done():
            if isinstance(outcome, Exception):
                job.done.set_exception(outcome)
                job.done.exception()  # whoever asked may have gone
            else:
                job.done.set_result(outcome)
        if self._jobs:
            asyncio.get_running_loop().call_soon(self._look)

    def _dismiss(self, job: Job) -> None:
        worker, job.worker, job.talk, job.counting = job.worker, None, None, False
        if worker is not None:
            worker.kill()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
