"""Rows of every kind give the same set."""

import io
import os
import sqlite3
import subprocess
import sys
import threading

import duckdb
import pandas
import polars
import pyarrow
import pytest

import sitemill
from conftest import BASE, pages
from sitemill import _frames

URLS = [*pages(2000), "https://www.example.com/a b?q=ü", "https://other.example/", "", None, BASE + "page/7"]
TABLE = pyarrow.table({"url": URLS})


def frames():
    """The same rows in every kind of object."""
    chunks = [TABLE.slice(0, 10), TABLE.slice(10, 0), TABLE.slice(10)]
    yield "table", TABLE
    yield "table of chunks", pyarrow.concat_tables(chunks)
    yield "record batch", TABLE.combine_chunks().to_batches()[0]
    yield "record batch reader", TABLE.to_reader(max_chunksize=100)
    yield "chunked array", TABLE["url"]
    yield "array", TABLE["url"].combine_chunks()
    yield "array of bytes", pyarrow.array([url and url.encode() for url in URLS])
    yield "array of views", pyarrow.array(URLS, pyarrow.string_view())
    yield "dictionary array", TABLE["url"].combine_chunks().dictionary_encode()
    yield "chunked dictionary array", TABLE["url"].dictionary_encode()
    yield "pandas", TABLE.to_pandas()
    yield "pandas with an index", TABLE.to_pandas().set_index(pandas.Index([f"row {at}" for at in range(len(URLS))]))
    yield "pandas series", TABLE.to_pandas()["url"]
    yield "pandas series of another name", TABLE.to_pandas()["url"].rename("page")
    yield "polars", polars.from_arrow(TABLE)
    yield "polars lazy", polars.from_arrow(TABLE).lazy()
    yield "polars series", polars.Series("page", URLS)
    yield "duckdb", duckdb.from_arrow(TABLE)
    yield "older duckdb", OlderRelation()
    yield "list of strings", URLS
    yield "generator of strings", (url for url in URLS)
    yield "lines of a file", io.StringIO("".join(f"{url or ''}\n" for url in URLS))
    yield "lines of a file of another system", io.BytesIO("".join(f"{url or ''}\r\n" for url in URLS).encode())
    yield "lines of a file with a byte order mark", io.StringIO("\ufeff" + "".join(f"{url or ''}\n" for url in URLS))
    yield "bytes with a byte order mark", io.BytesIO("\ufeff".encode() + "".join(f"{url or ''}\n" for url in URLS).encode())
    yield "bytes", (url.encode() if url else url for url in URLS)
    yield "dictionaries", [{"url": url} for url in URLS]
    yield "dictionaries with a key loc", ({"loc": url} for url in URLS)
    yield "dictionaries in capitals", ({"URL": url} for url in URLS)
    yield "set", dict.fromkeys(URLS)


class OlderRelation:
    """A relation of DuckDB before it had the PyCapsule interface."""

    def fetch_record_batch(self):
        return TABLE.to_reader()


