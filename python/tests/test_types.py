"""Columns of every type are read like the same columns of Parquet, and typed values of dictionaries like both."""

import datetime
import decimal
import os

import numpy
import pandas
import polars
import pyarrow
import pyarrow.compute
import pytest

import sitemill
from conftest import BASE, pages

URLS = pages(4)
DAY = datetime.date(2024, 5, 1)
TIME = datetime.datetime(2024, 5, 1, 10, 30, 15, 999_999)
ZONES = ("UTC", "Europe/Berlin", "+09:30")


def test_urls_are_read_from_every_type_of_text(desk):
    expected = desk.command(desk.parquet(pyarrow.table({"url": URLS})))
    types = [
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.string_view(),
        pyarrow.binary(),
        pyarrow.large_binary(),
        pyarrow.binary_view(),
        pyarrow.binary(len(URLS[0])),
    ]
    columns = [pyarrow.array(URLS, pyarrow.string()).cast(kind) for kind in types[:2]]
    columns += [pyarrow.array([url.encode() if "binary" in str(kind) else url for url in URLS], kind) for kind in types[2:]]
    columns += [pyarrow.array(URLS).dictionary_encode(), pyarrow.array(URLS, pyarrow.large_string()).dictionary_encode()]
    columns += [pyarrow.compute.run_end_encode(pyarrow.array(URLS), run_end_type=kind) for kind in (pyarrow.int16(), pyarrow.int64())]
    for column in columns:
        assert desk.build(pyarrow.table({"url": column})) == expected, column.type
    assert desk.build(polars.DataFrame({"url": polars.Series(URLS, dtype=polars.Categorical)})) == expected
    assert desk.build(pandas.DataFrame({"url": pandas.Categorical(URLS)})) == expected
    for url in (URLS[0].encode(), bytearray(URLS[0].encode()), memoryview(URLS[0].encode())):
        assert desk.build([{"url": url}]) == desk.build(URLS[:1])


@pytest.mark.parametrize(
    "values",
    [[1, 2], [1.5, None], [True, False], [TIME, None], [DAY, None], [["a"], ["b"]]],
    ids=["integer", "float", "boolean", "time", "date", "list"],
)
def test_a_type_that_cannot_be_a_url_is_named_with_a_way_out(desk, values):
    with pytest.raises(sitemill.DataRefused, match=r"column url holds .*; expected text; cast it to a string.*url=\"NAME\""):
        desk.build(pyarrow.table({"url": values}))
    with pytest.raises(TypeError, match=r"row 1: url holds a value of type \w+; expected a str or bytes; convert it"):
        desk.build([{"url": value} for value in values])


@pytest.mark.parametrize(
    "values, holds",
    [
        ([datetime.time(9), None], r"Time64\(µs\)"),
        ([datetime.timedelta(1), None], r"Duration\(µs\)"),
        ([["a"], ["b"]], "List"),
        ([{"a": 1}, None], "Struct"),
    ],
)
def test_a_type_that_cannot_be_a_section_is_named_with_a_way_out(desk, values, holds):
    table = pyarrow.table({"url": pages(2), "opens": values})
    with pytest.raises(sitemill.DataRefused, match=rf'column opens holds {holds}.*; expected text; .*section_column="NAME"'):
        desk.build(table, section_column="opens")
    assert desk.build(table).counts["listed"] == 2


@pytest.mark.parametrize("values", [[True, False], [1, 2], [DAY, None], [decimal.Decimal("1.5"), None], [None, None]], ids=str)
def test_sections_may_be_truth_values_numbers_and_dates(desk, values):
    column = pyarrow.array(values)
    expected = desk.build([{"url": url, "type": value} for url, value in zip(pages(2), values)], section_column="type")
    for given in (column, column.dictionary_encode()):
        assert desk.build(pyarrow.table({"url": pages(2), "type": given}), section_column="type") == expected


