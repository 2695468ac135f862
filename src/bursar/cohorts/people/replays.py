"""Who runs a bulk replay: Spark where the list of charges is its frame, or files for which a session is given; this
process for everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bursar.cohorts.people.engines import home_of, session_in
from bursar.extras import needs


def replay_for(charges: Any, spark: Any) -> Callable[..., Path]:
    """The replay for a list of charges."""
    if spark is not None:
        session = session_in(spark)
        with needs("spark", "a Spark session"):
            from bursar.cohorts.people.spark_files import replayed_files

        return partial(replayed_files, session)
    if home_of(charges) == "pyspark":
        with needs("spark", "a Spark table"):
            from bursar.cohorts.people.spark_replay import replayed_by_spark

        return replayed_by_spark
    with needs("cohorts", "a person filter"):
        from bursar.cohorts.people.replay import replayed

    return replayed
