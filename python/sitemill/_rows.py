"""Rows from Python: tells paths from rows, names columns, and turns the rows of iterables into tuples for the extension module."""

from __future__ import annotations

import os
import re
import string
from itertools import repeat
from typing import Any, Callable, Iterable, Iterator, Mapping, NoReturn, Optional, Sequence, Union

from ._errors import DataRefused, RowTypeError, UsageError, make
from ._values import BLANKS, Value, cell_of, is_blank, is_missing, is_nothing, json_of, text_of

#: The parts of a row, in the order of the tuples. Each is also the default name of its column. A row
#: has a section only if its column is named.
PARTS = ("url", "lastmod", "changefreq", "priority", "alternates", "images", "videos", "news", "section")

#: The parts that are JSON unless they are text.
CELLS = ("alternates", "images", "videos", "news")

#: Maximum number of names of unused keys that are kept.
UNUSED_MAX = 64

Path = Union[str, "os.PathLike[str]"]
#: The parts of a row, and whether it has other values: ``None`` if it cannot be read, and the URL is its text.
Parts = tuple[Union[Value, bool], ...]
#: A row that is nothing but a URL, or perhaps the line of a file with its end, is that text.
Row = Union[str, bytes, Parts]

_NOTHING: Parts = (*[None] * len(PARTS), False)


#: A location in a store in which ``pathlib`` has collapsed two slashes into one.
_COLLAPSED = re.compile(r"(s3a?|gs|az|abfs|https?):/(?!/)", re.IGNORECASE)
#: A location in a store, as opposed to the URL of a page.
_IN_STORE = re.compile(r"(s3a?|gs|az|abfs)://", re.IGNORECASE)


def path(given: Path) -> str:
    """A path, or a location in a store, as text."""
    text = os.fspath(given)
    if isinstance(text, str) and _COLLAPSED.match(text):
        scheme, rest = text.split(":/", 1)
        raise UsageError(
            f"{text}: a path of pathlib has one slash where a URL has two; pass the string \"{scheme}://{rest}\"",
            path=text,
            exit_code=2,
        )
    return text


def paths(rows: Any) -> Optional[list[str]]:
    """The paths in ``rows``; ``None`` if they are rows themselves.

    Strings in a list are URLs of pages if they contain ``://``, except locations in stores.
    """
    if isinstance(rows, (str, os.PathLike)):
        return [path(rows)]
    if not isinstance(rows, (list, tuple)) or not rows:
        return None
    is_path = [isinstance(row, os.PathLike) or (isinstance(row, str) and _is_path(row)) for row in rows]
    if not any(is_path):
        return None
    if all(is_path):
        return [path(row) for row in rows]
    if any(isinstance(row, os.PathLike) for row in rows):
        raise TypeError("rows has both paths and other values; give a list of paths, or an iterable of rows")
    # A list of URLs, one of which is invalid and will be counted as rejected.
    return None


def _is_path(row: str) -> bool:
    return "://" not in row or _IN_STORE.match(row) is not None


def places(names: Sequence[str], columns: Mapping[str, Optional[str]]) -> list[Optional[int]]:
    """The index of the column of each part among the columns ``names`` of a table; ``None`` if there is none."""
    named = {part: name for part, name in columns.items() if name is not None}
    check_names(named)
    rows = Rows((), named)
    keys = rows.keys_of(names)
    for part, key in zip(PARTS, keys):
        if key is None and (part in named or part == "url"):
            rows.refuse(None, names, part)
    return [None if key is None else list(names).index(key) for key in keys]


def columns_of(arguments: Mapping[str, Any]) -> dict[str, Optional[str]]:
    """The keyword arguments of a function that name columns: ``url`` and so on."""
    return {part: arguments[part] for part in PARTS if part in arguments}