def times():
    """Columns of times, and what they are as values of Python."""
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, *ZONES):
            values = [TIME.replace(microsecond=0), None, datetime.datetime(1969, 12, 31, 23, 59, 58), TIME.replace(year=2030, microsecond=0)]
            yield f"timestamp {unit} {zone}", pyarrow.array(values, pyarrow.timestamp(unit, zone))
    yield "fractions", pyarrow.array([TIME, None, datetime.datetime(1969, 12, 31, 23, 59, 58, 1), TIME], pyarrow.timestamp("us", "UTC"))
    # Many databases store the last day for what never ends.
    last = datetime.datetime(9999, 12, 31, 23, 59, 59)
    yield "last date", pyarrow.array([last.date(), None, DAY, DAY], pyarrow.date32())
    yield "last time UTC", pyarrow.array([last, None, TIME, TIME], pyarrow.timestamp("us", "UTC"))
    yield "last time None", pyarrow.array([last, None, TIME, TIME], pyarrow.timestamp("us"))
    yield "date32", pyarrow.array([DAY, None, datetime.date(1969, 1, 1), DAY], pyarrow.date32())
    yield "date64", pyarrow.array([DAY, None, datetime.date(1969, 1, 1), DAY], pyarrow.date64())
    yield "text", pyarrow.array(["2024-05-01", None, "yesterday", "2024-05-01T10:30:15+02:00"])


@pytest.mark.parametrize("name, column", list(times()), ids=lambda value: value if isinstance(value, str) else "")
def test_times_are_read_as_from_parquet(desk, name, column):
    table = pyarrow.table({"url": URLS, "lastmod": column})
    options = {"lastmod_zone": "+02:00"} if name.endswith("None") else {}
    words = [f"--lastmod-zone={zone}" for zone in options.values()]
    expected = desk.command(desk.parquet(table), *words)
    assert desk.build(table, **options) == expected
    assert desk.build(table.to_pylist(), **options) == expected
    assert desk.build(table.to_pandas().to_dict("records"), **options) == expected
    assert desk.build(table.to_pandas(), **options) == expected
    if "+09:30" not in name and "date64" not in name:
        assert desk.build(polars.from_arrow(table), **options) == expected
    assert expected.counts["listed"] == 4
    dropped = 1 if name == "text" else 0
    assert sum(expected.counts["dropped_tags"].values()) == dropped


def test_values_of_numpy_are_read_like_those_of_python(desk):
    lastmods = [numpy.datetime64("2024-05-01"), numpy.datetime64("2024-05-01T10:30:15.9", "ms"), numpy.datetime64("NaT"), pandas.NaT]
    priorities = [numpy.float64(0.5), numpy.float32(0.1), pandas.NA, float("nan")]
    rows = [{"url": url, "lastmod": day, "priority": share} for url, day, share in zip(URLS, lastmods, priorities)]
    plain = zip(URLS, ["2024-05-01", "2024-05-01T10:30:15", None, None], [0.5, 0.1, None, None])
    expected = desk.build([{"url": url, "lastmod": day, "priority": share} for url, day, share in plain], lastmod_zone="Z")
    assert desk.build(rows, lastmod_zone="Z") == expected
    assert not expected.counts["dropped_tags"]


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+01:00"])
def test_a_time_that_has_no_year_in_utc_is_the_same_as_its_text(desk, text):
    found = desk.build([{"url": BASE, "lastmod": datetime.datetime.fromisoformat(text)}])
    assert found == desk.build([{"url": BASE, "lastmod": text}])
    assert found.counts["listed"] == 1


def numbers():
    yield "float64", pyarrow.array([0.5, None, 1.0, 1e-05]), True
    yield "float32", pyarrow.array([0.5, None, 1.0, 0.25], pyarrow.float32()), True
    yield "float16", pyarrow.array(numpy.array([0.5, 0.25, 1, 0], "float16")), True
    yield "int8", pyarrow.array([0, None, 1, 7], pyarrow.int8()), True
    yield "uint64", pyarrow.array([0, None, 1, 2**64 - 1], pyarrow.uint64()), True
    yield "decimal", pyarrow.array([decimal.Decimal("0.50"), None, decimal.Decimal("1.00"), decimal.Decimal("7.25")]), True
    yield "decimal256", pyarrow.array([decimal.Decimal("0.50"), None, decimal.Decimal("1"), None], pyarrow.decimal256(50, 20)), True
    yield "boolean", pyarrow.array([True, None, False, True]), True
    yield "nulls", pyarrow.nulls(4), True
    yield "time of day", pyarrow.array([datetime.time(1), None, None, None]), False
    yield "duration", pyarrow.array([datetime.timedelta(1), None, None, None]), False
    yield "list", pyarrow.array([[0.5], None, [], [1.0, 2.0]]), False


