"""Paths and locations in stores: tells them from rows."""

from __future__ import annotations

import os
import re
import stat
from typing import Any, Mapping, Optional, Union

from ._errors import UsageError

Path = Union[str, "os.PathLike[str]"]

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


def check_are_files(rows: Any) -> None:
    """Refuses a list of strings that were taken for local paths, but are none: relative URLs."""
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, str) and "://" not in row and row != "-" for row in rows):
        return
    if not any(map(os.path.lexists, rows)):
        why = "strings in a list are paths unless one has ://"
        raise UsageError(f"{rows[0]!r}: no such file; {why}; for relative URLs, give iter(rows)", path=rows[0])


def _is_path(row: str) -> bool:
    return "://" not in row or _IN_STORE.match(row) is not None


def check_is_not_written(rows: Any, results: Mapping[str, Any]) -> None:
    """Refuses rows that are an open file, such as ``open("urls.txt")``, if it is also one of the ``results``: files to write, by
    the names of their options."""
    try:
        there = os.fstat(rows.fileno())
    except (AttributeError, TypeError, ValueError, OSError):
        return
    if not stat.S_ISREG(there.st_mode):
        return
    for option, given in results.items():
        try:
            is_same = os.path.samestat(there, os.stat(given))
        except (TypeError, ValueError, OSError):
            continue
        if is_same:
            name = os.fsdecode(given)
            raise UsageError(f"{option}={name!r}: the same file as rows; use another file", path=name)
