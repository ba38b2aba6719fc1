"""Data frames of each library as Arrow streams, or as rows if that is not possible."""

from __future__ import annotations

import datetime
import importlib
import sys
from typing import Any, Iterable, Iterator, Mapping, Optional

from ._columns import keys_of, plain, shown
from ._rows import Row, Rows, rows_of_columns
from ._values import is_missing


def frame(rows: Any, columns: Mapping[str, str]) -> Any:
    """Returns ``rows``, with a single column turned into a frame, and a lazy frame collected."""
    # A level of the index of a series may have the name of a URL, too. ``loc``, the first column of that name, is used before it.
    url = columns.get("url", "loc")
    if _is(rows, "polars", "Series") and rows.dtype == sys.modules["polars"].Struct:
        raise TypeError("rows is a series of structs; give rows.struct.unnest()")
    if _is(rows, "pandas", "Series") or _is(rows, "polars", "Series"):
        return rows.to_frame(url)
    if _is(rows, "pyarrow", "Array") or _is(rows, "pyarrow", "ChunkedArray"):
        pyarrow = sys.modules["pyarrow"]
        if pyarrow.types.is_struct(rows.type):
            raise TypeError("rows is an array of structs; give pyarrow.Table.from_struct_array(rows)")
        return pyarrow.table({url: rows})
    return rows.collect() if _is(rows, "polars", "LazyFrame") else rows


def _is(rows: Any, library: str, kind: str) -> bool:
    """Whether ``rows`` is an instance of a class of a library, or of a subclass. There is none if it is not imported."""
    known = getattr(sys.modules.get(library), kind, None)
    return isinstance(known, type) and isinstance(rows, known)


def table(rows: Any, columns: Mapping[str, str]) -> Optional[Any]:
    """An object with ``__arrow_c_stream__`` that has the rows of the frame ``rows``; ``None`` if they have to be iterated."""
    if _is(rows, "pandas", "DataFrame"):
        return _of_pandas(rows, columns)
    if _is(rows, "polars", "DataFrame"):
        return _of_polars(rows, columns)
    has_stream = hasattr(rows, "__arrow_c_stream__")
    if _is(rows, "pyarrow", "RecordBatchReader"):
        return sys.modules["pyarrow"].RecordBatchReader.from_batches(rows.schema, _checked(rows))
    kind = f"{type(rows).__module__.split('.')[0]}.{type(rows).__name__}"
    # PySpark 4.0 has no stream, and later ones fail for times.
    if kind == "pyspark.DataFrame" and hasattr(rows, "toArrow") and (not has_stream or "timestamp" in rows.schema.simpleString()):
        return rows.toArrow()
    if has_stream:
        return rows
    if kind == "pyspark.DataFrame" and hasattr(rows, "to_spark"):
        way_out = "give rows.to_spark() to sitemill.spark.build, or rows.to_pandas()"
        raise TypeError(f"rows is a data frame of pandas on Spark; {way_out}")
    if kind == "pyspark.DataFrame":
        why = "rows is a data frame of Spark 3, which has no Arrow stream"
        raise TypeError(f"{why}; use sitemill.spark.build, or give rows.toPandas()")
    # Earlier versions of DuckDB.
    if hasattr(rows, "fetch_record_batch"):
        return rows.fetch_record_batch()
    if _is(rows, "duckdb", "DuckDBPyConnection"):
        raise TypeError("rows is a connection of DuckDB; give a relation, such as connection.sql(query)")
    return _reader_of_pyarrow(rows)


def _checked(reader: Any) -> Iterator[Any]:
    """The batches of a reader. PyArrow does not compare them with the schema of the reader, by which Arrow's interface reads all of
    them: another column or type would be read as something else, or beyond its end."""
    schema = reader.schema
    for number, batch in enumerate(reader, 1):
        if not batch.schema.equals(schema):
            _check_same_columns(number, batch.schema, schema)
        yield batch


def _check_same_columns(number: int, of_batch: Any, of_reader: Any) -> None:
    """Refuses a batch with other names or types than the reader. Nulls that the reader declares not to have do no harm."""
    cast = "; cast all batches to one schema"
    if of_batch.names != of_reader.names:
        names, of_all = (", ".join(map(shown, schema.names)) or "none" for schema in (of_batch, of_reader))
        raise TypeError(f"batch {number} has the columns {names}, and the reader has {of_all}{cast}")
    for one, all_of_them in zip(of_batch, of_reader):
        if one.type != all_of_them.type:
            raise TypeError(f"batch {number}: column {shown(one.name)} is {one.type}, and {all_of_them.type} in the reader{cast}")


def _reader_of_pyarrow(rows: Any) -> Optional[Any]:
    """A reader of the rows of an object of PyArrow that has no stream itself; ``None`` for other objects."""
    if _is(rows, "pyarrow.dataset", "Dataset"):
        return rows.scanner().to_reader()
    if _is(rows, "pyarrow.dataset", "Scanner"):
        return rows.to_reader()
    if _is(rows, "pyarrow.parquet", "ParquetFile"):
        return sys.modules["pyarrow"].RecordBatchReader.from_batches(rows.schema_arrow, rows.iter_batches())
    return None


