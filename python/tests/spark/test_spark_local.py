"""Sets that Spark builds on this machine, and what it refuses."""

from __future__ import annotations

import errno
import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import warnings
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import functions as F

import cluster
import faults
import sitemill
import sitemill.spark
from cluster import BASE, HERE, LARGE_OPTIONS, ONE_MACHINE, OPTIONS
from sitemill import _sitemill

#: Four attempts of each task, as on a cluster.
MASTER = "local[2,4]"
CONFIG: dict[str, str] = {}


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    """Warnings of Spark about how it is called, and of sitemill about a set, are failures."""
    with warnings.catch_warnings():
        for kind in (FutureWarning, RuntimeWarning):
            warnings.filterwarnings("error", category=kind, module="pyspark.sql|sitemill")
        yield


def test_a_named_column_is_used_whatever_it_holds(spark, tmp_path):
    table = pyarrow.table({"url": [BASE], "stock": pyarrow.array([7], pyarrow.int32())})
    options = dict(base_url=BASE, images="stock")
    one = sitemill.build(table, out=tmp_path / "one", **ONE_MACHINE, **options)
    report = sitemill.spark.build(spark.createDataFrame([(BASE, 7)], "url string, stock int"), out=tmp_path / "out", **options)
    assert cluster.counts(report) == cluster.counts(one) and one.dropped_tags["tag-image"] == 1
    cluster.same(tmp_path / "out", tmp_path / "one")


@pytest.mark.parametrize("partitions", [1, 8, 50])
def test_the_set_and_the_counts_are_those_of_one_machine(spark, small, place, partitions):
    rows = small.read(spark).repartition(partitions)
    report = sitemill.spark.build(rows, cache=partitions != 8, **place.options, **OPTIONS)
    small.check(place.directory, report)
    assert report.listed > 2000 and report.duplicates > 500 and report.sitemaps > 10
    assert report.blank == 0 and report.rejected_total > 500 and sum(report.dropped_tags.values()) > 100
    assert sitemill.check(place.out, **place.at)


def test_strings_without_tags_make_the_same_set_and_rows_without_a_url_are_blank(spark, tmp_path):
    pages = [f"{BASE}{number % 900}" for number in range(2000)] + [None, "", " ", "relative", None]
    one = sitemill.build(pyarrow.table({"url": pages}), base_url=BASE, out=tmp_path / "one", **ONE_MACHINE)
    assert (one.listed, one.blank, one.rejected_total) == (900, 4, 1)
    rows = spark.createDataFrame([(page,) for page in pages], "loc string").repartition(5)
    report = sitemill.spark.build(rows, base_url=BASE, out=tmp_path / "out")
    assert cluster.counts(report) == cluster.counts(one)
    cluster.same(tmp_path / "out", tmp_path / "one")


def test_strings_that_are_not_utf_8_stay_apart_and_the_session_keeps_its_settings(spark, tmp_path):
    # Two URLs that would be one if invalid bytes were replaced, and one that is rejected.
    pages = [page for n in range(100) for page in (f"{BASE}{n}".encode() + b"\xff", f"{BASE}{n}".encode() + b"\xfe", b"no url \xff")]
    one = sitemill.build(pyarrow.table({"page": pages}), base_url=BASE, url="page", out=tmp_path / "one", **ONE_MACHINE)
    rows = spark.createDataFrame([(page,) for page in pages], "page binary").select(F.col("page").cast("string")).repartition(3)
    records = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(records, 7)
    try:
        names = [records, "spark.sql.execution.arrow.maxBytesPerBatch", "spark.sql.adaptive.enabled"]
        before = [spark.conf.get(name, None) for name in names]
        report = sitemill.spark.build(rows, base_url=BASE, url="page", out=tmp_path / "out")
        assert [spark.conf.get(name, None) for name in names] == before
    finally:
        spark.conf.unset(records)
    assert cluster.counts(report) == cluster.counts(one) and (report.listed, report.rejected_total) == (200, 100)
    cluster.same(tmp_path / "out", tmp_path / "one")
    found = sitemill.spark.rejects(rows, base_url=BASE, url="page").select("text").collect()
    assert [bytes(row[0]) for row in found] == [b"no url \xff"] * 100


