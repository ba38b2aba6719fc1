"""Builds sitemaps from a Spark data frame: the cluster cleans, sorts, divides and compresses, and the driver publishes.

::

    import sitemill.spark

    report = sitemill.spark.build(
        spark.table("shop.pages"), base_url="https://www.example.com/", out="/mnt/shared/html", url="page", lastmod="updated_at"
    )

The set is the same, byte for byte, as that of ``sitemill.build(…, order="sorted", divide="stable", on_duplicate="newest")`` of the
same rows on one machine, however the rows are partitioned. ``out`` is a directory that the driver and all workers reach by the same
path, as the same user, or a prefix of a bucket, such as ``s3://bucket/prefix``. All need the same version of this package.

How it works: tasks read the rows once, clean them and pack them into blocks (``pack``). The driver plans regions of about a million
URLs. Tasks send each row to its region (``route``), and a task for each region writes its sitemaps (``produce``) to a directory that
crawlers do not see. The driver checks that nothing was lost or counted twice, and publishes. A task may fail, run twice or die at any
point: only the results that Spark returns to the driver count. If the frame is nothing but Parquet files, tasks read the files
themselves, twice: to count the rows, and to send them to their regions.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Union

from . import _columns, _sitemill
from ._build import finished as _finished
from ._errors import DataRefused, SitemillError, UsageError, make as _make
from ._options import arguments_of as _as_arguments, optional_word as _optional_word, values_of as _values_of
from ._report import Report
from ._spark_files import CountFiles as _CountFiles, Files, SendFiles as _SendFiles, files_of, same_number
from ._spark_jobs import cancelled_on_failure, context_of
from ._spark_settings import FOR_BLOCKS, FOR_CACHE, for_rows, settings
from ._spark_spread import spread as _spread
from ._spark_tasks import Check as _Check, InArrow as _InArrow, Pack as _Pack, Produce as _Produce, Rejects as _Rejects, Route as _Route

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["build", "rejects"]

#: Memory of a task that writes the sitemaps of a region, unless told otherwise. It comes on top of the memory of the executor's JVM.
WORKER_MEMORY = "512M"

#: The options that a cluster run has. Others are refused.
_FIXED = {"order": "sorted", "divide": "stable", "on_duplicate": "newest"}
_OF_SECTIONS = ("section_column", "section_by_path", "sections", "sections_max")
_INSTEAD = {
    "rejects": "call sitemill.spark.rejects",
    "memory": "worker_memory= limits each task",
    **dict.fromkeys(_OF_SECTIONS, "build a set with sections on one machine"),
}
#: Files of rules, which the driver and all tasks read.
_FILES_OF_RULES = ("include_file", "exclude_file", "respect_robots")
_OF_FILES = ("rejects", "format", "columns", "delimiter", "escape", "input_encoding", "require_success_marker")
_OF_STORES = ("endpoint", "state", "sitemap_header", "index_header", "allow_unsafe_store")
#: Options of the driver, which no task has: the files that it writes, and the command that it runs.
_OF_DRIVER = ("report", "html", "metrics", "diff", "then")


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
    rows_name: Optional[str] = None,
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
            ``df`` is computed twice and must give the same rows both times. It has no effect on Parquet files that tasks read
            themselves.
        rows_name: the name of the rows in the report; ``spark`` if it is not given.
        options: any other option of :func:`sitemill.build` except ``dry_run``, sections, those about input files and threads,
            ``memory``, ``scratch``, ``rejects`` and ``progress``. Files of patterns and the robots.txt must be where all
            workers reach them by the same path. The driver writes the files for ``report``, ``html``, ``metrics`` and ``diff``.
            ``order``, ``divide`` and ``on_duplicate`` have only one possible value on a cluster.

    Returns:
        The report. Its counts are those of a run on one machine.

    Raises:
        The exceptions of :func:`sitemill.build`; those of Spark if a task fails for good. Nothing is published then.
    """
    columns = _columns.columns_of(locals())
    _check_frame(df)
    if not isinstance(rows_name, (str, type(None))):
        raise TypeError(f"rows_name is of type {type(rows_name).__name__}; give the name of the rows in the report as a str")
    arguments = _arguments(base_url, out, options, columns)
    of_driver = _as_arguments({option: options.get(option) for option in _OF_DRIVER})
    try:
        driver = _sitemill.Driver([*arguments, *of_driver])
    except UsageError as error:
        raise _renamed(error) from None
    try:
        writer_arguments = _writer_arguments(arguments, worker_memory)
        rows = _select(df, columns)
        found = _found(df, columns)
        run = _Run(df.sparkSession, driver, driver.work_order(), arguments, writer_arguments)
        with cancelled_on_failure(run.session):
            made = _run_tasks(run, rows, cache)
        built = driver.publish(*made, rows_name or "spark", json.dumps(found))
    except BaseException as error:
        driver.fail(*_failure(error))
        raise
    return _finished(*built)


