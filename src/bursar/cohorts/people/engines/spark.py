"""The distributed engine: Spark 3.5 or newer, for its own frames. The folder must be one that all workers see; objects
go by the tasks of `spark_store.py`.

The secret goes to the workers as a row of data, never as a part of a statement: plans and the pages of Spark's own
interface show statements.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from bursar.cohorts.people.charges import OwnNorm, Query
from bursar.cohorts.people.engines._base import Engine, Prepared, discreet
from bursar.cohorts.people.engines.spark_store import fetched, uploaded
from bursar.cohorts.people.files import FILE, Folder, padded
from bursar.cohorts.people.keys import Pads
from bursar.cohorts.people.objects import ObjectFolder
from bursar.cohorts.people.statements import Dialect, charges_statement, statement
from bursar.errors import InputError, described

DIALECT = Dialect(
    hash="unhex(substr(sha2(concat(outer_pad, unhex(sha2(concat(inner_pad, CAST(id AS BINARY)), 256))), 256), 1, 32))",
    div="DIV",
)
_SCHEMA = "person BINARY, charge BIGINT, admitted BOOLEAN"
_PLAIN = {  # of one length, whatever is in it: a checksum has four bytes or five
    "compression": "none",
    "parquet.enable.dictionary": "false",
    "parquet.page.write-checksum.enabled": "false",
}
_WHOLE = {"ignoreMissingFiles": "false", "ignoreCorruptFiles": "false"}
"""Whatever a session says: a file that cannot be read is not one in which nobody was charged."""
_CHANGED = "a delta is not what was committed: nothing is handed out"
_TROUBLES = (PySparkException, Py4JError)
_IDS = ("byte", "short", "integer", "long", "string")
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal")


class SparkEngine(Engine):
    """Statements in a session."""

    def __init__(self, session: Any, folder: Folder) -> None:
        self._spark, self._folder = session, folder

    def prepare(self, table: Any, person: str, query: Query, pads: Pads) -> Prepared:
        """Name and price everybody in a table: lazily, as Spark does."""
        with discreet(_TROUBLES):
            source = _source(table, person, query)
            keys = self._spark.createDataFrame([tuple(map(bytearray, pads))], "inner_pad BINARY, outer_pad BINARY")
            charges = self._ask(charges_statement(query, DIALECT), source=source, pads=F.broadcast(keys))
        return _SparkPrepared(self, table, charges, person, query)

    def compact(self, files: Sequence[str], folder: Folder, place: str) -> None:
        """Write one row for everybody who was charged."""
        with discreet(_TROUBLES):
            self.write(self._ask(statement("snapshot"), state=self.read(files)), folder, place)

    def about(self, files: Sequence[str], text: str, others: Sequence[str] = ()) -> tuple[int, ...]:
        """What a statement says of what was charged."""
        with discreet(_TROUBLES):
            asked = self._ask(text, state=self.read(files), others=self.read(others))
            return tuple(map(int, asked.collect()[0]))

    def _ask(self, text: str, **frames: Any) -> Any:
        """A statement over frames by their names."""
        names = {name: f"bursar_{uuid.uuid4().hex}" for name in frames}
        for name, frame in frames.items():
            frame.createOrReplaceTempView(names[name])
        meant = ", ".join(f"{name} AS (SELECT * FROM {view})" for name, view in names.items())
        try:
            return self._spark.sql(f"WITH {meant} {text}")
        finally:
            for view in names.values():
                self._spark.catalog.dropTempView(view)

    def read(self, files: Sequence[str]) -> Any:
        """What was charged by these files."""
        if not files:
            return self._spark.createDataFrame([], _SCHEMA)
        if isinstance(self._folder, ObjectFolder):
            return fetched(self._spark, self._folder.seen_by_all(), self._folder.hashes(files), _SCHEMA)
        return self._spark.read.schema(_SCHEMA).options(**_WHOLE).parquet(*map(_pattern, files))

    def read_again(self, files: Sequence[str]) -> Any:
        """The same, for a frame that is computed some time later: files are compared with their hashes then. Java
        hashes them, since workers may have no bursar; so the bytes are read twice, one time right after the other.
        """
        rows = self.read(files)
        if isinstance(self._folder, ObjectFolder):  # hashed by the task that reads it
            return rows
        digests = sorted(digest for _, digest in self._folder.hashes(files))
        whole = self._spark.read.format("binaryFile").options(**_WHOLE).load([*map(_pattern, files)])
        found = F.array_sort(F.collect_list(F.sha2("content", 256))) == F.array(*map(F.lit, digests))
        # it fails before any row is read: were it asked of each row, a file that admits nobody would not be found out
        same = F.when(F.col("same"), True).otherwise(F.raise_error(F.lit(_CHANGED)).cast("boolean"))
        compared = whole.agg(found.alias("same")).select(same.alias("bursar_same"))
        checked = rows.crossJoin(F.broadcast(compared)).where("bursar_same")
        # what is shuffled is kept as long as the comparison is: a frame that is computed twice reads neither again
        return checked.drop("bursar_same").repartition("person")

    def write(self, rows: Any, folder: Folder, place: str) -> None:
        """The rows of a delta among random ones."""
        kept = rows.select("person", "charge", "admitted").persist()
        try:
            count = kept.count()
            total = padded(count)
            whole = kept.unionByName(self._fillers(total - count))
            whole = whole.repartition(-(-total // FILE)).sortWithinPartitions("person")
            if isinstance(folder, ObjectFolder):
                store = folder.seen_by_all()
                folder.gather(place, lambda stage: uploaded(whole, store, stage))
            else:
                whole.write.options(**_PLAIN).parquet(folder.spark_target(place))
        except _TROUBLES:
            folder.drop(place)
            raise
        finally:
            kept.unpersist()

    def _fillers(self, count: int) -> Any:
        """Random persons, from a seed of the operating system's that is forgotten: `uuid` can be guessed."""
        seed = self._spark.createDataFrame([(bytearray(secrets.token_bytes(32)),)], "seed BINARY")
        person = F.expr("unhex(substr(sha2(concat(seed, CAST(CAST(id AS STRING) AS BINARY)), 256), 1, 32))")
        return (
            self._spark.range(count)
            .crossJoin(F.broadcast(seed))
            .select(person.alias("person"), F.lit(0).cast("bigint").alias("charge"), F.lit(False).alias("admitted"))
        )


