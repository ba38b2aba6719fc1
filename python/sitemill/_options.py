"""Options of Python functions as the native half takes them: words of the command line, paths, and settings of stores."""

from __future__ import annotations

import os
import shlex
from typing import Any, Mapping, Optional, Sequence, Union

from . import _rows
from ._rows import Path

#: A regular expression or several.
Patterns = Union[str, Sequence[str], None]
#: A path or several.
Files = Union[Path, Sequence[Path], None]
#: ``"Name: value"``, once or several times.
Headers = Union[str, Sequence[str], None]
#: Beginnings of URLs and what replaces them, or ``"FROM=TO"``, once or several times.
Rewrites = Union[Mapping[str, str], str, Sequence[str], None]

#: Options that may be locations in stores.
_PATHS = ("out", "state")


def optional_path(path: Optional[Path]) -> Optional[str]:
    """A path as text, if there is one."""
    return None if path is None else _rows.path(path)


def paths_of(paths: Sequence[Path]) -> list[str]:
    """Paths as text."""
    return [_rows.path(path) for path in paths]


def store_settings(
    endpoint: Optional[str],
    state: Optional[Path],
    sitemap_header: Headers = None,
    index_header: Headers = None,
    allow_unsafe_store: bool = False,
) -> dict[str, Any]:
    """The store settings for the native half."""
    headers = [list(_values(given)) if given is not None else [] for given in (sitemap_header, index_header)]
    return {
        "endpoint": endpoint,
        "state": optional_path(state),
        "sitemap_header": headers[0],
        "index_header": headers[1],
        "allow_unsafe_store": allow_unsafe_store,
    }


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words of the command line."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif name == "then" and value is not None and not isinstance(value, str):
            words.append(f"{flag}={shlex.join(map(os.fspath, value))}")
        elif isinstance(value, (list, tuple)):
            words.extend(f"{flag}={os.fspath(_word(name, one))}" for one in value)
        elif value is not None and value is not False:
            words.extend(f"{flag}={_word(name, one)}" for one in _values(value))
    return words


def _word(name: str, value: Any) -> Any:
    return _rows.path(value) if name in _PATHS or isinstance(value, os.PathLike) else value


def _values(value: Any) -> Sequence[Any]:
    """The values of an option that may be repeated, as a sequence even if there is only one."""
    if isinstance(value, Mapping):
        return [f"{one}={other}" for one, other in value.items()]
    return value if isinstance(value, (list, tuple)) else [value]
