"""Counters for Prometheus, in its text form. No scope, key or name is in them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Histogram:
    """Counts how many values lay below each of some bounds."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts = bounds, [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one value of what is measured."""
        self.total += value
        self.counts[bisect_left(self.bounds, value)] += 1

    def lines(self, name: str) -> Iterator[str]:
        """Its lines as Prometheus wants them: each count includes those before it."""
        so_far = 0
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            so_far += count
            yield f'{name}_bucket{{le="{bound}"}} {so_far}'
        yield f"{name}_sum {self.total:.6f}"
        yield f"{name}_count {so_far}"


class Metrics:
    """What the service has done since it started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.refusals: Counter[str] = Counter()
        self.seconds, self.batches = Histogram(_SECONDS), Histogram(tuple(float(size) for size in _SIZES))
        self.alerts = 0

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request that is done."""
        self.requests[route, status] += 1
        self.seconds.add(seconds)

    def text(self, halted: bool) -> str:
        """All counters in the text form of Prometheus."""
        rows = ["# TYPE bursar_requests_total counter"]
        rows += [
            f'bursar_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(self.requests.items())
        ]
        rows.append("# TYPE bursar_refusals_total counter")
        rows += [f'bursar_refusals_total{{code="{code}"}} {count}' for code, count in sorted(self.refusals.items())]
        rows += ["# TYPE bursar_alerts_total counter", f"bursar_alerts_total {self.alerts}"]
        rows += ["# TYPE bursar_ledger_halted gauge", f"bursar_ledger_halted {int(halted)}"]
        rows += ["# TYPE bursar_request_seconds histogram", *self.seconds.lines("bursar_request_seconds")]
        rows += ["# TYPE bursar_batch_size histogram", *self.batches.lines("bursar_batch_size")]
        return "\n".join(rows) + "\n"
