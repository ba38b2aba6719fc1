"""Frames of pandas and Polars with columns that Arrow has no type for, or that Arrow would change."""

import datetime

import numpy
import pandas
import polars
import pyarrow
import pytest

import sitemill
from conftest import BASE, pages
from sitemill import _frames

DAY = datetime.date(2024, 5, 1)
TIME = datetime.datetime(2024, 5, 1, 10, 30)
UTC = TIME.replace(tzinfo=datetime.timezone.utc)
#: A type of Polars that no other library has.
WIDE = polars.Series([2**100], dtype=polars.Int128)


@pytest.mark.parametrize(
    "name, values",
    [
        ("note", [None]),
        ("note", [[]]),
        ("note", [{"a": None}]),
        ("note", WIDE),
        ("note", polars.Series([object()], dtype=polars.Object)),
        ("lastmod", [None]),
        ("images", [[]]),
        ("images", polars.Series([[None, None]], dtype=polars.Array(polars.Null, 2))),
        ("alternates", [[{"hreflang": "de", "href": None}]]),
        ("news", [{"title": None}]),
    ],
)
def test_columns_of_polars_may_have_types_that_arrow_has_not(desk, name, values):
    frame = polars.DataFrame({"url": [BASE], name: values})
    expected = desk.build([{"url": BASE, name: frame.row(0, named=True)[name] if name != "note" else 1}])
    for given in (frame, frame.lazy()):
        assert desk.build(given) == expected
    assert pyarrow.table(sitemill.clean(frame)).num_rows == 1


def test_a_column_of_polars_that_is_not_read_is_named(tmp_path):
    frame = polars.DataFrame({"^a.*$": WIDE, "url": [BASE], "*": [None]})
    report = sitemill.build(frame, base_url=BASE, out=tmp_path)
    assert (report.listed, report.unused_columns) == (1, ("^a.*$", "*"))
    with pytest.raises(sitemill.DataRefused, match=r"the only line, \d+, is rejected as not-absolute"):
        sitemill.build(polars.DataFrame({"url": WIDE}), base_url=BASE, out=tmp_path)


def test_structs_in_one_column_are_refused_with_what_makes_columns_of_them(desk):
    array = pyarrow.array([{"url": page} for page in pages(3)])
    for rows in (array, pyarrow.chunked_array([array])):
        with pytest.raises(TypeError, match=r"array of structs; give pyarrow\.Table\.from_struct_array\(rows\)"):
            desk.build(rows)
        assert desk.build(pyarrow.Table.from_struct_array(rows)) == desk.build(pages(3))
    series = polars.Series([{"url": page} for page in pages(3)])
    with pytest.raises(TypeError, match=r"series of structs; give rows\.struct\.unnest\(\)"):
        desk.build(series)
    assert desk.build(series.struct.unnest()) == desk.build(pages(3))


def test_a_series_of_polars_without_values_is_blank(tmp_path):
    report = sitemill.build(polars.Series([None, None]), base_url=BASE, out=tmp_path, allow_empty=True)
    assert (report.listed, report.blank) == (0, 2)


def test_wide_numbers_of_polars_are_read(desk):
    frame = polars.DataFrame({"url": [BASE], "lastmod": polars.Series([1_700_000_000], dtype=polars.Int128)})
    assert desk.build(frame, lastmod_unit="seconds") == desk.build([{"url": BASE, "lastmod": 1_700_000_000}], lastmod_unit="seconds")


@pytest.mark.parametrize("values", [[DAY, UTC], [UTC, DAY], [DAY, TIME], [TIME, UTC], [UTC, TIME], [DAY, pandas.NaT, UTC]])
def test_dates_and_times_of_pandas_in_one_column_stay_what_they_are(desk, values):
    rows = [{"url": url, "lastmod": value} for url, value in zip(pages(3), values)]
    frame = pandas.DataFrame({"url": [row["url"] for row in rows], "lastmod": pandas.Series([row["lastmod"] for row in rows], dtype=object)})
    expected = desk.build(rows, lastmod_zone="+02:00")
    for given in (frame, frame.set_index("lastmod")):
        assert desk.build(given, lastmod_zone="+02:00") == expected
    news = [{"url": row["url"], "news": {"title": "t", "publication": {"name": "n", "language": "en"}, "publication_date": row["lastmod"]}} for row in rows]
    assert desk.build(pandas.DataFrame(news), scope="any") == desk.build(news, scope="any")


