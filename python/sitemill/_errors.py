"""Exceptions: one class for each kind of failure."""

from __future__ import annotations

import os
import re
import traceback
import warnings as _warnings
from typing import TYPE_CHECKING, Any, Iterable, Optional

if TYPE_CHECKING:
    from ._report import Report


class SitemillError(Exception):
    """A call that failed. Unless the message says otherwise, nothing was published and the live set is unchanged.

    Attributes:
        kind: the kind of failure, a word such as ``"data"``.
        path: the file or directory that the failure is about, if there is one.
        exit_code: the exit code of the command line for this failure.
    """

    kind: str = "internal"
    exit_code: int = 70

    def __init__(self, message: str, *, path: Optional[str] = None) -> None:
        super().__init__(message)
        self.path = path


class UsageError(SitemillError, ValueError):
    """Options that contradict each other or the sitemap protocol."""

    kind = "usage"
    exit_code = 2


class DataRefused(SitemillError):
    """The data cannot be published: no URL is valid, too many rows are rejected, or an input is damaged, for example.

    Attributes:
        report: the report of the run, if all rows were counted.
    """

    kind = "data"
    exit_code = 65
    report: Optional["Report"] = None


class _OfSystem:
    """The fields of an `OSError`, which would be lost when the exception is pickled.

    Attributes:
        errno: the number of the system's error, such as ``errno.ENOSPC``, if there is one.
        strerror: the words for this number.
        filename: the same as ``path``.
    """

    errno: Optional[int] = None
    strerror: Optional[str] = None
    filename: Optional[str] = None


class InputError(SitemillError, _OfSystem, OSError):
    """An input is missing or cannot be read."""

    kind = "input"
    exit_code = 66


class OutputError(SitemillError, _OfSystem, OSError):
    """The output cannot be created or written, or reading or writing failed during the run."""

    kind = "output"
    exit_code = 73


class Busy(SitemillError):
    """Another run holds the directory. Try again when it is done."""

    kind = "busy"
    exit_code = 75


class OutOfMemory(SitemillError, MemoryError):
    """There is not enough memory. The message names an option to set."""

    kind = "memory"
    exit_code = 71


class Interrupted(SitemillError):
    """The run was stopped, for example by a signal."""

    kind = "signal"


class RowTypeError(TypeError):
    """A row, or its URL, has an unsupported type."""


class BugError(SitemillError):
    """A bug in sitemill. Please report it."""

    kind = "internal"


_CLASSES = {
    "usage": UsageError,
    "data": DataRefused,
    "input": InputError,
    "output": OutputError,
    "io": OutputError,
    "permission": OutputError,
    "busy": Busy,
    "memory": OutOfMemory,
    "signal": Interrupted,
}


def make(kind: str, exit_code: int, message: str, path: Optional[str], number: Optional[int] = None) -> SitemillError:
    """Makes the exception for a failure of the extension module."""
    # Other messages have no flags, but may show texts of the user that look like flags.
    message = as_keywords(message, path) if kind == "usage" else message
    error = _CLASSES.get(kind, BugError)(message, path=path)
    # A class has several kinds, and a signal has its own exit code.
    error.kind, error.exit_code = kind, exit_code
    if isinstance(error, _OfSystem):
        error.filename = path
        if number is not None:
            error.errno, error.strerror = number, os.strerror(number)
    return error


def late_warnings(late: Optional[BaseException]) -> list[str]:
    """The warning about an exception that a callback or a signal handler raised once the set was live, if there is one."""
    if late is None:
        return []
    words = traceback.format_exception_only(late)[-1].strip()
    return [f"{words}: raised too late to stop the run"]


def tell(warnings: Iterable[str], live: Optional[str], late: Optional[BaseException], result: Any, stacklevel: int) -> None:
    """Warns about failures after the switch; ``live`` names the set that is live, or is ``None`` after a dry run. Then raises
    ``late`` if it ends the program, like ``KeyboardInterrupt``. That exception, or a warning that a filter turns into an exception,
    gets the result of the function.

    Warnings are attributed to the caller at ``stacklevel``, where 1 is the function that calls this one.
    """
    try:
        for warning in warnings:
            words = warning if live is None else f"{warning}; {live} is live"
            _warnings.warn(words, RuntimeWarning, stacklevel=stacklevel + 1)
    except RuntimeWarning as raised:
        setattr(raised, "result", result)
        _raise_late(late, result)
        raise
    _raise_late(late, result)


def _raise_late(late: Optional[BaseException], result: Any) -> None:
    if late is not None and not isinstance(late, Exception):
        setattr(late, "result", result)
        raise late


#: An invalid value, as the option parser reports it: ``invalid value '11' for '--level <0..9>'``.
_INVALID = re.compile(r"^invalid value '(.*)' for '--([a-z-]+) <[^']*>'", re.DOTALL)
#: A flag at the beginning of a word, and the start of its value if there is one.
_FLAG = re.compile(r"(?<![\w/.-])--([a-z]+(?:-[a-z]+)*)(=| <[^>']*>)?")


def as_keywords(message: str, path: Optional[str]) -> str:
    """Turns the flags in a usage message into keyword arguments. ``path``, and a value that the option parser shows, stay."""
    if path:
        return path.join(as_keywords(part, None) for part in message.split(path))
    found = _INVALID.match(message)
    value = f"{found[2].replace('-', '_')}={found[1]!r}" if found else ""
    rest = message[found.end() :] if found else message
    rest = re.split(r"; (?:tip:|for more information|usage:)", rest, flags=re.IGNORECASE)[0]
    return value + _FLAG.sub(lambda flag: flag[1].replace("-", "_") + ("=" if flag[2] == "=" else ""), rest)