@pytest.mark.parametrize("name, column, has_parquet", list(numbers()), ids=lambda value: value if isinstance(value, str) else "")
def test_priorities_are_read_as_from_parquet(desk, name, column, has_parquet):
    table = pyarrow.table({"url": URLS, "priority": column})
    found = desk.build(table)
    if has_parquet:
        assert found == desk.command(desk.parquet(table))
        assert desk.build(table.to_pylist()) == found
    else:
        assert sum(found.counts["dropped_tags"].values()) >= 1
    assert found.counts["listed"] == 4


def test_priorities_of_two_bytes_have_the_digits_of_parquet(desk):
    priorities = numpy.array([0.1, 0.3, 1e-4, 0.7], "float16")
    table = pyarrow.table({"url": URLS, "priority": priorities})
    found = desk.build(table)
    assert found == desk.command(desk.parquet(table))
    assert found == desk.build([{"url": url, "priority": priority} for url, priority in zip(URLS, priorities)])
    assert found == desk.build(pyarrow.table({"url": URLS, "priority": ["0.1", "0.3", "0.0001", "0.7"]}))


def encodings(table):
    """The table with each column in forms that do not repeat equal values."""
    for name in table.column_names:
        at = table.column_names.index(name)
        column = table[name].combine_chunks()
        if not pyarrow.types.is_nested(column.type):
            yield table.set_column(at, name, column.dictionary_encode())
            yield table.set_column(at, name, pyarrow.compute.run_end_encode(column))


def test_values_of_dictionaries_and_runs_are_those_of_their_columns(desk):
    days = [DAY, None, DAY, DAY, datetime.date(2024, 5, 2)] * 2000
    table = pyarrow.table({
        "url": pages(10_000),
        "lastmod": pyarrow.array(days),
        "priority": pyarrow.array([0.5, None, 1.0, 0.5, 0.25] * 2000),
        "changefreq": pyarrow.array(["daily", None, "weekly", "daily", "daily"] * 2000),
    })
    expected = desk.build(table)
    assert not expected.counts["dropped_tags"]
    for given in encodings(table):
        assert desk.build(given) == expected, given.schema
    times = pyarrow.array([TIME.replace(microsecond=0) if day else None for day in days], pyarrow.timestamp("us", "UTC"))
    table = table.set_column(1, "lastmod", times)
    for given in encodings(table):
        assert desk.build(given) == desk.build(table), given.schema
    frame = pandas.DataFrame({"url": URLS, "lastmod": pandas.Series([DAY] * 4).astype("category")})
    assert desk.build(frame) == desk.build(polars.DataFrame({"url": URLS, "lastmod": [DAY] * 4}))


def test_values_of_dictionaries_in_structs_are_those_of_their_columns(desk):
    dates = pyarrow.array([DAY, None, DAY, datetime.date(2024, 5, 2)])
    texts = [pyarrow.array([text] * 4) for text in ("n", "en", "t")]

    def table(encode):
        name, language, title, date = map(encode, (*texts, dates))
        publication = pyarrow.StructArray.from_arrays([name, language], ["name", "language"])
        news = pyarrow.StructArray.from_arrays([publication, title, date], ["publication", "title", "publication_date"])
        return pyarrow.table({"url": URLS, "news": news})

    expected = desk.build(table(lambda values: values))
    assert sum(expected.counts["dropped_tags"].values()) == 1
    assert desk.build(table(lambda values: values.dictionary_encode())).files == expected.files


IMAGES = [[f"{BASE}1.png", f"{BASE}2.png"], None, [], [f"{BASE}ü.png"]]
LINKS = [[{"hreflang": "de", "href": BASE + "de"}, {"hreflang": "fr", "href": BASE + "fr"}], None, [], [{"hreflang": "de", "href": None}]]


def test_lists_of_images_and_alternates_are_read_as_from_json_lines(desk):
    rows = [{"url": url, "images": images, "alternates": links} for url, images, links in zip(URLS, IMAGES, LINKS)]
    table = pyarrow.Table.from_pylist(rows)
    expected = desk.build(table)
    assert expected.counts["dropped_tags"] == {"tag-alternate": 1}
    assert expected.counts["xml_bytes"] > desk.build(URLS).counts["xml_bytes"] + 200
    assert desk.build(rows) == expected
    assert desk.build(polars.from_arrow(table)) == expected
    assert desk.build(table.to_pandas()) == expected
    assert desk.build(table.to_pandas().to_dict("records")) == expected
    assert same_but_rejects(desk.command(desk.jsonl(rows)), expected)


def same_but_rejects(found, expected) -> bool:
    """Compared with text, the reject file shows other words for a row."""
    return (found.files, found.counts) == (expected.files, expected.counts)


