"""Options of Python functions as the extension module takes them: arguments of the command line, paths, and settings of stores."""

from __future__ import annotations

import decimal
import numbers
import operator
import os
import re
import shlex
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _paths
from ._errors import UsageError
from ._paths import Path
from ._values import is_bool

#: A regular expression or several.
Patterns = Union[str, Iterable[str], None]
#: A path or several.
Files = Union[Path, Iterable[Path], None]
#: ``"Name: value"``, once or several times.
Headers = Union[str, Iterable[str], None]
#: Beginnings of URLs and what replaces them, or ``"FROM=TO"``, once or several times.
Rewrites = Union[Mapping[str, str], str, Iterable[str], None]

#: Options and arguments that may be locations in stores.
_PATHS = ("out", "state", "paths", "old", "new", "directory")

#: Options that are files to write.
RESULTS = ("rejects", "diff", "report", "html", "metrics", "robots")

#: Options that take paths. Numbers are refused, because elsewhere in Python they are file descriptors.
_FILES = (
    *_PATHS,
    *("sections", "include_file", "exclude_file", "respect_robots", "also", "scratch"),
    *RESULTS,
)

#: Options without a value.
_SWITCHES = (
    *("section_by_path", "require_success_marker", "robots_any_name", "allow_empty"),
    *("allow_missing_sites", "replace_set", "take_over", "dry_run", "ignore_manifest", "allow_unsafe_store"),
)


def optional_word(name: str, value: Any) -> Optional[str]:
    """The value of the option ``name`` as a word, if there is one."""
    return None if value is None else word(name, value)


def paths_of(paths: Sequence[Path]) -> list[str]:
    """Paths as text. There must be one."""
    if not paths:
        raise UsageError("there are no paths; give at least one file or directory")
    return [word("paths", path) for path in paths]


def integer(name: str, value: Any, least: int = 0) -> int:
    """The value of the option ``name`` as a number that the extension module can hold."""
    if is_bool(value) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} has a value of type {type(value).__name__}; give an int")
    if not least <= value < 1 << 64:
        bound = f"{least} or more" if value < least else f"at most {(1 << 64) - 1}"
        raise UsageError(f"{name}={value}: give {bound}")
    return operator.index(value)


def thread_count(threads: Optional[int]) -> Optional[int]:
    """The number of threads, if there is one."""
    return None if threads is None else integer("threads", threads, least=1)


def switch(name: str, value: Any) -> bool:
    """The value of the option ``name``, which is on or off."""
    if value is not None and not is_bool(value):
        raise TypeError(f"{name} has a value of type {type(value).__name__}; give True or False")
    return bool(value)


def store_settings(
    endpoint: Optional[str],
    state: Optional[Path],
    sitemap_header: Headers = None,
    index_header: Headers = None,
    allow_unsafe_store: bool = False,
) -> dict[str, Any]:
    """The store settings for the extension module."""
    return {
        "endpoint": optional_word("endpoint", endpoint),
        "state": optional_word("state", state),
        "sitemap_header": _words("sitemap_header", sitemap_header),
        "index_header": _words("index_header", index_header),
        "allow_unsafe_store": switch("allow_unsafe_store", allow_unsafe_store),
    }


def arguments_of(options: Mapping[str, Any]) -> list[str]:
    """Options as arguments of the command line."""
    arguments = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name in _SWITCHES:
            arguments.extend([flag] if switch(name, value) else [])
        elif name == "then" and value is not None and not isinstance(value, str):
            arguments.append(f"{flag}={shlex.join(_words_of_command(value))}")
        else:
            arguments.extend(f"{flag}={word}" for word in _words(name, value))
    return arguments


def _words_of_command(value: Any) -> list[str]:
    """The words of the command ``then``."""
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise TypeError(f"then has a value of type {type(value).__name__}; give a str, or a list of words")
    return [word("then", one) for one in value]


def _words(name: str, value: Any) -> list[str]:
    """The values of the option ``name``, of which there may be none, one or, if it can be repeated, several."""
    if name == "rewrite" and isinstance(value, Mapping):
        return [f"{word(name, one)}={word(name, other)}" for one, other in value.items()]
    return [word(name, one) for one in values_of(value)]


def values_of(value: Any) -> Sequence[Any]:
    """The values of an option that can be repeated."""
    if value is None:
        return ()
    is_single = isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable)
    return (value,) if is_single else tuple(value)


def word(name: str, value: Any) -> str:
    """The value as text. Other types are refused: their description could become, for example, a pattern that matches nothing."""
    if isinstance(value, (str, os.PathLike)):
        text = _paths.path(value) if name in _PATHS or not isinstance(value, str) else value
    elif isinstance(value, numbers.Number) and not isinstance(value, bool) and name not in _FILES:
        text = str(value)
        # Options are numbers without an exponent.
        text = format(decimal.Decimal(text), "f") if "e" in text and isinstance(value, float) else text
    else:
        text = None
    if not isinstance(text, str):
        way_out = "give a str or a path" if name in _FILES else "give a str, a path or a number"
        way_out = "give its pattern as a str" if isinstance(value, re.Pattern) else way_out
        raise TypeError(f"{name} has a value of type {type(value).__name__}; {way_out}")
    try:
        # Only a path may have bytes that are not UTF-8.
        os.fsencode(text) if name in _FILES else text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name}={text!a} has a surrogate, which is not text") from None
    return text
