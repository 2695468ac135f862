"""Random questions asked: how narrow an answer is, and how long it took."""

from __future__ import annotations

import math
import signal
import time
from typing import NamedTuple

import bursar as b
from support.questions import Question, question

LIMIT = 60  # seconds of processor time: what has not ended by then never ends, for this purpose


class Outcome(NamedTuple):
    """What was asked and answered: the ends, how long it took, and why it is as wide as it is."""

    question: Question
    lower: float
    upper: float
    seconds: float
    because: str

    @property
    def width(self) -> float:
        """Relative to the upper end; 0 where both ends are the same, infinite ones included."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / self.upper if math.isfinite(self.upper) else math.inf


class TooLong(BaseException):
    """Not an error of the answer: nothing in the library may catch it."""


def _stop(*_: object) -> None:
    raise TooLong


def asked(number: int) -> Outcome:
    """The answer to one question, as `bursar.account` gives it by default."""
    it = question(number)
    start = time.process_time()
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        composition = b.parse(it.text)
        found = b.account(composition, delta=it.delta).bound
        ends = (found.lower, found.upper, found.because)
    except TooLong:
        ends = (0.0, math.inf, f"no answer within {LIMIT} s of processor time")
    except Exception as problem:  # an answer that is an exception is the worst of all: it is counted, not hidden
        ends = (0.0, math.inf, f"{type(problem).__name__}: {problem}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Outcome(it, ends[0], ends[1], time.process_time() - start, ends[2])
