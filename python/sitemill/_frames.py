"""Data frames of each library as Arrow streams, or as rows if that is not possible."""

from __future__ import annotations

import datetime
import importlib
import sys
from typing import Any, Iterable, Mapping, Optional

from ._rows import Rows
from ._values import is_missing


def table(rows: Any, columns: Mapping[str, str]) -> Optional[Any]:
    """An object with ``__arrow_c_stream__`` that has the rows of ``rows``; ``None`` if they have to be iterated."""
    kind = f"{type(rows).__module__.split('.')[0]}.{type(rows).__name__}"
    if kind in ("pandas.Series", "polars.Series"):
        rows, kind = rows.to_frame(columns.get("url", "url")), kind.replace("Series", "DataFrame")
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(rows, (pyarrow.Array, pyarrow.ChunkedArray)):
        rows = pyarrow.table({columns.get("url", "url"): rows})
    if kind == "pandas.DataFrame":
        return _of_pandas(rows, columns)
    if kind == "polars.LazyFrame":
        rows, kind = rows.collect(), "polars.DataFrame"
    if kind == "polars.DataFrame":
        return _of_polars(rows, columns)
    has_stream = hasattr(rows, "__arrow_c_stream__")
    # PySpark 4.0 has no stream, and later ones fail for times.
    if kind == "pyspark.DataFrame" and hasattr(rows, "toArrow") and (not has_stream or "timestamp" in rows.schema.simpleString()):
        return rows.toArrow()
    if has_stream:
        return rows
    # Earlier versions of DuckDB.
    if hasattr(rows, "fetch_record_batch"):
        return rows.fetch_record_batch()
    return None


def _of_pandas(frame: Any, columns: Mapping[str, str]) -> Any:
    """The frame as a table; ``None`` without PyArrow, which this needs, or if a column that is used has values of several types."""
    try:
        pyarrow = importlib.import_module("pyarrow")
    except ImportError:
        return None
    names = [str(name) for name in frame.columns]
    keys = Rows((), columns).keys_of(names)
    # Of columns with the same name, the first is used.
    is_used = [name in keys and name not in names[:at] for at, name in enumerate(names)]
    used = frame.loc[:, is_used]
    sparse = {name: kind.subtype for name, kind in used.dtypes.items() if type(kind).__name__ == "SparseDtype"}
    if sparse:
        used = used.astype(sparse)
    # An index with a name is a column. Without one it has no meaning.
    index = None if any(frame.index.names) else False
    try:
        table = pyarrow.Table.from_pandas(used, preserve_index=index)
    except (pyarrow.ArrowException, OverflowError, UnicodeError):
        return None
    levels = (frame.index.get_level_values(level) for level in range(frame.index.nlevels))
    if any(map(_mixes_times, [*(values for _, values in used.items()), *levels], table.schema.types)):
        return None
    # Of other columns, only the names are needed. Their values may be of any type.
    others = [name for name, used in zip(names, is_used) if not used]
    columns_of_others = [pyarrow.nulls(len(frame))] * len(others)
    return pyarrow.Table.from_arrays([*table.columns, *columns_of_others], names=[*table.column_names, *others])


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
    """The frame without the values of other columns, which may be of any type, and with types that every Arrow library knows."""
    polars = sys.modules["polars"]
    keys = Rows((), columns).keys_of(frame.columns)
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


def records(rows: Any) -> Any:
    """``rows`` to iterate over. A pandas frame iterates over its columns, so its rows are returned as dictionaries."""
    if type(rows).__module__.split(".")[0] == "pandas" and hasattr(rows, "to_frame"):
        return rows
    if type(rows).__module__.split(".")[0] == "pandas" and hasattr(rows, "columns"):
        index = [name for name in rows.index.names if name is not None and name not in rows.columns]
        if index:
            rows = rows.reset_index(level=index)
        # Of columns with the same name, the first is used.
        places: dict[Any, int] = {}
        for place, name in enumerate(rows.columns):
            places.setdefault(name, place)
        values = (rows.iloc[:, place] for place in places.values())
        return (dict(zip(places, row)) for row in zip(*values))
    return rows
