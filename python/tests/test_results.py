"""Results: reports as objects, URLs and differences as Arrow streams."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import warnings

import duckdb
import pandas
import polars
import pyarrow
import pytest

import sitemill
from conftest import BASE, pages, run
from sitemill import _sitemill


@pytest.fixture
def out(tmp_path):
    sitemill.build(pages(30_000), base_url=BASE, out=tmp_path / "out")
    return tmp_path / "out"


def test_urls_are_read_by_every_library(out):
    frames = [
        pyarrow.table(sitemill.urls(out)).to_pandas(),
        polars.DataFrame(sitemill.urls(out)).to_pandas(),
        pyarrow.RecordBatchReader.from_stream(sitemill.urls(out)).read_pandas(),
    ]
    stream = sitemill.urls(out)
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    frames.append(duckdb.from_arrow(reader).df())
    for frame in frames:
        assert list(frame.columns) == ["loc", "lastmod", "changefreq", "priority", "alternates", "images", "videos", "news"]
        assert frame["loc"].tolist() == pages(30_000)
    assert isinstance(frames[0], pandas.DataFrame)
    assert '"urls":30000' in stream.report_json


#: Fields of an image besides its URL.
DETAILS = ("caption", "geo_location", "title", "license")


def test_urls_have_their_tags(tmp_path):
    row = {
        "url": BASE + "ü",
        "lastmod": "2024-05-01",
        "changefreq": "daily",
        "priority": "0.5",
        "alternates": [{"hreflang": "de", "href": BASE + "de"}],
        "images": [
            {"loc": BASE + "1.png", **dict.fromkeys(DETAILS)},
            {"loc": BASE + "2.png", **{name: name for name in DETAILS}, "license": BASE + "license"},
        ],
        "videos": '[{"content_loc":"%(v)s","description":"d","thumbnail_loc":"%(v)s","title":"t"}]' % {"v": BASE + "v"},
        "news": '{"publication":{"language":"en","name":"n"},"publication_date":"2024-05-01","title":"t"}',
    }
    sitemill.build([row, {"url": BASE}], base_url=BASE, out=tmp_path)
    first, second = pyarrow.table(sitemill.urls(tmp_path)).to_pylist()
    for name in ("videos", "news"):
        first[name] = json.dumps(json.loads(first[name]), sort_keys=True, separators=(",", ":"))
    assert first == {**{name: row[name] for name in list(row)[1:]}, "loc": BASE + "%C3%BC"}
    assert second == {"loc": BASE, **dict.fromkeys(list(row)[1:])}


def test_a_set_can_be_built_from_the_urls_of_another(out, tmp_path):
    again = sitemill.build(sitemill.urls(out), base_url=BASE, out=tmp_path / "again")
    assert again.listed == 30_000


def test_a_set_is_built_from_the_urls_of_another_with_all_details_of_its_tags(desk):
    video = {"thumbnail_loc": BASE + "v.jpg", "title": "Café", "description": "d", "content_loc": BASE + "v.mp4", "tag": ["a", "b"]}
    image = {"loc": BASE + "2.png", "caption": "1 < 2", "geo_location": "Köln", "title": "t", "license": BASE + "license"}
    rows = [
        {"url": page, "lastmod": "2024-05-01", "changefreq": "daily", "priority": "0.5", "alternates": {"de": BASE + "de"}}
        for page in pages(3)
    ]
    rows[0] |= {"images": [BASE + "1.png", image, {"loc": BASE + "3.png", "caption": "c"}]}
    rows[1] |= {"videos": [video], "images": image}
    rows[2] |= {"news": {"publication": {"name": "n", "language": "en"}, "publication_date": "2024-05-01", "title": "t"}}
    expected = desk.build(rows)
    [out] = desk.directory.glob("*-out")

    def urls():
        return pyarrow.table(sitemill.urls(out))

    assert desk.build(sitemill.urls(out)) == expected
    for made in (urls(), urls().to_pandas(), urls().to_pylist(), polars.DataFrame(urls()), duckdb.from_arrow(urls())):
        assert desk.build(made) == expected


NESTED = """
import sys, pyarrow, sitemill
base, out = sys.argv[1:]
def urls():
    return pyarrow.table(sitemill.urls(out))["loc"].to_pylist()
def cleaned():
    reader = pyarrow.RecordBatchReader.from_stream(sitemill.clean(base + str(number) for number in range(100_000)))
    return [*reader.read_next_batch()["url"].to_pylist(), *reader.read_next_batch()["url"].to_pylist()]
def rows():
    yield from read()
