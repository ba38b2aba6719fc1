"""Rows from Python: tells paths from rows, names columns, and turns the rows of iterables into tuples for the extension module."""

from __future__ import annotations

import os
import re
import stat
import string
from itertools import chain, repeat
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from ._errors import DataRefused, RowTypeError, UsageError
from ._values import BLANKS, Value, cell_of, is_blank, is_missing, is_nothing, json_of, text_of

#: The parts of a row, in the order of the tuples. Each is also the default name of its column. A row
#: has a section only if its column is named.
PARTS = ("url", "lastmod", "changefreq", "priority", "alternates", "images", "videos", "news", "section")

#: Options that are files to write.
RESULTS = ("rejects", "diff", "report", "html", "metrics", "robots")

#: The parts that are JSON unless they are text.
CELLS = ("alternates", "images", "videos", "news")

#: Maximum number of names of unused columns in a report.
UNUSED_MAX = 64

#: Maximum number of different sequences of keys that are remembered.
_PLANS_MAX = 1024

Path = Union[str, "os.PathLike[str]"]
#: The keys that are read, each after the name of its part, and the others.
Found = tuple[list[tuple[str, str]], list[str]]
#: The parts of a row, of which one with several values is a tuple; whether it has other values, ``None`` if it cannot be read and
#: the URL is its text; and its keys if it is the first row that has them.
Parts = tuple[Union[Value, tuple[Value, ...], bool, Found], ...]
#: A row that is nothing but a URL, or perhaps the line of a file with its end, is that text.
Row = Union[str, bytes, Parts]

_NOTHING: Parts = (*[None] * len(PARTS), False, None)


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


def check_is_not_written(rows: Any, options: Mapping[str, Any]) -> None:
    """Refuses rows that are an open file, such as ``open("urls.txt")``, if an option names that file for a result."""
    try:
        there = os.fstat(rows.fileno())
    except (AttributeError, TypeError, ValueError, OSError):
        return
    if not stat.S_ISREG(there.st_mode):
        return
    for option in RESULTS:
        given = options.get(option)
        if given is None:
            continue
        try:
            is_same = os.path.samestat(there, os.stat(given))
        except (TypeError, ValueError, OSError):
            continue
        if is_same:
            name = os.fsdecode(given)
            raise UsageError(f"{option}={name!r}: the same file as rows; use another file", path=name)


def _is_path(row: str) -> bool:
    return "://" not in row or _IN_STORE.match(row) is not None


def places(names: Sequence[str], columns: Mapping[str, Optional[str]]) -> list[Optional[int]]:
    """The index of the column of each part among the columns ``names`` of a table; ``None`` if there is none.

    As in files, a table in which another column has the name of one that is read is refused.
    """
    named = {part: name for part, name in columns.items() if name is not None}
    check_names(named)
    keys = keys_of(names, named)
    for part, key in zip(PARTS, keys):
        if key is None and (part in named or part == "url"):
            raise refusal(None, names, part, named)
    found = [None if key is None else list(names).index(key) for key in keys]
    _check_unique(names, found)
    return found


def columns_of(arguments: Mapping[str, Any]) -> dict[str, Optional[str]]:
    """The keyword arguments of a function that name columns: ``url`` and so on."""
    return {part: arguments[part] for part in PARTS if part in arguments}


def named_columns(named: Mapping[str, str], columns: Optional[str]) -> dict[str, str]:
    """The names of columns, from the keyword arguments ``url`` and so on, and the option ``columns``."""
    pairs = dict(named)
    for pair in () if columns is None else columns.split(","):
        part, name = (word.strip() for word in pair.partition("=")[::2])
        part = "url" if part == "loc" else part
        if part not in PARTS[:-1] or not name or part in pairs:
            usual = ", ".join(PARTS[:-1])
            why = f"expected TAG=NAME, separated by commas, such as url=page,lastmod=updated_at; TAG is {usual}, each once"
            raise UsageError(f"columns={columns!r}: {why}")
        pairs[part] = name
    return pairs


