"""Parquet files that the tasks of :mod:`sitemill.spark` read by themselves.

Reading rows in the JVM and passing them to Python costs more than all that sitemill does with them. If a data frame is nothing but
local or mounted Parquet files, perhaps with other names for their columns, tasks read these files themselves. Everything that Spark
could read in another way is left to Spark: filters, partition columns, columns with unusual types, options for damaged files. The
driver decides by the plan of the data frame, and each task by the schema of its files.
"""

from __future__ import annotations

import json
import os
import urllib.parse
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional

from . import _sitemill
from ._columns import CELLS, OTHER_COLUMNS, PARTS
from ._errors import SitemillError
from ._spark_jobs import context_of
from ._spark_tasks import ROUTER_BYTES, keep_modules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PACKAGE = "org.apache.spark.sql."
_PROJECT = _PACKAGE + "catalyst.plans.logical.Project"
_ALIAS = _PACKAGE + "catalyst.expressions.Alias"
_ATTRIBUTE = _PACKAGE + "catalyst.expressions.AttributeReference"
_RELATION = _PACKAGE + "execution.datasources.LogicalRelation"
_OF_FILES = _PACKAGE + "execution.datasources.HadoopFsRelation"
_LISTED = _PACKAGE + "execution.datasources.InMemoryFileIndex"
_PARQUET = _PACKAGE + "execution.datasources.parquet.ParquetFileFormat"

#: Settings, the options of a reader that stand for them, and the values with which Spark reads files in another way: it skips
#: files, or reads early dates by another calendar.
_OTHER_WAYS = (
    ("spark.sql.files.ignoreCorruptFiles", "ignoreCorruptFiles", "true"),
    ("spark.sql.files.ignoreMissingFiles", "ignoreMissingFiles", "true"),
    ("spark.sql.parquet.datetimeRebaseModeInRead", "datetimeRebaseMode", "legacy"),
)

#: For types of Spark, the types of Parquet whose values Spark passes on unchanged: physical, logical.
_SAME = {
    "string": (("BYTE_ARRAY", "STRING"), ("BYTE_ARRAY", "NONE")),
    "binary": (("BYTE_ARRAY", "STRING"), ("BYTE_ARRAY", "NONE")),
    "date": (("INT32", "DATE"),),
    "timestamp": (("INT64", "TIMESTAMP"), ("INT96", "NONE")),
}

#: Minimum size of a partition in bytes, and what opening a file costs, in bytes, as in Spark.
_PARTITION_BYTES_MIN = 4 << 20

#: A part of a file: its path, and the range of bytes in whose half-open interval the middle of a row group must be.
Span = tuple[str, int, float]


class Files(NamedTuple):
    """The files of a data frame."""

    partitions: list[list[Span]]
    #: The names of all columns of a file.
    names: list[str]
    #: The type of Spark of each column that is used.
    types: dict[str, str]
    #: The columns that are used, as an option.
    columns: str
    #: Whether the data frame has other columns.
    has_others: bool


def files_of(rows: "DataFrame") -> Optional[Files]:
    """The files of ``rows``, whose columns have the names of parts; ``None`` if Spark has to read them."""
    session = rows.sparkSession
    context = context_of(session)
    if context is None or any(session.conf.get(name).lower() == value for name, _, value in _OTHER_WAYS):
        return None
    from py4j.protocol import Py4JError

    try:
        return _files_of(rows, context.defaultParallelism)
    except Py4JError:
        # The session does not let Python see its plans.
        return None


def _files_of(rows: "DataFrame", cores: int) -> Optional[Files]:
    session = rows.sparkSession
    plan = rows._jdf.queryExecution().optimizedPlan()
    names = _names(plan)
    relation = _relation(plan)
    if names is None or relation is None:
        return None
    schema = json.loads(relation.dataSchema().json())["fields"]
    types = {field["name"]: field["type"] for field in schema if isinstance(field["type"], str)}
    all_names = [field["name"] for field in schema]
    used = {part: name for part, name in names.items() if part in PARTS}
    if not _is_plain(used, types) or len({name.lower() for name in all_names}) < len(all_names):
        return None
    partitions = _partitions(relation.location().inputFiles(), session, cores)
    if not partitions:
        return None
    columns = ",".join(f"{part}={name}" for part, name in used.items())
    used_types = {name: types[name] for name in used.values()}
    return Files(partitions, all_names, used_types, columns, OTHER_COLUMNS in rows.columns)


