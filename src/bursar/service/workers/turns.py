"""Who comes first: whoever has been counted for least, and among those whose token has used least.

A job that has counted for long stands still at once for one that has not; one that has counted for about as long has
its turn first. Waiting makes up for it, so that nobody waits for ever. A few jobs stand at a time, for each holds
memory; where there are more, the heaviest begins again later, and is not taken for a new one then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bursar.service.workers.job import SLICE, Job, Uses

MOST_STANDING, _EACH_STANDING = 8, 2  # jobs that stand still in the middle, in all and of one token
_LIGHT = 4.0  # seconds that a token uses before its jobs count as heavier


class Turns:
    """The order among jobs, by what they and their tokens have used."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses

    def weight(self, job: Job) -> float:
        """What has been used by whoever waits for it and has used least."""
        return min((self._uses.of(token) for token in +job.tokens), default=math.inf)

    def level(self, job: Job) -> tuple[int, int]:
        """How many times its token has doubled its first seconds, and the job its first moment."""
        used = job.before + job.used
        return int(math.log2(1 + self.weight(job) / _LIGHT)), int(math.log2(1 + used / SLICE))

    def rank(self, job: Job) -> tuple[int, float, int]:
        """The levels together, what the token has used, and when it came: the smallest comes first. Each second of
        waiting brings a job nearer, but never as near as one that is new; it keeps that for one turn.
        """
        level = sum(self.level(job))
        return max(min(level, 1), level - int(job.waited())), self.weight(job), job.order

    def yields(self, counting: Job, job: Job) -> bool:
        """Whether one that counts has counted for longer, or has had its turn and is of a token that has used more."""
        (mine, used, _), (its, more, _) = self.rank(job), self.rank(counting)
        return mine < its or (mine == its and counting.had_its_turn() and used + SLICE < more)

    def heaviest(self, standing: Sequence[Job]) -> Job:
        """The one whose token has used most, or which itself has."""
        return max(standing, key=lambda job: (self.level(job), self.weight(job)))

    def may_begin(self, job: Job, standing: Sequence[Job]) -> bool:
        """Whether there is room. A new job has room whoever stands, for it may be done within its first turn."""
        if sum(1 for one in standing if one.tokens & job.tokens) >= _EACH_STANDING:
            return False
        return not job.lost or len(standing) < MOST_STANDING

    def may_displace(self, job: Job, standing: Sequence[Job]) -> bool:
        """Whether one that has begun in vain may take the place of the heaviest: of a token that has used much more."""
        if sum(1 for one in standing if one.tokens & job.tokens) >= _EACH_STANDING:
            return False
        return self.weight(job) + _LIGHT < self.weight(self.heaviest(standing))
