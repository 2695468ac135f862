"""Bulk replay of Parquet files by Spark. Spark says who does what, and sees no row: a task reads row groups by itself,
and deals their charges as one number each; then tasks decide bucket after bucket, as the embedded replay does.

That is for whole numbers without gaps of which the files say the least and the largest, and which fit into 64 bits
together. Other lists go through a Spark frame.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bursar.cohorts.people.dealing import COLUMNS
from bursar.cohorts.people.engines._base import discreet
from bursar.cohorts.people.engines.spark import read_whole
from bursar.cohorts.people.packed import Packed, buckets_for, cells_for, layout_of
from bursar.cohorts.people.replay_target import SHARED, written_beside
from bursar.cohorts.people.spark_replay import TROUBLES, refuse, replayed_by_spark, run, tasks_for, watched
from bursar.cohorts.people.spark_tasks import Group, deal, decide
from bursar.errors import InputError, described

_SHARE = 1 << 25  # charges that a task deals, unless there are fewer tasks than threads then
_MOST = 512  # tasks that deal: each of them writes a file, and who decides has all of these open
_CHANGED = "charges: the list changed while it was read"


def replayed_files(
    session: Any,
    charges: Any,
    target: Any,
    limit: int,
    rule: str,
    buckets: int | None,
    progress: Callable[[int, int], None],
) -> Path:
    """Write (query, person, charge, admitted) for every query and person below a new folder, one file a bucket."""
    with discreet((pa.ArrowException, OSError)):
        files = _files(charges)
        found = _packed(files, buckets)
    if found is None:
        with discreet(TROUBLES):
            frame = read_whole(session, files)
        return replayed_by_spark(frame, target, limit, rule, buckets, progress)
    packed, groups = found
    where = Path(os.fspath(target)).resolve()
    with written_beside(where, SHARED) as beside:
        spill = beside / ".charges"
        spill.mkdir()
        with discreet(TROUBLES), watched(beside, packed.buckets, progress):
            rows = sum(group.rows for group in groups)
            tasks = min(len(groups), _MOST, max(rows // _SHARE, 2 * int(session.sparkContext.defaultParallelism)))
            told = run(session, groups, tasks, partial(deal, packed, str(spill)))
            packed.runs = [one for one in told if not isinstance(one, str)]
            troubles = [one for one in told if isinstance(one, str)]
            if not troubles and sum(bounds[-1] - bounds[0] for _, bounds in packed.runs) != rows:
                troubles = [_CHANGED]
            if not troubles:
                work = partial(decide, packed, str(beside), limit, rule)
                troubles = run(session, range(packed.buckets), tasks_for(session, packed.buckets), work)
        refuse(troubles)
        shutil.rmtree(spill)
    progress(packed.buckets, packed.buckets)
    return where


def _files(given: Any) -> list[str]:
    """The Parquet files of a list: one, or all below a folder."""
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(
            "with spark= a list of charges is the path of a Parquet file or of a folder of them; a Spark frame brings "
            f"its session, not {described(type(given).__name__)}",
            argument="charges",
        )
    path = Path(os.fspath(given)).resolve()
    found = sorted(map(str, path.rglob("*.parquet"))) if path.is_dir() else [str(path)]
    if not found or not path.exists() or not found[0].endswith(".parquet"):
        raise InputError(f"there is no Parquet file at {path}", argument="charges")
    return found


def _packed(files: Sequence[str], buckets: int | None) -> tuple[Packed, list[Group]] | None:
    """How charges become one number each, and which row groups have them; None where files do not say, or cannot."""
    opened = {path: pq.ParquetFile(path) for path in files}
    kinds = [_kind(opened, name) for name in COLUMNS]
    if not all(kind is not None and pa.types.is_integer(kind) for kind in kinds):
        return None
    groups = [
        Group(path, number, file.metadata.row_group(number).num_rows)
        for path, file in opened.items()
        for number in range(file.num_row_groups)
    ]
    ends = [_ends(opened, groups, name) for name in COLUMNS]
    if not groups or None in ends:
        return None
    layout = layout_of(*(end for end in ends if end is not None))
    if layout is None:
        return None
    rows = sum(group.rows for group in groups)
    chosen = buckets or buckets_for(rows)
    return Packed(layout, str(kinds[1]), chosen, -(-cells_for(rows, layout) // chosen)), groups


def _kind(opened: dict[str, Any], name: str) -> Any:
    """What a column is in all of the files; None where it is missing."""
    schemas = [file.schema_arrow for file in opened.values()]
    if any(schema.names.count(name) > 1 for schema in schemas):
        raise InputError(f"the files have several columns {name}: which of them is meant?", argument="charges")
    kinds = [schema.field(name).type if name in schema.names else None for schema in schemas]
    if any(kind != kinds[0] for kind in kinds):  # by the kinds of the first file 9.4 would become 9
        raise InputError(f"the files keep {name} in different kinds: write all of them with one", argument="charges")
    return kinds[0]


def _ends(opened: dict[str, Any], groups: Sequence[Group], name: str) -> tuple[int, int] | None:
    """The least and the largest number of a column, as the files say; None where they do not, or where it has gaps."""
    found = []
    for path, number, _ in groups:
        about = opened[path].metadata
        place = next(at for at in range(about.num_columns) if about.schema.column(at).path == name)
        said = about.row_group(number).column(place).statistics
        if said is None or not said.has_min_max or not said.has_null_count or said.null_count:
            return None
        found += [said.min, said.max]
    return (min(found), max(found)) if found else None