def test_images_have_the_shapes_of_json_lines(desk):
    shapes = [BASE + "1.png", [BASE + "1.png"], {"loc": BASE + "1.png"}, [{"loc": BASE + "1.png"}], ({"loc": BASE + "1.png"},), f'["{BASE}1.png"]']
    built = [desk.build([{"url": BASE, "images": shape}]) for shape in shapes]
    assert all(found == built[0] for found in built)
    assert built[0].counts["xml_bytes"] > desk.build([BASE]).counts["xml_bytes"]


def test_a_column_of_numbers_that_is_called_images_is_not_used(tmp_path):
    table = pyarrow.table({"url": URLS, "images": [1, 2, 3, 4]})
    report = sitemill.build(table, base_url=BASE, out=tmp_path)
    assert report.unused_columns == ("images",)
    assert report.listed == 4


def test_a_field_that_is_null_in_all_rows_is_left_out(desk):
    links = [{"hreflang": "de", "lang": None, "href": BASE + "de"}]
    expected = desk.build([{"url": BASE, "alternates": links}])
    assert expected.counts["dropped_tags"] == {}
    table = pyarrow.table({"url": [BASE], "alternates": [links]})
    for given in (table, table.to_pandas(), polars.from_arrow(table)):
        assert desk.build(given) == expected


def test_the_entries_of_a_map_are_links(desk):
    links = {"de": BASE + "de", "fr": BASE + "fr"}
    table = pyarrow.table({"url": [BASE], "alternates": pyarrow.array([links], pyarrow.map_(pyarrow.string(), pyarrow.string()))})
    expected = desk.build([{"url": BASE, "alternates": links}])
    assert expected.counts["dropped_tags"] == {}
    # Both have the entries as tuples.
    for given in (table, table.to_pandas(), table.to_pylist()):
        assert desk.build(given) == expected


def test_escaped_bytes_in_lists_and_dictionaries_are_these_bytes(desk):
    name = f"{BASE}caf\xe9.png".encode("latin-1")
    text = os.fsdecode(name)
    expected = desk.build([{"url": BASE, "images": [BASE + "1.png", BASE + "caf%E9.png"]}])
    for images in ([BASE + "1.png", text], [BASE + "1.png", {"loc": text}], [BASE + "1.png", name]):
        assert desk.build([{"url": BASE, "images": images}]) == expected
    links = desk.build([{"url": BASE, "alternates": {"de": BASE + "caf%E9.png"}}])
    assert desk.build([{"url": BASE, "alternates": {"de": text}}]) == links
    found = desk.build([{"url": BASE, "images": [BASE + "ü.png", BASE + "\ud800.png"]}])
    assert found.files == desk.build([{"url": BASE, "images": [BASE + "ü.png"]}]).files
    assert found.counts["dropped_tags"] == {"tag-image": 1}


def test_times_of_numpy_in_hours_are_read(desk):
    for unit, text in [("h", "2024-05-01T10:00:00Z"), ("m", "2024-05-01T10:00:00Z"), ("D", "2024-05-01"), ("ns", "2024-05-01T10:00:00Z")]:
        found = desk.build([{"url": BASE, "lastmod": numpy.datetime64("2024-05-01T10", unit)}], lastmod_zone="Z")
        assert found == desk.build([{"url": BASE, "lastmod": text}]) and found.counts["dropped_tags"] == {}


def test_bytes_that_are_not_utf_8_are_invalid_in_titles(desk):
    video = {"thumbnail_loc": BASE + "t", "description": "D", "content_loc": BASE + "v", "title": b"caf\xe9"}
    as_bytes = {name: text if isinstance(text, bytes) else text.encode() for name, text in video.items()}
    videos = pyarrow.table({"url": [BASE], "videos": [[as_bytes]]})
    escaped = {**video, "title": "caf\udce9", "caf\udce9": 1}
    for given in (videos, desk.parquet(videos), [{"url": BASE, "videos": [video]}], [{"url": BASE, "videos": escaped}]):
        found = desk.build(given)
        assert (found.counts["listed"], found.counts["dropped_tags"]) == (1, {"tag-video": 1})
    news = {"publication": {"name": "caf\udce9", "language": "de"}, "publication_date": "2024-05-01", "title": "T"}
    assert desk.build([{"url": BASE, "news": news}]).counts["dropped_tags"] == {"tag-news": 1}