def _failure(error: BaseException) -> tuple[str, str]:
    """The kind and the message of a failure, for the reports."""
    if isinstance(error, SitemillError):
        return error.kind, str(error)
    if isinstance(error, KeyboardInterrupt):
        return "signal", "interrupted by a signal"
    return "io", f"Spark could not run the tasks: {type(error).__name__}: {_reason(str(error))}"


#: The first line of a failure of the JVM. The next one has the reason.
_OF_CALL = re.compile(r"^An error occurred while calling .*\.\n: ")

#: The start of a stack trace of the JVM, which has several screens.
_OF_JVM = re.compile(r"^(\s+at |JVM stacktrace|Driver stacktrace)", re.MULTILINE)


def _reason(message: str) -> str:
    """The line of Spark's message with the reason: the first one that says more than which call failed, or the last one of
    Python's stack trace."""
    _, traceback, trace = message.partition("Traceback (most recent call last):")
    if not traceback:
        return _OF_CALL.sub("", message.strip()).partition("\n")[0]
    return _OF_JVM.split(trace)[0].strip().rpartition("\n")[2]


def _check_frame(df: Any) -> None:
    if not hasattr(df, "mapInArrow"):
        kind = type(df).__name__
        if kind != "DataFrame":
            raise TypeError(f"df is of type {kind}; give a data frame of Spark")
        library = ".".join(type(df).__module__.split(".")[: 2 if hasattr(df, "to_spark") else 1])
        way_out = "spark.createDataFrame(df), for example"
        if hasattr(df, "to_spark"):
            way_out = "df.to_spark()"
        elif hasattr(df, "to_pandas"):
            way_out = "spark.createDataFrame(df.to_pandas())"
        raise TypeError(f"df is of type {library}.{kind}; give a data frame of Spark: {way_out}")
    if df.isStreaming:
        why = "df is a streaming frame, and a set is built from all of its rows"
        raise UsageError(f"{why}; call this in foreachBatch, or store the rows")


#: Options that have another name on a cluster than on one machine.
_NAMES = {"memory": "worker_memory"}


def _renamed(error: UsageError) -> UsageError:
    """The error, with the name of its option on a cluster."""
    option, _, rest = str(error).partition("=")
    return UsageError(f"{_NAMES[option]}={rest}") if option in _NAMES else error


def _writer_arguments(arguments: list[str], worker_memory: Any) -> list[str]:
    """The options of a task that writes sitemaps. What every such task would refuse is refused here."""
    memory = _optional_word("worker_memory", worker_memory)
    arguments = [*arguments, *_as_arguments({"memory": memory}), "--threads=1"]
    try:
        limit, least = _sitemill.check_task(arguments)
    except UsageError as error:
        raise _renamed(error) from None
    if limit is not None and limit < least:
        why = f"a task needs at least {-(-least >> 20)} MiB"
        raise UsageError(f"worker_memory={worker_memory!r}: {why}")
    return arguments