class _SparkPrepared(Prepared):
    """The charges of a frame, as a frame."""

    def __init__(self, engine: SparkEngine, table: Any, charges: Any, person: str, query: Query) -> None:
        self._engine, self._table, self._charges = engine, table, charges
        self._person, self._query = person, query

    def decide(self, files: Sequence[str], limit: int, rule: str, folder: Folder, place: str) -> None:
        """Join the charges with what was charged before, and write the delta."""
        with discreet(_TROUBLES):
            state = self._engine.read(files).where("charge > 0")
            decided = self._engine._ask(statement("decided", limit=limit), charges=self._charges, state=state)
            self._engine.write(self._engine._ask(statement(f"delta_of_{rule}"), decided=decided), folder, place)

    def rows(self, files: Sequence[str]) -> Any:
        """The rows of the frame whose people are in the delta."""
        with discreet(_TROUBLES):
            delta = self._engine.read_again(files)
            found = self._engine._ask(statement("recorded"), charges=self._charges, delta=delta)
            kind = self._table.schema[self._person].dataType
            if isinstance(self._query, OwnNorm):
                values = F.col("cells") * F.lit(float(self._query.step))
                return found.select(F.col("id").cast(kind).alias(self._person), values.alias(self._query.column))
            ids = found.select(F.col("id").alias("bursar_admitted_id"))
            same = column_of(self._table, self._person).cast("string") == ids["bursar_admitted_id"]
            return self._table.join(ids, same, "left_semi")


def read_whole(session: Any, files: Sequence[str]) -> Any:
    """What is in Parquet files, whatever it is; one that cannot be read is an error."""
    return session.read.options(**_WHOLE).parquet(*map(_pattern, files))


def _pattern(file: str) -> str:
    """A file as Spark reads names: as they are, without the escapes of a web address, and with signs that could stand
    for others marked.
    """
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", f"file:{Path(file).resolve()}")


def column_of(table: Any, name: str) -> Any:
    """A column by its whole name: a.b is no part of a column a."""
    return table["`" + name.replace("`", "``") + "`"]


def kinds_of(table: Any) -> dict[str, str]:
    """What kind each column has, without its sizes."""
    return {field.name: field.dataType.typeName().partition("(")[0] for field in table.schema.fields}


def _source(table: Any, person: str, query: Query) -> Any:
    """The ids and amounts of a frame; columns that are missing or of another kind are refused by name."""
    kinds = kinds_of(table)
    if kinds.get(person) not in _IDS:
        raise InputError(
            f"the table needs a column {person} of whole numbers or texts, not {described(kinds.get(person))}",
            argument="person",
        )
    amount = F.lit(0.0)
    if isinstance(query, OwnNorm):
        if kinds.get(query.column) not in _NUMBERS:
            raise InputError(
                f"the table needs a column {query.column} of numbers, not {described(kinds.get(query.column))}",
                argument="sums",
            )
        amount = column_of(table, query.column).cast("double")
    return table.select(column_of(table, person).cast("string").alias("id"), amount.alias("amount"))