def test_several_regions_make_the_set_of_one_machine(spark, large, place):
    rows = large.read(spark).repartition(8)
    report = sitemill.spark.build(rows, **place.options, **LARGE_OPTIONS)
    large.check(place.directory, report)
    assert report.lines == 2_100_000 and report.listed == 1_998_000


def test_each_region_has_a_partition_of_its_own(spark):
    for regions in (2, 7, 50):
        routed = spark.range(3 * regions).selectExpr(f"cast(id % {regions} as int) as region", "cast('x' as binary) as block")
        spread = sitemill.spark._spread(routed, regions)
        found = {(row[0], row[1]) for row in spread.select("region", F.spark_partition_id()).collect()}
        assert found == {(region, region) for region in range(regions)}


def test_a_rerun_writes_nothing_to_a_bucket(spark, small, store, tmp_path):
    url = store.url(tmp_path.name)
    files = []
    for run in range(2):
        report = sitemill.spark.build(small.read(spark).repartition(3 + run), out=url, endpoint=store.endpoint, **OPTIONS)
        small.check(store.directory(url), report)
        stats = {path.name: path.stat() for path in store.directory(url).glob("*.gz")}
        files.append({name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()})
    assert files[0] == files[1]


def test_a_rerun_compresses_and_writes_nothing(spark, small, tmp_path, marks, monkeypatch):
    monkeypatch.setattr(sitemill.spark, "_Produce", functools.partial(faults.Lists, str(marks)))
    rows, out = small.read(spark), tmp_path / "out"
    files = []
    for run in range(2):
        small.check(out, sitemill.spark.build(rows.repartition(3 + run), out=out, **OPTIONS))
        stats = {path.name: path.stat() for path in out.glob("*.gz")}
        files.append({name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()})
        compressed = [path.name for path in marks.iterdir()]
        assert sorted(compressed) == (sorted(files[0]) if run == 0 else [])
        for name in compressed:
            (marks / name).unlink()
    assert files[0] == files[1]


def test_a_task_that_fails_and_leaves_junk_changes_nothing(spark, rows_or_files, place, marks, monkeypatch):
    monkeypatch.setattr(sitemill.spark, "_Produce", functools.partial(faults.FailsAfterwards, str(marks)))
    report = sitemill.spark.build(rows_or_files.read(spark), **place.options, **OPTIONS)
    assert sorted(path.name for path in marks.iterdir()) == ["failed", "succeeded"]
    if place.is_bucket:
        # New sitemaps are put where they will be published, so that what belongs to no set is there until the next run.
        junk = {"sitemap-99999-00000000.xml.gz"}
        assert set(cluster.published(place.directory)) - set(cluster.published(rows_or_files.one)) == junk
        assert sitemill.check(place.out, **place.at).urls == report.listed
        monkeypatch.undo()
        report = sitemill.spark.build(rows_or_files.read(spark), **place.options, **OPTIONS)
    rows_or_files.check(place.directory, report)


