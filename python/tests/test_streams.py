"""Rows from readers and data sets of PyArrow and from connections of DuckDB."""

import duckdb
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import sitemill
from conftest import BASE, pages

TABLE = pyarrow.table({"url": pages(3), "lastmod": pyarrow.array([1_714_550_400_000_000] * 3, pyarrow.timestamp("us", "UTC"))})
LARGE = pyarrow.schema([("url", pyarrow.large_string()), TABLE.schema.field("lastmod")])
NANOS = pyarrow.schema([TABLE.schema.field("url"), ("lastmod", pyarrow.timestamp("ns", "UTC"))])


def reader(*tables):
    return pyarrow.RecordBatchReader.from_batches(TABLE.schema, (batch for table in tables for batch in table.to_batches()))


@pytest.mark.parametrize(
    "other, words",
    [
        (TABLE.cast(NANOS), r"batch 2: column lastmod is timestamp\[ns, tz=UTC\], and timestamp\[us, tz=UTC\] in the reader"),
        (TABLE.cast(LARGE), "batch 2: column url is large_string, and string in the reader"),
        (TABLE.select(["url"]), "batch 2 has the columns url, and the reader has url, lastmod"),
        (TABLE.select(["lastmod", "url"]), "batch 2 has the columns lastmod, url, and the reader has url, lastmod"),
        (TABLE.append_column("x", [[1] * 3]), "batch 2 has the columns url, lastmod, x, and the reader has url, lastmod"),
    ],
    ids=["unit", "width", "fewer", "order", "more"],
)
def test_a_batch_that_differs_from_its_reader_is_refused_with_the_name_of_the_column(desk, capfd, other, words):
    with pytest.raises(sitemill.OutputError, match=rf"after row 3 could not be read.*{words}; cast all batches to one schema"):
        desk.build(reader(TABLE, other))
    with pytest.raises(sitemill.OutputError, match=words):
        sitemill.clean(reader(TABLE, other))
    assert capfd.readouterr().err == ""


def test_batches_that_differ_only_in_metadata_or_nulls_are_read(desk):
    fields = [field.with_nullable(False) for field in TABLE.schema]
    others = [TABLE.replace_schema_metadata({"a": "b"}), TABLE.cast(pyarrow.schema(fields))]
    assert desk.build(reader(TABLE, *others)) == desk.build(pyarrow.concat_tables([TABLE] * 3))


def test_a_stream_of_a_file_is_read(desk, tmp_path):
    path = tmp_path / "rows.arrows"
    with pyarrow.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert desk.build(pyarrow.ipc.open_stream(path)) == desk.build(TABLE)


class Unchecked:
    """A stream that PyArrow does not check either."""

    def __init__(self, *tables):
        self.reader = reader(*tables)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


def test_a_batch_without_a_column_of_its_stream_is_an_error_with_a_way_out(desk):
    with pytest.raises(sitemill.OutputError, match="a batch does not have the columns of the stream; cast all batches to one schema"):
        desk.build(Unchecked(TABLE, TABLE.select(["url"])))


def test_data_sets_scanners_and_parquet_files_of_pyarrow_are_read(desk):
    path = desk.parquet(TABLE)
    dataset = pyarrow.dataset.dataset(path)
    for rows in (dataset, dataset.scanner(), pyarrow.parquet.ParquetFile(path)):
        assert desk.build(rows) == desk.build(TABLE)


def test_a_connection_of_duckdb_is_refused_with_a_way_out(desk):
    with pytest.raises(TypeError, match=r"rows is a connection of DuckDB; give a relation, such as connection\.sql\(query\)"):
        desk.build(duckdb.connect().execute("SELECT 1 AS url"))
    assert desk.build(duckdb.connect().sql(f"SELECT '{BASE}' AS url")).counts["listed"] == 1


def test_record_batches_one_by_one_are_refused_with_a_way_out(desk):
    for rows in (iter(TABLE.to_batches()), TABLE.to_batches()):
        with pytest.raises(TypeError, match=r"row 1 is of type RecordBatch; .*RecordBatchReader\.from_batches"):
            desk.build(rows)