def named_columns(named: Mapping[str, str], columns: Optional[str]) -> dict[str, str]:
    """The names of columns, from the keyword arguments ``url`` and so on, and the option ``columns``."""
    pairs = dict(named)
    for pair in columns.split(",") if columns else ():
        part, name = (word.strip() for word in pair.partition("=")[::2])
        part = "url" if part == "loc" else part
        if part not in PARTS[:-1] or not name or part in pairs:
            usual = ", ".join(PARTS[:-1])
            why = f"columns are PART=NAME,PART=NAME: url=page; the parts are {usual}, each once"
            raise UsageError(f"columns={columns!r}: {why}", exit_code=2)
        pairs[part] = name
    return pairs


def check_names(columns: Mapping[str, str]) -> None:
    """Checks that the names of columns are not blank, and that none is named for two parts."""
    parts: dict[str, str] = {}
    for part, name in columns.items():
        shown = "section_column" if part == "section" else part
        check_is_name(shown, name)
        if not name.strip(BLANKS):
            raise UsageError(f"{shown}={name!r}: give the name of the column", exit_code=2)
        other = parts.setdefault(plain(name), shown)
        if other != shown:
            raise UsageError(f"column {name} is used for both {other} and {shown}", exit_code=2)


def check_is_name(option: str, name: Any) -> None:
    """Checks the type of an option that names a column."""
    if not isinstance(name, str):
        raise TypeError(f"{option} is of type {type(name).__name__}; give the name of the column as a str")


def first_names(names: Iterable[str]) -> list[str]:
    """The names of columns for a report, as the extension module shows them: the first ones, and ``…`` for the rest."""
    names = list(names)
    return names[:UNUSED_MAX] + ["…"] * (len(names) > UNUSED_MAX)


def is_number(name: str) -> bool:
    """Whether the name of a column would be taken for a position."""
    return name.isascii() and name.strip(BLANKS).isdigit()


def unusable_name(part: str, name: str) -> UsageError:
    """The error for a number, or a name with a comma, where it cannot be the name of the column of ``part``."""
    option = "section_column" if part == "section" else part
    why = "a name with a comma cannot be given" if "," in name else "a number cannot be the name of a column"
    return UsageError(f"{option}={name!r}: {why}; rename the column", exit_code=2)


def with_names(table: Any, columns: Mapping[str, str]) -> tuple[Any, dict[str, str]]:
    """``table``, and the names of its columns. Numbers would be taken for positions, and a comma would end the name, so such
    columns get the names of their parts."""
    unusable = [part for part, name in columns.items() if is_number(name) or ("," in name and part != "section")]
    if not unusable:
        return table, dict(columns)
    if not hasattr(table, "rename_columns"):
        raise unusable_name(unusable[0], columns[unusable[0]])
    names = list(table.schema.names)
    parts = {names[at]: part for part, at in zip(PARTS, places(names, columns)) if at is not None and part in columns}
    # Another column may have the name of a part.
    others = {name: f"{name} (other)" for name in names if name.lower() in parts.values()}
    renamed = {name: parts.get(name, others.get(name, name)) for name in names}
    return Renamed(table, renamed), {part: part for part in columns}


class Renamed:
    """A table with other names of columns. In the report, they have their own."""

    def __init__(self, table: Any, names: Mapping[str, str]) -> None:
        self._table = table.rename_columns([names[name] for name in table.schema.names])
        self._own = {new: name for name, new in names.items()}

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def found(self, columns: Optional[Mapping[str, Any]]) -> Optional[Mapping[str, Any]]:
        """The columns of a report with their own names."""
        if columns is None:
            return None
        own = self._own
        used = {part: own.get(name, name) for part, name in columns["used"].items()}
        return {**columns, "used": used, "unused": [own.get(name, name) for name in columns["unused"]]}