def test_a_second_driver_is_told_to_wait_and_a_killed_one_leaves_nothing(spark, small, place, tmp_path, marks):
    rows, out = small.read(spark), place.directory
    one, pages = tmp_path / "one", [f"{BASE}{page}" for page in range(3000)]
    live = sitemill.build(pages, base_url=BASE, out=one, **ONE_MACHINE)
    sitemill.build(pages, base_url=BASE, **place.options, **ONE_MACHINE)
    before = cluster.published(out)
    command = [sys.executable, str(HERE / "dying_driver.py"), str(small.files), str(place.out), str(marks)]
    endpoint = {"AWS_ENDPOINT_URL": place.at["endpoint"]} if place.is_bucket else {}
    with (marks / "log").open("wb") as log:
        other = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **endpoint}
        )
    try:
        cluster.wait_for("sitemaps", lambda: (marks / "waits").exists() or other.poll() is not None)
        assert other.poll() is None, (marks / "log").read_text()
        with pytest.raises(sitemill.Busy):
            sitemill.spark.build(rows, **place.options, **OPTIONS)
        new = set(cluster.published(out)) - set(before) if place.is_bucket else cluster.staged(out)
        assert any(name.endswith(".gz") for name in new)
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    after = cluster.published(out)
    # In a bucket, new sitemaps are there, and nothing lists them.
    assert {name: after[name] for name in after if name in before or not place.is_bucket} == before
    assert sitemill.check(place.out, **place.at).urls == live.listed
    report = sitemill.spark.build(rows, **place.options, **OPTIONS)
    assert report.listed == small.report.listed
    sitemill.build(pyarrow.parquet.read_table(small.files), out=one, **ONE_MACHINE, **OPTIONS)
    cluster.same(out, one)


class Run:
    """The steps of a run, without Spark."""

    def __init__(self, out: pathlib.Path, number: int) -> None:
        words = sitemill.spark._arguments(BASE, out, {}, {})
        self.driver = _sitemill.Driver(words)
        order = self.driver.work_order()
        table = pyarrow.table({"url": [f"{BASE}{page}" for page in range(number)]})
        stream = pyarrow.RecordBatchReader.from_stream(_sitemill.pack(words, order, table, 0)).read_all().to_pylist()
        self.packed = [row["packed"] for row in stream if row["packed"]]
        self.plan, _ = self.driver.plan(self.packed)
        router, regions = _sitemill.Router(self.plan, 1 << 20), _sitemill.Regions(words, order, self.plan, str(out))
        routed = [block for row in stream if row["block"] for block in router.push(row["block"])]
        for region, block in routed + router.finish():
            regions.push(region, block)
        self.batches = regions.finish()

    def publish(self, packed: list[str], batches: list[str]) -> None:
        self.driver.publish(packed, self.plan, batches, "rows", json.dumps({"used": {}, "unused": []}))


def test_results_that_are_lost_or_doubled_or_belong_to_another_run_are_not_published(tmp_path):
    out = tmp_path / "out"
    sitemill.build([f"{BASE}{number}" for number in range(90)], base_url=BASE, out=out, **ONE_MACHINE)
    before = cluster.published(out)

    def check(wanted: str, tamper: Any) -> None:
        run = Run(out, 100)
        with pytest.raises(sitemill.DataRefused, match=wanted):
            run.publish(*tamper(run))
        assert cluster.published(out) == before and cluster.staged(out) == []

    other = Run(tmp_path / "other", 100)
    check("0 arrived in the regions", lambda run: (run.packed, []))
    check("was given twice", lambda run: (run.packed, run.batches * 2))
    check("rows were accepted", lambda run: ([], run.batches))
    check("rows were accepted", lambda run: (run.packed * 2, run.batches))
    check("belongs to another run", lambda run: (run.packed, other.batches))
    check("cannot be read", lambda run: (run.packed, ["{}"]))
    run = Run(out, 100)
    run.publish(run.packed, run.batches)
    assert sitemill.check(out).urls == 100


