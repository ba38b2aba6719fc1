"""Sessions, clusters, rows and comparisons for the tests on Spark."""

from __future__ import annotations

import datetime
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Mapping

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1]
BASE = "https://www.example.com/"
EPOCH = "1700000000"
#: scripts/spark-soak sets it, for other rows and faults at other moments.
SEED = int(os.environ.get("SITEMILL_SEED", "0"))

# The workers import sitemill and the faults of the tests. All times that a set shows are equal.
PATH = f"{PACKAGE}{os.pathsep}{HERE}"
os.environ.update(PYTHONPATH=PATH, PYSPARK_PYTHON=sys.executable, SOURCE_DATE_EPOCH=EPOCH)
sys.path[:0] = [str(PACKAGE)]
# The store is also that of other tests.
sys.path.append(str(PACKAGE / "tests"))

import pyarrow.parquet  # noqa: E402
import pyspark  # noqa: E402
from pyspark.sql import DataFrame, SparkSession, functions as F  # noqa: E402

import bucket  # noqa: E402
import sitemill  # noqa: E402
import sitemill.spark  # noqa: E402

# Executors inherit them.
os.environ.update(bucket.CREDENTIALS)

#: How one machine must be told to do what a cluster does.
ONE_MACHINE = dict(order="sorted", divide="stable", on_duplicate="newest")
#: The options of the rows of these tests.
OPTIONS = dict(base_url=BASE, url="page", lastmod="updated", urls_per_sitemap=200)
LARGE_OPTIONS = {**OPTIONS, "urls_per_sitemap": 50_000}


