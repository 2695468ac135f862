"""What the ledger and its service refuse, each with a code of a closed list."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

from bursar.errors._base import BursarError


class Refused(BursarError):
    """The ledger refuses; ``code`` is one of a closed list. Nothing was charged."""

    code = "refused"
    scope: str | None = None
    """The scope that refuses, where it is one."""


class BudgetExceeded(Refused):
    """More was asked than is left. The numbers are exact fractions of the scope's measure."""

    code = "insufficient_budget"

    def __init__(self, message: str, *, scope: str, line: str, numbers: dict[str, Fraction], replayed: bool) -> None:
        super().__init__(message)
        self.scope: str = scope
        self.line, self.replayed = line, replayed
        self.asked, self.spent, self.held = numbers["asked"], numbers["spent"], numbers["held"]
        self.limit, self.left = numbers["limit"], numbers["left"]
        self.advice: Callable[[], str | None] | None = None
        """Finds what would pass, where somebody knows how."""

    @cached_property
    def would_pass(self) -> str | None:
        """A release of the same kind that would have passed at that moment, found when it is asked for."""
        return None if self.advice is None else self.advice()

    def __str__(self) -> str:
        said = super().__str__()
        return said if self.would_pass is None else f"{said}; {self.would_pass} would pass"


class CostInvalid(Refused):
    """The release has no price in the scope's currency."""

    code = "cost_invalid"


class CurrencyMismatch(Refused):
    """Scopes, units or relations that cannot be charged together."""

    code = "currency_mismatch"


class KeyReused(Refused):
    """The idempotency key belongs to another request."""

    code = "key_reused"


class ScopeUnknown(Refused):
    """No scope has this name."""

    code = "scope_unknown"


class _OfScope(Refused):
    """A refusal by one scope."""

    def __init__(self, message: str, *, scope: str | None = None) -> None:
        super().__init__(message)
        self.scope = scope


class ScopeClosed(_OfScope):
    """The scope has been closed for good."""

    code = "scope_closed"


class ScopeFrozen(_OfScope):
    """The scope accepts no charges at present."""

    code = "scope_frozen"


class ReservationExpired(Refused):
    """The reservation's time has passed."""

    code = "reservation_expired"


class ReservationClosed(Refused):
    """The reservation has been closed, or does not exist."""

    code = "reservation_closed"


class PerChargeCap(_OfScope):
    """One charge, or all reservations together, would take a larger share of a limit than the service allows."""

    code = "per_charge_cap"


class RateLimited(Refused):
    """Too many requests; ``after`` is how many seconds to wait."""

    code = "rate_limited"

    def __init__(self, message: str, *, after: float) -> None:
        super().__init__(message)
        self.after = after


class TooMuchWork(Refused):
    """Counting it takes longer, or more memory, than the service allows; the message says what would pass."""

    code = "too_much_work"


class NotPermitted(Refused):
    """A second person's approval is missing, or the token's role or scope does not allow this."""

    code = "not_permitted"


class ConsentNeeded(Refused):
    """A correction, an import or a new limit would do more than it says: leave nothing for Gaussian-like releases, end
    reservations or freeze a scope. ``consent`` is what to give it if exactly that is meant, ``lines`` says of which
    scope the lines of the message are.
    """

    code = "consent_needed"

    def __init__(self, message: str, *, consent: str, lines: Sequence[tuple[str | None, str]] = ()) -> None:
        super().__init__(message)
        self.consent, self.lines = consent, lines

    def about(self, reached: Callable[[str], bool]) -> ConsentNeeded:
        """The same for somebody who may not be told of every scope."""
        beyond = [line for scope, line in self.lines if scope is not None and not reached(scope)]
        if not beyond:
            return self
        said = str(self)
        for line in beyond[1:]:
            said = said.replace(f"  {line}\n", "", 1)
        above = "a budget above yours: it does more than that there, too"
        told = [(scope, line) for scope, line in self.lines if line not in beyond]
        return ConsentNeeded(said.replace(beyond[0], above, 1), consent=self.consent, lines=[*told, (None, above)])


class _Guarded(Refused):
    """A refusal whose message may name files, hosts and what a driver said: that is for whoever runs the ledger.
    ``public`` is what anybody may be told.
    """

    public = ""

    def __init__(self, message: str, *, public: str | None = None) -> None:
        super().__init__(message)
        if public is not None:
            self.public = public


class LedgerHalted(_Guarded):
    """The ledger is behind its anchor or inconsistent, and accepts nothing until that is resolved."""

    code = "ledger_halted"
    public = (
        "the ledger has lost entries, was changed or is damaged: nothing is charged until whoever runs it has resolved "
        "that; the log says more"
    )


class StorageFailed(_Guarded):
    """The store could not be read, or could not make the charge durable: what is not acknowledged did not happen, or
    will be found on retry with the same key.
    """

    code = "storage_unavailable"
    public = "the store cannot be used at present: retry with the same key; the log says more"


class StorageFull(StorageFailed):
    """The store's disk is full: nothing was charged."""

    code = "storage_full"
    public = "the disk is full, nothing was charged: make room, then retry with the same key"


def storage_trouble(message: str, problem: OSError) -> StorageFailed:
    """What the system says of a file, with the message; a full disk is told from the rest."""
    kind = StorageFull if problem.errno in (errno.ENOSPC, errno.EDQUOT) else StorageFailed
    return kind(f"{message}: {problem}")


def refusals() -> dict[str, type[Refused]]:
    """Every refusal by its code, for whoever reads one from a wire."""
    found: list[type[Refused]] = [Refused]
    for kind in found:  # which grows
        found += kind.__subclasses__()
    ours = (kind for kind in found[1:] if kind.__module__ == BursarError.__module__ and kind.code != Refused.code)
    return {kind.code: kind for kind in ours}
