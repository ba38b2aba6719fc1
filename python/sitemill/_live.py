"""Functions for published sets: checks them, reads them, compares them, and restores earlier ones."""

from __future__ import annotations

from typing import Optional, Union

from . import _sitemill
from ._errors import late_warnings, tell
from ._options import Headers, integer, optional_word, paths_of, store_settings, switch, thread_count, word
from ._paths import Path
from ._progress import ProgressCallback, end, progress_callback
from ._report import CheckReport, RolledBack, Status, Statuses
from ._sitemill import Stream


def check(
    *paths: Path,
    name: Optional[str] = None,
    base_url: Optional[str] = None,
    scope: Optional[str] = None,
    limit_findings: int = 1000,
    endpoint: Optional[str] = None,
    state: Optional[Path] = None,
    threads: Optional[int] = None,
    progress: Union[bool, ProgressCallback, None] = None,
) -> CheckReport:
    """Validates published sitemaps, index files or directories, with a reader and rules that the writer does not use.

    Args:
        paths: the files and directories.
        name: check only the set of this name in each directory; all sets by default.
        base_url: the URL of their directory; from ``robots-sitemaps.txt`` by default. For a set built with ``url_encoding``, write
            non-ASCII characters percent-encoded, as published.
        scope: which URLs may be listed: ``"directory"``, ``"host"`` or ``"any"``; as built by default, or unchecked if the
            manifest may not be read.
        limit_findings: how many findings are returned, at most 10,000 per file; all are counted.
        endpoint: the URL of an S3-compatible store; ``AWS_ENDPOINT_URL`` or Amazon's by default.
        state: where ``.sitemill`` is kept, such as ``"s3://private/shop"``, if not below the published files.
        threads: worker threads; all cores by default.
        progress: as for :func:`build`.

    Returns:
        The findings and the counts. It is true if there are no findings: ``assert sitemill.check(out)``.
    """
    words = (optional_word("name", name), optional_word("base_url", base_url), optional_word("scope", scope))
    numbers = (integer("limit_findings", limit_findings), thread_count(threads))
    store = store_settings(endpoint, state)
    callback = progress_callback(progress)
    try:
        found = _sitemill.check(paths_of(paths), *words, *numbers, store, callback)
    finally:
        end(callback)
    return CheckReport._of(*found)


def urls(
    *paths: Path,
    name: Optional[str] = None,
    endpoint: Optional[str] = None,
    state: Optional[Path] = None,
    threads: Optional[int] = None,
) -> Stream:
    """Returns the URLs of published sitemaps, index files or directories as an Arrow stream.

    The columns are ``loc``, ``lastmod``, ``changefreq`` and ``priority`` as text, ``alternates`` and ``images`` as lists of structs
    (``hreflang``, ``href``; ``loc``, ``caption``, ``geo_location``, ``title``, ``license``), and ``videos`` and ``news`` as JSON::

        frame = polars.DataFrame(sitemill.urls("/var/www/html"))

    :func:`build` reads them all, so it makes the same sitemaps from the stream or from a frame made of it.

    If several sets share a directory, all are listed, or only that of ``name``. ``endpoint`` and ``state`` are those of
    :func:`check`.
    """
    set_name = optional_word("name", name)
    return _sitemill.urls(paths_of(paths), set_name, thread_count(threads), store_settings(endpoint, state))


def diff(
    old: Path,
    new: Path,
    *,
    name: Optional[str] = None,
    memory: Union[int, str, None] = None,
    scratch: Optional[Path] = None,
    endpoint: Optional[str] = None,
    state: Optional[Path] = None,
    threads: Optional[int] = None,
) -> Stream:
    """Returns the differences between two sets as an Arrow stream, in the order of the URLs.

    The columns are ``change`` (``added``, ``removed`` or ``changed``), ``loc``, ``old_lastmod`` and ``new_lastmod``. ``old`` and
    ``new`` are published directories, index files, sitemaps, or manifests of kept sets. If several sets share a directory, each is
    compared with the one of the same name, or only that of ``name``. ``memory`` is a number of bytes or a size such as ``"2G"``;
    beyond it, URLs are sorted in files in ``scratch``. ``endpoint`` and ``state`` are those of :func:`check`.
    """
    words = (optional_word("name", name), optional_word("memory", memory), optional_word("scratch", scratch))
    store = store_settings(endpoint, state)
    return _sitemill.diff(word("old", old), word("new", new), *words, thread_count(threads), store)


def status(
    directory: Path, *, name: Optional[str] = None, endpoint: Optional[str] = None, state: Optional[Path] = None
) -> list[Status]:
    """Returns the live and kept sets of a directory or, for the parent of several sites, of each site.

    If several sets share a directory, it returns all of them, or only that of ``name``. ``endpoint`` and ``state`` are those
    of :func:`check`.
    """
    store = store_settings(endpoint, state)
    found = _sitemill.status(word("directory", directory), optional_word("name", name), store)
    return Statuses(map(Status._of, found))


def rollback(
    directory: Path,
    *,
    name: Optional[str] = None,
    to: Optional[int] = None,
    robots: Optional[Path] = None,
    robots_any_name: bool = False,
    endpoint: Optional[str] = None,
    state: Optional[Path] = None,
    sitemap_header: Headers = None,
    index_header: Headers = None,
    allow_unsafe_store: bool = False,
    progress: Union[bool, ProgressCallback, None] = None,
) -> RolledBack:
    """Restores an earlier set, and makes it the live one.

    Args:
        directory: the directory of the set.
        name: its name; the set without a name by default.
        to: the number of the set, as ``status`` shows it; by default, the last set before the live one that has
            other files and was not rolled back.
        robots: a robots.txt in which the index files are listed.
        robots_any_name: accept a robots.txt with a name like ``Robots.txt``.
        endpoint, state, sitemap_header, index_header, allow_unsafe_store: as for :func:`build`.
        progress: as for :func:`build`.
    """
    place, set_name = word("directory", directory), optional_word("name", name)
    number = None if to is None else integer("to", to)
    of_robots = (optional_word("robots", robots), switch("robots_any_name", robots_any_name))
    store = store_settings(endpoint, state, sitemap_header, index_header, allow_unsafe_store)
    callback = progress_callback(progress)
    try:
        done = _sitemill.rollback(place, set_name, number, *of_robots, store, callback)
    finally:
        end(callback)
    replaced, live, urls, warnings, late = done
    restored = RolledBack(replaced, live, urls, (*warnings, *late_warnings(late)))
    tell(restored.warnings, f"set {live}", late, restored, stacklevel=2)
    return restored