def session(master: str, local: pathlib.Path, config: Mapping[str, str]) -> SparkSession:
    """A session with two cores."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": PATH,
        "spark.executorEnv.SOURCE_DATE_EPOCH": EPOCH,
        "spark.executor.memory": "700m",
        "spark.local.dir": str(local),
        "spark.sql.shuffle.partitions": "4",
        # A zone that is not UTC, so that a time that is converted by mistake is noticed.
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.warehouse.dir": str(local / "warehouse"),
        "spark.log.level": "ERROR",
        **config,
    }
    builder = SparkSession.builder.master(master).appName("sitemill")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


class Place:
    """Where a test publishes. What is published is in ``directory``; for a bucket, that is where the store keeps it."""

    def __init__(self, out: Any, directory: pathlib.Path, options: Mapping[str, Any]) -> None:
        self.out, self.directory = out, directory
        #: For functions that look at what is published.
        self.at = dict(options)
        self.options = {"out": out, **options}
        self.is_bucket = out != directory


class Rows:
    """Rows in Parquet files that Spark wrote, and the set that one machine makes of them."""

    def __init__(
        self, directory: pathlib.Path, make: Callable[[SparkSession], DataFrame], options: Mapping[str, Any]
    ) -> None:
        self.files, self.one, self.make, self.options = directory / "rows", directory / "one", make, options
        self.report: Any = None

    def read(self, spark: SparkSession) -> DataFrame:
        """The rows as a data frame. The first call writes them, and builds the set on one machine."""
        if self.report is None:
            # Files have several row groups, so that a file can be divided among tasks.
            writer = self.make(spark).write.mode("overwrite").option("parquet.block.size", 1 << 15)
            writer.parquet(str(self.files))
            rows = pyarrow.parquet.read_table(self.files)
            self.report = sitemill.build(rows, out=self.one, **ONE_MACHINE, **self.options)
        return spark.read.parquet(str(self.files))

    def check(self, out: pathlib.Path, report: Any) -> None:
        """Checks that a cluster has published and counted what one machine did."""
        assert counts(report) == counts(self.report)
        same(out, self.one)


def counts(report: Any) -> dict[str, Any]:
    names = ("published", "lines", "blank", "listed", "duplicates", "rejected", "excluded", "dropped_tags", "sitemaps")
    names += ("indexes", "index_urls", "xml_bytes", "gzip_bytes")
    return {name: getattr(report, name) for name in names}


def published(out: pathlib.Path) -> dict[str, bytes]:
    """The files that crawlers see."""
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def same(out: pathlib.Path, other: pathlib.Path) -> None:
    """Checks that two sets are equal, and that no run has left anything."""
    found, wanted = published(out), published(other)
    assert sorted(found) == sorted(wanted)
    assert [name for name in found if found[name] != wanted[name]] == []
    assert staged(out) == []


def staged(out: pathlib.Path) -> list[str]:
    """What the staging of runs contains."""
    staging = out / ".sitemill/staging"
    there = [path for path in staging.rglob("*")] if staging.exists() else []
    if (out / ".sitemill/journal.json").exists():
        # The store keeps directories that are empty, and a mark says that late workers may leave something for the next run.
        there = [path for path in there if path.is_file() and path.suffix != ".workers"]
    return sorted(str(path.relative_to(staging)) for path in there)


def small(spark: SparkSession) -> DataFrame:
    """Rows of all kinds, in random order."""
    chance = random.Random(SEED)
    rows = [_row(number, chance) for number in range(6000)]
    chance.shuffle(rows)
    schema = "page binary, updated timestamp, changefreq string, priority string, "
    schema += "alternates map<string,string>, images array<string>, stock int"
    return spark.createDataFrame(rows, schema)


def flat(spark: SparkSession) -> DataFrame:
    """The same rows without nested columns, which tasks read from files by themselves."""
    return small(spark).drop("alternates", "images").withColumn("page", F.col("page").cast("string"))


def _row(number: int, chance: random.Random) -> tuple[Any, ...]:
    page = f"{BASE}{chance.choice(['a', 'b', 'ü&'])}/{number}".encode()
    time = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=chance.randrange(10_000_000))
    often = f"{BASE}often/{chance.randrange(600)}".encode()
    kind = number % 30
    if kind == 0:
        return (None, None, None, None, None, None, None)
    if kind == 1:
        return (b"  ", time, None, None, None, None, 1)
    if kind == 2:
        return (f"no url {number}".encode(), time, None, None, None, None, 2)
    if kind == 3:
        return (f"https://o{number % 13}.example/".encode(), None, None, None, None, None, 3)
    if kind in (4, 5):
        # Two URLs that would be one if invalid bytes were replaced.
        return (page[:30] + [b"\xff", b"\xfe"][kind - 4], time, None, None, None, None, 4)
    if kind == 6:
        return (page, None, "sometimes", "7", None, None, 5)
    if kind == 7:
        return (page, time, "daily", "0.5", {"de": BASE + "de", "en-GB": BASE + "gb?a&b"}, None, 6)
    if kind == 8:
        return (page, time, None, None, None, [BASE + "i.png?a&b", BASE + "ü.png"], 7)
    if kind == 9:
        return (page, None, None, None, {"no language": "no url"}, ["none"], 8)
    if kind < 18:
        return (often, time if kind < 17 else None, None, chance.choice([None, "0.1", "1"]), None, None, 9)
    return (page, time if kind < 24 else None, None, None, None, None, None)


def large(spark: SparkSession) -> DataFrame:
    """Enough rows for several regions: 2.1 million, of which 100,000 are duplicates."""
    ids = spark.range(2_100_000).select((F.col("id") * 1_000_003 % 2_000_000).alias("id"))
    return ids.selectExpr(
        f"case when id % 1000 = 7 then 'nothing' else concat('{BASE}', id) end as page",
        "timestamp_seconds(1700000000 + id * 7919 % 100000) as updated",
    )


class Standalone:
    """A master on 127.0.0.1, and workers on 127.0.0.1 and 127.0.0.2. The second one does not see the directory ``hidden``."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory, self.processes = directory, []
        self.hidden = directory / "hidden"
        self.hidden.mkdir()
        #: Where the master listens, once it does.
        self.url = ""
        #: Only root may hide a directory.
        self.hides = os.geteuid() == 0 and shutil.which("unshare") is not None

    def __enter__(self) -> "Standalone":
        # The master chooses its port. One that is chosen for it may be taken before it starts, and it would silently use the next.
        self._start("master.Master", "127.0.0.1", "--port", "0", "--webui-port", "0")
        log = self.directory / "master.Master-127.0.0.1.log"
        wait_for("the master", lambda: "I have been elected leader" in log.read_text())
        self.url = re.findall(r"Starting Spark master at (\S+)", log.read_text())[0]
        for host in ("127.0.0.1", "127.0.0.2"):
            own = ["--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir", str(self.directory / host)]
            self._start("worker.Worker", host, *own, self.url)
        return self

    def _start(self, name: str, host: str, *words: str) -> None:
        home = pathlib.Path(pyspark.__file__).parent
        command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{name}", "--host", host, *words]
        if host == "127.0.0.2" and self.hides:
            hide = 'mount -t tmpfs none "$0" && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", hide, str(self.hidden), *command]
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": host, "SPARK_NO_DAEMONIZE": "1"}
        log = (self.directory / f"{name}-{host}.log").open("wb")
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        log.close()
        self.processes.append(process)

    def __exit__(self, *_: Any) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for(what: str, there: Callable[[], Any], seconds: float = 300) -> None:
    """Waits until something is there."""
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end, f"{what}: not after {seconds} seconds"
        time.sleep(0.1)