def test_what_cannot_be_published_is_refused_before_any_row_is_read(spark, tmp_path, marks):
    schema = "page string, updated timestamp, images array<string>, stock int, site struct<a:int>"
    rows = spark.createDataFrame([(BASE, None, None, 1, None)], schema)
    rows = rows.mapInArrow(faults.Touches(str(marks)), rows.schema)

    def check(error: type, wanted: list[str], **options: Any) -> None:
        with pytest.raises(error) as raised:
            sitemill.spark.build(rows, **{**OPTIONS, "out": tmp_path / "out", **options})
        for word in wanted:
            assert word in str(raised.value)
        assert not list(marks.iterdir()) and not cluster.staged(tmp_path / "out")

    refused, usage = sitemill.DataRefused, sitemill.UsageError
    check(refused, ["there is no column address", "page, updated, images, stock, site"], url="address")
    check(refused, ['no column loc or url; there are: page, updated', 'url="NAME"'], url=None)
    check(refused, ["column stock holds int", "cast"], url="stock")
    check(refused, ["column site holds struct<a:int>", "cast"], url="site")
    check(usage, ["none of them is the first"], on_duplicate="first")
    check(usage, ["sorted"], order="input")
    check(usage, ["stable"], divide="fill")
    check(usage, ["one site"], base_url="{origin}/")
    check(usage, ["threads= has no meaning on a cluster"], threads=2)
    check(usage, ["sitemill.spark.rejects"], rejects="rejects.tsv")
    check(usage, ["worker_memory"], memory="1G")
    check(usage, ["urls_per_sitemap"], urls_per_sitemap=50_001)
    check(usage, ["worker_memory"], worker_memory="much")
    check(sitemill.OutputError, ["nowhere"], report=tmp_path / "nowhere/report.json")
    check(sitemill.OutputError, ["nowhere"], metrics=tmp_path / "nowhere/metrics")
    check(usage, ["html", "the same file as report"], report=tmp_path / "same", html=tmp_path / "same")


def test_ctrl_c_cancels_the_jobs_of_the_run_and_no_others(spark, tmp_path, marks):
    context = spark.sparkContext
    reports = []

    def rows(name: str) -> Any:
        (marks / name).mkdir()
        # In one session, the second run would wait for the settings of the first.
        pages = spark.newSession().range(20).selectExpr(f"concat('{BASE}', id) url").coalesce(1)
        return pages.mapInArrow(faults.Sleeps(str(marks / name)), pages.schema)

    def read(name: str) -> bool:
        return (marks / name / "rows were read").exists()

    def other() -> None:
        reports.append(sitemill.spark.build(others, base_url=BASE, out=tmp_path / "other"))

    def interrupt() -> None:
        cluster.wait_for("rows", lambda: read("own"))
        os.kill(os.getpid(), signal.SIGINT)

    own, others = rows("own"), rows("others")
    threads = [threading.Thread(target=other), threading.Thread(target=interrupt)]
    threads[0].start()
    cluster.wait_for("rows of the other run", lambda: read("others"))
    threads[1].start()
    try:
        # Spark 3.5 does not raise `KeyboardInterrupt` itself.
        with pytest.raises((KeyboardInterrupt, Py4JError)):
            sitemill.spark.build(own, base_url=BASE, out=tmp_path / "out")
        jobs = context.statusTracker().getActiveJobsIds
        cluster.wait_for("the end of the job", lambda: len(jobs()) == 1, seconds=60)
    finally:
        (marks / "others/go").touch()
        for thread in threads:
            thread.join()
    assert reports[0].listed == 20 and not jobs()
    assert cluster.published(tmp_path / "out") == {} and cluster.staged(tmp_path / "out") == []


def test_guards_refuse_a_set_and_the_report_has_the_counts(spark, small, place, tmp_path):
    rows, out = small.read(spark), place.directory
    with pytest.raises(sitemill.DataRefused) as raised:
        sitemill.spark.build(rows, max_rejects=10, **place.options, **OPTIONS)
    assert raised.value.report.rejected == small.report.rejected and not raised.value.report.published
    with pytest.raises(sitemill.DataRefused):
        sitemill.spark.build(rows.where("false"), **place.options, **OPTIONS)
    assert cluster.published(out) == {} and cluster.staged(out) == []
    files = dict(report=tmp_path / "report.json", html=tmp_path / "report.html")
    small.check(out, sitemill.spark.build(rows, max_rejects=2000, **files, **place.options, **OPTIONS))
    assert '"listed"' in files["report"].read_text() and "<html" in files["html"].read_text()


