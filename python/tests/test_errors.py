"""Errors are exceptions with a class for each kind, in the words of Python."""

import errno
import json
import os
import pathlib
import pickle
import re
import signal
import threading
import traceback

import pyarrow
import pytest

import sitemill
from conftest import BASE, pages

URLS = pyarrow.table({"url": pages(3)})


def failure(call):
    with pytest.raises(sitemill.SitemillError) as raised:
        call()
    return raised.value


@pytest.fixture
def build(tmp_path):
    def run(rows=URLS, **options):
        return sitemill.build(rows, **{"base_url": BASE, "out": tmp_path / "out", **options})

    return run


WRONG_OPTIONS = [
    dict(scope="world"),
    dict(base_url="www.example.com"),
    dict(urls_per_sitemap=50_001),
    dict(urls_per_sitemap="many"),
    dict(bytes_per_sitemap="1Z"),
    dict(bytes_per_sitemap="60M"),
    dict(sitemaps_per_index=0),
    dict(level=10),
    dict(gzip_engine="zip"),
    dict(order="random"),
    dict(divide="half"),
    dict(on_duplicate="last"),
    dict(protocol="1.0"),
    dict(lastmod_zone="Mars"),
    dict(lastmod_unit="years"),
    dict(default_changefreq="often"),
    dict(default_priority=2),
    dict(columns="page"),
    dict(columns="url=page", url="page"),
    dict(delimiter="ab"),
    dict(escape="n"),
    dict(format="xls"),
    dict(input_encoding="klingon"),
    dict(url_encoding="klingon"),
    dict(max_rejects="all"),
    dict(max_dropped_tags="101%"),
    dict(max_shrink="many"),
    dict(expect_lines="2..1"),
    dict(keep="long"),
    dict(keep_sets=-1),
    dict(memory="1Z"),
    dict(threads=0),
    dict(rejects="same", report="same"),
    dict(rejects="same", diff="same", html="same", metrics="same"),
]


