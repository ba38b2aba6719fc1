"""Compares published sets."""
from __future__ import annotations

import argparse
import gzip
import re
from itertools import zip_longest
from pathlib import Path
from typing import Iterator

from contract import EXIT_DIFFERENT, ROBOTS, fail
from lines import visible


def compare(job: argparse.Namespace) -> None:
    sitemaps = urls = 0
    nothing = ("nothing", b"")
    for a, b in zip_longest(published(Path(job.out_a)), published(Path(job.out_b)), fillvalue=nothing):
        if a[0] != b[0]:
            fail(EXIT_DIFFERENT, f"different: {a[0]} in {job.out_a}, {b[0]} in {job.out_b}")
        if a[1] != b[1]:
            fail(EXIT_DIFFERENT, f"different: {a[0]}, {first_difference(a[1], b[1])}")
        sitemaps += a[0].endswith(".gz")
        urls += a[1].count(b"<url>")
    print(f"same: {sitemaps} sitemaps, {urls} URLs")


def published(out: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of the robots lines, then of each index file and the sitemaps in it; XXXXXXXX for the hashes."""

    def masked(text: str) -> str:
        return re.sub(r"\b(sitemap-[0-9]{5,})-[0-9a-f]{8}\.xml\.gz\b", r"\1-XXXXXXXX.xml.gz", text)

    try:
        yield ROBOTS, (out / ROBOTS).read_bytes()
        index_files = out.glob("sitemap-index-*.xml")
        for index_file in sorted(index_files, key=lambda path: (len(path.name), path.name)):
            index = index_file.read_bytes().decode()
            yield index_file.name, masked(index).encode()
            for name in re.findall(r"/([^/<>]+)</loc>", index):
                yield masked(name), gzip.decompress((out / name).read_bytes())
    except (OSError, EOFError, ValueError) as error:
        fail(EXIT_DIFFERENT, f"different: {out} is not a published set ({error})")


def first_difference(a: bytes, b: bytes) -> str:
    for number, lines in enumerate(zip_longest(a.split(b"\n"), b.split(b"\n"), fillvalue=b""), start=1):
        if lines[0] != lines[1]:
            return f"line {number}:\n  {visible(lines[0])}\n  {visible(lines[1])}"
    return "the line end of the last line"