def check_names(columns: Mapping[str, str]) -> None:
    """Checks that the names of columns are not blank, and that none is named for two parts."""
    parts: dict[str, str] = {}
    for part, name in columns.items():
        shown = "section_column" if part == "section" else part
        check_is_name(shown, name)
        if not name.strip(BLANKS):
            raise UsageError(f"{shown}={name!r}: give the name of the column")
        other = parts.setdefault(plain(name), shown)
        if other != shown:
            raise UsageError(f"column {name} is used for both {other} and {shown}")


def check_is_name(option: str, name: Any) -> None:
    """Checks the type of an option that names a column."""
    if not isinstance(name, str):
        raise TypeError(f"{option} is of type {type(name).__name__}; give the name of the column as a str")


def shown(name: object) -> str:
    """A name for a message, on one line."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in str(name))


def first_names(names: Iterable[str]) -> list[str]:
    """The names of columns for a report, as the extension module shows them: the first ones, and ``…`` for the rest."""
    names = list(names)
    return names[:UNUSED_MAX] + ["…"] * (len(names) > UNUSED_MAX)


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
        self._names = _names(columns)
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
                error = RowTypeError(
                    f"row {number} is of type {type(row).__name__}; expected a str, bytes or a dict; "
                    "give an iterable of these, a path, or an object with __arrow_c_stream__"
                )
                raise Refusal(error)

    def _check_has_no_columns(self, number: int) -> None:
        """Refuses rows that are strings if columns are named. The first row has been taken, so it is no ``UsageError``."""
        if self._columns:
            names = ", ".join(map(shown, self._columns.values()))
            message = f"rows: row {number} is a string, which has no column {names}; give dictionaries"
            raise Refusal(DataRefused(message, path="rows"))


def refusal(number: Optional[int], names: Sequence[Any], part: str, columns: Mapping[str, str]) -> DataRefused:
    """The error for rows that have no column for ``part``. Those of the parts in ``columns`` are named there."""
    row = "" if number is None else f"row {number}: "
    there = ", ".join(map(shown, names))
    if not names:
        message = f"{row}there are no columns; give a column {shown(columns.get('url', 'loc or url'))} with the URLs"
    elif part in columns:
        message = f"{row}there is no column {shown(columns[part])}; there are: {there}"
    else:
        parts = {plain(column): other for other, column in columns.items()}
        taken = next((name for name in map(str, names) if plain(name) in ("loc", "url")), None)
        use = "" if taken is None else f" ({shown(taken)} is used for {parts[plain(taken)]})"
        message = f'{row}there is no column loc or url{use}; there are: {there}; choose one with url="NAME"'
    return DataRefused(f"rows: {message}", path="rows")


def keys_of(names: Sequence[str], columns: Mapping[str, str]) -> list[Optional[str]]:
    """The name of each part among the columns ``names`` of a table. Those of the parts in ``columns`` are named there."""
    plan = _plan(dict.fromkeys(names), _names(columns))
    return [plan.urls[0] if plan.urls else None, *plan.keys[1:]]


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


def _names(columns: Mapping[str, str]) -> dict[str, int]:
    """The places of parts by the names of their columns, as they are compared."""
    named = {plain(columns[part]): at for at, part in enumerate(PARTS) if columns.get(part)}
    # A column that is named for one part is not the usual column of another.
    usual = {part: at for at, part in enumerate(PARTS) if at not in named.values() and part != "section"}
    if 0 in usual.values():
        usual["loc"] = 0
    return usual | named


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


def _check_unique(names: Sequence[str], found: Sequence[Optional[int]]) -> None:
    """Refuses a table in which another column has the name of one that is read, as the extension module does."""
    compared = [plain(name) for name in names]
    for place in found:
        if place is not None and compared.count(compared[place]) > 1:
            why = f"rows: two columns are named {names[place].strip(BLANKS)}; rename the one that should not be read"
            raise DataRefused(why)


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