@pytest.mark.parametrize("kind, rows", list(frames()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_kind_of_rows_gives_the_same_set(desk, kind, rows):
    expected = desk.command(desk.parquet(TABLE))
    found = desk.build(rows)
    if kind == "set":
        assert found.counts["listed"] == expected.counts["listed"]
        return
    assert found == expected
    assert found.counts["listed"] == 2001
    assert found.counts["blank"] == 2


def test_pandas_works_without_pyarrow(desk, tmp_path):
    expected = desk.command(desk.parquet(TABLE))
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not installed')")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import pandas, sitemill
urls = {URLS!r}
frame = pandas.DataFrame({{"url": urls, "lastmod": pandas.NaT}})
report = sitemill.build(frame, base_url={BASE!r}, out={str(tmp_path / "out")!r})
assert report.listed == {expected.counts["listed"]} and report.blank == 2 and not report.dropped_tags, report
series = sitemill.build(pandas.Series(urls), base_url={BASE!r}, out={str(tmp_path / "series")!r})
assert series.listed == report.listed, series
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_paths_are_files(desk):
    path = desk.parquet(TABLE)
    expected = desk.command(path)
    for rows in (path, str(path), [path], (str(path),)):
        assert desk.build(rows) == expected
    with pytest.raises(TypeError, match="both paths and other values"):
        desk.build([path, BASE])
    with pytest.raises(sitemill.InputError):
        desk.build("no-such-file")


def test_an_iterator_runs_in_the_calling_thread(desk):
    threads = set()

    def rows():
        for url in pages(5000):
            threads.add(threading.get_ident())
            yield url

    assert desk.build(rows()).counts["listed"] == 5000
    assert pyarrow.table(sitemill.clean(rows())).num_rows == 5000
    assert threads == {threading.get_ident()}


def test_rows_of_a_database_cursor_are_read_as_they_come(desk):
    with sqlite3.connect(":memory:") as database:
        database.execute("create table pages (url text)")
        database.executemany("insert into pages values (?)", ((url,) for url in pages(5000)))
        rows = (url for (url,) in database.execute("select url from pages"))
        assert desk.build(rows).counts["listed"] == 5000


def test_strings_and_dictionaries_do_not_mix(desk):
    for rows in ([BASE, {"url": BASE}], [{"url": BASE}, BASE], [BASE, 5], [None, 5.5], [[BASE]]):
        with pytest.raises(TypeError, match="row [12] is of type"):
            desk.build(iter(rows))


@pytest.mark.parametrize("rows", [5, None, object()])
def test_rows_of_an_unusable_kind_are_named(desk, rows):
    with pytest.raises(TypeError, match=f"rows is of type {type(rows).__name__}; give paths"):
        desk.build(rows)


def test_keys_of_later_rows_are_read_and_unused_keys_are_reported(tmp_path):
    rows = [
        {"url": BASE + "a", "title": "A"},
        {"loc": BASE + "b", "lastmod": "2024-05-01", "stock": 3},
        {"url": None, "loc": BASE + "c", "priority": 0.5},
        {},
        {"url": "", "title": "no URL"},
        {"url": None, "title": None},
    ]
    report = sitemill.build(rows, base_url=BASE, out=tmp_path)
    assert (report.listed, report.blank, dict(report.rejected)) == (3, 2, {"no-url": 1})
    assert report.unused_columns == ("title", "stock")
    assert "stock" in report._repr_html_()
    found = polars.DataFrame(sitemill.urls(tmp_path)).rows_by_key("loc", named=True)
    assert found[BASE + "b"][0]["lastmod"] == "2024-05-01"
    assert found[BASE + "c"][0]["priority"] == "0.5"


def test_columns_have_other_names_if_they_are_given(desk):
    rows = [{"page": url, "changed": "2024-05-01"} for url in pages(3)]
    table = pyarrow.Table.from_pylist(rows)
    expected = desk.command(desk.parquet(table), "--columns=url=page,lastmod=changed")
    for given in (rows, table):
        assert desk.build(given, url="page", lastmod="changed") == expected
        assert desk.build(given, columns="url=page,lastmod=changed") == expected
    assert b"2024-05-01" in sitemill_text(expected)
    with pytest.raises(sitemill.UsageError, match="columns and url both name columns"):
        desk.build(rows, url="page", columns="url=page")


def test_strings_have_no_columns(desk):
    # A row has been taken, so the same rows cannot be given again, as after a UsageError.
    for options in (dict(url="page"), dict(lastmod="day"), dict(section_column="type")):
        [name] = options.values()
        with pytest.raises(sitemill.DataRefused, match=f"row 1 is a string, which has no column {name}; give dictionaries"):
            desk.build(iter(pages(3)), **options)


def test_a_column_that_is_named_for_one_part_is_not_read_as_another(desk):
    table = pyarrow.table({"images": pages(3)})
    expected = desk.command(desk.parquet(table), "--columns=url=images")
    for given in (table.to_pylist(), table, polars.DataFrame(table)):
        assert desk.build(given, url="images") == expected
    assert b"<image:" not in sitemill_text(expected)


def sitemill_text(built) -> bytes:
    import gzip

    return b"".join(gzip.decompress(bytes) for name, bytes in built.files.items() if name.endswith(".gz"))


@pytest.mark.parametrize("column, name", [(" url ", " url "), (" Url", "url "), ("seite_ü", "SEITE_ü"), ("page", " page ")])
def test_names_are_compared_in_the_same_way_for_all_kinds_of_rows(desk, column, name):
    rows = [{column: url} for url in pages(3)]
    expected = desk.build(pages(3))
    for given in (rows, pyarrow.Table.from_pylist(rows), pandas.DataFrame(rows), polars.DataFrame(rows)):
        assert desk.build(given, url=name) == expected


def test_only_ascii_letters_may_be_in_another_case(desk):
    rows = [{"SEITE_Ü": BASE}]
    for given in (rows, pyarrow.Table.from_pylist(rows)):
        with pytest.raises(sitemill.DataRefused, match="no column seite_ü"):
            desk.build(given, url="seite_ü")


def test_a_missing_column_lists_those_that_exist(desk):
    rows = [{"page": BASE, "title": "A"}]
    for given in (rows, pyarrow.Table.from_pylist(rows), polars.DataFrame(rows)):
        with pytest.raises(sitemill.DataRefused, match=r"no column loc or url.*page.*title.*url=") as refused:
            desk.build(given)
        assert refused.value.exit_code == 65
        with pytest.raises(sitemill.DataRefused, match=r"no column adress.*page.*title"):
            desk.build(given, url="adress")


def test_a_key_that_no_row_has_and_a_url_that_is_used_for_a_tag_are_named(desk):
    rows = [{"url": BASE}, {"url": BASE + "1", "updated": "2024-05-01"}]
    for given in (rows, pyarrow.Table.from_pylist(rows[1:])):
        with pytest.raises(sitemill.DataRefused, match="column updatd(, only|; the inputs have): url, updated"):
            desk.build(given, lastmod="updatd")
        with pytest.raises(sitemill.DataRefused, match=r"no column loc or url \(url is used for lastmod\)"):
            desk.build(given, lastmod="url")


def test_a_frame_without_columns_is_refused(desk, monkeypatch):
    for has_pyarrow in (True, False):
        for given in (pandas.DataFrame(), polars.DataFrame(), pyarrow.table({})):
            for name, options in (("loc or url", {}), ("page", {"url": "page"})):
                with pytest.raises(sitemill.DataRefused, match=f"there are no columns; give a column {name} with the URLs"):
                    desk.build(given, **options)
        monkeypatch.setattr(_frames, "_of_pandas", lambda *_: None)


@pytest.mark.parametrize("columns", ["url", "url=", "page=url", "url=page,loc=page"])
def test_columns_that_name_no_part_are_refused_for_rows_of_every_kind(desk, columns):
    rows = [{"page": BASE}]
    for given in (rows, pyarrow.Table.from_pylist(rows)):
        with pytest.raises(sitemill.UsageError, match="expected TAG=NAME"):
            desk.build(given, columns=columns)


def test_a_column_of_a_data_frame_may_have_a_number_as_its_name(desk):
    days = ["2024-05-01", "2024-05-02", "2024-05-03"]
    expected = desk.build(pyarrow.table({"url": pages(3), "lastmod": days}))
    frame = pandas.DataFrame(list(zip(pages(3), days)))
    rows = [{"0": url, "1": day} for url, day in zip(pages(3), days)]
    for given in (frame, pyarrow.Table.from_pylist(rows), polars.DataFrame(rows), rows):
        assert desk.build(given, url="0", lastmod="1") == expected
    years = pyarrow.table({"page": pages(3), "url": ["x"] * 3, "2023": days, "lastmod": ["2020-01-01"] * 3})
    assert desk.build(years, url="page", lastmod="2023") == expected
    assert desk.build(years, columns="url=page,lastmod=2023") == expected
    assert desk.build(years.to_pandas(), url="page", lastmod="2023") == expected
    with pytest.raises(sitemill.DataRefused, match="no column 7, only: 0, 1"):
        desk.build(frame, url="7")
    with pytest.raises(TypeError, match="url is of type int; give the name of the column as a str"):
        desk.build(frame, url=0)


def test_a_column_of_a_data_frame_may_have_a_comma_in_its_name(desk):
    expected = desk.build(pages(3))
    levels = pandas.MultiIndex.from_tuples([("x", "url"), ("x", "note")])
    frame = pandas.DataFrame([[url, "x"] for url in pages(3)], columns=levels)
    rows = [{"page, new": url, "url": "x"} for url in pages(3)]
    with pytest.raises(sitemill.DataRefused, match=r"no column loc or url.*\('x', 'url'\), \('x', 'note'\).*url="):
        desk.build(frame)
    assert desk.build(frame, url="('x', 'url')") == expected
    for given in (rows, pandas.DataFrame(rows), polars.DataFrame(rows), pyarrow.Table.from_pylist(rows)):
        assert desk.build(given, url="page, new") == expected
    with pytest.raises(sitemill.UsageError, match="url='page, new': a name with a comma cannot be given; rename the column"):
        desk.build(desk.csv(rows), url="page, new")
    sections = [{"url": url, "type, new": "shoes"} for url in pages(3)]
    for given in (sections, pandas.DataFrame(sections), polars.DataFrame(sections)):
        assert any("sitemap-shoes" in name for name in desk.build(given, section_column="type, new").files)


def test_columns_of_pandas_that_are_not_read_may_hold_anything(tmp_path):
    frame = pandas.DataFrame({"note": ["x", 5, object()], "url": [*pages(2), None], "size": [1, "?", 2**70]})
    report = sitemill.build(frame, base_url=BASE, out=tmp_path)
    assert (report.listed, dict(report.rejected), report.unused_columns) == (2, {"no-url": 1}, ("note", "size"))


@pytest.mark.parametrize("index", [None, "url"])
def test_a_column_of_pandas_with_values_of_several_types_is_read_row_by_row(desk, index):
    rows = [{"url": url, "lastmod": day} for url, day in zip(pages(3), ["2024-05-01", pandas.Timestamp("2024-05-02"), 5])]
    frame = pandas.DataFrame(rows)
    found = desk.build(frame if index is None else frame.set_index(index), lastmod_zone="Z")
    assert found == desk.build(rows, lastmod_zone="Z")
    assert (found.counts["listed"], found.counts["dropped_tags"]) == (3, {"tag-lastmod": 1})


def test_dictionaries_without_a_url_or_with_two_count_as_the_same_lines_of_json(desk):
    first = {"url": BASE}
    cases = [
        {"url": None, "lastmod": [], "x": [" ", None]},
        {"url": "", "x": "\u00a0"},
        {"url": " ", "x": 1},
        {"url": "\n"},
        {"url": "\u00a0"},
        {"url": None, "images": [[1]]},
        {"URL": BASE + "a", "url": BASE + "b"},
        {"loc": BASE + "a", "LOC": BASE + "b", "url": BASE + "c"},
        {"loc": None, "LOC": BASE + "b", "url": BASE + "c"},
        {"loc": BASE + "a", "URL": BASE + "b", "url": BASE + "c"},
        {"URL": BASE + "b", "url": BASE + "c", "loc": BASE + "a"},
        {" URL ": BASE + "a", "url": None},
    ]
    for case in cases:
        lines = desk.command(desk.jsonl([first, case]))
        found = desk.build([first, case])
        assert (found.files, found.counts) == (lines.files, lines.counts), case
    assert desk.build([first, cases[6]]).rejects[-1][2:] == ["bad-row", f'{{"URL":"{BASE}a","url":"{BASE}b"}}']


def test_escaped_bytes_are_these_bytes_and_other_surrogates_are_no_url(desk):
    name = f"{BASE}caf\xe9.html".encode("latin-1")
    expected = desk.build(iter([name]))
    assert expected.counts["listed"] == 1 and b"caf%E9.html" in sitemill_text(expected)
    for rows in ([os.fsdecode(name)], [{"url": os.fsdecode(name)}]):
        assert desk.build(rows) == expected
    for rows in ([f"{BASE}\ud800"], [{"url": f"{BASE}\ud800"}]):
        found = desk.build([{"url": BASE}, *rows] if isinstance(rows[0], dict) else [BASE, *rows])
        assert (found.counts["listed"], found.counts["rejected"]) == (1, {"bad-row": 1})
    for row in ({"url": BASE, "images": [os.fsdecode(name), {"loc": os.fsdecode(name)}]}, {"url": BASE, "alternates": {"de": name}}):
        found = desk.build([row])
        assert (found.counts["dropped_tags"], b"caf%E9.html" in sitemill_text(found)) == ({}, True), row
    sections = [{"url": BASE, "type": "a"}, {"url": BASE + "1", "type": "\ud800"}]
    assert desk.build(sections, section_column="type").counts["rejected"] == {"bad-row": 1}


def test_a_stream_that_fails_names_the_row(desk):
    def batches():
        yield from TABLE.slice(0, 100).to_batches()
        raise ValueError("the connection is lost")

    reader = pyarrow.RecordBatchReader.from_batches(TABLE.schema, batches())
    with pytest.raises(sitemill.OutputError, match="the rows after row 100 could not be read.*connection is lost") as failed:
        desk.build(reader)
    assert failed.value.kind == "io"


def test_nothing_is_printed(desk, capfd):
    desk.build(TABLE)
    assert capfd.readouterr() == ("", "")


def test_a_single_dictionary_is_no_rows(desk):
    for row, names in [({"url": BASE}, {}), ({"LOC": [BASE]}, {}), ({"page": BASE}, {"url": "page"})]:
        with pytest.raises(TypeError, match="rows is a dictionary; put a single row in a list"):
            desk.build(row, relative_to=BASE, **names)


def test_a_column_is_named_for_one_part(desk):
    rows = [{"url": BASE, "d": "2024-05-01"}]
    table = pyarrow.Table.from_pylist(rows)
    for given in (rows, table, table.to_pandas(), polars.DataFrame(table), desk.parquet(table), desk.jsonl(rows)):
        for names in (dict(lastmod="d", changefreq="D"), dict(columns="lastmod=d,changefreq=d")):
            with pytest.raises(sitemill.UsageError, match="column d is used for both lastmod and changefreq|column D is used for both"):
                desk.build(given, **names)
        for name in ("", " "):
            with pytest.raises(sitemill.UsageError, match="lastmod"):
                desk.build(given, lastmod=name)
    with pytest.raises(sitemill.UsageError, match="column d is used for both lastmod and section_column"):
        desk.build(rows, lastmod="d", section_column="d")


def test_unused_keys_beyond_64_are_dots_as_for_tables(tmp_path):
    for count, shown in [(64, 64), (65, 65), (200, 65)]:
        row = {"url": BASE, **{f"key {number}": number for number in range(count)}}
        reports = [sitemill.build(rows, base_url=BASE, out=tmp_path) for rows in ([row], pyarrow.Table.from_pylist([row]))]
        assert reports[0].unused_columns == reports[1].unused_columns and len(reports[0].unused_columns) == shown
        assert (reports[0].unused_columns[-1] == "…") == (count > 64)


def test_the_report_has_the_names_of_columns_that_are_numbers(tmp_path):
    table = pyarrow.table({"0": [BASE], "URL": ["x"], "1": ["2024-05-01"]})
    for given in (table, table.to_pandas()):
        report = sitemill.build(given, base_url=BASE, out=tmp_path, url="0", lastmod="1")
        assert report.unused_columns == ("URL",)
        assert report.raw["inputs"][0]["columns"]["used"] == {"url": "0", "lastmod": "1"}


def test_a_null_in_a_column_that_is_declared_without_nulls_is_a_missing_value(tmp_path):
    names = ("url", "lastmod", "note")
    schema = pyarrow.schema([pyarrow.field(name, pyarrow.string(), False) for name in names])
    dated = pyarrow.table({"url": [BASE + "1"], "lastmod": ["2024-05-01"], "note": ["x"]}).cast(schema)
    plain = pyarrow.table({"url": [BASE + "2"]})
    # PyArrow keeps the declaration, and fills with nulls.
    table = pyarrow.concat_tables([dated, plain], promote_options="permissive")
    assert not table.schema.field("lastmod").nullable and table["note"].null_count == 1
    assert sitemill.build(table, base_url=BASE, out=tmp_path).listed == 2
    lastmods = {row["loc"]: row["lastmod"] for row in pyarrow.table(sitemill.urls(tmp_path)).to_pylist()}
    assert lastmods == {BASE + "1": "2024-05-01", BASE + "2": None}


@pytest.mark.parametrize("option", ["rejects", "report", "metrics"])
def test_an_open_file_of_rows_is_not_overwritten_by_a_result(tmp_path, option):
    urls = tmp_path / "urls.txt"
    urls.write_text(f"{BASE}1\nbad\n")
    with urls.open() as rows, pytest.raises(sitemill.UsageError, match="the same file as rows"):
        sitemill.build(rows, base_url=BASE, out=tmp_path / "out", **{option: urls})
    assert urls.read_text() == f"{BASE}1\nbad\n"
