"""Rows of iterables and frames as tuples for the extension module."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from ._columns import CELLS, PARTS, parts_by_name, places, plain, refusal, shown
from ._errors import DataRefused, RowTypeError
from ._values import Value, cell_of, is_blank, is_missing, is_nothing, json_of, text_of

#: Maximum number of different sequences of keys that are remembered.
_PLANS_MAX = 1024

#: The keys that are read, each after the name of its part, and the others.
Found = tuple[list[tuple[str, str]], list[str]]
#: The parts of a row, of which one with several values is a tuple; whether it has other values, ``None`` if it cannot be read and
#: the URL is its text; and its keys if it is the first row that has them.
Parts = tuple[Union[Value, tuple[Value, ...], bool, Found], ...]
#: A row that is only a URL is a string, perhaps with a line end, as when an open file is iterated.
Row = Union[str, bytes, Parts]

_NOTHING: Parts = (*[None] * len(PARTS), False, None)


class Refusal(Exception):
    """Raised while rows are iterated, in place of ``error``, with which the run ends. An exception of the caller's own iterable
    becomes the cause of another one."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Rows:
    """Iterates over rows as texts and tuples for the extension module.

    A string is the URL of a row. A dictionary has the parts by their names, in any case. As in JSON lines, each row may have
    other keys, ``loc`` is used before ``url``, and a row without a value for any key is blank.
    """

    def __init__(self, rows: Iterable[Any], columns: Mapping[str, str]) -> None:
        self._columns = columns
        #: The parts by the names of their columns in lower case.
        self._names = parts_by_name(columns)
        self._rows = self._iterate(iter(rows))

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def _iterate(self, rows: Iterator[Any]) -> Iterator[Row]:
        first: Any = None
        plans: dict[tuple[Any, ...], _Plan] = {}
        for number, row in enumerate(rows, 1):
            if row is None:
                yield _NOTHING
            elif isinstance(row, (str, bytes)):
                if isinstance(first, Mapping):
                    raise Refusal(RowTypeError(f"row {number} is of type {type(row).__name__}, and earlier rows are dictionaries"))
                if first is None:
                    self._check_has_no_columns(number)
                    # At the start of a file.
                    row = row.removeprefix("\ufeff") if isinstance(row, str) else row.removeprefix(b"\xef\xbb\xbf")
                first = row
                yield row
            elif isinstance(row, Mapping):
                if isinstance(first, (str, bytes)):
                    raise Refusal(RowTypeError(f"row {number} is of type {type(row).__name__}, and earlier rows are strings"))
                keys = tuple(row)
                plan = plans.get(keys)
                if plan is None:
                    if len(plans) == _PLANS_MAX:
                        plans.clear()
                    plan = plans[keys] = _plan(row, self._names)
                if row:
                    if first is None and not plan.urls:
                        raise Refusal(refusal(number, list(row), "url", self._columns))
                    first = row
                yield plan.tuple_of(row, number)
            elif is_missing(row):
                yield _NOTHING
            else:
                way_out = "give an iterable of these, a path, or an object with __arrow_c_stream__"
                if hasattr(row, "__arrow_c_array__"):
                    way_out = "give record batches as pyarrow.RecordBatchReader.from_batches(schema, batches)"
                expected = f"row {number} is of type {type(row).__name__}; expected a str, bytes or a dict"
                raise Refusal(RowTypeError(f"{expected}; {way_out}"))

    def _check_has_no_columns(self, number: int) -> None:
        """Refuses rows that are strings if columns are named. The first row has been taken, so it is no ``UsageError``."""
        if self._columns:
            names = ", ".join(map(shown, self._columns.values()))
            message = f"rows: row {number} is a string, which has no column {names}; give dictionaries"
            raise Refusal(DataRefused(message, path="rows"))


def rows_of_columns(
    names: Sequence[str], column: Callable[[int], Iterable[Any]], columns: Mapping[str, str]
) -> Iterator[Row]:
    """The rows of a frame. As in a table, each part is in the same column of all rows. ``names`` are those of all columns, and
    ``column`` returns the values of the one at a place."""
    found = places(names, columns)
    used = [(part, names[place]) for part, place in zip(PARTS, found) if place is not None]
    unused = [name for place, name in enumerate(names) if place not in found]
    values = [repeat(None) if place is None else column(place) for place in found]
    rows, key, keys = enumerate(zip(*values), 1), dict(used)["url"], chain([(used, unused)], repeat(None))
    return ((_url(url, key, number), *map(_tag, PARTS[1:], tags), bool(unused), next(keys)) for number, (url, *tags) in rows)