def test_dates_of_pandas_alone_are_read_as_a_table():
    for values in ([DAY, None], [DAY, pandas.NaT], [UTC, UTC], [TIME, pandas.NaT]):
        frame = pandas.DataFrame({"url": pages(2), "lastmod": pandas.Series(values, dtype=object)})
        assert _frames.table(frame, {}) is not None


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_two_columns_of_pandas_with_the_same_name_are_refused_if_it_is_read(desk, has_pyarrow, monkeypatch):
    def frame(name):
        return pandas.DataFrame(zip(pages(3), ["2024-05-01"] * 3, ["2020-01-01"] * 3), columns=["url", name, name])

    def table(frame):
        return pyarrow.Table.from_arrays([pyarrow.array(frame.iloc[:, at]) for at in range(3)], names=list(frame.columns))

    if not has_pyarrow:
        monkeypatch.setattr(_frames, "_of_pandas", lambda *_: None)
    for given in (frame("lastmod"), table(frame("lastmod"))):
        with pytest.raises(sitemill.DataRefused, match="two columns are named lastmod; rename the one that should not be read"):
            desk.build(given)
    assert desk.build(frame("seen")) == desk.build(table(frame("seen")))


def test_sparse_columns_of_pandas_are_read(desk):
    urls = [pages(1)[0], None, pages(2)[1]]
    frame = pandas.DataFrame({"url": pandas.arrays.SparseArray(urls), "priority": pandas.arrays.SparseArray([0.0, 0.5, 0.0])})
    assert desk.build(frame) == desk.build(pyarrow.table({"url": urls, "priority": [0.0, 0.5, 0.0]}))


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA, pandas.NaT])
def test_missing_values_among_strings_are_blank_rows(desk, missing, monkeypatch):
    urls = [*pages(2), missing]
    expected = desk.build([*pages(2), None])
    assert expected.counts["blank"] == 1
    monkeypatch.setattr(_frames, "_of_pandas", lambda *_: None)
    for given in (urls, iter(urls), pandas.Series(urls, dtype=object)):
        assert desk.build(given) == expected


class Pages(pandas.DataFrame):
    """A frame of a library that builds on pandas."""


class Urls(pandas.Series):
    pass


@pytest.mark.parametrize("values", [[DAY, TIME], [UTC, TIME], [object(), "2024-05-01"]])
def test_frames_of_subclasses_are_frames(desk, values):
    rows = {"url": pages(2), "lastmod": pandas.Series(values, dtype=object), "note": pandas.Series([5, "x"], dtype=object)}
    assert desk.build(Pages(rows), lastmod_zone="Z") == desk.build(pandas.DataFrame(rows), lastmod_zone="Z")
    assert desk.build(Urls(pages(2))) == desk.build(pages(2))


def test_a_frame_of_pandas_on_spark_is_refused_with_its_own_methods(tmp_path):
    kind = type("DataFrame", (), {"__module__": "pyspark.pandas.frame", "to_spark": None})
    with pytest.raises(TypeError, match=r"pandas on Spark; give rows\.to_spark\(\) .*, or rows\.to_pandas\(\)"):
        sitemill.build(kind(), base_url=BASE, out=tmp_path)


def test_objects_of_polars_are_read_row_by_row(desk):
    rows = [{"url": url, "lastmod": day, "note": 1} for url, day in zip(pages(3), [DAY, "2024-05-02", None])]
    columns = {name: polars.Series([row[name] for row in rows], dtype=polars.Object) for name in ("url", "lastmod")}
    frame = polars.DataFrame({**columns, "note": [1, 1, 1]})
    expected = desk.build(rows)
    assert expected.counts["dropped_tags"] == {}
    for given in (frame, frame.lazy()):
        assert desk.build(given) == expected
    assert desk.build(columns["url"]) == desk.build(pages(3))
    with pytest.raises(TypeError, match="row 1: loc holds a value of type object"):
        desk.build(polars.Series([object()], dtype=polars.Object))


@pytest.mark.parametrize("name", ["url", 0])
def test_levels_of_an_index_are_columns_if_they_have_a_name(desk, name):
    names = {} if name == "url" else {"url": "0"}
    expected = desk.build([{"url": url, "lastmod": "2024-05-01"} for url in pages(3)])
    one = pandas.DataFrame({"lastmod": ["2024-05-01"] * 3}, index=pandas.Index(pages(3), name=name))
    two = one.set_index(pandas.Index(range(3)), append=True)
    mixed = two.assign(lastmod=pandas.Series([DAY, "2024-05-01", "2024-05-01"], dtype=object).values)
    assert _frames.table(mixed, names) is None
    for frame in (one, two, two.swaplevel(), mixed.swaplevel()):
        assert desk.build(frame, **names) == expected
    report = sitemill.build(two, base_url=BASE, out=desk.new("out"), **names)
    assert report.unused_columns == ()


@pytest.mark.parametrize("has_pyarrow", [True, False])
@pytest.mark.parametrize("name", ["loc", "LOC", "url", None])
def test_the_values_of_a_series_are_urls_though_its_index_may_have_such_a_name(desk, name, has_pyarrow, monkeypatch):
    old = pandas.Index([f"{BASE}old/{at}" for at in range(3)], name=name)
    if not has_pyarrow:
        monkeypatch.setattr(_frames, "_of_pandas", lambda *_: None)
    for series, options in [(pandas.Series(pages(3), old), {}), (pandas.Series(pages(3), old, name="page"), {"url": "page"})]:
        assert desk.build(series, **options) == desk.build(pages(3))
        assert pyarrow.table(sitemill.clean(series, **options))["url"].to_pylist() == pages(3)


