"""Parquet files that tasks read by themselves, and files that are left to Spark."""

from __future__ import annotations

import pathlib
import re
from typing import Any, Callable, Optional

import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import DataFrame, SparkSession, functions as F

import cluster
import sitemill
import sitemill.spark
from cluster import BASE, LARGE_OPTIONS, ONE_MACHINE, OPTIONS

MASTER = "local[2,4]"
CONFIG: dict[str, str] = {}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ways that were tried and led to a set, in order."""
    made: list[str] = []
    for name in ("_of_files", "_of_rows"):
        way = getattr(sitemill.spark, name)

        def called(*words: Any, name: str = name, way: Any = way) -> Any:
            result = way(*words)
            made.append(name if result is not None else f"not {name}")
            return result

        monkeypatch.setattr(sitemill.spark, name, called)
    return made


@pytest.mark.parametrize("bytes_max", ["20k", "100m"])
def test_files_that_tasks_read_make_the_set_and_the_counts_of_one_machine(spark, flat, tmp_path, calls, bytes_max):
    files = flat.read(spark)
    assert max(pyarrow.parquet.ParquetFile(path).num_row_groups for path in flat.files.glob("*.parquet")) > 2
    spark.conf.set("spark.sql.files.maxPartitionBytes", bytes_max)
    try:
        report = sitemill.spark.build(files, out=tmp_path / "out", **OPTIONS)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    flat.check(tmp_path / "out", report)
    assert calls == ["_of_files"] and report.listed > 2000 and report.rejected_total > 500


def test_files_of_several_regions_make_the_set_of_one_machine(spark, large, tmp_path, calls):
    report = sitemill.spark.build(large.read(spark), out=tmp_path / "out", **LARGE_OPTIONS)
    large.check(tmp_path / "out", report)
    assert calls == ["_of_files"] and report.listed == 1_998_000


@pytest.mark.parametrize("bytes_max", [1, 300, 1 << 20])
def test_each_row_group_is_read_once_wherever_spans_end(tmp_path, monkeypatch, bytes_max):
    from sitemill import _spark_files

    paths = [tmp_path / f"{at}.parquet" for at in range(3)]
    for path in paths:
        pyarrow.parquet.write_table(pyarrow.table({"url": [f"{BASE}{at}" for at in range(500)]}), path, row_group_size=60)

    class Session:
        class _jsparkSession:
            sessionState = conf = staticmethod(lambda: Session._jsparkSession)
            filesMaxPartitionBytes = staticmethod(lambda: bytes_max)

    monkeypatch.setattr(_spark_files, "_PARTITION_BYTES_MIN", 1)
    partitions = _spark_files._partitions([path.as_uri() for path in paths], Session, 1)
    task = _spark_files.CountFiles([], "", _spark_files.Files([], ["url"], {"url": "string"}, "url=url", False), 0)
    read = [(path, group) for spans in partitions for path, groups, *_ in task.parts(spans) for group in groups]
    assert sorted(read) == [(str(path), group) for path in paths for group in range(9)]


def test_of_several_files_the_one_that_has_changed_is_named(tmp_path):
    from sitemill import _spark_files

    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, column in zip(paths, ("url", "other")):
        pyarrow.parquet.write_table(pyarrow.table({column: [BASE]}), path)
    files = _spark_files.Files([], ["url"], {"url": "string"}, "url=url", False)
    spans = [(str(path), 0, float("inf")) for path in paths]
    assert list(_spark_files.CountFiles([], "", files, 0)(iter([spans]))) == [None]
    with pytest.raises(RuntimeError, match=f"^{re.escape(str(paths[1]))}: changed while it was being read"):
        list(_spark_files.SendFiles([], "", files, "")(iter([spans])))


PAGES = [(f"{BASE}{number % 70}", f"2024-05-{1 + number % 28:02}T0{number % 10}:00:00.5Z") for number in range(100)]


def written(spark: SparkSession, directory: pathlib.Path) -> DataFrame:
    """Rows with an instant, in a file whose path has characters that URLs escape."""
    rows = spark.createDataFrame(PAGES, "page string, at string").select("page", F.col("at").cast("timestamp").alias("lastmod"))
    rows.coalesce(1).write.parquet(str(directory / "a b%20ü"))
    return spark.read.parquet(str(directory / "a b%20ü"))


Make = Callable[[SparkSession, pathlib.Path], DataFrame]

def with_settings(make: Make, **values: str) -> Make:
    def made(spark: SparkSession, directory: pathlib.Path) -> DataFrame:
        settings = {f"spark.sql.parquet.{name}": value for name, value in values.items()}
        before = {name: spark.conf.get(name, None) for name in settings}
        for name, value in settings.items():
            spark.conf.set(name, value)
        try:
            return make(spark, directory)
        finally:
            for name, found in before.items():
                spark.conf.unset(name) if found is None else spark.conf.set(name, found)

    return made


def of_all_centuries(spark: SparkSession, directory: pathlib.Path) -> DataFrame:
    """Rows with instants since the year 1, with microseconds."""
    instant = "timestamp_micros(-62135596800000001 + id * 4000000000000001)"
    spark.range(60).selectExpr(f"concat('{BASE}', id) page", f"{instant} lastmod").write.parquet(str(directory / "times"))
    return spark.read.parquet(str(directory / "times"))


def of_another_writer(spark: SparkSession, directory: pathlib.Path) -> DataFrame:
    """Rows of a file of Spark, copied with what it says about its writer."""
    written(spark, directory)
    rows = pyarrow.parquet.read_table(directory / "a b%20ü")
    assert b"org.apache.spark.version" in rows.schema.metadata
    pyarrow.parquet.write_table(rows, directory / "copy.parquet", use_deprecated_int96_timestamps=True)
    return spark.read.parquet(str(directory / "copy.parquet"))


def of_two(other: pyarrow.Table) -> Make:
    """Two files, of which the second one has other columns. Spark takes the schema of the first."""

    def make(spark: SparkSession, directory: pathlib.Path) -> DataFrame:
        directory.mkdir(exist_ok=True)
        first = pyarrow.table({"page": [page for page, _ in PAGES], "lastmod": [at for _, at in PAGES]})
        pyarrow.parquet.write_table(first, directory / "1.parquet")
        pyarrow.parquet.write_table(other, directory / "2.parquet")
        return spark.read.schema("page string, lastmod string").parquet(str(directory))

    return make


def with_blanks(spark: SparkSession, directory: pathlib.Path, lastmod: str = "lastmod") -> DataFrame:
    """Rows with a column that is not used, some of them without a URL."""
    rows = written(spark, directory / "all").selectExpr("if(length(page) % 2 = 0, page, null) page", f"{lastmod} lastmod", "1 stock")
    rows.coalesce(1).write.parquet(str(directory / "blanks"))
    return spark.read.parquet(str(directory / "blanks"))


OTHER = pyarrow.table({"page": [f"{BASE}other/{number}" for number in range(50)]})


def partitioned(spark: SparkSession, directory: pathlib.Path) -> DataFrame:
    written(spark, directory).withColumn("kind", F.length("page")).write.partitionBy("kind").parquet(str(directory / "kinds"))
    return spark.read.parquet(str(directory / "kinds"))


#: For each frame, whether the tasks read its files.
FRAMES: dict[str, tuple[str, Make]] = {
    "plain": ("_of_files", written),
    "renamed": ("_of_files", lambda spark, at: written(spark, at).select(F.col("lastmod"), F.col("page").alias("URL"))),
    "filtered": ("_of_rows", lambda spark, at: written(spark, at).where("page like '%1'")),
    "some": ("_of_rows", lambda spark, at: written(spark, at).orderBy("page").limit(30)),
    "computed": ("_of_rows", lambda spark, at: written(spark, at).withColumn("page", F.concat("page", F.lit("?a=b&c")))),
    "twice": ("_of_rows", lambda spark, at: (lambda rows: rows.union(rows))(written(spark, at))),
    "cached": ("_of_rows", lambda spark, at: written(spark, at).cache()),
    "without lastmod": ("_of_files", lambda spark, at: written(spark, at).drop("lastmod")),
    "without a column that is not used": ("_of_files", lambda spark, at: with_blanks(spark, at).drop("stock")),
    "without lastmod, with another column": ("_of_files", lambda spark, at: with_blanks(spark, at).drop("lastmod")),
    "all columns": ("_of_files", lambda spark, at: with_blanks(spark, at)),
    "without lastmod of another type": ("_of_files", lambda spark, at: with_blanks(spark, at, "array('x')").drop("lastmod")),
    "partitioned": ("_of_rows", partitioned),
    "damaged files skipped": (
        "_of_rows",
        lambda spark, at: (written(spark, at), spark.read.option("ignoreCorruptFiles", "true").parquet(f"{at}/a b%20ü"))[1],
    ),
    "CSV": (
        "_of_rows",
        lambda spark, at: (written(spark, at).write.csv(f"{at}/csv"), spark.read.schema("page string").csv(f"{at}/csv"))[1],
    ),
    "old calendar": (
        "_of_rows",
        lambda spark, at: (written(spark, at), spark.read.option("datetimeRebaseMode", "LEGACY").parquet(f"{at}/a b%20ü"))[1],
    ),
    "INT96": ("_of_files", with_settings(written, outputTimestampType="INT96")),
    "INT96 of all centuries": (
        "_of_files",
        with_settings(of_all_centuries, outputTimestampType="INT96", int96RebaseModeInWrite="CORRECTED"),
    ),
    # The tasks notice the rest.
    "INT96 of the old calendar": (
        "not _of_files",
        with_settings(of_all_centuries, outputTimestampType="INT96", int96RebaseModeInWrite="LEGACY"),
    ),
    "INT96 of another writer": ("not _of_files", with_settings(of_another_writer, outputTimestampType="INT96")),
    "milliseconds": ("not _of_files", with_settings(written, outputTimestampType="TIMESTAMP_MILLIS")),
    "a column is missing": ("not _of_files", of_two(OTHER)),
    "a column has another place": (
        "not _of_files",
        of_two(OTHER.add_column(0, "lastmod", pyarrow.array(["2024-05-01"] * 50))),
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_make_the_set_of_one_machine_whoever_reads_them(spark, tmp_path, calls, name):
    way, make = FRAMES[name]
    frame = make(spark, tmp_path / "rows")
    url: Optional[str] = "page" if "page" in frame.columns else None
    options = dict(base_url=BASE, url=url)
    # Spark 3.5 has no `toArrow`, and pandas would lose the zone.
    rows = frame.toArrow() if hasattr(frame, "toArrow") else pyarrow.Table.from_batches(frame._collect_as_arrow())
    one = sitemill.build(rows, out=tmp_path / "one", **ONE_MACHINE, **options)
    report = sitemill.spark.build(frame, out=tmp_path / "out", **options)
    assert cluster.counts(report) == cluster.counts(one) and one.listed > 5
    cluster.same(tmp_path / "out", tmp_path / "one")
    assert calls == ([way] if way.startswith("_") else [way, "_of_rows"])


def test_a_file_that_changes_while_it_is_read_is_not_published(spark, tmp_path, monkeypatch):
    frame = written(spark, tmp_path / "rows")
    path = next((tmp_path / "rows").rglob("*.parquet"))

    send = sitemill.spark._SendFiles

    def after_a_change(*words: Any) -> Any:
        pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).slice(1), path)
        return send(*words)

    monkeypatch.setattr(sitemill.spark, "_SendFiles", after_a_change)
    with pytest.raises(sitemill.SitemillError, match="row"):
        sitemill.spark.build(frame, base_url=BASE, url="page", out=tmp_path / "out")
    assert cluster.published(tmp_path / "out") == {} and cluster.staged(tmp_path / "out") == []