def test_metrics_and_differences_are_those_of_one_machine(spark, small, tmp_path):
    rows, table = small.read(spark), pyarrow.parquet.read_table(small.files)

    def files(directory: str) -> dict[str, pathlib.Path]:
        return dict(diff=tmp_path / directory / "diff.tsv", metrics=tmp_path / directory / "sitemill.prom")

    def metrics(directory: str) -> list[str]:
        lines = (tmp_path / directory / "sitemill.prom").read_text().splitlines()
        return [line for line in lines if "seconds" not in line]

    for directory in ("one", "out"):
        sitemill.build([f"{BASE}gone"], base_url=BASE, out=tmp_path / directory, **ONE_MACHINE)
    one = sitemill.build(table, out=tmp_path / "one", max_shrink="100%", **files("one"), **ONE_MACHINE, **OPTIONS)
    report = sitemill.spark.build(rows, out=tmp_path / "out", max_shrink="100%", **files("out"), **OPTIONS)
    assert report.raw["diff"] == one.raw["diff"] and one.raw["diff"]["removed"] == 1
    assert files("out")["diff"].read_bytes() == files("one")["diff"].read_bytes()
    assert metrics("out") == metrics("one") and 'sitemill_success{base_url="https://www.example.com/"} 1' in metrics("out")


def test_reports_of_a_run_that_fails_say_why(spark, small, tmp_path):
    files = dict(report=tmp_path / "report.json", html=tmp_path / "report.html", metrics=tmp_path / "metrics")

    def check(error: type, code: int, words: str, rows: Any, **options: Any) -> None:
        with pytest.raises(error):
            sitemill.spark.build(rows, **{**OPTIONS, "out": tmp_path / "out", **files, **options})
        report = json.loads(files["report"].read_text())
        assert report["exit_code"] == code and words in report["error"], report
        assert words in files["html"].read_text()
        found = files["metrics"].read_text()
        assert f'sitemill_exit_code{{base_url="{BASE}"}} {code}\n' in found and f'sitemill_success{{base_url="{BASE}"}} 0\n' in found

    rows = small.read(spark)
    fails = F.raise_error(F.lit("no such page")).cast("string")
    check(Exception, 74, "Spark could not run the tasks", rows.withColumn("page", fails))
    fails = F.udf(lambda page: {}[page])
    check(Exception, 74, "PythonException: KeyError: ", rows.withColumn("page", fails("page")))
    check(sitemill.DataRefused, 65, "there is no column address", rows, url="address")
    (tmp_path / "busy").mkdir()
    holder = _sitemill.Driver(sitemill.spark._arguments(BASE, tmp_path / "busy", {}, {}))
    check(sitemill.Busy, 75, "another run", rows, out=tmp_path / "busy")
    holder.fail("io", "the test is over")
    sitemill.spark.build(rows, **{**OPTIONS, "out": tmp_path / "busy", **files})
    assert json.loads(files["report"].read_text())["published"] and "sitemill_exit_code" in files["metrics"].read_text()


def test_rejected_rows_and_dropped_tags_are_a_data_frame(spark, small):
    found = sitemill.spark.rejects(small.read(spark).repartition(4), **OPTIONS)
    assert found.columns == ["reason", "text", "tag"]
    counted = {row["reason"]: row["count"] for row in found.groupBy("reason").count().collect()}
    wanted = {**small.report.rejected, **small.report.dropped_tags}
    assert counted == {reason: count for reason, count in wanted.items() if count}
    dropped = found.where("tag is not null").select(F.col("tag").cast("string")).distinct().collect()
    assert {"7", "sometimes"} <= {row[0] for row in dropped}
    text = found.where("reason = 'not-absolute'").select(F.col("text").cast("string")).first()[0]
    assert text.startswith("no url ")