class Rows:
    """Iterates over rows as texts and tuples for the extension module.

    A string is the URL of a row. A dictionary has the parts by their names, in any case. As in JSON lines, each row may have
    other keys, ``loc`` is used before ``url``, and a row without a value for any key is blank.

    Attributes:
        used: the key of each part that was found.
        unused: the names of other keys.
    """

    def __init__(self, rows: Iterable[Any], columns: Mapping[str, str]) -> None:
        self._columns = columns
        self.used: dict[str, str] = {}
        self.unused: dict[str, None] = {}
        self.are_dicts = False
        self._rows = self._iterate(iter(rows))

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def _iterate(self, rows: Iterator[Any]) -> Iterator[Row]:
        first: Any = None
        keys: Optional[tuple[Any, ...]] = None
        plan = _Plan()
        for number, row in enumerate(rows, 1):
            if row is None:
                yield _NOTHING
            elif isinstance(row, (str, bytes)):
                if isinstance(first, Mapping):
                    raise RowTypeError(f"row {number} is of type {type(row).__name__}, and earlier rows are dictionaries")
                if first is None:
                    self._check_has_no_columns(number)
                    # At the start of a file.
                    row = row.removeprefix("\ufeff") if isinstance(row, str) else row.removeprefix(b"\xef\xbb\xbf")
                first = row
                yield row
            elif isinstance(row, Mapping):
                if isinstance(first, (str, bytes)):
                    raise RowTypeError(f"row {number} is of type {type(row).__name__}, and earlier rows are strings")
                if tuple(row) != keys:
                    keys = tuple(row)
                    plan = self._plan(row)
                    if first is None and row:
                        self._check_first(number, row, plan)
                if row:
                    first = row
                    self.are_dicts = True
                yield plan.tuple_of(row, number)
            elif is_missing(row):
                yield _NOTHING
            else:
                raise RowTypeError(
                    f"row {number} is of type {type(row).__name__}; expected a str, bytes or a dict; "
                    "give an iterable of these, a path, or an object with __arrow_c_stream__"
                )

    def found(self, columns: Optional[Mapping[str, Any]]) -> Optional[Mapping[str, Any]]:
        """The columns of a report, of which the extension module knows nothing."""
        return {"used": self.used, "unused": first_names(self.unused)} if self.are_dicts else columns

    def _check_has_no_columns(self, number: int) -> None:
        """Refuses rows that are strings if columns are named. The first row has been taken, so it is no ``UsageError``."""
        if self._columns:
            names = ", ".join(self._columns.values())
            raise make("data", 65, f"rows: row {number} is a string, which has no column {names}; give dictionaries", "rows")

    def _check_first(self, number: int, row: Mapping[Any, Any], plan: "_Plan") -> None:
        """Refuses rows whose first one has no URL."""
        if not plan.urls:
            self.refuse(number, list(row), "url")

    def refuse(self, number: Optional[int], names: Sequence[Any], part: str) -> NoReturn:
        """Raises an error because there is no column for ``part``."""
        row = "" if number is None else f"row {number}: "
        there = ", ".join(map(str, names))
        if not names:
            message = f"{row}there are no columns; give a column {self._columns.get('url', 'loc or url')} with the URLs"
        elif part in self._columns:
            message = f"{row}there is no column {self._columns[part]}; there are: {there}"
        else:
            message = f'{row}there is no column loc or url; there are: {there}; name one with url="NAME"'
        raise make("data", 65, f"rows: {message}", "rows")

    def keys_of(self, names: Sequence[str]) -> list[Optional[str]]:
        """The name of each part among the columns ``names`` of a table."""
        plan = self._plan(dict.fromkeys(names))
        return [plan.urls[0] if plan.urls else None, *plan.keys[1:]]

    def _plan(self, row: Mapping[Any, Any]) -> "_Plan":
        """Where the parts are in a row with these keys."""
        plan = _Plan()
        named = {plain(self._columns[part]): at for at, part in enumerate(PARTS) if self._columns.get(part)}
        # A column that is named for one part is not the usual column of another.
        usual = {part: at for at, part in enumerate(PARTS) if at not in named.values() and part != "section"}
        names = usual | named
        if 0 not in named.values():
            names.setdefault("loc", 0)
        for key in row:
            name = plain(str(key))
            at = names.get(name)
            if at == 0:
                plan.add_url(key, name)
            elif at is not None and plan.keys[at] is None:
                plan.keys[at] = key
            else:
                plan.others.append(key)
                # One more than are shown.
                if len(self.unused) <= UNUSED_MAX:
                    self.unused[str(key)] = None
                continue
            self.used.setdefault(PARTS[at], str(key))
        return plan


