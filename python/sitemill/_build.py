"""Functions that take rows: builds a set of them, or returns their canonical URLs."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _columns, _frames, _paths, _sitemill
from ._errors import DataRefused, UsageError, late_warnings, tell
from ._options import RESULTS, Files, Headers, Patterns, Rewrites, arguments_of, optional_word
from ._paths import Path
from ._progress import ProgressCallback, end, progress_callback
from ._report import Report
from ._sitemill import Stream

#: Paths, an object with ``__arrow_c_stream__``, or an iterable of strings or dictionaries.
Rows = Union[Path, Sequence[Path], Iterable[Union[str, bytes, Mapping[str, Any]]], Any]


def build(
    rows: Rows,
    *,
    base_url: str,
    out: Path,
    name: Optional[str] = None,
    # Columns.
    url: Optional[str] = None,
    lastmod: Optional[str] = None,
    changefreq: Optional[str] = None,
    priority: Optional[str] = None,
    alternates: Optional[str] = None,
    images: Optional[str] = None,
    videos: Optional[str] = None,
    news: Optional[str] = None,
    # Sections.
    section_column: Optional[str] = None,
    sections: Optional[Path] = None,
    section_by_path: bool = False,
    sections_max: Optional[int] = None,
    # What may be listed, and how.
    scope: Optional[str] = None,
    relative_to: Optional[str] = None,
    rewrite: Rewrites = None,
    include: Patterns = None,
    exclude: Patterns = None,
    include_file: Files = None,
    exclude_file: Files = None,
    respect_robots: Optional[Path] = None,
    robots_agent: Optional[str] = None,
    protocol: Optional[str] = None,
    order: Optional[str] = None,
    divide: Optional[str] = None,
    on_duplicate: Optional[str] = None,
    urls_per_sitemap: Optional[int] = None,
    bytes_per_sitemap: Union[int, str, None] = None,
    sitemaps_per_index: Optional[int] = None,
    level: Optional[int] = None,
    gzip_engine: Optional[str] = None,
    # Tags.
    lastmod_zone: Optional[str] = None,
    lastmod_unit: Optional[str] = None,
    default_changefreq: Optional[str] = None,
    default_priority: Union[float, str, None] = None,
    # Files.
    format: Optional[str] = None,
    columns: Optional[str] = None,
    delimiter: Optional[str] = None,
    escape: Optional[str] = None,
    input_encoding: Optional[str] = None,
    url_encoding: Optional[str] = None,
    require_success_marker: bool = False,
    # Reports.
    rejects: Optional[Path] = None,
    diff: Optional[Path] = None,
    report: Optional[Path] = None,
    html: Optional[Path] = None,
    metrics: Optional[Path] = None,
    robots: Optional[Path] = None,
    robots_any_name: bool = False,
    # Guards.
    max_rejects: Union[int, str, None] = None,
    max_dropped_tags: Union[int, str, None] = None,
    max_shrink: Union[float, str, None] = None,
    expect_lines: Union[int, str, None] = None,
    allow_empty: bool = False,
    allow_missing_sites: bool = False,
    replace_set: bool = False,
    take_over: bool = False,
    # Publishing.
    dry_run: bool = False,
    also: Files = None,
    then: Union[str, Sequence[str], None] = None,
    # Earlier sets.
    keep: Optional[str] = None,
    keep_sets: Optional[int] = None,
    ignore_manifest: bool = False,
    # Object stores.
    endpoint: Optional[str] = None,
    state: Optional[Path] = None,
    sitemap_header: Headers = None,
    index_header: Headers = None,
    allow_unsafe_store: bool = False,
    # Resources.
    memory: Union[int, str, None] = None,
    scratch: Optional[Path] = None,
    threads: Optional[int] = None,
    progress: Union[bool, ProgressCallback, None] = None,
) -> Report:
    """Builds a set of sitemaps from ``rows`` and makes it the live one.

    The switch is atomic: until then, and if anything fails, the previous set stays live. The call blocks, but other Python
    threads keep running. Ctrl-C stops it within a second, or later if a store does not respond, and leaves the live set as
    it is. Once the new set is live, ``KeyboardInterrupt``, or a warning that a filter turns into an exception, has the report as
    its ``result``.

    Args:
        rows: a path or a list of paths of files or directories, in any format of the command line; or an object with
            ``__arrow_c_stream__`` such as a data frame; or an iterable of strings or dictionaries. Strings in a list are URLs if
            any contains ``://``, and paths otherwise. Dictionaries have the keys ``url`` or ``loc``, ``lastmod``, ``changefreq``,
            ``priority``, ``alternates``, ``images``, ``videos`` and ``news``.
        base_url: the URL of the directory that the set is published in. ``{origin}/`` makes a set for each scheme, host and
            port.
        out: the directory to publish in, created if missing; or a prefix of a bucket, such as ``"s3://bucket/prefix"``.
        name: the name of the set, which is part of its file names. Sets with different names can share ``out``.
        url, lastmod, changefreq, priority, alternates, images, videos, news: names of columns or keys, if they are not the usual
            ones.
        section_column: the column or key with the section of each URL. Each section has its own sitemaps and index files.
        sections: a TOML file with the prefixes and patterns of each section.
        section_by_path: make the first segment of the path the section.
        sections_max: the maximum number of sections, up to 10,000; by default 100 by path and 1,000 by column.
        scope: which URLs may be listed: ``"directory"`` (below the base URL, the default), ``"host"`` or ``"any"``.
        relative_to: the URL that rows without a scheme, such as ``/p/1``, are relative to. Without it, they are rejected. A list
            of such rows would be taken for a list of paths, so pass an iterator. URLs of alternates, images and videos must be
            absolute.
        rewrite: prefixes of URLs and their replacements: ``{"https://staging.example.com/": "https://www.example.com/"}``, or
            strings ``"FROM=TO"``. The first that matches applies. URLs of alternates, images and videos stay as they are.
        include, exclude: regular expressions for canonical URLs, one or a list. URLs that match an ``exclude``, or match no
            ``include`` if there are any, are left out and counted in ``excluded`` of the report.
        include_file, exclude_file: files of such patterns, one per line; lines that begin with ``#`` are comments.
        respect_robots: a robots.txt; URLs that it forbids are left out.
        robots_agent: the crawler whose rules in it apply; all crawlers by default.
        protocol: ``"0.9"`` (the default) or ``"0.84"``.
        order: ``"input"`` (the default) keeps the order of the rows, ``"sorted"`` makes smaller files.
        divide: ``"fill"`` (the default) fills every sitemap; ``"stable"`` changes fewer sitemaps from run to run.
        on_duplicate: which of several rows with the same URL is listed: ``"first"`` (the default) or ``"newest"``.
        urls_per_sitemap: 50,000 by default, which is also the maximum.
        bytes_per_sitemap: bytes before compression; ``"10M"`` by default, and at most ``"50M"`` (``"10M"`` with protocol 0.84).
        sitemaps_per_index: 1,000 by default, and at most 50,000 (1,000 with protocol 0.84).
        level: gzip level from 0 to 9; 2 by default.
        gzip_engine: ``"records"`` (the default) or ``"flate2"``.
        lastmod_zone: the time zone of a ``lastmod`` without one.
        lastmod_unit: the unit of a ``lastmod`` that is a number: ``"seconds"``, ``"millis"``, ``"micros"`` or ``"nanos"``.
        default_changefreq, default_priority: tags of rows that have none.
        format: the format of files, if it cannot be detected.
        columns: names or positions of columns as on the command line: ``"url=1,lastmod=3"``.
        delimiter: the delimiter of CSV files, if it cannot be detected.
        escape: the character before a quote within quotes in CSV files, such as a backslash, if quotes are not doubled.
        input_encoding: the charset of files that do not begin with a byte order mark.
        url_encoding: the charset in which the server expects non-ASCII characters of paths and queries.
        require_success_marker: refuse a directory of part files, and files and objects named ``part-*``, without ``_SUCCESS``.
        rejects: a file for rejected and excluded rows and dropped tags.
        diff: a file for the differences from the replaced set.
        report, html, metrics: files for the report as JSON, as an HTML page, and as Prometheus metrics.
        robots: a robots.txt in which the index files are listed.
        robots_any_name: accept a robots.txt with a name like ``Robots.txt``.
        max_rejects, max_dropped_tags: publish nothing if more rows are rejected, or more tags dropped, than this number or
            percentage (``"1%"``); no limit by default.
        max_shrink: refuse a set that is smaller than the live one by more than this percentage; ``"50%"`` by default. A number is
            a percentage, too; ``0.5`` is refused, because it could be 0.5% or one half.
        expect_lines: publish nothing unless the input has this number of rows: ``1000``, ``"1000.."`` (at least) or
            ``"1000..2000"``.
        allow_empty, replace_set, take_over: permit a set or section without URLs; a base URL or protocol other than that of the
            live set; and replacing files that sitemill did not write.
        allow_missing_sites: with ``{origin}/``, do not warn of live sites that have no rows.
        dry_run: publish nothing, and return what would be published; the report's ``dry_run`` says what would change.
        also: a URL or a file below ``out``, or a list of these: sitemaps that sitemill does not write, to be listed in the index
            files.
        then: a command that runs once the set is live, as a list of words or as a string, split as in a POSIX shell. It
            receives the report as JSON on standard input, and its output goes to standard error. The files ``report``,
            ``html``, ``rejects`` and ``diff`` are written before it runs, ``metrics`` after it. If it fails, the build only warns.
        keep, keep_sets: how long earlier sets are kept (``"14d"`` by default), and how many always stay (3 by default).
        ignore_manifest: publish even if the manifest is damaged; earlier sets are kept if their manifests can be read.
        endpoint: the URL of an S3-compatible store; ``AWS_ENDPOINT_URL`` or Amazon's by default.
        state: where ``.sitemill`` is kept, such as ``"s3://private/shop"``, if not below the published files.
        sitemap_header, index_header: headers sent with sitemaps and with index files, one or a list, such as
            ``"Cache-Control: max-age=300"``.
        allow_unsafe_store: publish even to a store that ignores conditional requests. Two runs at the same time could then mix
            their sets.
        memory: memory limit, such as ``"2G"``; half of RAM by default.
        scratch: the directory for scratch files; the output directory by default, or that for temporary files with ``dry_run``.
        threads: worker threads; by default all cores, or as many as fit in ``memory``.
        progress: ``True`` shows it, ``False`` hides it, and ``None`` shows it on a terminal and in a notebook. A function is
            called with the name of the phase, the number of units done and the total (0 if unknown).

    Returns:
        The report.

    Raises:
        DataRefused: the rows cannot be published; its ``report`` has the counts.
        Busy: another run holds the directory.
        UsageError: options contradict each other.
        RowTypeError: a row, or its URL, has an unsupported type.
        TypeError: ``rows`` or the value of an option has an unsupported type.
        InputError, OutputError, OutOfMemory, Interrupted, BugError: see these classes.
    """
    options = dict(locals())
    named = _columns.columns_of(options)
    for other in ("rows", "progress", *named):
        del options[other]
    inputs = _inputs(rows, named, options)
    callback = progress_callback(progress)
    try:
        built = _sitemill.build(*inputs, callback)
    finally:
        end(callback)
    return finished(*built)


def clean(
    rows: Rows,
    *,
    url: Optional[str] = None,
    relative_to: Optional[str] = None,
    rewrite: Rewrites = None,
    include: Patterns = None,
    exclude: Patterns = None,
    include_file: Files = None,
    exclude_file: Files = None,
    respect_robots: Optional[Path] = None,
    robots_agent: Optional[str] = None,
    format: Optional[str] = None,
    columns: Optional[str] = None,
    delimiter: Optional[str] = None,
    escape: Optional[str] = None,
    input_encoding: Optional[str] = None,
    url_encoding: Optional[str] = None,
    require_success_marker: bool = False,
    rejects: Optional[Path] = None,
    endpoint: Optional[str] = None,
    state: Optional[Path] = None,
    threads: Optional[int] = None,
) -> Stream:
    """Returns the canonical form of every URL, in the order of the rows, as an Arrow stream with the column ``url``.

    Rows without a valid URL, and URLs that filters exclude, are left out. Duplicates are kept, and URLs of any site are accepted.
    ``rows`` and the options are those of :func:`build`. The counts are in ``report_json`` of the stream once it has been read.

    Raises:
        The exceptions of :func:`build`. For a failure after the first batch, the library that reads the stream raises
        its own, and ``error`` of the stream is that of sitemill.
    """
    options = dict(locals())
    for other in ("rows", "url"):
        del options[other]
    return _sitemill.clean(*_inputs(rows, {"url": url}, options))


def _inputs(
    rows: Rows, named: Mapping[str, Optional[str]], options: Mapping[str, Any]
) -> tuple[list[str], Optional[Any], list[tuple[str, str]]]:
    """The arguments of the command line for these options, and the rows and the names of their columns if they are not in files."""
    names = {part: name for part, name in named.items() if name is not None}
    columns = optional_word("columns", options.get("columns"))
    if names and columns is not None:
        raise UsageError("columns and " + ", ".join(names) + " both name columns; give one or the other")
    for part, name in names.items():
        _columns.check_is_name(part, name)
    arguments = arguments_of({name: value for name, value in options.items() if name != "columns"})
    paths = _paths.paths(rows)
    if paths is not None:
        if options.get("relative_to") is not None:
            _paths.check_are_files(rows)
        pairs = _pairs(names) if columns is None else columns
        return [*arguments, *arguments_of({"columns": pairs}), "--", *paths], None, []
    results = {name: options[name] for name in RESULTS if options.get(name) is not None}
    _paths.check_is_not_written(rows, results)
    names = _columns.named_columns(names, columns)
    section = options.get("section_column")
    of_rows = _of_rows(rows, names if section is None else {**names, "section": section})
    return arguments, of_rows, list(names.items())


def _pairs(names: Mapping[str, str]) -> Optional[str]:
    """The names of columns as an option for files, if there are any."""
    for part, name in names.items():
        if "," in name:
            raise UsageError(f"{part}={name!r}: a name with a comma cannot be given; rename the column")
    return ",".join(f"{part}={name}" for part, name in names.items()) or None


def _of_rows(rows: Any, names: Mapping[str, str]) -> Any:
    """``rows``, which are not in files, as an object with ``__arrow_c_stream__`` if possible, or else one by one."""
    _columns.check_names(names)
    if isinstance(rows, Mapping) and _columns.keys_of([str(key) for key in rows], names)[0] is not None:
        raise TypeError("rows is a dictionary; put a single row in a list, or make a data frame of columns")
    rows = _frames.frame(rows, names)
    table = _frames.table(rows, names)
    if table is not None:
        return table
    if not hasattr(rows, "__iter__"):
        raise TypeError(
            f"rows is of type {type(rows).__name__}; give paths, an object with __arrow_c_stream__, "
            "or an iterable of strings or dictionaries"
        )
    return _frames.records(rows, names)


def finished(
    text: str,
    refused: Optional[Any],
    warnings: Sequence[str],
    late: Optional[BaseException],
) -> Report:
    """Returns the report of a run, or raises the exception of a refused one. ``late`` is an exception that was raised once the set
    was live.

    Warnings are attributed to the caller of the function that calls this one, which is the user.
    """
    done = Report._of(text, [*warnings, *late_warnings(late)])
    if refused is not None:
        if isinstance(refused, DataRefused):
            refused.report = done
        raise refused
    tell(done.warnings, "the new set" if done.published else None, late, done, stacklevel=3)
    return done