def test_filters_exclude_and_count_the_same_rows_as_on_one_machine(spark, small, tmp_path, monkeypatch):
    rows = small.read(spark)
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /*9$\n")
    (tmp_path / "patterns").write_text("# comment\n7$\n")
    # Tasks run elsewhere, and must find the files all the same.
    monkeypatch.chdir(tmp_path)
    rules = dict(exclude=["1$"], exclude_file="patterns", respect_robots="robots.txt", rewrite={"http://": "https://"})
    one = sitemill.build(pyarrow.parquet.read_table(small.files), out="one", **ONE_MACHINE, **rules, **OPTIONS)
    report = sitemill.spark.build(rows, out=tmp_path / "out", **rules, **OPTIONS)
    assert cluster.counts(report) == cluster.counts(one) and report.excluded_total > 100
    cluster.same(tmp_path / "out", tmp_path / "one")
    found = sitemill.spark.rejects(rows, **rules, **OPTIONS).groupBy("reason").count().collect()
    counted = {row["reason"]: row["count"] for row in found}
    assert {rule: counted.get(rule, 0) for rule in report.excluded} == dict(report.excluded)


def test_a_bucket_that_workers_do_not_reach_is_refused_before_any_row_is_read(spark, small, store, tmp_path, marks, monkeypatch):
    rows = small.read(spark)
    rows = rows.mapInArrow(faults.Touches(str(marks)), rows.schema)
    options = {"out": store.url(tmp_path.name), "endpoint": store.endpoint, **OPTIONS}
    check = sitemill.spark._Check
    monkeypatch.setattr(sitemill.spark, "_Check", lambda words, order: check([*words, "--state=s3://test/other"], order))
    with pytest.raises(sitemill.OutputError, match="this worker reaches another store than the driver"):
        sitemill.spark.build(rows, **options)
    monkeypatch.undo()
    with pytest.raises(sitemill.OutputError) as raised:
        sitemill.spark.build(rows, **{**options, "out": "s3://no-such-bucket/a"})
    assert "s3://no-such-bucket" in str(raised.value)
    with monkeypatch.context() as patched:
        patched.setitem(os.environ, "AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(sitemill.OutputError) as raised:
            sitemill.spark.build(rows, **options)
    assert raised.value.kind == "permission"
    assert not list(marks.iterdir())
    assert not [path for path in store.directory(options["out"]).rglob("*.gz")]


def test_what_the_check_of_a_worker_finds_is_raised_as_on_the_driver(spark, tmp_path, monkeypatch):
    path, check = str(tmp_path / "patterns"), sitemill.spark._Check
    monkeypatch.setattr(sitemill.spark, "_Check", lambda words, order: check([*words, f"--exclude-file={path}"], order))
    with pytest.raises(sitemill.InputError, match=r"cannot be read.* \(worker on .*\)") as raised:
        sitemill.spark.build(spark.range(1).selectExpr("'x' url"), base_url=BASE, out=tmp_path / "out")
    error = raised.value
    assert (error.kind, error.exit_code, error.path, error.filename, error.errno) == ("input", 66, path, path, errno.ENOENT)


def test_the_examples_of_the_documentation_run(spark, small, store, tmp_path):
    page = (HERE.parents[2] / "docs/spark.md").read_text("utf-8")
    examples = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    assert len(examples) >= 3
    rows = small.read(spark).select("page", F.col("updated").alias("updated_at"))
    rows.write.mode("overwrite").saveAsTable("shop_pages")
    names = {"shop.pages": "shop_pages", "/mnt/shared": str(tmp_path)}
    names |= {"s3://shop-sitemaps/": store.url(""), "https://minio.example.com": store.endpoint}
    scope: dict[str, Any] = {"spark": spark}
    for example in examples:
        for name, own in names.items():
            example = example.replace(name, own)
        exec(example, scope)
    assert sitemill.check(tmp_path / "html").urls == scope["report"].listed > 2000
    cluster.same(store.directory(store.url("maps")), tmp_path / "html")