def rejects(
    df: "DataFrame",
    *,
    base_url: str,
    out: Union[str, "os.PathLike[str]"] = ".",
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
    without it). The options are those of :func:`build`; nothing is published, and options that only matter for publishing
    are checked but have no effect.
    """
    columns = _columns.columns_of(locals())
    _check_frame(df)
    memory = options.pop("worker_memory", WORKER_MEMORY)
    # The name of the rows is only in the report. Without a place, there is none in a store.
    for option in ("cache", "rows_name", *(_OF_STORES if out == "." else ())):
        options.pop(option, None)
    arguments = _arguments(base_url, out, options, columns)
    _writer_arguments(arguments, memory)
    task = _Rejects(arguments)
    return _select(df, columns).mapInArrow(task, "reason string, text binary, tag binary")


def _arguments(
    base_url: str, out: Any, options: Mapping[str, Any], columns: Mapping[str, Optional[str]]
) -> list[str]:
    """The arguments of the command line for a run on a cluster."""
    if options.get("progress") is False:
        options = {**options, "progress": None}
    for option in ("threads", "memory", "scratch", "progress", *_OF_FILES, *_OF_SECTIONS):
        if options.get(option) is not None and options[option] is not False:
            way_out = _INSTEAD.get(option, "leave it out")
            raise UsageError(f"{option}= has no meaning on a cluster; {way_out}")
    # The tasks see columns by their usual names. A named one is used whatever it holds.
    named = ",".join(f"{part}={part}" for part, name in columns.items() if name is not None)
    # Tasks run in other directories than the driver.
    files = {name: _absolute(options[name]) for name in _FILES_OF_RULES if options.get(name) is not None}
    name = _optional_word("name", options.get("name"))
    fixed = {"base_url": base_url, "out": out, "name": name, "columns": named or None, **dict.fromkeys(_OF_DRIVER)}
    return _as_arguments({**_FIXED, **options, **files, **fixed})


def _absolute(paths: Any) -> list[str]:
    """A path or several, independent of the current directory."""
    return [os.path.abspath(path) for path in _values_of(paths)]


#: Types that PySpark cannot pass to tasks. No tag can hold them, nor their texts.
_INTERVALS = ("YearMonthIntervalType", "CalendarIntervalType")


def _select(df: "DataFrame", columns: Mapping[str, Optional[str]]) -> "DataFrame":
    """The columns that are used, under their usual names."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, NullType, StringType

    # By their places, because Spark cannot tell names apart that are equal but for the case of letters.
    numbered = df.toDF(*map(str, range(len(df.columns))))
    selected = []
    for part, place in zip(_columns.PARTS, _columns.places(df.columns, columns)):
        if place is None:
            continue
        data_type = df.schema.fields[place].dataType
        column = F.col(f"`{place}`")
        if isinstance(data_type, NullType):
            column = column.cast("string")
        elif part == "url" and not isinstance(data_type, (StringType, BinaryType)):
            shown = data_type.simpleString()
            raise DataRefused(
                f"column {df.columns[place]} holds {shown}; expected a string; cast it, or choose another with url=\"NAME\"",
            )
        if type(data_type).__name__ in _INTERVALS:
            column = column.cast("string")
        selected.append(column.alias(part))
    if len(selected) < len(df.columns):
        # A row without a URL is blank only if it has no other columns.
        selected.append(F.lit(None).cast("boolean").alias(_columns.OTHER_COLUMNS))
    return numbered.select(*selected)


def _found(df: "DataFrame", columns: Mapping[str, Optional[str]]) -> dict[str, Any]:
    """The columns that are used, and the names of others, as in a report."""
    places = _columns.places(df.columns, columns)
    unused = [name for at, name in enumerate(df.columns) if at not in places]
    return {
        "used": {part: df.columns[at] for part, at in zip(_columns.PARTS, places) if at is not None},
        "unused": _columns.first_names(unused),
    }


class _Run(NamedTuple):
    """What the steps of a run have in common."""

    session: Any
    driver: _sitemill.Driver
    order: str
    #: The options of all tasks, and those of a task that writes sitemaps.
    arguments: list[str]
    writer_arguments: list[str]


