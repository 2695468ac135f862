"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.packages import Packages

settings.register_profile("bursar", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bursar")


def widened(printed: str) -> tuple[Fraction, Fraction]:
    """A printed decimal, give or take half a unit of its last digit."""
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    half = Fraction(1, 2) * Fraction(10) ** (int(exponent or 0) - digits)
    return Fraction(printed) - half, Fraction(printed) + half


@pytest.fixture(name="widened")
def _widened() -> object:
    """The function above, for tests that read golden values."""
    return widened


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    """Where packages with plug-ins are installed for the time of a test."""
    made = Packages(tmp_path / "packages", monkeypatch)
    yield made
    monkeypatch.undo()
    made.remove()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Forget the figures of earlier runs."""
    from support import reliability

    if not hasattr(session.config, "workerinput"):
        reliability.clear()


def _no_excuse(report: Any) -> Any:
    """Where BURSAR_SKIPS=fail a test that did not run is a test that failed."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("BURSAR_SKIPS") == "fail":
        report.outcome, report.longrepr = "failed", f"skipped, which counts as a failure here: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """A skipped test."""
    return _no_excuse((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """A skipped file."""
    return _no_excuse((yield))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Renew RELIABILITY.md, when nothing failed."""
    from support import reliability

    if not hasattr(session.config, "workerinput") and exitstatus == 0:
        reliability.write()