for read in (urls, cleaned):
    expected = len(read())
    """


@pytest.mark.parametrize(
    "call",
    [
        "assert sitemill.build(rows(), base_url=base, out=out + '-new', dry_run=True).listed == expected",
        "assert pyarrow.table(sitemill.clean(rows())).num_rows == expected",
        "assert sitemill.check(out, progress=lambda *_: read())",
        "assert sitemill.build([base], base_url=base, out=out + '-new', progress=lambda *_: read())",
    ],
)
def test_streams_may_be_read_in_iterators_and_callbacks(out, call):
    done = subprocess.run([sys.executable, "-c", NESTED + call, BASE, str(out)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_results_of_clean_are_in_order(tmp_path):
    table = pyarrow.table(sitemill.clean(f"{url}?b=ü" for url in pages(20_000)))
    assert table["url"].to_pylist() == [f"{url}?b=%C3%BC" for url in pages(20_000)]
    stream = sitemill.clean(polars.Series(["https://Example.com:443/../a"]))
    assert polars.DataFrame(stream)["url"].to_list() == ["https://example.com/a"]
    assert '"accepted":1' in stream.report_json


def test_differences_are_a_table(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    sitemill.build([{"url": url, "lastmod": "2024-01-01"} for url in pages(5)], base_url=BASE, out=old)
    sitemill.build([{"url": url, "lastmod": "2024-02-02"} for url in pages(9)[4:]], base_url=BASE, out=new)
    found = polars.DataFrame(sitemill.diff(old, new))
    assert dict(found["change"].value_counts().iter_rows()) == {"added": 4, "removed": 4, "changed": 1}
    changed = found.filter(polars.col("change") == "changed").row(0, named=True)
    assert (changed["old_lastmod"], changed["new_lastmod"]) == ("2024-01-01", "2024-02-02")
    for memory in ("2G", 2 << 30):
        assert len(polars.DataFrame(sitemill.diff(old, new, memory=memory))) == 9
    with pytest.raises(sitemill.UsageError, match='memory="2X": expected a whole number'):
        sitemill.diff(old, new, memory="2X")
    with pytest.raises(TypeError, match="memory has a value of type list"):
        sitemill.diff(old, new, memory=[])


def test_a_stream_is_read_once(out):
    stream = sitemill.urls(out)
    assert stream.report_json is None
    pyarrow.table(stream)
    with pytest.raises(RuntimeError, match="read already"):
        pyarrow.table(stream)


def test_a_stream_that_is_dropped_ends_its_thread(tmp_path):
    path = tmp_path / "urls.txt"
    path.write_text("\n".join(pages(500_000)))

    def is_ours(task: pathlib.Path) -> bool:
        try:
            return "sitemill" in (task / "comm").read_text()
        except OSError:
            # It has ended meanwhile.
            return False

    def threads() -> int:
        return sum(map(is_ours, pathlib.Path("/proc/self/task").iterdir()))

    before = threads()
    streams = [sitemill.clean(path, threads=1) for _ in range(3)]
    readers = [pyarrow.RecordBatchReader.from_stream(stream) for stream in streams[:2]]
    readers[0].read_next_batch()
    assert threads() > before
    del streams, readers
    for _ in range(600):
        if threads() == before:
            break
        time.sleep(0.1)
    assert threads() == before


def test_an_empty_set_gives_an_empty_table(tmp_path):
    sitemill.build([], base_url=BASE, out=tmp_path, allow_empty=True)
    table = pyarrow.table(sitemill.urls(tmp_path))
    assert table.num_rows == 0 and table.column_names[0] == "loc"


def test_reports_have_the_figures_of_the_command_line(out):
    report = sitemill.build(pages(10), base_url=BASE, out=out, max_shrink="100%")
    assert report.published and report.lines == report.listed == 10 and report.sitemaps == report.indexes == 1
    assert report.index_urls == [BASE + "sitemap-index-1.xml"]
    assert report.raw["base_url"] == BASE and report.seconds["total"] > 0
    assert report.html().startswith("<!DOCTYPE html>") or report.html().lower().startswith("<!doctype html>")
    assert "<table>" in report._repr_html_() and BASE in report._repr_html_()
    assert sitemill.check(out) and sitemill.check(out).urls == 10
    assert "no findings" in sitemill.check(out)._repr_html_()


def test_a_notebook_shows_the_sets_of_several_sites(tmp_path):
    sitemill.build([BASE, "https://b.example/"], base_url="{origin}/", out=tmp_path)
    found = sitemill.status(tmp_path)
    assert isinstance(found, list) and len(found) == 2
    assert found._repr_html_() == "".join(one._repr_html_() for one in found)


def test_status_and_rollback_switch_between_sets(out):
    sitemill.build(pages(30_001), base_url=BASE, out=out)
    [status] = sitemill.status(out)
    assert (status.live.urls, [kept.urls for kept in status.earlier]) == (30_001, [30_000])
    assert "<table>" in status._repr_html_() and "30,001 URLs" in status._repr_html_()
    done = sitemill.rollback(out)
    assert (done.live, done.urls) == (1, 30_000)
    assert "30,000 URLs" in done._repr_html_()
    assert sitemill.status(out)[0].live.urls == 30_000


def test_check_reports_findings(tmp_path):
    (tmp_path / "sitemap.xml").write_text("<urlset><url><loc>nonsense</loc></url></urlset>")
    report = sitemill.check(tmp_path / "sitemap.xml", limit_findings=1)
    assert not report and report.total >= 1 and len(report.findings) == 1
    assert str(report.findings[0]).startswith(str(tmp_path / "sitemap.xml"))
    assert report.findings[0].rule in report._repr_html_()
    shown = run("check", tmp_path / "sitemap.xml")
    assert shown.returncode == 65 and report.findings[0].words in shown.stdout + shown.stderr


def test_several_sites_are_built_at_once(tmp_path):
    rows = [f"https://{host}.example/" for host in "abc"]
    report = sitemill.build(rows, base_url="{origin}/", out=tmp_path)
    assert report.listed == 3 and len(report.index_urls) == 3
    assert len(sitemill.status(tmp_path)) == 3


def test_other_threads_run_during_a_build(tmp_path):
    ended, counted = threading.Event(), 0

    def count():
        nonlocal counted
        while not ended.wait(0.001):
            counted += 1

    table = pyarrow.table({"url": pages(300_000)})
    other = threading.Thread(target=count)
    other.start()
    before = counted
    sitemill.build(table, base_url=BASE, out=tmp_path)
    ran = counted - before
    ended.set()
    other.join()
    # A build that holds the lock of the interpreter lets it run once or twice.
    assert ran > 20


def test_warnings_of_a_rollback_are_python_warnings(monkeypatch):
    done = (2, 1, 7, ["robots.txt: could not be written; robots_any_name=True accepts it"], None)
    monkeypatch.setattr(_sitemill, "rollback", lambda *_: done)
    with pytest.warns(RuntimeWarning, match="^robots.txt: could not be written; robots_any_name=True accepts it; set 1 is live$") as warned:
        restored = sitemill.rollback("out")
    assert restored.warnings == ("robots.txt: could not be written; robots_any_name=True accepts it",)
    assert warned[0].filename == __file__ and (restored.replaced, restored.live, restored.urls) == (2, 1, 7)


def test_warnings_of_a_published_set_are_python_warnings(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sitemill.build([BASE], base_url=BASE, out=tmp_path).warnings == ()


def test_a_warning_that_is_raised_has_the_result(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="the new set is live$") as raised:
            sitemill.build([BASE], base_url=BASE, out=tmp_path, then=["false"])
    assert raised.value.result.published


def test_duckdb_reads_streams(out):
    stream = sitemill.urls(out)
    assert duckdb.sql("select count(*), min(loc) from stream").fetchall() == [(30_000, pages(1)[0])]
    with pytest.raises(RuntimeError, match="read already"):
        pyarrow.table(stream)


def test_a_stream_that_is_released_unread_can_be_read(out):
    stream = sitemill.urls(out)
    assert pyarrow.schema(stream).names[0] == "loc"
    for _ in range(3):
        pyarrow.RecordBatchReader.from_stream(stream)
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    with pytest.raises(RuntimeError, match="read already"):
        pyarrow.table(stream)
    del stream
    assert reader.read_all().num_rows == 30_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only Unix has it")
def test_a_stream_from_before_a_fork_fails_in_the_child(tmp_path):
    code = f"""
