"""OpenDP's measurements: what they promise, charged first, run once, until the budget ends."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import opendp.prelude as dp
import pytest

import bursar as b
from bursar.adapters.opendp import declared, guarantee, release

dp.enable_features("contrib", "honest-but-curious")
INTEGER = dp.atom_domain(T=int), dp.absolute_distance(T=int)


def laplace(scale: float) -> Any:
    """Noise on a whole number."""
    return dp.m.make_laplace(*INTEGER, scale=scale)


def gaussian(scale: float) -> Any:
    """Noise on a whole number, concentrated."""
    return dp.m.make_gaussian(*INTEGER, scale=scale)


def test_every_measure_is_read_as_a_promise() -> None:
    """Pure, concentrated, approximate, a profile: never smaller than what OpenDP says."""
    assert guarantee(laplace(10.0), 1) == b.PureDP(Fraction(0.1))
    assert guarantee(gaussian(10.0), 1) == b.ZCDP(Fraction(0.005))
    profile = dp.c.make_zCDP_to_approxDP(gaussian(10.0))
    fixed = dp.c.make_fix_delta(profile, 1e-6)
    epsilon, delta = fixed.map(1)
    assert guarantee(fixed, 1) == b.ApproxDP(Fraction(epsilon), Fraction(delta))
    curve = b.account(declared(profile, 1) * 1, delta=1e-6).epsilon.upper
    assert epsilon <= curve <= epsilon * 1.3
    with pytest.raises(b.InputError, match="promises nothing"):
        guarantee(laplace(0.0), 1)
    with pytest.raises(b.InputError, match="OpenDP measurement"):
        guarantee("gaussian", 1)


def test_a_release_is_charged_first_and_runs_once() -> None:
    """A replay returns the kept output, or refuses; nothing runs twice."""
    runs: list[int] = []

    def counted(value: int) -> int:
        runs.append(value)
        return value

    noisy = dp.m.make_laplace(*INTEGER, scale=10.0)
    seen = dp.t.make_user_transformation(*INTEGER, *INTEGER, counted, lambda d_in: d_in) >> noisy
    with b.Ledger("memory://") as ledger:
        ledger.open("data", epsilon=1)
        kept: dict[str, Any] = {}
        first = release(ledger, "data", seen, 100, d_in=1, key="q1", outputs=kept)
        assert release(ledger, "data", seen, 100, d_in=1, key="q1", outputs=kept) == first
        with pytest.raises(b.errors.AlreadyRun):
            release(ledger, "data", seen, 100, d_in=1, key="q1")
        assert runs == [100]
        with pytest.raises(b.errors.KeyReused):
            release(ledger, "data", laplace(5.0), 100, d_in=1, key="q1")
        with pytest.raises(b.BudgetExceeded):
            release(
                ledger,
                "data",
                dp.t.make_user_transformation(*INTEGER, *INTEGER, counted, lambda d: d) >> laplace(0.5),
                1,
                d_in=1,
                key="q2",
            )
        assert runs == [100]
        with pytest.raises(b.InputError, match="key"):
            release(ledger, "data", seen, 100, d_in=1, key="")


def test_a_failing_query_stays_charged() -> None:
    """A failure may depend on the data, so it is not refunded."""

    def failing(value: int) -> int:
        raise ValueError("no")

    broken = dp.t.make_user_transformation(*INTEGER, *INTEGER, failing, lambda d_in: d_in) >> laplace(10.0)
    with b.Ledger("memory://") as ledger:
        ledger.open("data", epsilon=1)
        with pytest.raises(dp.OpenDPException):
            release(ledger, "data", broken, 1, d_in=1, key="q")
        assert ledger.show("data").line("epsilon").spent > 0
        with pytest.raises(b.errors.AlreadyRun):
            release(ledger, "data", broken, 1, d_in=1, key="q")


def test_a_renyi_curve_is_read_at_its_orders() -> None:
    """A measurement that promises a Rényi divergence for every order."""
    made = dp.m.make_user_measurement(
        *INTEGER,
        output_measure=dp.renyi_divergence(),
        function=lambda x: x,
        privacy_map=lambda d_in: lambda alpha: alpha * d_in * 0.01,
        TO=int,
    )
    found = b.account(declared(made, 1) * 1, delta=1e-6).epsilon.upper
    assert found == pytest.approx(b.account(b.Declared(b.ZCDP("0.01")) * 1, delta=1e-6).epsilon.upper, rel=0.02)
