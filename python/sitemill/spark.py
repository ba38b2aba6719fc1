"""Builds sitemaps of a Spark data frame: the cluster cleans, sorts, divides and compresses, and the driver publishes.

::

    import sitemill.spark

    report = sitemill.spark.build(
        spark.table("shop.pages"), base_url="https://www.example.com/", out="/mnt/shared/html", url="page", lastmod="updated_at"
    )

The set is the same, byte for byte, as that of ``sitemill.build(…, order="sorted", divide="stable", on_duplicate="newest")`` of the
same rows on one machine, however the rows are partitioned. ``out`` is a directory that the driver and all workers reach by the same
path, as the same user, or a prefix of a bucket, such as ``s3://bucket/prefix``. All of them need this package in the same version.

How it works: tasks read the rows once, clean them and pack them into blocks (``pack``). The driver plans regions of about a million
URLs. Tasks send each row to its region (``route``), and a task for each region writes its sitemaps (``produce``) to a directory that
crawlers do not see. The driver checks that nothing was lost or counted twice, and publishes. A task may fail, run twice or die at any
point: only the results that Spark returns to the driver count.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

from . import _finished, _rows, _sitemill, _words as _as_words
from ._errors import DataRefused, OutputError, SitemillError, UsageError
from ._report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["build", "rejects"]

#: Memory of a task that writes the sitemaps of a region, unless told otherwise. It comes on top of the memory of the executor's JVM.
WORKER_MEMORY = "512M"

#: Memory of a task that sends rows to their regions.
ROUTER_BYTES = 64 << 20

#: Blocks that Spark passes to Python together, about two megabytes.
BLOCKS_PER_BATCH = 32

#: Settings while Spark packs rows without nested values. With any other maximum of bytes, Spark 4 adds up the bytes of the batch
#: after each row. The number of rows is enough of a limit, as in Spark 3.
_FOR_ROWS = {
    "spark.sql.execution.arrow.maxBytesPerBatch": (1 << 31) - 1,
    "spark.sql.execution.arrow.maxRecordsPerBatch": 8192,
}

#: Settings while Spark moves blocks. The usual number of records is meant for rows; as many blocks could be a whole region. The size
#: of a partition is no reason to change the plan.
_FOR_BLOCKS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": BLOCKS_PER_BATCH,
    "spark.sql.adaptive.enabled": "false",
}

#: The options that a cluster run has. Others are refused.
_FIXED = {"order": "sorted", "divide": "stable", "on_duplicate": "newest"}
_INSTEAD = {"rejects": "call sitemill.spark.rejects", "memory": "worker_memory= limits each task"}
#: Files of rules, which the driver and all tasks read.
_FILES_OF_RULES = ("include_file", "exclude_file", "respect_robots")
_OF_FILES = ("rejects", "diff", "metrics", "format", "columns", "delimiter", "input_encoding", "require_success_marker")


def build(
    df: "DataFrame",
    *,
    base_url: str,
    out: Union[str, "os.PathLike[str]"],
    url: Optional[str] = None,
    lastmod: Optional[str] = None,
    changefreq: Optional[str] = None,
    priority: Optional[str] = None,
    alternates: Optional[str] = None,
    images: Optional[str] = None,
    videos: Optional[str] = None,
    news: Optional[str] = None,
    worker_memory: Union[int, str] = WORKER_MEMORY,
    cache: bool = True,
    name: str = "spark",
    set_name: Optional[str] = None,
    **options: Any,
) -> Report:
    """Builds a set of sitemaps from the rows of ``df`` and makes it the live one.

    Args:
        df: a data frame. Its URL column is a string or binary.
        base_url: the URL of the directory that the set is published in.
        out: the directory to publish in, on a file system that the driver and all workers share; or a prefix of a bucket, for
            which all of them need credentials, in their environment or by their roles.
        url, lastmod, changefreq, priority, alternates, images, videos, news: names of columns, if they are not the usual ones.
        worker_memory: memory of a task that writes sitemaps, apart from the JVM. A region that needs more uses files in the
            local directories of Spark.
        cache: keep packed rows on the disks of the workers between the two steps, so that ``df`` is computed once. Without it,
            ``df`` is computed twice and must give the same rows both times.
        name: the name of the rows in the report.
        set_name: the name of the set, as ``name`` of :func:`sitemill.build`.
        options: any other option of :func:`sitemill.build` except those about input files and threads. Files of patterns and the
            robots.txt must be where all workers reach them by the same path. ``order``, ``divide`` and
            ``on_duplicate`` have only one possible value on a cluster.

    Returns:
        The report. Its counts are those of a run on one machine.

    Raises:
        The exceptions of :func:`sitemill.build`; those of Spark if a task fails for good. Nothing is published then.
    """
    columns = _rows.columns_of(locals())
    rows = _select(df, columns)
    words = _words(base_url, out, {**options, "set_name": set_name}, columns)
    _check_reports(options)
    session = df.sparkSession
    memory = f"--memory={worker_memory}"
    driver = _sitemill.Driver([*words, memory])
    packed = None
    try:
        order = driver.order()
        with _settings(session, _FOR_BLOCKS):
            _check_workers(session, words, order)
        with _settings(session, _for_rows(rows)):
            packed, messages = _pack(rows, words, order, cache, driver)
        plan, regions = messages.plan, messages.regions
        routed = packed.mapInArrow(_Route(plan), "region int, block binary")
        spread = _spread(routed, regions)
        task = _Produce([*words, memory, "--threads=1"], order, plan)
        # Without a cache, the same query packs the rows again, and some batches have rows and others blocks.
        with _settings(session, _FOR_BLOCKS if cache else {}):
            batches = [row.batch for row in spread.mapInArrow(task, "batch string").collect()]
        built = driver.publish(messages.packed, plan, batches, name)
    finally:
        driver.close()
        if packed is not None and cache:
            packed.unpersist()
    _write_reports(built[0], options)
    return _finished(*built, stacklevel=3)


@contextlib.contextmanager
def _settings(session: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """Changes settings of the session for a while."""
    before = {name: session.conf.get(name, None) for name in values}
    try:
        for name, value in values.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, value)


def _for_rows(rows: "DataFrame") -> Mapping[str, Any]:
    """The settings for the columns of ``rows``. A list of images or videos can be long."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    nested = any(isinstance(field.dataType, (ArrayType, MapType, StructType)) for field in rows.schema)
    return {} if nested else _FOR_ROWS