import multiprocessing, pyarrow, sitemill
def read():
    try:
        pyarrow.table(stream)
    except Exception as error:
        assert "process before the fork" in str(error), error
        raise SystemExit(3)
sitemill.build(({BASE!r} + str(number) for number in range(200_000)), base_url={BASE!r}, out={str(tmp_path / "out")!r})
stream = sitemill.urls({str(tmp_path / "out")!r})
child = multiprocessing.get_context("fork").Process(target=read)
child.start()
child.join(60)
child.kill()
assert child.exitcode == 3, child.exitcode
assert pyarrow.table(stream).num_rows == 200_000
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_stream_keeps_the_exception_after_its_first_batch(tmp_path):
    def rows(last):
        yield from pages(30_000)
        if isinstance(last, Exception):
            raise last
        yield last

    stream = sitemill.clean(rows(LookupError("the database is gone")))
    assert stream.error is None
    with pytest.raises(pyarrow.ArrowException, match="the database is gone"):
        pyarrow.table(stream)
    assert isinstance(stream.error, sitemill.OutputError) and isinstance(stream.error.__cause__, LookupError)
    stream = sitemill.clean(rows(5))
    with pytest.raises(pyarrow.ArrowException, match="row 30001 is of type int"):
        pyarrow.table(stream)
    assert isinstance(stream.error, sitemill.RowTypeError) and stream.report_json is None
    stream = sitemill.clean(rows(BASE))
    assert pyarrow.table(stream).num_rows == 30_001 and stream.error is None


def test_a_set_that_is_replaced_while_it_is_read_is_busy(tmp_path):
    def build(word):
        sitemill.build([f"{BASE}{word}{number}" for number in range(200_000)], base_url=BASE, out=tmp_path, urls_per_sitemap=10_000, keep="0s", keep_sets=0)

    build("a")
    stream = sitemill.urls(tmp_path)
    build("b")
    with pytest.raises(pyarrow.ArrowException, match="another set was published while this one was read"):
        pyarrow.table(stream)
    assert isinstance(stream.error, sitemill.Busy) and stream.error.exit_code == 75
