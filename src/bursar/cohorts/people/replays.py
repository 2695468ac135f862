"""Who runs a bulk replay: Spark where the list of charges is a Spark frame, this process for everything else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bursar.cohorts.people.engines import home_of
from bursar.extras import needs

_PARTITIONS = 256


def replay_for(charges: Any, buckets: int | None) -> Callable[..., Path]:
    """The replay for a list of charges, in so many buckets; by None in as many as suit it."""
    if home_of(charges) == "pyspark":
        with needs("spark", "a Spark table"):
            from bursar.cohorts.people.spark_replay import replayed_by_spark

        return partial(replayed_by_spark, buckets=buckets or _PARTITIONS)
    with needs("cohorts", "a person filter"):
        from bursar.cohorts.people.replay import replayed

    return partial(replayed, buckets=buckets)