def _class(thing: Any) -> str:
    return str(thing.getClass().getName())


def _names(plan: Any) -> Optional[dict[str, str]]:
    """For each column of ``plan``, that of the files. ``None`` if a column is computed."""
    if _class(plan) != _PROJECT:
        return {name: name for name in (plan.output().apply(at).name() for at in range(plan.output().size()))}
    names = {}
    for at in range(plan.projectList().size()):
        column = plan.projectList().apply(at)
        of = column.child() if _class(column) == _ALIAS else column
        if _class(of) == _ATTRIBUTE:
            names[column.name()] = of.name()
        elif column.name() != OTHER_COLUMNS:
            return None
    return names


def _relation(plan: Any) -> Optional[Any]:
    """What reads the files, if there is nothing else in ``plan``."""
    if _class(plan) == _PROJECT:
        plan = plan.child()
    if _class(plan) != _RELATION or _class(plan.relation()) != _OF_FILES:
        return None
    relation = plan.relation()
    is_plain = not any(relation.options().contains(option) for _, option, _ in _OTHER_WAYS)
    is_parquet = _class(relation.fileFormat()) == _PARQUET and _class(relation.location()) == _LISTED
    return relation if is_parquet and is_plain and relation.partitionSchema().length() == 0 else None


def _is_plain(used: dict[str, str], types: dict[str, str]) -> bool:
    """Whether the columns that are used have types and names that mean the same to Spark and to sitemill."""
    names = list(used.values())
    return (
        all(types.get(name) in _SAME for name in names)
        and types.get(used.get("url", "")) in ("string", "binary")
        and all(part not in CELLS for part in used)
        and not any(set(name) & set(",=") or name != name.strip() or name.isdigit() for name in names)
    )