def test_a_range_with_a_name_is_a_column(desk):
    frame = pandas.DataFrame({"url": pages(3)}, index=pandas.RangeIndex(1_700_000_000, 1_700_000_003, name="lastmod"))
    rows = [{"url": url, "lastmod": 1_700_000_000 + at} for at, url in enumerate(pages(3))]
    assert desk.build(frame, lastmod_unit="seconds") == desk.build(rows, lastmod_unit="seconds")


def test_frames_that_are_read_row_by_row_are_read_like_tables(desk):
    numbers = pandas.Series([1 / 3, 0.7, None, 0.1], dtype="float32")
    for columns in (
        {"url": [*pages(3), None], "loc": [pages(1)[0], " ", None, None]},
        {"url": [*pages(3), None], "note": [None] * 4},
        {"url": [*pages(3), None]},
    ):
        frame = pandas.DataFrame({**columns, "priority": numbers})
        mixed = frame.assign(lastmod=pandas.Series([DAY, "2024-05-01", None, None], dtype=object))
        assert _frames.table(mixed, {}) is None
        plain = frame.assign(lastmod=["2024-05-01", "2024-05-01", None, None])
        assert _frames.table(plain, {}) is not None
        assert desk.build(mixed) == desk.build(plain)
        found, expected = (sitemill.build(rows, base_url=BASE, out=desk.new("out")) for rows in (mixed, plain))
        assert found.raw["inputs"][0]["columns"] == expected.raw["inputs"][0]["columns"]
    with pytest.raises(sitemill.DataRefused, match="no column loc or url; there are: lastmod"):
        desk.build(mixed[["lastmod"]])


def test_columns_of_pandas_that_arrow_refuses_are_read_row_by_row(desk):
    days = [None, numpy.datetime64("2024-05-01")]
    expected = desk.build([{"url": url, "lastmod": day} for url, day in zip(pages(2), [None, "2024-05-01"])])
    assert desk.build(pandas.DataFrame({"url": pages(2), "lastmod": pandas.Series(days, dtype=object)})) == expected
    periods = pandas.Series(pandas.PeriodIndex([None, "2024-05-01"], freq="D"))
    frame = pandas.DataFrame({"url": pages(2), "lastmod": periods})
    for given in (frame, frame.set_index("lastmod")):
        assert desk.build(given) == expected


@pytest.mark.parametrize("kind", ["float64", "int64", "datetime64[ns]", object])
def test_columns_of_pandas_without_values_may_have_any_type(tmp_path, kind):
    series = pandas.Series([], dtype=kind)
    for rows in (series, pandas.DataFrame({"url": series, "x": []}), pandas.DataFrame({"x": []}, index=pandas.Index(series, name="url"))):
        assert sitemill.build(rows, base_url=BASE, out=tmp_path, allow_empty=True).lines == 0


@pytest.mark.parametrize("values", [[DAY, TIME], [UTC, TIME], [UTC, DAY, TIME]])
def test_categories_of_several_types_are_read_like_their_values(desk, values):
    series = pandas.Series(values, dtype=object)
    expected = desk.build([{"url": url, "lastmod": value} for url, value in zip(pages(3), values)], lastmod_zone="+02:00")
    frame = pandas.DataFrame({"url": pages(len(values)), "lastmod": series.astype("category")})
    for given in (frame, frame.set_index("lastmod")):
        assert desk.build(given, lastmod_zone="+02:00") == expected


def test_categories_of_periods_and_of_short_numbers_are_read_like_their_values(desk):
    periods = pandas.Series(pandas.PeriodIndex(["2024-05-01", None, "2024-05-02"], freq="D"))
    numbers = pandas.Series([0.1, 0.7, None], dtype="float32")
    plain = pandas.DataFrame({"url": pages(3), "lastmod": periods, "priority": numbers})
    expected = desk.build(plain)
    assert expected.counts["dropped_tags"] == {}
    for column in ("lastmod", "priority"):
        assert desk.build(plain.astype({column: "category"})) == expected


def test_levels_of_an_index_that_are_not_read_may_hold_anything(tmp_path):
    index = pandas.Index([1, "a", object()], name="id", dtype=object)
    frame = pandas.DataFrame({"url": pages(3), "note": 1}, index=index)
    assert _frames.table(frame, {}) is not None
    report = sitemill.build(frame, base_url=BASE, out=tmp_path)
    assert (report.listed, set(report.unused_columns)) == (3, {"id", "note"})


def test_a_frame_of_spark_3_is_refused_with_a_way_out(tmp_path):
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    with pytest.raises(TypeError, match="use sitemill.spark.build"):
        sitemill.build(frame, base_url=BASE, out=tmp_path)
