"""Rows from Python: tells paths from rows, and turns rows into tuples for the native half."""

from __future__ import annotations

import datetime
import decimal
import itertools
import json
import math
import os
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

#: The parts of a row, in the order of the tuples. Each is also the name of the column that holds it, unless another is named.
PARTS = ("url", "lastmod", "changefreq", "priority", "alternates", "images")

Path = Union[str, "os.PathLike[str]"]


def paths(rows: Any) -> Optional[list[str]]:
    """The paths in ``rows``; ``None`` if these are rows. Strings in a list are URLs if they contain ``://``."""
    if isinstance(rows, (str, os.PathLike)):
        return [os.fspath(rows)]
    if not isinstance(rows, (list, tuple)) or not rows:
        return None
    is_path = [isinstance(row, os.PathLike) or (isinstance(row, str) and "://" not in row) for row in rows]
    if not any(is_path):
        return None
    if all(is_path):
        return [os.fspath(row) for row in rows]
    if isinstance(rows[0], os.PathLike):
        raise TypeError("rows has both paths and other values; give a list of paths, or an iterable of rows")
    # A list of URLs with a wrong one among them, which is counted as rejected.
    return None


def tuples(rows: Iterable[Any], columns: Mapping[str, str]) -> Iterator[tuple]:
    """Yields a tuple of ``PARTS`` for each row: a string is a URL; a dictionary has the parts by their column names."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return iter(())
    rows = itertools.chain([first], rows)
    if isinstance(first, Mapping):
        return _of_mappings(rows, _keys(first, columns))
    if isinstance(first, (str, bytes)):
        return _of_strings(rows)
    raise TypeError(
        f"a row is a str, bytes or a dict, not {type(first).__name__}; "
        "give an iterable of these, a path, or an object with __arrow_c_stream__"
    )


def _of_strings(rows: Iterable[Any]) -> Iterator[tuple]:
    for number, row in enumerate(rows, 1):
        if row is not None and not isinstance(row, (str, bytes)):
            raise TypeError(f"row {number} is a {type(row).__name__}, and the first row was a string")
        yield (row, None, None, None, None, None)


def _keys(first: Mapping[str, Any], columns: Mapping[str, str]) -> list[Optional[str]]:
    """The key of each part. Named keys and that of the URL must be in the first row."""
    by_lower = {str(key).lower(): key for key in reversed(list(first))}
    there = ", ".join(map(str, first))
    keys = []
    for part in PARTS:
        named = columns.get(part)
        key = by_lower.get((named or part).lower())
        if part == "url" and named is None:
            key = by_lower.get("loc", key)
        if key is None and named is not None:
            raise KeyError(f"there is no column {named}; the first row has {there}")
        if key is None and part == "url":
            raise KeyError(f'there is no column loc or url; the first row has {there}; name one with url="NAME"')
        keys.append(key)
    return keys


def places(names: Sequence[str], columns: Mapping[str, Optional[str]]) -> list[Optional[int]]:
    """The index of the column of each part among the columns ``names`` of a table; ``None`` if there is none."""
    keys = _keys({name: None for name in names}, {part: name for part, name in columns.items() if name})
    return [None if key is None else list(names).index(key) for key in keys]


def _of_mappings(rows: Iterable[Any], keys: list[Optional[str]]) -> Iterator[tuple]:
    plain, nested = keys[:4], keys[4:]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} is a {type(row).__name__}, and the first row was a dict")
        yield (
            *(_text(row.get(key)) for key in plain),
            *(_cell(row.get(key)) for key in nested),
        )


def _text(value: Any) -> Union[str, bytes, None]:
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, (datetime.datetime, datetime.date)):
        # NaT of pandas is a datetime, and equals nothing.
        return value.isoformat() if value == value else None
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)


def _cell(value: Any) -> Union[str, bytes, None]:
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    return json.dumps(value, default=str)