@pytest.mark.parametrize("options", WRONG_OPTIONS, ids=str)
def test_a_wrong_option_is_a_usage_error_in_the_words_of_python(build, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = failure(lambda: build(**options))
    assert isinstance(error, sitemill.UsageError) and isinstance(error, ValueError)
    assert (error.kind, error.exit_code) == ("usage", 2)
    assert any(name in str(error) for name in options), error
    check_words(error)
    assert not (tmp_path / "out" / "sitemap-index-1.xml").exists()


def check_words(error) -> None:
    """No flags, no help of the command line, and nothing of Rust."""
    message = str(error)
    assert message and "\n" not in message
    assert not re.search(r"(^|[^\w-])--[a-z]", message), message
    assert not re.search(r"tip:|--help|for more information|Some\(|usage:", message, re.IGNORECASE), message
    assert not message.endswith("."), message


class Column:
    """A stream that is not a table."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pyarrow.chunked_array([pages(3)]).__arrow_c_stream__(requested_schema)


def refusals(build, tmp_path):
    """Refused or failed runs: the call, the class and exit code, and words of the message."""
    long = pyarrow.table({"url": [*pages(3), "nonsense", "https://other.example/"]})
    out = tmp_path / "out"
    yield lambda: build([b"nonsense"]), sitemill.DataRefused, 65, "nothing was published"
    yield lambda: build([]), sitemill.DataRefused, 65, "allow_empty=True"
    yield lambda: build(long, max_rejects=1), sitemill.DataRefused, 65, "max_rejects is 1"
    yield lambda: build(long, max_rejects="1%"), sitemill.DataRefused, 65, 'max_rejects'
    yield lambda: build(URLS, expect_lines=4), sitemill.DataRefused, 65, "expect_lines is 4"
    yield lambda: build(URLS.append_column("priority", [["x"] * 3]), max_dropped_tags=0), sitemill.DataRefused, 65, "max_dropped_tags"
    yield lambda: build(pyarrow.table({"page": pages(3)})), sitemill.DataRefused, 65, 'url="NAME"'
    yield lambda: build(pyarrow.table({"url": [1]})), sitemill.DataRefused, 65, 'url="NAME"'
    yield lambda: build(tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: build([tmp_path / "dir"], require_success_marker=True), sitemill.DataRefused, 65, "require_success_marker"
    yield lambda: build(rejects=tmp_path / "no" / "file"), sitemill.OutputError, 73, "cannot be created"
    yield lambda: build(out=tmp_path / "file" / "out"), sitemill.OutputError, 73, "file"
    yield lambda: sitemill.status(tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: sitemill.rollback(out), sitemill.DataRefused, 65, "out"
    yield lambda: sitemill.rollback(tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: sitemill.check(tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: sitemill.check(out, scope="world"), sitemill.UsageError, 2, "scope"
    yield lambda: sitemill.check(out, base_url="foo"), sitemill.UsageError, 2, "base_url"
    yield lambda: sitemill.check(), sitemill.UsageError, 2, "no paths"
    yield lambda: sitemill.urls(), sitemill.UsageError, 2, "no paths"
    yield lambda: sitemill.check(out, limit_findings=-1), sitemill.UsageError, 2, "limit_findings=-1"
    yield lambda: sitemill.diff(out, out, memory=-1), sitemill.UsageError, 2, 'memory="-1"'
    yield lambda: build(lastmod_unit="days"), sitemill.UsageError, 2, "lastmod_unit='days': expected one of text, seconds"
    yield lambda: sitemill.rollback(out, to=-1), sitemill.UsageError, 2, "to=-1"
    yield lambda: sitemill.rollback(out, to=1 << 64), sitemill.UsageError, 2, "to=18446744073709551616"
    yield lambda: build(Column()), sitemill.DataRefused, 65, "give a table"
    yield lambda: sitemill.check(out, threads=0), sitemill.UsageError, 2, "threads"
    yield lambda: sitemill.urls(tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: sitemill.diff(out, tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: sitemill.clean(tmp_path / "missing"), sitemill.InputError, 66, "missing"
    yield lambda: build(base_url="https://other.example/"), sitemill.DataRefused, 65, "replace_set=True"
    yield lambda: build(URLS.slice(0, 1)), sitemill.DataRefused, 65, "max_shrink"
    yield lambda: sitemill.rollback(out, to=99), sitemill.DataRefused, 65, "no earlier set 99 is kept"


def test_every_failure_has_its_class_kind_path_and_exit_code(build, tmp_path):
    build()
    (tmp_path / "file").touch()
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "part-0").write_text(BASE)
    live = sitemill.status(tmp_path / "out")[0].live
    for call, expected, exit_code, words in refusals(build, tmp_path):
        error = failure(call)
        assert isinstance(error, expected), repr(error)
        assert exit_code in (None, error.exit_code), repr(error)
        assert words in str(error), error
        check_words(error)
        if isinstance(error, (sitemill.InputError, sitemill.OutputError)):
            assert error.path and str(tmp_path) in error.path, repr(error)
            assert isinstance(error, OSError)
    assert sitemill.status(tmp_path / "out")[0].live == live


def test_the_error_of_a_rollback_to_an_unknown_set_names_the_function_that_lists_sets(build, tmp_path):
    for _ in range(2):
        build()
    error = failure(lambda: sitemill.rollback(tmp_path / "out", to=99))
    assert "no earlier set 99 is kept; run status to list the sets that can be restored" in str(error)


def test_refused_data_has_the_report(build, tmp_path):
    file = tmp_path / "report.json"
    error = failure(lambda: build(["nonsense://", BASE], max_rejects=0, report=file))
    assert isinstance(error, sitemill.DataRefused)
    assert (error.report.lines, error.report.listed, error.report.published) == (2, 1, False)
    assert error.report.rejected_total == 1
    assert "not published" in error.report._repr_html_()
    assert error.report.raw == json.loads(file.read_text())
    assert error.report.raw["exit_code"] == 65 and "--max-rejects is 0" in error.report.raw["error"]
    assert "Why nothing was published" in error.report.html()
    assert failure(lambda: build(pyarrow.table({"x": [1]}))).report is None


def test_an_exception_of_the_rows_ends_the_build_and_is_its_cause(build, tmp_path):
    build()
    live = sitemill.status(tmp_path / "out")

    def rows():
        yield from pages(5000)
        raise LookupError("the database is gone")

    error = failure(lambda: build(rows()))
    assert isinstance(error, sitemill.OutputError) and error.kind == "io"
    assert "row 5001 could not be read: LookupError: the database is gone" in str(error)
    assert isinstance(error.__cause__, LookupError)
    assert "in rows" in "".join(traceback.format_exception(error))
    assert sitemill.status(tmp_path / "out") == live

    error = failure(lambda: sitemill.clean(broken()))
    assert isinstance(error.__cause__, ZeroDivisionError)


def broken():
    yield BASE
    raise ZeroDivisionError("no rows")


def test_exceptions_that_end_the_program_are_raised_as_they_are(build, tmp_path):
    for kind in (SystemExit, KeyboardInterrupt, GeneratorExit):

        def rows():
            yield BASE
            raise kind("stop")

        with pytest.raises(kind):
            build(rows())
    assert not (tmp_path / "out" / "sitemap-index-1.xml").exists()


def test_a_second_build_of_a_directory_is_busy(build, tmp_path):
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        go_on.wait(60)
        yield BASE

    first = threading.Thread(target=build, args=(slow(),))
    first.start()
    assert begun.wait(60)
    error = failure(build)
    go_on.set()
    first.join()
    assert isinstance(error, sitemill.Busy)
    assert (error.kind, error.exit_code) == ("busy", 75)
    check_words(error)


def test_every_class_is_documented_and_public():
    from sitemill import _errors

    classes = [name for name, value in vars(_errors).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert "SitemillError" in classes
    for name in classes:
        assert name in sitemill.__all__ and getattr(sitemill, name).__doc__
    assert pathlib.Path(sitemill.__file__).with_name("py.typed").exists()


@pytest.mark.parametrize("name", ["Export --final", "x; usage: y", "--level 5"])
def test_texts_of_the_user_stay_as_they_are_in_messages(build, tmp_path, name):
    path = tmp_path / name / "x.csv"
    assert f"{path}: cannot be read" in str(failure(lambda: build(path)))
    error = failure(lambda: build(rejects=tmp_path / name, report=tmp_path / name))
    assert str(error).startswith(f"report {tmp_path / name}: the same file as rejects {tmp_path / name}"), error
    assert str(failure(lambda: build(level=name))).startswith(f"level={name!r}: ")
    assert str(failure(lambda: build(order=name))).startswith(f"order={name!r}")


def ends_of_runs():
    """Rows and options of runs that an exception ends: its class, and the kind of failure in the files for reports."""
    yield iter([{"page": BASE}]), {}, sitemill.DataRefused, 65, "row 1: there is no column loc or url"
    yield iter([BASE]), {"url": "page"}, sitemill.DataRefused, 65, "row 1 is a string"
    yield iter([BASE, 5]), {}, sitemill.RowTypeError, 65, "row 2 is of type int"
    yield (1 / 0 for _ in "x"), {}, sitemill.OutputError, 74, "row 1 could not be read"
    yield endless(), {"progress": lambda phase: 1}, TypeError, 74, "a callback raised TypeError"
    yield endless(), {"progress": interrupt}, KeyboardInterrupt, 130, "interrupted; nothing was published"


def endless():
    number = 0
    while True:
        yield f"{BASE}{number}"
        number += 1


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("rows, options, kind, exit_code, words", list(ends_of_runs()))
def test_the_files_for_reports_say_why_a_run_has_ended(build, tmp_path, monkeypatch, rows, options, kind, exit_code, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind):
        build(rows, report="report.json", html="report.html", metrics="metrics.prom", **options)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["exit_code"], words in report["error"]) == (exit_code, True), report
    assert re.search(rf"sitemill_exit_code\{{.*\}} {exit_code}\n", (tmp_path / "metrics.prom").read_text())
    assert words.partition(";")[0] in (tmp_path / "report.html").read_text()


def test_a_signal_handler_that_raises_is_an_interruption_and_no_failure_of_a_disk(build, tmp_path):
    fifo, report, ended = tmp_path / "fifo", tmp_path / "report.json", threading.Event()
    os.mkfifo(fifo)

    def terminate():
        # Once the run reads.
        with open(fifo, "w"):
            os.kill(os.getpid(), signal.SIGTERM)
            ended.wait()

    def handler(*_):
        raise RuntimeError("terminated")

    before = signal.signal(signal.SIGTERM, handler)
    thread = threading.Thread(target=terminate)
    try:
        thread.start()
        with pytest.raises(RuntimeError, match="terminated"):
            build(fifo, report=report)
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGTERM, before)
    report = json.loads(report.read_text())
    words = "interrupted: a signal handler raised RuntimeError: terminated"
    assert (report["exit_code"], report["error"].partition(";")[0]) == (130, words)


def test_warnings_have_the_reason_of_the_system(build, tmp_path):
    directory = tmp_path / "site"
    directory.mkdir()

    def rows():
        yield BASE
        # The run has checked that it can write there.
        directory.rmdir()
        directory.touch()

    with pytest.warns(RuntimeWarning, match=r"robots.txt: .*\(os error 20\); the new set is live"):
        build(rows(), robots=directory / "robots.txt")


def test_errors_of_the_system_have_the_fields_of_an_os_error(build, tmp_path):
    error = pickle.loads(pickle.dumps(failure(lambda: build(tmp_path / "missing"))))
    assert isinstance(error, OSError) and (error.errno, error.filename) == (errno.ENOENT, str(tmp_path / "missing"))
    assert error.strerror == os.strerror(errno.ENOENT) and str(error).startswith(error.filename)
    (tmp_path / "list").write_text("nonsense")
    assert not hasattr(failure(lambda: build(tmp_path / "list")), "errno")


@pytest.mark.parametrize("inner", [[b"nonsense"], [5], [{"page": BASE}]])
def test_an_exception_of_another_run_is_the_cause_like_any_other(build, tmp_path, inner):
    def rows():
        yield BASE
        sitemill.build(inner, base_url=BASE, out=tmp_path / "inner")

    error = failure(lambda: build(rows()))
    assert isinstance(error, sitemill.OutputError) and "row 2 could not be read" in str(error)
    assert isinstance(error.__cause__, (sitemill.DataRefused, sitemill.RowTypeError))
    error = failure(lambda: sitemill.clean(rows()))
    assert isinstance(error.__cause__, (sitemill.DataRefused, sitemill.RowTypeError))


def test_the_path_of_an_error_is_that_of_a_file_whose_name_is_not_utf_8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"d\xe9")
    error = failure(lambda: sitemill.rollback(os.fsdecode(path)))
    assert error.path == os.fsdecode(path)


def test_the_path_of_an_error_has_no_secrets():
    with pytest.raises(sitemill.SitemillError) as refused:
        sitemill.check("https://user:5ec@h.example/x?sig=5ec")
    assert refused.value.path == "https://h.example/x?…" and "5ec" not in str(refused.value)
