"""Executors in processes of their own, which can be killed."""

from __future__ import annotations

import functools
import random

import cluster
import faults
import sitemill.spark
from cluster import OPTIONS

MASTER = "local-cluster[2,1,1024]"
CONFIG = {"spark.executor.memory": "1024m"}


def test_two_executors_make_the_set_of_one_machine(spark, small, tmp_path):
    report = sitemill.spark.build(small.read(spark).repartition(6), out=tmp_path / "out", **OPTIONS)
    small.check(tmp_path / "out", report)


def test_an_executor_that_is_killed_changes_nothing(spark, rows_or_files, place, marks, monkeypatch):
    seconds = random.Random(cluster.SEED).uniform(0.1, 2) if cluster.SEED else 0
    monkeypatch.setattr(sitemill.spark, "_Produce", functools.partial(faults.KillsExecutor, str(marks), seconds))
    rows = rows_or_files.read(spark)
    rows = rows.repartition(6) if rows_or_files.make is cluster.small else rows
    report = sitemill.spark.build(rows, **place.options, **OPTIONS)
    rows_or_files.check(place.directory, report)
    assert [path.name for path in marks.iterdir()] == ["killed"]