def _plan(row: Mapping[Any, Any], names: Mapping[str, int]) -> "_Plan":
    """Where the parts are in a row with these keys. ``names`` are the names of the parts' columns, with their places."""
    plan = _Plan()
    used: list[tuple[str, str]] = []
    unused: list[str] = []
    plan.found = (used, unused)
    for key in row:
        name = plain(str(key))
        at = names.get(name)
        if at is None:
            unused.append(str(key))
            continue
        used.append((PARTS[at], str(key)))
        if at == 0:
            plan.add_url(key, name)
        else:
            plan.add_tag(key, at)
    return plan


class _Plan:
    """The keys of the parts in a row."""

    def __init__(self) -> None:
        #: Keys of the URL. The first one with a value is used.
        self.urls: list[Any] = []
        #: The same keys in the order of the row, and their names in lower case.
        self.url_names: dict[Any, str] = {}
        #: The keys of all parts, for each the first one; that of the URL is not used.
        self.keys: list[Any] = [None] * len(PARTS)
        #: All keys of a part of which there are several, which differ only in case.
        self.rivals: dict[int, list[Any]] = {}
        #: The names of the keys, until a row has told them.
        self.found: Optional[Found] = None

    def add_url(self, key: Any, name: str) -> None:
        """Adds a key of the URL. ``loc`` comes before ``url``."""
        self.url_names[key] = name
        self.urls = sorted(self.url_names, key=self.url_names.__getitem__)

    def add_tag(self, key: Any, at: int) -> None:
        """Adds a key of the part at this place."""
        if self.keys[at] is None:
            self.keys[at] = key
        else:
            self.rivals.setdefault(at, [self.keys[at]]).append(key)

    def tuple_of(self, row: Mapping[Any, Any], number: int) -> Parts:
        found, self.found = self.found, None
        if (len(self.urls) > 1 and self._has_rivals(row)) or (self.rivals and self._has_sections(row)):
            return (json_of(row), *_NOTHING[1:-2], None, found)
        url: Value = None
        for key in self.urls:
            url = _url(row[key], key, number)
            if url and (url.strip() or not is_blank(url)):
                return (url, *self._tags(row), False, found)
        if all(map(is_nothing, row.values())):
            return (url, *_NOTHING[1:-1], found)
        return (url, *self._tags(row), True, found)

    def _has_rivals(self, row: Mapping[Any, Any]) -> bool:
        """Whether two keys that differ only in case have a URL, so that it is unclear which is meant. As in JSON lines, it does not
        matter after a better one."""
        best: Optional[str] = None
        for key, name in self.url_names.items():
            if not is_nothing(row[key]):
                if name == best:
                    return True
                best = name if best is None else min(best, name)
        return False

    def _has_sections(self, row: Mapping[Any, Any]) -> bool:
        """Whether the row has several sections."""
        keys = self.rivals.get(len(PARTS) - 1, ())
        return sum(not is_nothing(row[key]) for key in keys) > 1

    def _tags(self, row: Mapping[Any, Any]) -> Iterable[Union[Value, tuple[Value, ...]]]:
        if self.rivals:
            return map(self._tag_of_rivals, repeat(row), range(1, len(PARTS)))
        return (None if key is None else _tag(part, row[key]) for part, key in zip(PARTS[1:], self.keys[1:]))

    def _tag_of_rivals(self, row: Mapping[Any, Any], at: int) -> Union[Value, tuple[Value, ...]]:
        """The tag at this place, of which there may be several keys. As in JSON lines, all values count."""
        keys = self.rivals.get(at, [] if self.keys[at] is None else [self.keys[at]])
        values = [_tag(PARTS[at], row[key]) for key in keys if not is_nothing(row[key])]
        return tuple(values) if len(values) > 1 else values[0] if values else None


def _tag(part: str, value: Any) -> Value:
    return cell_of(value) if part in CELLS else text_of(value)


def _url(value: Any, key: Any, number: int) -> Value:
    if value is None or isinstance(value, (str, bytes)):
        return value
    if is_missing(value):
        return None
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    error = RowTypeError(
        f"row {number}: {shown(key)} holds a value of type {type(value).__name__}; expected a str or bytes; convert it with str(), "
        'or choose another column with url="NAME"'
    )
    raise Refusal(error)
