"""Tests of packages that are heavy to load, or have an environment of their own (`make peers`)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore = [] if find_spec("jax_privacy") else ["test_jax.py"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """PyTorch is not even loaded where its tests do not run."""
    return True if collection_path.name == "test_opacus.py" and "not ci" in config.option.markexpr else None
