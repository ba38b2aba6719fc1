"""Options that the driver checks before tasks run, and the settings of the session."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from typing import Any

import pyarrow
import pytest

import cluster
import sitemill
import sitemill.spark
from cluster import BASE, ONE_MACHINE
from sitemill._spark_jobs import cancelled_on_failure
from sitemill._spark_settings import FOR_BLOCKS, FOR_SHORT_ROWS, for_rows, settings

MASTER = "local[2,4]"
CONFIG: dict[str, str] = {}


@pytest.fixture
def rows(spark: Any) -> Any:
    """Rows that Spark computes. A task that reads them fails."""
    return spark.range(10).selectExpr("raise_error('read') url")


class Session:
    """A session that is nothing but settings."""

    class Conf(dict[str, Any]):
        set = dict.__setitem__
        unset = dict.__delitem__

    def __init__(self) -> None:
        self.conf = Session.Conf(own="mine")


def test_steps_of_one_session_have_their_own_settings_and_leave_those_of_the_user() -> None:
    session, found = Session(), []

    def step(number: int) -> None:
        for _ in range(50):
            with settings(session, {"own": number, "other": number}), settings(session, {"inner": number}):
                # Another thread runs now, if none of them waits.
                threading.Event().wait(0.0001)
                found.append(set(session.conf.values()) == {number})

    threads = [threading.Thread(target=step, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200 and all(found)
    assert session.conf == {"own": "mine"}


class Connected(Session):
    """A session of Spark Connect, which has no context."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__()
        self.error, self.calls = error, list[tuple[str, str]]()

    def __getattr__(self, name: str) -> Any:
        if name == "sparkContext":
            raise self.error
        return lambda tag: self.calls.append((name, tag))


# Spark 3.5 raises the second one.
@pytest.mark.parametrize("error", [AttributeError, NotImplementedError])
def test_spark_connect_interrupts_what_a_failed_run_has_started(error: type[Exception]) -> None:
    session = Connected(error)
    with pytest.raises(KeyboardInterrupt), cancelled_on_failure(session):
        raise KeyboardInterrupt
    with cancelled_on_failure(session):
        pass
    names, tags = zip(*session.calls)
    assert names == ("addTag", "interruptTag", "removeTag", "addTag", "removeTag")
    assert len(set(tags[:3])) == len(set(tags[3:])) == 1 and tags[0] != tags[3]


def test_jobs_have_the_tags_of_the_user_and_that_of_their_run(spark: Any) -> None:
    context = spark.sparkContext
    context.addJobTag("own")
    try:
        for error in (None, ValueError):
            with pytest.raises(error) if error else contextlib.nullcontext(), cancelled_on_failure(spark):
                assert len(context.getJobTags()) == 2
                if error:
                    raise error
            assert list(context.getJobTags()) == ["own"]
    finally:
        context.clearJobTags()


RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"
BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"


@pytest.mark.parametrize(
    "given, of_rows, of_blocks",
    [
        ({}, (8192, 2**31 - 1), 32),
        ({RECORDS: "50", BYTES: "8m"}, ("50", "8m"), 32),
        ({RECORDS: "20"}, ("20", 2**31 - 1), "20"),
        ({RECORDS: "20000"}, (8192, 2**31 - 1), 32),
        # No limit.
        ({RECORDS: "0"}, (8192, 2**31 - 1), 32),
        ({RECORDS: "-1"}, (8192, 2**31 - 1), 32),
    ],
)
def test_lower_limits_of_batches_that_the_user_has_set_stay(given: Any, of_rows: Any, of_blocks: Any) -> None:
    session = Session()
    session.conf.update(given)
    with settings(session, FOR_SHORT_ROWS):
        assert (session.conf[RECORDS], session.conf[BYTES]) == of_rows
    with settings(session, FOR_BLOCKS):
        assert session.conf[RECORDS] == of_blocks
    assert session.conf == {"own": "mine", **given}


