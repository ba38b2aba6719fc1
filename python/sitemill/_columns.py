"""Columns of tables and keys of rows: their names, and which of them has which part of a row."""

from __future__ import annotations

import string
from typing import Any, Iterable, Mapping, Optional, Sequence

from ._errors import DataRefused, UsageError
from ._values import BLANKS

#: The parts of a row, in the order of the tuples. Each is also the default name of its column. A row has a section only if its
#: column is named.
PARTS = ("url", "lastmod", "changefreq", "priority", "alternates", "images", "videos", "news", "section")

#: The parts that are JSON unless they are text.
CELLS = ("alternates", "images", "videos", "news")

#: The column of a Spark frame that stands for all columns without a part.
OTHER_COLUMNS = "other columns"

#: Maximum number of names of unused columns in a report.
UNUSED_MAX = 64

#: As in files, the letter case matters only for ASCII letters.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


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
    options: dict[str, str] = {}
    for part, name in columns.items():
        option = "section_column" if part == "section" else part
        check_is_name(option, name)
        if not name.strip(BLANKS):
            raise UsageError(f"{option}={name!r}: give the name of the column")
        other = options.setdefault(plain(name), option)
        if other != option:
            raise UsageError(f"column {name} is used for both {other} and {option}")


def check_is_name(option: str, name: Any) -> None:
    """Checks the type of an option that names a column."""
    if not isinstance(name, str):
        raise TypeError(f"{option} is of type {type(name).__name__}; give the name of the column as a str")


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


def keys_of(names: Sequence[str], columns: Mapping[str, str]) -> list[Optional[str]]:
    """The name of each part among the columns ``names`` of a table. ``columns`` has the names that callers chose."""
    parts = parts_by_name(columns)
    keys: dict[int, str] = {}
    # Of several names of a part, the first is used, but ``loc`` before ``url``.
    for name in sorted(names, key=plain):
        if plain(name) in parts:
            keys.setdefault(parts[plain(name)], name)
    return [keys.get(at) for at in range(len(PARTS))]


def parts_by_name(columns: Mapping[str, str]) -> dict[str, int]:
    """The places of parts by the names of their columns, as they are compared."""
    named = {plain(columns[part]): at for at, part in enumerate(PARTS) if columns.get(part)}
    # A column that is named for one part is not the usual column of another.
    usual = {part: at for at, part in enumerate(PARTS) if at not in named.values() and part != "section"}
    if 0 in usual.values():
        usual["loc"] = 0
    return usual | named


def _check_unique(names: Sequence[str], found: Sequence[Optional[int]]) -> None:
    """Refuses a table in which another column has the name of one that is read, as the extension module does."""
    compared = [plain(name) for name in names]
    for place in found:
        if place is not None and compared.count(compared[place]) > 1:
            why = f"rows: two columns are named {names[place].strip(BLANKS)}; rename the one that should not be read"
            raise DataRefused(why)


def refusal(number: Optional[int], names: Sequence[Any], part: str, columns: Mapping[str, str]) -> DataRefused:
    """The error for rows that have no column for ``part``. ``columns`` has the names that callers chose."""
    row = "" if number is None else f"row {number}: "
    there = ", ".join(map(shown, names))
    wanted = plain(columns.get(part, ""))
    around = next((name for name in names if wanted.startswith(f"{plain(str(name))}.")), None)
    if around is not None:
        message = f"{row}names with dots do not lead into {shown(around)}; make its field a column of its own"
    elif not names:
        message = f"{row}there are no columns; give a column {shown(columns.get('url', 'loc or url'))} with the URLs"
    elif part in columns:
        message = f"{row}there is no column {shown(columns[part])}; there are: {there}"
    else:
        parts = {plain(column): other for other, column in columns.items()}
        taken = next((name for name in map(str, names) if plain(name) in ("loc", "url")), None)
        use = "" if taken is None else f" ({shown(taken)} is used for {parts[plain(taken)]})"
        message = f'{row}there is no column loc or url{use}; there are: {there}; choose one with url="NAME"'
    return DataRefused(f"rows: {message}", path="rows")


def first_names(names: Iterable[str]) -> list[str]:
    """The names of columns for a report, as the extension module shows them: the first ones, and ``…`` for the rest."""
    names = list(names)
    return names[:UNUSED_MAX] + ["…"] * (len(names) > UNUSED_MAX)


def plain(name: str) -> str:
    """A name of a column as it is compared."""
    return name.strip(BLANKS).translate(_LOWER)


def shown(name: object) -> str:
    """A name for a message, on one line."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in str(name))
