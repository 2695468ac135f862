"""Alerts: somebody wants to know when a share of a limit has been passed.

They follow the commit and never stand in its way: an alert that fails is logged and forgotten.
"""

from __future__ import annotations

import json
import logging
import threading
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from bursar.ledger.budget import words
from bursar.ledger.budget.shares import used_parts
from bursar.ledger.commit.catalogue import Catalogue
from bursar.ledger.journal.body import Effect

_logger = logging.getLogger("bursar.ledger")


@dataclass(frozen=True)
class Alert:
    """A share of a line's limit was passed by an entry."""

    scope: str
    line: str
    share: float
    root: str
    seq: int

    def __str__(self) -> str:
        return f"{self.scope}: {self.share:.0%} {words.alerted(self.line)} is used (entry {self.seq})"


def log(alert: Alert) -> None:
    """To the log of ``bursar.ledger``."""
    _logger.warning("%s", alert)


def webhook(url: str, *, timeout: float = 5.0) -> Callable[[Alert], None]:
    """Post each alert as JSON to an address, in the background."""

    def post(alert: Alert) -> None:
        data = json.dumps(asdict(alert)).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        threading.Thread(target=_send, args=(request, timeout), daemon=True).start()

    return post


def _send(request: urllib.request.Request, timeout: float) -> None:
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            response.read(1)
    except OSError as problem:
        _logger.warning("an alert could not be delivered: %s", problem)


class Watch:
    """Compares the states before and after each entry with the shares that a scope names."""

    def __init__(self, alert: Callable[[Alert], None] | None) -> None:
        self._alert = alert

    def look(self, posted: Sequence[tuple[str, int, Sequence[Effect]]], catalogue: Catalogue) -> None:
        """After a commit: (root, seq, effects) of its entries."""
        if self._alert is None:
            return
        for root, seq, effects in posted:
            for one in effects:
                scope = catalogue.known(one.scope)
                if one.before == one.after or scope is None:
                    continue
                used, now = used_parts(one.before), used_parts(one.after)
                for share, reached in scope.marks:
                    if used < reached <= now:
                        self._raise(Alert(one.scope, one.line, float(share), root, seq))

    def _raise(self, alert: Alert) -> None:
        assert self._alert is not None
        try:
            self._alert(alert)
        except Exception:  # an alert is foreign code, and the charge is already durable
            _logger.exception("an alert failed")
