"""Limits of the protocol, exit codes, and helpers of the reference implementation."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

NAMESPACE = {
    "0.9": "http://www.sitemaps.org/schemas/sitemap/0.9",
    "0.84": "http://www.google.com/schemas/sitemap/0.84",
}
URLS_PER_SITEMAP_MAX = 50_000
BYTES_PER_SITEMAP_MAX = {"0.9": 52_428_800, "0.84": 10_485_760}
SITEMAPS_PER_INDEX_MAX = {"0.9": 50_000, "0.84": 1_000}

URL_CHARS_MIN = 12  # both published schemas
URL_CHARS_MAX = 2_047  # both texts: fewer than 2,048
LINE_BYTES_MAX = 65_536
SHOWN_BYTES_MAX = 2_048  # of a line over LINE_BYTES_MAX, in the rejects file

ROBOTS = "robots-sitemaps.txt"
EXIT_DIFFERENT, EXIT_USAGE, EXIT_DATA, EXIT_NO_INPUT, EXIT_CANNOT_CREATE = 1, 2, 65, 66, 73


class Rejected(Exception):
    """A line that is not listed; the argument is the reason."""


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        fail(EXIT_CANNOT_CREATE, f"{path}: cannot be written ({error.strerror})")


def fail(code: int, message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)
