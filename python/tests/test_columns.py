"""Columns and keys: which one holds which part, and what reports say of them."""

import json
import os
import re

import pandas
import polars
import pyarrow
import pytest

import sitemill
from conftest import BASE, pages


def kinds(rows):
    """The same rows of every kind for which names are given in Python."""
    table = pyarrow.Table.from_pylist(rows)
    return [rows, iter(rows), table, table.to_reader(), table.to_pandas(), polars.DataFrame(table)]


@pytest.mark.parametrize(
    "rows, names",
    [
        ([{"url": BASE, "lastmod": "0.5"}], {"priority": "lastmod"}),
        ([{"loc": BASE, "url": "daily"}], {"changefreq": "url"}),
        ([{"loc": "2024-05-01", "url": BASE}], {"lastmod": "loc"}),
        ([{"images": BASE, "loc": "x", "lastmod": "2024-05-01"}], {"url": "images"}),
    ],
)
def test_a_named_column_is_not_read_as_the_part_of_which_it_has_the_usual_name(desk, rows, names):
    columns = ",".join(f"{part}={name}" for part, name in names.items())
    expected = desk.command(desk.jsonl(rows), f"--columns={columns}")
    assert expected.counts["listed"] == 1
    for path in (desk.parquet(pyarrow.Table.from_pylist(rows)), desk.csv(rows)):
        assert desk.command(path, f"--columns={columns}") == expected
    for given in kinds(rows):
        assert desk.build(given, **names) == expected
    for given in kinds(rows):
        assert desk.build(given, columns=columns) == expected


def test_another_column_may_have_the_name_of_a_part_with_white_space(desk):
    rows = [{"0": BASE, " url ": "x", "URL": "y"}]
    for given in kinds(rows):
        assert desk.build(given, url="0") == desk.build([{"url": BASE}])
    twice = pyarrow.table([[BASE], ["x"]], names=["0", "0"])
    with pytest.raises(sitemill.DataRefused, match="two columns are named 0"):
        desk.build(twice, url="0")


def test_names_with_dots_are_no_paths_and_the_error_says_so(desk):
    for given in kinds([{"page": {"url": BASE}}]):
        with pytest.raises(sitemill.DataRefused, match="names with dots do not lead into page; make its field a column of its own"):
            desk.build(given, url="Page.url")
    for given in kinds([{"page": 1, "page.url": BASE}]):
        assert desk.build(given, url="page.url").counts["listed"] == 1


@pytest.mark.parametrize("columns", [5.5, 5, True, False, 0, ["url=page"], [], b"url=page", "", "url=page,url=x"])
def test_columns_of_a_wrong_type_or_without_a_name_are_refused_for_rows_of_every_kind(desk, columns):
    rows = [{"page": BASE, "url": BASE}]
    is_word = isinstance(columns, (str, int, float)) and not isinstance(columns, bool)
    for given in (rows, pyarrow.Table.from_pylist(rows), desk.jsonl(rows)):
        with pytest.raises(sitemill.UsageError if is_word else TypeError, match="columns"):
            desk.build(given, columns=columns)


FILES = dict(report="report.json", html="report.html", then=["sh", "-c", "cat > then.json"])


@pytest.mark.parametrize("kind", range(6))
def test_all_files_for_reports_have_the_names_of_the_columns(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    rows = [{"0": BASE, "url": "x", "last, day": "2024-05-01"}]
    report = sitemill.build(kinds(rows)[kind], url="0", lastmod="last, day", base_url=BASE, out="out", **FILES)
    expected = {"used": {"url": "0", "lastmod": "last, day"}, "unused": ["url"]}
    assert report.raw["inputs"][0]["columns"] == expected
    for file in ("report.json", "then.json"):
        assert json.loads((tmp_path / file).read_text())["inputs"][0]["columns"] == expected, file
    assert "url = 0" in (tmp_path / "report.html").read_text() and "url = 0" in report.html()


def test_rows_that_are_strings_have_no_columns_in_reports(tmp_path):
    assert "columns" not in sitemill.build(iter(pages(3)), base_url=BASE, out=tmp_path).raw["inputs"][0]


def test_a_key_with_a_surrogate_is_escaped_in_reports(tmp_path):
    for key, shown in [("k" + os.fsdecode(b"\xe9"), "k\\xe9"), ("k\ud83d", "k\\xed\\xa0\\xbd")]:
        report = sitemill.build([{"url": BASE, key: 1}], base_url=BASE, out=tmp_path)
        assert report.unused_columns == (shown,)
        assert shown in report.html() and shown in report._repr_html_()


CASES = [
    {"LastMod": None, "lastmod": "2024-05-01"},
    {"LastMod": " ", "lastmod": "2024-05-01", "LASTMOD": ""},
    {"LastMod": "2024-05-01", "lastmod": "2024-05-02"},
    {"LastMod": "2024-05-01", "lastmod": "2024-05-01"},
    {"priority": 0.5, "Priority": None},
    {"priority": 0.5, "Priority": 0.5},
    {"Images": BASE + "1.png", "images": [BASE + "2.png", {"loc": BASE + "3.png"}], "IMAGES": None},
    {"s": "x", "S": "y"},
    {"s": "x", "S": None},
    {"S": "", "s": "x"},
]


@pytest.mark.parametrize("case", CASES, ids=json.dumps)
def test_keys_that_differ_only_in_case_count_as_in_json_lines(desk, case):
    rows = [{"url": BASE, "s": "x"}, {"url": BASE + "1", **case}]
    expected = desk.command(desk.jsonl(rows), "--section-column=s")
    found = desk.build(rows, section_column="s")
    assert (found.files, found.counts) == (expected.files, expected.counts)
    # The row itself is shown without spaces.
    assert [row[2:] for row in found.rejects] == [row[2:] for row in expected.rejects] or "S" in case


def test_rows_may_have_any_number_of_different_keys(tmp_path):
    rows = [{"url": page, f"key {number}": 1, "lastmod": "2024-05-01"} for number, page in enumerate(pages(3000))]
    report = sitemill.build([*rows, *rows], base_url=BASE, out=tmp_path)
    assert (report.listed, report.raw["given_tags"]["lastmod"]) == (3000, 6000)
    assert report.unused_columns == (*(f"key {number}" for number in range(64)), "…")


def test_the_options_that_a_refused_list_names_read_it(desk):
    for delimiter in ";|\t":
        path = desk.new("rows.csv")
        path.write_text(f'my "page"{delimiter}day\n{BASE}a{delimiter}2024-05-01\n{BASE}b{delimiter}2024-05-01\n')
        with pytest.raises(sitemill.DataRefused) as refused:
            desk.build(path)
        advice = re.search(r'use (format=.*?lastmod="day")', str(refused.value))
        assert advice, refused.value
        options = eval(f"dict({advice[1]})")
        assert desk.build(path, **options).counts["listed"] == 2, advice[1]


def test_a_name_is_on_one_line_of_a_message(desk):
    with pytest.raises(sitemill.DataRefused, match=r"row 1 is a string, which has no column a\\nb;"):
        desk.build(iter(pages(3)), url="a\nb")
    with pytest.raises(sitemill.DataRefused, match=r"there is no column a\\nb; there are: c\\nd"):
        desk.build([{"c\nd": BASE}], url="a\nb")
