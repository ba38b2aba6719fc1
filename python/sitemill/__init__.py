"""Turns data frames and files with hundreds of millions of URLs into sitemaps.

A set of sitemaps is complete, valid and compressed, and no crawler ever sees a half-published one::

    import sitemill

    report = sitemill.build(table, base_url="https://www.example.com/", out="/var/www/html")
    print(report.listed, "URLs in", report.sitemaps, "sitemaps")

``table`` is a data frame (PyArrow, pandas, Polars, DuckDB, or anything with ``__arrow_c_stream__``), a path or list of paths, or an
iterable of strings or dictionaries.

==============  =====================================================================
``build``       builds a set and publishes it
``check``       validates published files
``urls``        the URLs of published files, as an Arrow stream
``diff``        the differences between two sets, as an Arrow stream
``clean``       the canonical form of every URL, as an Arrow stream
``status``      the live set and the kept sets of a directory
``rollback``    restores an earlier set
==============  =====================================================================

Every option of the command line is a keyword argument with the same name. Failures are exceptions: see ``SitemillError``.
``sitemill.spark`` runs a build on a Spark cluster. The command line is part of the package: ``sitemill --help``.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version as _version

from ._build import build, clean
from ._errors import (
    BugError,
    Busy,
    DataRefused,
    InputError,
    Interrupted,
    OutOfMemory,
    OutputError,
    RowTypeError,
    SitemillError,
    UsageError,
)
from ._live import check, diff, rollback, status, urls
from ._report import CheckReport, Finding, KeptSet, Report, RolledBack, Status
from ._sitemill import Stream

__all__ = [
    "build",
    "check",
    "clean",
    "diff",
    "rollback",
    "status",
    "urls",
    "Report",
    "CheckReport",
    "Finding",
    "Status",
    "KeptSet",
    "RolledBack",
    "Stream",
    "SitemillError",
    "UsageError",
    "DataRefused",
    "InputError",
    "OutputError",
    "Busy",
    "OutOfMemory",
    "Interrupted",
    "RowTypeError",
    "BugError",
]

try:
    __version__ = _version("sitemill")
except PackageNotFoundError:  # A source tree that is not installed.
    __version__ = "0"