def _partitions(files: Any, session: Any, cores: int) -> list[list[Span]]:
    """The files in partitions of similar size, as Spark makes them; none if the driver does not find the files."""
    sizes = []
    for url in files:
        parts = urllib.parse.urlsplit(url)
        path = urllib.parse.unquote(parts.path)
        if parts.scheme != "file" or parts.netloc or not os.path.isfile(path):
            return []
        sizes.append((path, os.path.getsize(path)))
    bytes_max = session._jsparkSession.sessionState().conf().filesMaxPartitionBytes()
    size = min(bytes_max, max(_PARTITION_BYTES_MIN, sum(size for _, size in sizes) // cores + 1))
    partitions: list[list[Span]] = []
    room = 0
    for path, file_bytes in sizes:
        # Spark skips empty files.
        for start in range(0, file_bytes, size):
            # A row group that a damaged index places after the end belongs to the last span, which reports it.
            end = float("inf") if start + size >= file_bytes else start + size
            if room <= 0:
                partitions.append([])
                room = size
            partitions[-1].append((path, start, end))
            room -= min(size, file_bytes - start) + _PARTITION_BYTES_MIN
    return partitions


class _Unexpected(Exception):
    """A file is not what Spark takes it for. Its argument is the path."""


class _OfFiles:
    """A task that reads files."""

    def __init__(self, arguments: list[str], work_order: str, files: Files) -> None:
        self.arguments, self.work_order = arguments, work_order
        # The partitions of the others are not sent to each task.
        self.files = files._replace(partitions=[])

    def parts(self, spans: list[Span]) -> list[tuple[str, list[int], str, bool]]:
        """The row groups of ``spans``. Raises ``_Unexpected`` if a file is not what Spark takes it for."""
        import pyarrow.parquet

        parts = []
        for path, start, end in spans:
            with pyarrow.parquet.ParquetFile(path) as file:
                if not self._is_as_expected(file):
                    raise _Unexpected(path)
                groups = [at for at in range(file.metadata.num_row_groups) if start <= _middle(file.metadata.row_group(at)) < end]
            if groups:
                parts.append((path, groups, self.files.columns, self.files.has_others))
        return parts

    def _is_as_expected(self, file: Any) -> bool:
        if file.schema_arrow.names != self.files.names or _is_of_old_calendar(file.metadata.metadata or {}):
            return False
        columns = {file.schema.column(at).path: file.schema.column(at) for at in range(len(file.schema))}
        used = {name: columns[name] for name in self.files.types if name in columns}
        has_int96 = any(column.physical_type == "INT96" for column in used.values())
        if len(used) < len(self.files.types) or has_int96 and not _has_plain_int96(file.metadata):
            return False
        return all(_is_same(used[name], kind) for name, kind in self.files.types.items())


def _middle(group: Any) -> float:
    """The middle of a row group in its file. It decides which task reads the group."""
    first = group.column(0)
    start = first.dictionary_page_offset or first.data_page_offset
    size: int = sum(group.column(at).total_compressed_size for at in range(group.num_columns))
    return max(0.0, float(start + size / 2))


def _is_same(column: Any, kind: str) -> bool:
    """Whether Spark passes values of ``column`` on unchanged, as its type ``kind``."""
    logical = json.loads(column.logical_type.to_json())
    # Spark has no other unit, and sitemill shows no more digits than a unit has.
    is_instant = logical.get("isAdjustedToUTC") is True and logical.get("timeUnit") == "microseconds"
    found = (column.physical_type, column.logical_type.type)
    is_same = found[1] != "TIMESTAMP" or is_instant
    return column.max_repetition_level == 0 and found in _SAME[kind] and is_same


def _is_of_old_calendar(metadata: dict[bytes, bytes]) -> bool:
    """Whether an old Spark wrote the file, in whose calendar early dates have other numbers."""
    version = metadata.get(b"org.apache.spark.version", b"")
    return b"org.apache.spark.legacyDateTime" in metadata or version.startswith((b"1.", b"2."))


def _has_plain_int96(metadata: Any) -> bool:
    """Whether a Spark with today's calendar wrote the file. Settings say how Spark reads the timestamps of other writers."""
    of_spark = metadata.metadata or {}
    version = of_spark.get(b"org.apache.spark.version", b"")
    is_old = b"org.apache.spark.legacyINT96" in of_spark or version.startswith((b"1.", b"2.", b"3.0."))
    # Another writer may have copied the words of Spark from its input.
    return version != b"" and not is_old and (metadata.created_by or "").startswith("parquet-mr")


class CountFiles(_OfFiles):
    """A task that counts the rows of a partition. Its result is ``None`` if Spark has to read it."""

    def __init__(self, arguments: list[str], work_order: str, files: Files, candidates: int) -> None:
        super().__init__(arguments, work_order, files)
        self.candidates = candidates

    def __call__(self, partitions: Iterator[list[Span]]) -> Iterator[Optional[str]]:
        import pyarrow

        keep_modules()
        for spans in partitions:
            try:
                yield _sitemill.count_files(self.arguments, self.work_order, self.parts(spans), self.candidates)
            except (_Unexpected, SitemillError, OSError, ValueError, pyarrow.ArrowException):
                # Spark will say what is wrong, if it cannot read the file either.
                yield None


class SendFiles(_OfFiles):
    """A task that sends the rows of a partition to their regions: pairs of a region and a block."""

    def __init__(self, arguments: list[str], work_order: str, files: Files, plan: str) -> None:
        super().__init__(arguments, work_order, files)
        self.plan = plan

    def __call__(self, partitions: Iterator[list[Span]]) -> Iterator[tuple[int, bytes]]:
        import pyarrow

        keep_modules()
        for spans in partitions:
            try:
                parts = self.parts(spans)
            except _Unexpected as error:
                raise RuntimeError(f"{error}: changed while it was being read; run again on a copy") from None
            sent = _sitemill.send_files(self.arguments, self.work_order, self.plan, parts, ROUTER_BYTES)
            for batch in pyarrow.RecordBatchReader.from_stream(sent):
                yield from zip(batch.column("region").to_pylist(), batch.column("block").to_pylist())


def same_number(region: int) -> int:
    """The partition of a region."""
    return region
