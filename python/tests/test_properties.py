"""The same rows give the same set from every kind of input."""

import json
import pathlib
import tempfile

import polars
import pyarrow
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from conftest import BASE, Desk

#: A build writes to disk, so the examples are few and large.
SETTINGS = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))

text = some.text(alphabet=some.characters(codec="utf-8"), max_size=12)
tails = text | some.sampled_from(["", "a", "%41", "%zz", "ü", "a\nb", "\t", "?a=1&b=<>", "#x", "..", "a\u0000", "x" * 2100])
urls = some.builds(BASE.__add__, tails) | text | some.sampled_from(["", " ", "\n", None, "http://other.example/", "HTTPS://WWW.EXAMPLE.COM:443/"])
lastmods = some.none() | some.sampled_from(["2024-05-01", "2024-05-01T10:00:00Z", "", "soon", "2024-13-01"]) | text
changefreqs = some.none() | some.sampled_from(["daily", "Weekly", "", "often"]) | text
priorities = some.none() | some.sampled_from(["0.5", "1", "1.1", "", " 0.3 "]) | text
images = some.none() | some.lists(urls.filter(lambda url: url is not None), max_size=3)

SCHEMA = pyarrow.schema(
    {name: pyarrow.string() for name in ("url", "lastmod", "changefreq", "priority")} | {"images": pyarrow.list_(pyarrow.string())}
)
rows = some.lists(
    some.fixed_dictionaries(
        {"url": urls, "lastmod": lastmods, "changefreq": changefreqs, "priority": priorities, "images": images}
    ),
    min_size=1,
    max_size=40,
)


@SETTINGS
@given(rows)
@example([dict.fromkeys(SCHEMA.names) | {"url": white_space} for white_space in ("\r", "\t", " ", "\x0c")])
def test_rows_of_text_give_the_same_set_from_every_kind_of_input(rows):
    with tempfile.TemporaryDirectory() as directory:
        desk = Desk(pathlib.Path(directory))
        table = pyarrow.Table.from_pylist(rows, SCHEMA)
        # Parquet has lists as text.
        cells = [images if images is None else json.dumps(images) for images in table["images"].to_pylist()]
        expected = desk.command(desk.parquet(table.drop("images").append_column("images", pyarrow.array(cells, pyarrow.string()))))
        assert desk.build(table) == expected
        assert desk.build(rows) == expected
        assert desk.build(polars.from_arrow(table)) == expected
        lines = desk.command(desk.jsonl(rows))
        assert lines.files == expected.files and lines.counts == expected.counts


@SETTINGS
@given(rows)
def test_csv_gives_the_same_set(rows):
    # CSV cannot tell a blank value from none, has no lists, and line ends in it have a meaning.
    def cell(value):
        return "".join(filter(str.isprintable, value or ""))

    rows = [{name: cell(value) for name, value in row.items() if name != "images"} for row in rows]
    with tempfile.TemporaryDirectory() as directory:
        desk = Desk(pathlib.Path(directory))
        found, expected = desk.command(desk.csv(rows), "--format=csv"), desk.build(rows)
        assert found.files == expected.files
        assert found.counts == expected.counts


values = some.none() | some.booleans() | some.integers(-(2**70), 2**70) | some.floats() | some.decimals(allow_nan=True)
values |= some.datetimes() | some.dates() | text | some.binary(max_size=8) | some.lists(some.integers(), max_size=2)


@SETTINGS
@given(some.lists(some.tuples(values, values, values, values, values), min_size=20, max_size=40))
def test_tags_of_any_type_are_written_or_dropped_but_never_lose_a_url(tags):
    names = ("lastmod", "changefreq", "priority", "alternates", "images")
    rows = [{"url": f"{BASE}{number}", **dict(zip(names, values))} for number, values in enumerate(tags)]
    with tempfile.TemporaryDirectory() as directory:
        built = Desk(pathlib.Path(directory)).build(rows)
    assert built.counts["listed"] == len(rows)
    assert built.counts["rejected"] == {}


def is_whole(text):
    """Whether a line reader leaves it as it is: it does not begin like a file or end like a line of Windows."""
    return not text or (text[:1] != "\ufeff" and text[:3] != b"\xef\xbb\xbf" and text[-1:] not in ("\r", b"\r"))


@SETTINGS
@given(some.lists((urls | some.binary(max_size=20) | some.text(max_size=8)).filter(is_whole), max_size=20))
def test_strings_are_the_same_as_dictionaries_with_a_url(strings):
    with tempfile.TemporaryDirectory() as directory:
        desk = Desk(pathlib.Path(directory))
        # Strings may be the lines of a file. A dictionary holds what it holds.
        ends = {str: "\n", bytes: b"\n", type(None): None}
        lines = [text if text is None else text + ends[type(text)] for text in strings]
        dictionaries = desk.build({"url": url} for url in strings)
        assert desk.build(iter(lines)) == dictionaries
        if not any(text and text[-1:] in ("\n", b"\n") for text in strings):
            assert desk.build(iter(strings)) == dictionaries
