"""Spark and object stores: tasks read and write objects by the driver's own fsspec file system, so that there is one
configuration, and no connector of Spark's. Workers need bursar and the store's package for it.

Tasks may be tried twice. An attempt writes an object under a name of its own, and hands back the name and the hash of
what it wrote; what nobody told of counts for nothing. What is read is hashed first, in the task that decodes it.
"""

from __future__ import annotations

import hashlib
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bursar.cohorts.people.files import OPTIONS
from bursar.errors import StorageFailed
from bursar.extras import needs

SCHEMA = pa.schema([("person", pa.binary()), ("charge", pa.int64()), ("admitted", pa.bool_())])
Hashed = Sequence[tuple[str, str]]
"""Names of objects, and the hashes of what is in them."""


def in_arrow(frame: Any, task: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """A task over the Arrow batches of each part of a frame."""
    with warnings.catch_warnings(), needs("spark", "a task over columns"):
        warnings.simplefilter("ignore")  # Spark wants pandas for this, and doubts its version: none of it is used here
        return frame.mapInArrow(task, schema)


def uploaded(rows: Any, filesystem: Any, place: str) -> list[tuple[str, str]]:
    """Each part of a frame as one object below a place, by a job: their names there, and their hashes."""
    told = in_arrow(rows, partial(_upload, filesystem, place), "name STRING, digest STRING").collect()
    return sorted((row["name"], row["digest"]) for row in told)


def fetched(session: Any, filesystem: Any, files: Hashed, schema: str) -> Any:
    """What is in these objects, as a frame: one task for each of them, which fails where it is not what was hashed."""
    listed = session.createDataFrame(list(files), "name STRING, digest STRING").repartition(len(files), "name")
    return in_arrow(listed, partial(_fetch, filesystem), schema)


def _upload(filesystem: Any, place: str, batches: Iterable[Any]) -> Iterator[Any]:
    """In a worker: one part, written whole."""
    kept = list(batches)
    if not kept:
        return
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches(kept).cast(SCHEMA), buffer, **OPTIONS)
    content, name = buffer.getvalue().to_pybytes(), f"{uuid.uuid4().hex}.parquet"
    filesystem.pipe_file(f"{place}/{name}", content)
    yield pa.RecordBatch.from_pydict({"name": [name], "digest": [hashlib.sha256(content).hexdigest()]})


def _fetch(filesystem: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """In a worker: some objects, each of them hashed before anything of it is believed."""
    for batch in batches:
        for given in batch.to_pylist():
            content = filesystem.cat_file(given["name"])
            if hashlib.sha256(content).hexdigest() != given["digest"]:
                raise StorageFailed(f"{given['name']} is not what was committed")
            yield from pq.read_table(pa.BufferReader(content), columns=SCHEMA.names).to_batches()