class ColumnRows(Rows):
    """Iterates over the rows of a frame. As in a table, each part is in the same column of all rows."""

    def __init__(self, names: Sequence[str], column: Callable[[int], Iterable[Any]], columns: Mapping[str, str]) -> None:
        """``names`` are those of all columns, and ``column`` returns the values of the one at a place."""
        super().__init__((), columns)
        found = places(names, columns)
        _check_unique(names, found)
        self.used = {part: names[place] for part, place in zip(PARTS, found) if place is not None}
        self.unused = dict.fromkeys(name for place, name in enumerate(names) if place not in found)
        self.are_dicts = True
        has_others = len(names) > len(found) - found.count(None)
        values = [repeat(None) if place is None else column(place) for place in found]
        rows, key = enumerate(zip(*values), 1), self.used["url"]
        self._rows = ((_url(url, key, number), *map(_tag, PARTS[1:], tags), has_others) for number, (url, *tags) in rows)


def _check_unique(names: Sequence[str], found: Sequence[Optional[int]]) -> None:
    """Refuses a table in which another column has the name of one that is read, as the extension module does."""
    compared = [plain(name) for name in names]
    for place in found:
        if place is not None and compared.count(compared[place]) > 1:
            why = f"rows: two columns are named {names[place].strip(BLANKS)}; rename the one that should not be read"
            raise DataRefused(why, exit_code=65)


#: As in files, the letter case matters only for ASCII letters.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def plain(name: str) -> str:
    """A name of a column as it is compared."""
    return name.strip(BLANKS).translate(_LOWER)


class _Plan:
    """The keys of the parts in a row."""

    def __init__(self) -> None:
        #: Keys of the URL. The first one with a value is used.
        self.urls: list[Any] = []
        #: The same keys in the order of the row, and their names in lower case.
        self.url_names: dict[Any, str] = {}
        #: The keys of all parts; that of the URL is not used.
        self.keys: list[Any] = [None] * len(PARTS)
        self.others: list[Any] = []

    def add_url(self, key: Any, name: str) -> None:
        """Adds a key of the URL. ``loc`` comes before ``url``."""
        self.url_names[key] = name
        self.urls = sorted(self.url_names, key=self.url_names.__getitem__)

    def tuple_of(self, row: Mapping[Any, Any], number: int) -> Parts:
        if len(self.urls) > 1 and self._has_rivals(row):
            return (json_of(row), *_NOTHING[1:-1], None)
        url: Value = None
        for key in self.urls:
            url = _url(row[key], key, number)
            if url and (url.strip() or not is_blank(url)):
                return (url, *self._tags(row), False)
        if all(map(is_nothing, row.values())):
            return (url, *_NOTHING[1:])
        return (url, *self._tags(row), True)

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

    def _tags(self, row: Mapping[Any, Any]) -> Iterator[Value]:
        return (None if key is None else _tag(part, row[key]) for part, key in zip(PARTS[1:], self.keys[1:]))


def _tag(part: str, value: Any) -> Value:
    return cell_of(value) if part in CELLS else text_of(value)


def _url(value: Any, key: Any, number: int) -> Value:
    if value is None or isinstance(value, (str, bytes)):
        return value
    if is_missing(value):
        return None
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise RowTypeError(
        f"row {number}: {key} holds a {type(value).__name__}; expected a str or bytes; convert it with str(), "
        'or name another column with url="NAME"'
    )