def _of_pandas(frame: Any, columns: Mapping[str, str]) -> Any:
    """The frame as a table; ``None`` without PyArrow, which this needs, or if a column that is used has values of several types."""
    try:
        pyarrow = importlib.import_module("pyarrow")
    except ImportError:
        return None
    names = [str(name) for name in frame.columns]
    index, named = _index(frame)
    levels = [index.names[level] for level in named]
    keys = keys_of([*names, *levels], columns)
    # A second column of the same name keeps it, so that the frame is refused, but not its values.
    is_used = [name in keys and name not in names[:at] for at, name in enumerate(names)]
    used = frame.loc[:, is_used]
    sparse = {name: kind.subtype for name, kind in used.dtypes.items() if type(kind).__name__ == "SparseDtype"}
    if sparse:
        used = used.astype(sparse)
    kept = [level for level in named if index.names[level] in keys]
    if kept:
        used.index = index.droplevel([level for level in range(index.nlevels) if level not in kept])
    columns_and_levels = [*(values for _, values in used.items()), *map(index.get_level_values, kept)]
    of_columns = [_values_of_dtype(values) for values in columns_and_levels]
    # Arrow has only the numbers of periods.
    if any(type(values.dtype).__name__ == "PeriodDtype" for values in of_columns):
        return None
    try:
        table = pyarrow.Table.from_pandas(used, preserve_index=bool(kept))
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
        return None
    if any(map(_mixes_times, of_columns, table.schema.types)):
        return None
    if not len(frame):
        # The type of a column without values has no meaning.
        table = pyarrow.Table.from_arrays([pyarrow.nulls(0)] * table.num_columns, names=table.column_names)
    # Of other columns, only the names are needed. Their values may be of any type.
    others = [name for name, used in zip(names, is_used) if not used]
    others += [name for name in levels if name not in keys]
    columns_of_others = [pyarrow.nulls(len(frame))] * len(others)
    return pyarrow.Table.from_arrays([*table.columns, *columns_of_others], names=[*table.column_names, *others])


def _values_of_dtype(values: Any) -> Any:
    """The different values of categories, or else ``values`` themselves: those whose type Arrow takes for that of the column."""
    return values.dtype.categories if type(values.dtype).__name__ == "CategoricalDtype" else values


def _index(frame: Any) -> tuple[Any, list[int]]:
    """The index with names that are strings, and the levels that are columns: those with a name that no column has in any case."""
    names, columns = frame.index.names, {plain(str(name)) for name in frame.columns}
    index = frame.index.set_names([None if name is None else str(name) for name in names])
    return index, [level for level, name in enumerate(index.names) if name is not None and plain(name) not in columns]


def _mixes_times(values: Any, of_arrow: Any) -> bool:
    """Whether a column of objects has both dates and times, or times with and without a zone. PyArrow takes the type of all values
    from the first one: it would cut times to dates, and take times without a zone as UTC."""
    if values.dtype != object or not any(kind in str(of_arrow) for kind in ("date32", "timestamp")):
        return False
    kinds: set[str] = set()
    _add_kinds_of_times(values, kinds)
    return len(kinds) > 1


def _add_kinds_of_times(values: Iterable[Any], kinds: set[str]) -> None:
    for value in values:
        if isinstance(value, Mapping):
            _add_kinds_of_times(value.values(), kinds)
        elif isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
            _add_kinds_of_times(value, kinds)
        elif isinstance(value, datetime.datetime) and not is_missing(value):
            kinds.add("local time" if value.tzinfo is None else "time")
        elif isinstance(value, datetime.date) and not is_missing(value):
            kinds.add("date")


def _of_polars(frame: Any, columns: Mapping[str, str]) -> Any:
    """The frame without the values of other columns, which may be of any type, and with types that every Arrow library knows;
    ``None`` if a column that is used has objects of Python, whose addresses Arrow would have."""
    polars = sys.modules["polars"]
    keys = keys_of(frame.columns, columns)
    if any(name in keys and kind == polars.Object for name, kind in frame.schema.items()):
        return None
    nothing = polars.repeat(None, frame.height, dtype=polars.Boolean, eager=True)
    series = (frame.get_column(name) if name in keys else nothing.alias(name) for name in frame.columns)
    return polars.DataFrame([one.cast(_known_type(one.dtype, polars)) for one in series])


def _known_type(kind: Any, polars: Any) -> Any:
    """The type of Polars itself, or text in place of one that Arrow libraries refuse: ``Null`` because Polars gives it a buffer."""
    if isinstance(kind, polars.List):
        return polars.List(_known_type(kind.inner, polars))
    if isinstance(kind, polars.Array):
        return polars.Array(_known_type(kind.inner, polars), kind.size)
    if isinstance(kind, polars.Struct):
        return polars.Struct({field.name: _known_type(field.dtype, polars) for field in kind.fields})
    return polars.String if str(kind) in ("Null", "Int128", "UInt128") else kind


def records(rows: Any, columns: Mapping[str, str]) -> Iterable[Row]:
    """The rows of ``rows`` one by one."""
    if _is(rows, "polars", "DataFrame"):
        return rows_of_columns(rows.columns, rows.to_series, columns)
    if not _is(rows, "pandas", "DataFrame"):
        return Rows(rows, columns)
    index, named = _index(rows)
    rows = rows.set_axis(index).reset_index(level=named) if named else rows
    return rows_of_columns([str(name) for name in rows.columns], lambda place: _values(rows.iloc[:, place]), columns)


def _values(series: Any) -> Iterable[Any]:
    """The values of a column of pandas. Those with few digits stay as short as they are."""
    is_float = getattr(_values_of_dtype(series).dtype, "kind", None) == "f"
    values: Iterable[Any] = series.to_numpy() if is_float else series
    return values
