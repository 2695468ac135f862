"""Tests of packages that have an environment of their own (`make peers`) are collected there only."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("jax_privacy") else ["test_jax.py"]