def _check_reports(options: Mapping[str, Any]) -> None:
    """Fails before any work if a file for a report could not be written after it."""
    for path in (options.get("report"), options.get("html")):
        if path is None:
            continue
        target = path if os.path.exists(path) else os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path) or not os.access(target, os.W_OK):
            raise OutputError(f"{os.fspath(path)}: cannot be created; check the path and its permissions", exit_code=73)


def _write_reports(report: str, options: Mapping[str, Any]) -> None:
    """Writes the files that the options name."""
    if options.get("report") is not None:
        with open(options["report"], "w", encoding="utf-8") as file:
            file.write(json.dumps(json.loads(report), indent=2) + "\n")
    if options.get("html") is not None:
        with open(options["html"], "w", encoding="utf-8") as file:
            file.write(_sitemill.report_html(report))


def rejects(
    df: "DataFrame",
    *,
    base_url: str,
    out: Union[str, "os.PathLike[str]"] = "-",
    url: Optional[str] = None,
    lastmod: Optional[str] = None,
    changefreq: Optional[str] = None,
    priority: Optional[str] = None,
    alternates: Optional[str] = None,
    images: Optional[str] = None,
    videos: Optional[str] = None,
    news: Optional[str] = None,
    **options: Any,
) -> "DataFrame":
    """Returns the rows that :func:`build` rejects or excludes and the tags that it drops, as a data frame.

    The columns are ``reason``, ``text`` (the URL as it is in the row) and ``tag`` (the value of a dropped tag, whose URL is listed
    without it). The options are those of :func:`build`; nothing is published.
    """
    columns = _rows.columns_of(locals())
    task = _Rejects(_words(base_url, out, options, columns))
    return _select(df, columns).mapInArrow(task, "reason string, text binary, tag binary")


