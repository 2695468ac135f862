"""Who runs a bulk replay: Spark where the list of charges is a Spark frame, this process for everything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bursar.cohorts.people.engines import home_of
from bursar.extras import needs


def replay_for(charges: Any) -> Callable[..., Path]:
    """The replay for a list of charges."""
    if home_of(charges) == "pyspark":
        with needs("spark", "a Spark table"):
            from bursar.cohorts.people.spark_replay import replayed_by_spark

        return replayed_by_spark
    with needs("cohorts", "a person filter"):
        from bursar.cohorts.people.replay import replayed

    return replayed