def test_rows_that_can_be_long_have_the_limits_of_the_session(spark: Any) -> None:
    short = spark.range(1).selectExpr("'x' url", "'x' lastmod", "'x' changefreq", "0.5 priority", "null `other columns`")
    assert for_rows(short) == FOR_SHORT_ROWS
    for column in ("array('x') images", "'x' images", "'x' alternates", "'x' videos", "'x' news"):
        assert for_rows(short.selectExpr("url", column)) == {}, column


def test_several_builds_at_once_leave_the_settings_of_the_session(spark: Any, tmp_path: Any) -> None:
    names = ("spark.sql.adaptive.enabled", "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.inMemoryColumnarStorage.batchSize")
    before = [spark.conf.get(name) for name in names]
    listed = {}

    def build(count: int) -> None:
        rows = spark.range(count).selectExpr(f"concat('{BASE}', id) url").where("url != 'q'")
        listed[count] = sitemill.spark.build(rows, base_url=BASE, out=tmp_path / str(count)).listed

    threads = [threading.Thread(target=build, args=(count,)) for count in (10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert listed == {10: 10, 20: 20, 30: 30}
    assert [spark.conf.get(name) for name in names] == before


def test_a_limit_that_is_too_low_for_any_task_is_refused_before_tasks_run(rows: Any, tmp_path: Any) -> None:
    with pytest.raises(sitemill.UsageError, match="worker_memory='64M': a task needs at least 68 MiB"):
        sitemill.spark.build(rows, base_url=BASE, out=tmp_path / "out", worker_memory="64M")
    assert cluster.staged(tmp_path / "out") == []
    with pytest.raises(sitemill.UsageError, match="^worker_memory='much': expected a whole number"):
        sitemill.spark.build(rows, base_url=BASE, out=tmp_path / "out", worker_memory="much")


def test_the_lowest_limit_of_a_task_is_enough_on_a_driver_with_any_number_of_cores(spark: Any, tmp_path: Any) -> None:
    pages = spark.range(10).selectExpr(f"concat('{BASE}', id) url")
    assert sitemill.spark.build(pages, base_url=BASE, out=tmp_path / "out", worker_memory="68M", name=None, rows_name=None).listed == 10


def test_names_are_checked_before_tasks_run(rows: Any, tmp_path: Any) -> None:
    def check(error: type, wanted: str, **options: Any) -> None:
        with pytest.raises(error, match=wanted):
            sitemill.spark.build(rows, base_url=BASE, out=tmp_path / "out", **options)

    check(sitemill.UsageError, "lastmod='': give the name of the column", lastmod="")
    check(TypeError, "url is of type int; give the name of the column as a str", url=5)
    check(TypeError, "lastmod is of type bytes", lastmod=b"lastmod")
    check(TypeError, "^rows_name is of type int", rows_name=5)
    check(TypeError, "^name has a value of type bool", name=True)
    check(TypeError, "^worker_memory has a value of type bool", worker_memory=True)


def test_options_of_sections_are_refused_by_their_names(rows: Any, tmp_path: Any) -> None:
    given = dict(section_column="kind", section_by_path=True, sections=tmp_path / "no such file", sections_max=3)
    for option, value in given.items():
        for function in (sitemill.spark.build, sitemill.spark.rejects):
            with pytest.raises(sitemill.UsageError, match=f"^{option}= has no meaning on a cluster; build a set with sections on one"):
                function(rows, base_url=BASE, out=tmp_path / "out", **{option: value})
    sitemill.spark.rejects(rows, base_url=BASE, section_by_path=False, require_success_marker=False)


def test_only_the_driver_needs_the_program_of_then(spark: Any, tmp_path: Any, monkeypatch: Any) -> None:
    pages = spark.range(10).selectExpr(f"concat('{BASE}', id) url")
    # The processes of tasks have the path of the session.
    assert sitemill.spark.build(pages, base_url=BASE, out=tmp_path / "out").listed == 10
    program = tmp_path / "bin" / "notify-me"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $SITEMILL_RUN_LISTED > '{tmp_path}/told'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    sitemill.spark.build(pages, base_url=BASE, out=tmp_path / "out", then="notify-me")
    assert (tmp_path / "told").read_text() == "10\n"


def test_ctrl_c_ends_a_driver_that_publishes(spark: Any, tmp_path: Any) -> None:
    pages = spark.range(10).selectExpr(f"concat('{BASE}', id) url")
    begun = tmp_path / "begun"

    def interrupt() -> None:
        while not begun.exists():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        # A command that nothing else ends.
        sitemill.spark.build(pages, base_url=BASE, out=tmp_path / "out", then=["sh", "-c", f"touch '{begun}'; exec sleep 1000000"])
    thread.join()


@pytest.mark.parametrize("rows", [None, [BASE], "pages.parquet"])
def test_what_is_no_data_frame_is_named(rows: Any, tmp_path: Any) -> None:
    for function in (sitemill.spark.build, sitemill.spark.rejects):
        with pytest.raises(TypeError, match=f"df is of type {type(rows).__name__}; give a data frame of Spark"):
            function(rows, base_url=BASE, out=tmp_path / "out")


def test_frames_of_other_libraries_and_streams_are_refused_with_a_way_out(spark: Any, tmp_path: Any) -> None:
    import pandas

    polars = type("DataFrame", (), {"__module__": "polars.dataframe.frame", "to_pandas": None})
    stream = spark.readStream.format("rate").load().selectExpr(f"concat('{BASE}', value) url")
    for function in (sitemill.spark.build, sitemill.spark.rejects):
        with pytest.raises(TypeError, match="df is of type pandas.DataFrame; .*createDataFrame"):
            function(pandas.DataFrame({"url": [BASE]}), base_url=BASE, out=tmp_path / "out")
        with pytest.raises(TypeError, match=r"df is of type polars.DataFrame; .*createDataFrame\(df\.to_pandas\(\)\)"):
            function(polars(), base_url=BASE, out=tmp_path / "out")
        with pytest.raises(sitemill.UsageError, match="foreachBatch"):
            function(stream, base_url=BASE, out=tmp_path / "out")


def test_a_column_without_a_type_has_blank_urls_and_examples_have_the_name_of_the_rows(spark: Any, tmp_path: Any) -> None:
    common: dict[str, Any] = {"base_url": BASE, "out": tmp_path / "out", "allow_empty": True, "progress": False}
    report = sitemill.spark.build(spark.sql("select null url"), **common)
    assert (report.lines, report.blank, report.listed) == (1, 1, 0)
    pages = spark.createDataFrame([("no url",), (BASE,)], "url string")
    report = sitemill.spark.build(pages, rows_name="shop.pages", **common)
    assert [example["input"] for example in report.raw["examples"]] == ["shop.pages"]


@pytest.mark.parametrize("out", ["file:///tmp/x", "file:/tmp/x", "dbfs:/mnt/x"])
def test_a_url_of_a_directory_is_refused(rows: Any, tmp_path: Any, monkeypatch: Any, out: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sitemill.UsageError, match="give the path alone|give .* a plain path"):
        sitemill.spark.build(rows, base_url=BASE, out=out)
    assert not any(tmp_path.iterdir())


def test_options_of_rejects_are_those_of_a_build_and_are_checked_at_once(spark: Any, rows: Any) -> None:
    pages = spark.createDataFrame([("no url",), (BASE,)], "url string")
    of_stores = dict(endpoint="https://minio.example.com", state="s3://private/shop", allow_unsafe_store=True)
    of_run = dict(cache=False, rows_name="rows", name="blog", max_rejects=1, **of_stores)
    found = sitemill.spark.rejects(pages, base_url=BASE, worker_memory="256M", **of_run)
    assert [row["reason"] for row in found.collect()] == ["not-absolute"]

    def check(error: type, wanted: str, **options: Any) -> None:
        with pytest.raises(error, match=wanted):
            sitemill.spark.rejects(rows, **{"base_url": BASE, **options})

    usage = sitemill.UsageError
    check(usage, "worker_memory='1M'", worker_memory="1M")
    check(usage, "dry_run", dry_run=True)
    check(usage, "scope", scope="everything")
    check(usage, "urls_per_sitemap", urls_per_sitemap=50_001)
    check(usage, "no_such_option", no_such_option=1)
    check(usage, "none of them is the first", on_duplicate="first")
    check(usage, "^name='My Blog': ", name="My Blog", rows_name="pages")
    check(TypeError, "exclude has a value of type object", exclude=object())
    check(TypeError, "^worker_memory has a value of type bool", worker_memory=True)
    check(TypeError, "^name has a value of type list", name=["blog"])


def test_a_frame_with_two_columns_of_the_same_name_is_refused_if_it_is_read(spark: Any, tmp_path: Any) -> None:
    df = spark.createDataFrame([(f"{BASE}1", "2024-01-01", "2025-01-01")], "url string, first string, second string")
    for names in [("url", "lastmod", "lastmod"), ("url", "lastmod", "LASTMOD"), ("URL", "lastmod", "url")]:
        with pytest.raises(sitemill.DataRefused, match=f"two columns are named {names[1] if names[0] == 'url' else 'URL'}; rename"):
            sitemill.spark.build(df.toDF(*names), base_url=BASE, out=tmp_path / "out")
    report = sitemill.spark.build(df.toDF("url", "other", "other"), base_url=BASE, out=tmp_path / "out")
    assert (report.listed, report.unused_columns) == (1, ("other",))


def test_a_wrong_name_of_the_set_is_not_blamed_on_that_of_the_rows(spark: Any, tmp_path: Any) -> None:
    with pytest.raises(sitemill.UsageError, match="^name='My Blog': "):
        sitemill.spark.build(
            spark.range(1), base_url=BASE, out=tmp_path / "out", name="My Blog", rows_name="pages", url="id"
        )


def test_columns_that_are_not_used_are_in_the_report_and_in_that_for_then(spark: Any, tmp_path: Any) -> None:
    frame = spark.createDataFrame([(BASE, "2024-05-01", 3)], "page string, updated string, `stock.count` int")
    options = dict(base_url=BASE, url="page")
    one = sitemill.build(pyarrow.table({"page": [BASE], "updated": ["2024-05-01"], "stock.count": [3]}), out=tmp_path / "one", **ONE_MACHINE, **options)
    places = dict(report=tmp_path / "report.json", then=["sh", "-c", f"cat > '{tmp_path}/then.json'"])
    report = sitemill.spark.build(frame, out=tmp_path / "out", **places, **options)
    assert report.unused_columns == one.unused_columns == ("updated", "stock.count")
    for name in ("report.json", "then.json"):
        found = json.loads((tmp_path / name).read_text())["inputs"][0]["columns"]
        assert found == report.raw["inputs"][0]["columns"] == one.raw["inputs"][0]["columns"], name
    wide = spark.createDataFrame([(BASE, *range(70))], ["url", *(f"c{number}" for number in range(70))])
    unused = sitemill.spark.build(wide, base_url=BASE, out=tmp_path / "wide").unused_columns
    assert len(unused) == 65 and unused[63:] == ("c63", "…")


def test_intervals_are_dropped(spark: Any, tmp_path: Any) -> None:
    for interval in ("interval '1' year", "interval '1' day", "make_interval(1)"):
        frame = spark.range(1).selectExpr(f"'{BASE}' url", f"{interval} lastmod")
        report = sitemill.spark.build(frame, base_url=BASE, out=tmp_path / "out")
        assert (report.listed, report.dropped_tags["tag-lastmod"]) == (1, 1), interval


def test_one_machine_reads_a_data_frame_with_times(spark: Any, tmp_path: Any) -> None:
    frame = spark.range(3).selectExpr(f"concat('{BASE}', id) url", "timestamp'2024-05-01 10:00:00Z' lastmod")
    report = sitemill.build(frame, base_url=BASE, out=tmp_path)
    assert report.listed == 3 and not report.dropped_tags
    assert pyarrow.table(sitemill.urls(tmp_path))["lastmod"].to_pylist() == ["2024-05-01T10:00:00Z"] * 3
    assert sitemill.build(frame.select("url"), base_url=BASE, out=tmp_path).listed == 3


TRACE = 'Traceback (most recent call last):\n  File "pages.py", line 1, in page\n    raise ValueError("no page")\n'


@pytest.mark.parametrize(
    "message, reason",
    [
        ("[TABLE_OR_VIEW_NOT_FOUND] There is none.\n'Relation [pages]\n", "[TABLE_OR_VIEW_NOT_FOUND] There is none."),
        (f"An exception was thrown from the Python worker:\n{TRACE}ValueError: no page", "ValueError: no page"),
        (f"{TRACE}ValueError: no page\n\n\n\tat org.apache.spark.api.python.BasePythonRunner\n\tat java.lang.Thread\n", "ValueError: no page"),
        (f"{TRACE}ValueError: two\nlines\n\nJVM stacktrace:\norg.apache.spark.SparkException\n", "lines"),
        (f"{TRACE}ValueError: no page\n\nDriver stacktrace:\n\tat org", "ValueError: no page"),
        ("An error occurred while calling o38.collectToPython.\n: org.apache.spark.SparkException: lost\n\tat org", "org.apache.spark.SparkException: lost"),
        ("", ""),
    ],
)
def test_reports_have_the_line_of_a_message_with_the_reason(message: str, reason: str) -> None:
    assert sitemill.spark._reason(message) == reason


def test_a_robots_txt_can_be_respected_and_list_the_index_files(spark: Any, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    pages = spark.range(20).selectExpr(f"concat('{BASE}', id) url")
    for listing, respected in [("robots.txt", "robots.txt"), (tmp_path / "robots.txt", "./robots.txt")]:
        (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /1\n")
        report = sitemill.spark.build(pages, base_url=BASE, out="out", robots=listing, respect_robots=respected)
        assert report.listed == 9
        assert "sitemap-index" in (tmp_path / "robots.txt").read_text()


def test_a_robots_txt_without_rules_is_a_warning(spark: Any, tmp_path: Any, capfd: Any) -> None:
    (tmp_path / "robots.txt").write_text("")
    pages = spark.range(3).selectExpr(f"concat('{BASE}', id) url")
    sitemill.spark.build(pages, base_url=BASE, out=tmp_path / "out", respect_robots=tmp_path / "robots.txt")
    assert "has no rules for this crawler" in capfd.readouterr().err


def test_patterns_may_be_any_iterable(spark: Any, tmp_path: Any) -> None:
    (tmp_path / "patterns").write_text("1$\n")
    pages = [f"{BASE}{number}" for number in range(20)]
    frame = spark.createDataFrame([(page,) for page in pages], "url string")
    rules = dict(exclude_file=[tmp_path / "patterns"], exclude=["2$"])
    one = sitemill.build(pages, base_url=BASE, out=tmp_path / "one", **ONE_MACHINE, **rules)
    given = {name: iter(values) for name, values in rules.items()}
    report = sitemill.spark.build(frame, base_url=BASE, out=tmp_path / "out", **given)
    assert cluster.counts(report) == cluster.counts(one) and one.excluded_total == 4
    cluster.same(tmp_path / "out", tmp_path / "one")