def _words(
    base_url: str, out: Any, options: Mapping[str, Any], columns: Mapping[str, Optional[str]]
) -> list[str]:
    """The words of the command line for a run on a cluster."""
    for option in ("threads", "memory", "scratch", "progress", *_OF_FILES):
        if options.get(option) is not None:
            way_out = _INSTEAD.get(option, "leave it out")
            raise UsageError(f"{option}= has no meaning on a cluster; {way_out}", exit_code=2)
    # The tasks see columns by their usual names. A named one is used whatever it holds.
    named = ",".join(f"{part}={part}" for part, name in columns.items() if name is not None)
    # Tasks run in other directories than the driver.
    files = {name: _absolute(options[name]) for name in _FILES_OF_RULES if options.get(name) is not None}
    fixed = {"base_url": base_url, "out": out, "report": None, "html": None, "columns": named or None}
    # In `build`, `name` is that of the rows.
    fixed |= {"name": options.get("set_name"), "set_name": None}
    return _as_words({**_FIXED, **options, **files, **fixed})


def _absolute(paths: Any) -> Any:
    """A path or several, independent of the current directory."""
    return [os.path.abspath(path) for path in paths] if isinstance(paths, (list, tuple)) else os.path.abspath(paths)


def _select(df: "DataFrame", columns: Mapping[str, Optional[str]]) -> "DataFrame":
    """The columns that are used, under their usual names."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, StringType

    names = _rows.places(df.columns, columns)
    selected = []
    for part, place in zip(_rows.PARTS, names):
        if place is None:
            continue
        data_type = df.schema.fields[place].dataType
        column = F.col("`" + df.columns[place].replace("`", "``") + "`")
        if part == "url" and not isinstance(data_type, (StringType, BinaryType)):
            shown = data_type.simpleString()
            raise DataRefused(
                f"column {df.columns[place]} holds {shown}; expected a string; cast it, or name another with url=\"NAME\"",
                exit_code=65,
            )
        selected.append(column.alias(part))
    if len(selected) < len(df.columns):
        # A row without a URL is blank only if it has no other columns.
        selected.append(F.lit(None).cast("boolean").alias("other columns"))
    return df.select(*selected)


class _Messages:
    """What the tasks of the first step have told the driver, and its plan."""

    def __init__(self, packed: list[str], plan: str, regions: int) -> None:
        self.packed, self.plan, self.regions = packed, plan, regions


def _pack(
    rows: "DataFrame", words: list[str], order: str, cache: bool, driver: _sitemill.Driver
) -> tuple["DataFrame", _Messages]:
    """Packs all rows and plans the regions."""
    candidates = 0
    while True:
        packed = rows.mapInArrow(_Pack(words, order, candidates, rows.columns), "packed string, block binary")
        if cache:
            from pyspark import StorageLevel

            packed = packed.persist(StorageLevel.DISK_ONLY)
        plan = None
        try:
            told = [row.packed for row in packed.where("packed is not null").select("packed").collect()]
            plan, number = driver.plan(told)
        finally:
            if plan is None and cache:
                packed.unpersist()
        if plan is not None:
            return packed, _Messages(told, plan, number)
        # Borders were so unevenly distributed that the tasks have to report more of them.
        candidates = number


def _check_workers(session: Any, words: list[str], order: str) -> None:
    """Fails early if a worker does not reach the directory. Workers that are busy now are checked when they write sitemaps."""
    context = getattr(session, "sparkContext", None)
    # Spark starts a task on every idle core at once, so that two for each reach all idle machines. Spark Connect does not tell
    # how many cores there are.
    tasks = 16 if context is None else max(4, 2 * context.defaultParallelism)
    problems = session.range(0, tasks, 1, tasks).mapInArrow(_Check(words, order), "problem string").collect()
    if problems:
        raise OutputError(problems[0][0], path=json.loads(order)["out"], exit_code=73)


def _spread(routed: "DataFrame", regions: int) -> "DataFrame":
    """Sends each region to a partition of its own."""
    if regions == 1:
        return routed.repartition(1)
    from pyspark.sql import functions as F

    key = F.from_json(F.lit(json.dumps(_keys(regions))), "array<int>")[F.col("region")]
    return routed.withColumn("key", key).repartition(regions, "key")


def _keys(partitions: int) -> list[int]:
    """For each partition, an integer that Spark sends there: it hashes the key of a row."""
    keys: dict[int, int] = {}
    candidate = 0
    while len(keys) < partitions:
        keys.setdefault(_murmur3(candidate) % partitions, candidate)
        candidate += 1
    return [keys[partition] for partition in range(partitions)]


def _murmur3(value: int) -> int:
    """Spark's hash of an integer: Murmur3, 32 bits, with the seed 42, as a signed number."""

    def rotated(bits: int, by: int) -> int:
        return ((bits << by) | (bits >> (32 - by))) & 0xFFFFFFFF

    bits = rotated(value * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
    bits = (rotated(42 ^ bits, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    bits ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ (bits >> shift)) * factor & 0xFFFFFFFF
    bits ^= bits >> 16
    return bits - (1 << 32) if bits >> 31 else bits


def _keep_modules() -> None:
    """Exempts what is loaded from the search for garbage. A process of Spark runs one task after another, and searches everything
    after each."""
    import gc

    global _modules_are_kept
    if not _modules_are_kept:
        gc.freeze()
        _modules_are_kept = True


_modules_are_kept = False


class _Check:
    """A task that looks for the directory of the driver, or its bucket."""

    def __init__(self, words: list[str], order: str) -> None:
        self.words, self.order = words, order

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import platform

        import pyarrow

        _keep_modules()
        for _ in batches:
            try:
                _sitemill.check_reachable(self.words, self.order)
            except SitemillError as error:
                # A task that fails is repeated, and its message ends up in the middle of a stack trace.
                problem = pyarrow.array([f"{error} (worker on {platform.node()})"], pyarrow.string())
                yield pyarrow.RecordBatch.from_arrays([problem], names=["problem"])


class _Pack:
    """A task that packs the rows of a partition."""

    def __init__(self, words: list[str], order: str, candidates: int, columns: list[str]) -> None:
        self.words, self.order, self.candidates, self.columns = words, order, candidates, columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        _keep_modules()
        reader = _reader(batches)
        if reader is None:
            # Empty partitions are told of, too.
            reader = pyarrow.table({name: pyarrow.array([], pyarrow.binary()) for name in self.columns})
        yield from pyarrow.RecordBatchReader.from_stream(
            _sitemill.pack(self.words, self.order, reader, self.candidates)
        )


class _Rejects:
    """A task that finds the rejected rows of a partition."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        reader = _reader(batches)
        if reader is not None:
            for batch in pyarrow.RecordBatchReader.from_stream(_sitemill.rejects(self.words, reader)):
                yield batch.select(["reason", "text", "tag"])


def _reader(batches: Iterator[Any]) -> Optional[Any]:
    """The batches of a partition as a stream; ``None`` if there are none."""
    import itertools

    import pyarrow

    batches = map(_with_bytes, batches)
    first = next(batches, None)
    if first is None:
        return None
    return pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))


def _with_bytes(batch: Any) -> Any:
    """The batch with bytes instead of strings, because Spark does not check that strings are UTF-8. Nothing is copied. If Spark
    did it, it would copy each string."""
    import pyarrow

    same_bytes = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
    columns = [column.view(same_bytes[column.type]) if column.type in same_bytes else column for column in batch.columns]
    return pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


class _Route:
    """A task that sends the rows of blocks to their regions."""

    def __init__(self, plan: str) -> None:
        self.plan = plan

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        _keep_modules()
        router = _sitemill.Router(self.plan, ROUTER_BYTES)
        for batch in batches:
            for block in batch.column("block"):
                # The result of a partition is in a row without a block.
                if block.is_valid:
                    yield from _blocks(router.push(block.as_py()))
        yield from _blocks(router.finish())


def _blocks(routed: list[tuple[int, bytes]]) -> Iterator[Any]:
    import pyarrow

    if routed:
        regions, blocks = zip(*routed)
        columns = [pyarrow.array(regions, pyarrow.int32()), pyarrow.array(blocks, pyarrow.binary())]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["region", "block"])


class _Produce:
    """A task that writes the sitemaps of whole regions."""

    def __init__(self, words: list[str], order: str, plan: str) -> None:
        self.words, self.order, self.plan = words, order, plan

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        _keep_modules()
        scratch = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir()
        regions = _sitemill.Regions(self.words, self.order, self.plan, scratch)
        for batch in batches:
            numbers, blocks = batch.column("region"), batch.column("block")
            for number, block in zip(numbers, blocks):
                regions.push(number.as_py(), block.as_py())
        made = regions.finish()
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(made, pyarrow.string())], names=["batch"])
