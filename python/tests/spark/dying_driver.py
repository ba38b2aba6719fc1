"""A driver that the test kills: reads ROWS, publishes to OUT, and waits with a mark in MARKS when all sitemaps are written."""

import functools
import pathlib
import sys

import cluster
import faults
import sitemill.spark

rows, out, marks = sys.argv[1:]
session = cluster.session("local[1]", pathlib.Path(marks) / "local", {})
sitemill.spark._Produce = functools.partial(faults.Waits, marks)
sitemill.spark.build(session.read.parquet(rows), out=out, **cluster.OPTIONS)