class _Made(NamedTuple):
    """What the tasks have told the driver, and its plan."""

    packed: list[str]
    plan: str
    batches: list[str]


def _run_tasks(run: _Run, rows: "DataFrame", cache: bool) -> _Made:
    """Runs the tasks of all steps."""
    files = files_of(rows)
    _check_workers(run, files is not None)
    made = None if files is None else _of_files(run, files)
    return _of_rows(run, rows, cache) if made is None else made


def _check_workers(run: _Run, are_files: bool) -> None:
    """Fails early if a worker does not reach the directory. Workers that are busy now are checked when they write sitemaps."""
    context = context_of(run.session)
    # Spark starts a task on every idle core at once, so that two for each reach all idle machines. Spark Connect does not tell
    # how many cores there are.
    tasks = 16 if context is None else max(4, 2 * context.defaultParallelism)
    check = _Check(run.arguments, run.order)
    if are_files and context is not None:
        problems = context.parallelize(range(tasks), tasks).mapPartitions(check).collect()
    else:
        with settings(run.session, FOR_BLOCKS):
            ids = run.session.range(0, tasks, 1, tasks)
            problems = [row[0] for row in ids.mapInArrow(_InArrow(check, ["id"], "problem"), "problem string").collect()]
    if problems:
        raise _make(*json.loads(problems[0]))


def _of_files(run: _Run, files: Files) -> Optional[_Made]:
    """Builds the sitemaps of the rows of files, which the tasks read twice: to plan the regions, and to send the rows there.
    ``None`` if a file is not what Spark takes it for."""
    context = run.session.sparkContext
    partitions = context.parallelize(files.partitions, len(files.partitions))
    candidates, plan = 0, None
    while plan is None:
        counted = partitions.mapPartitions(_CountFiles(run.arguments, run.order, files, candidates)).collect()
        if None in counted:
            return None
        # Without a plan, the number is that of the candidates that the tasks have to report.
        plan, number = run.driver.plan(counted)
        candidates = number
    sent = partitions.mapPartitions(_SendFiles(run.arguments, run.order, files, plan))
    task = _Produce(run.writer_arguments, run.order, plan)
    return _Made(counted, plan, sent.partitionBy(number, same_number).mapPartitions(task).collect())


def _of_rows(run: _Run, rows: "DataFrame", cache: bool) -> _Made:
    """Builds the sitemaps of the rows of a data frame, which Spark computes."""
    packed = None
    try:
        with settings(run.session, for_rows(rows)):
            packed, told, plan, regions = _pack(run, rows, cache)
        routed = packed.mapInArrow(_Route(plan), "region int, block binary")
        task = _InArrow(_Produce(run.writer_arguments, run.order, plan), ["region", "block"], "batch")
        # Without a cache, the same query packs the rows again, and some batches have rows and others blocks.
        with settings(run.session, FOR_BLOCKS if cache else {}):
            batches = [row.batch for row in _spread(routed, regions).mapInArrow(task, "batch string").collect()]
    finally:
        if packed is not None and cache:
            packed.unpersist()
    return _Made(told, plan, batches)


def _pack(run: _Run, rows: "DataFrame", cache: bool) -> tuple["DataFrame", list[str], str, int]:
    """Packs all rows and plans the regions. Returns the blocks, what the tasks have told, the plan and its number of regions."""
    candidates = 0
    while True:
        task = _Pack(run.arguments, run.order, candidates, rows.columns)
        packed = rows.mapInArrow(task, "packed string, block binary")
        if cache:
            from pyspark import StorageLevel

            with settings(run.session, FOR_CACHE):
                packed = packed.persist(StorageLevel.DISK_ONLY)
        plan = None
        try:
            told = [row.packed for row in packed.where("packed is not null").select("packed").collect()]
            plan, number = run.driver.plan(told)
        finally:
            if plan is None and cache:
                packed.unpersist()
        if plan is not None:
            return packed, told, plan, number
        # Borders were so unevenly distributed that the tasks have to report more of them.
        candidates = number
