"""A standalone cluster with two addresses: stragglers, and a directory that one worker does not see."""

from __future__ import annotations

import functools

import pytest

import cluster
import faults
import sitemill
import sitemill.spark
from cluster import LARGE_OPTIONS, OPTIONS

#: The master that the fixture starts.
MASTER = None
CONFIG = {
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.locality.wait": "0",
    # By default, Spark may say for 10 seconds that an executor is idle although a task has started.
    "spark.ui.liveUpdate.period": "0",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "3s",
}


@pytest.fixture(autouse=True)
def executors(spark):
    """Waits until both executors are idle: a task that a test has given up may hold its core for seconds."""
    tracker = spark.sparkContext._jsc.sc().statusTracker()

    def idle():
        # The driver is one of them.
        executors = list(tracker.getExecutorInfos())
        return len(executors) == 3 and not any(executor.numRunningTasks() for executor in executors)

    cluster.wait_for("two idle executors", idle)


def test_two_workers_make_the_set_of_one_machine(spark, small, tmp_path):
    report = sitemill.spark.build(small.read(spark).repartition(6), out=tmp_path / "out", **OPTIONS)
    small.check(tmp_path / "out", report)


@pytest.mark.parametrize("are_files", [False, True])
def test_a_straggler_and_its_copy_make_the_set_of_one_machine(spark, large, place, marks, monkeypatch, are_files):
    monkeypatch.setattr(sitemill.spark, "_Produce", functools.partial(faults.Straggles, str(marks)))
    rows = large.read(spark)
    rows = rows if are_files else rows.repartition(4)
    report = sitemill.spark.build(rows, **place.options, **LARGE_OPTIONS)
    large.check(place.directory, report)
    attempts = {path.name for path in marks.iterdir()}
    assert {"task 0 attempt 0", "task 0 attempt 1", "task 1 attempt 0"} <= attempts


def test_a_directory_that_a_worker_does_not_see_is_refused_before_any_row_is_read(
    spark, standalone, small, marks
):
    if not standalone.hides:
        pytest.skip("only root can hide a directory from a worker")
    rows = small.read(spark)
    rows = rows.mapInArrow(faults.Touches(str(marks)), rows.schema)
    out = standalone.hidden / "out"
    with pytest.raises(sitemill.OutputError) as raised:
        sitemill.spark.build(rows, out=out, **OPTIONS)
    assert f"{out}: the directory is not shared with this worker" in str(raised.value)
    assert not list(marks.iterdir()) and cluster.staged(out) == []
