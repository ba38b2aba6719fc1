#!/usr/bin/env python3
"""A second implementation of sitemill: plain, slow, and written from the contract alone, to check the fast one.

    reference.py build INPUT... --base-url URL --out DIR    sitemaps, index files and robots lines, in a new directory
    reference.py clean [INPUT...]                           canonical URLs, one per accepted line
    reference.py compare OUT_A OUT_B                        are two published sets the same?

Three differences from sitemill are deliberate:
- The 8 digits in a sitemap's name come from SHA-256, because the standard library has no XXH3; `compare` ignores them.
- International hosts go through IDNA 2003, the only one the standard library has. Where it may differ from UTS 46
  (see `nameprep_agrees_with_uts46`) a warning says that the verdict on this host is not binding.
- All input is held in memory, and `--out` must be new or empty.

`compare` also compares `<lastmod>`, so give both programs the same SOURCE_DATE_EPOCH. Needs only Python 3.9.5 or newer.
"""
from __future__ import annotations

import argparse
from typing import Callable

from building import build
from contract import BYTES_PER_SITEMAP_MAX, NAMESPACE, SITEMAPS_PER_INDEX_MAX, URLS_PER_SITEMAP_MAX, Rejected
from lines import Rejects, read_lines
from published import compare
from urls import canonical_line


def clean(job: argparse.Namespace) -> None:
    rejects = Rejects()
    for line in read_lines(job.inputs or ["-"]):
        try:
            url = canonical_line(line.raw)
            if url is not None:
                print(url)
        except Rejected as rejected:
            rejects.add(line, str(rejected))
    rejects.write(job.rejects)


def size(text: str) -> int:
    for unit, unit_bytes in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)):
        if text.endswith(unit):
            return int(text[: -len(unit)]) * unit_bytes
    return int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description="The reference implementation of sitemill.")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, run: Callable[..., None], summary: str, inputs: str = "") -> Callable[..., object]:
        options = commands.add_parser(name, help=summary, description=summary)
        options.set_defaults(run=run)
        if inputs:
            options.add_argument("inputs", nargs=inputs, metavar="INPUT", help="a file, or - for standard input")
            options.add_argument("--rejects", metavar="FILE", help="every refused line, tab-separated")
        return options.add_argument

    option = command("build", build, "sitemaps, index files and robots lines", inputs="+")
    option("--base-url", required=True, metavar="URL", help="the directory the files will be published in")
    option("--out", required=True, metavar="DIR", help="a new or empty directory")
    option("--protocol", choices=list(NAMESPACE), default="0.9")
    option("--urls-per-sitemap", type=int, default=50_000, metavar="N")
    option("--bytes-per-sitemap", type=size, default="10MiB", metavar="SIZE")
    option("--sitemaps-per-index", type=int, default=1_000, metavar="N")
    option("--scope", choices=["directory", "host", "any"], default="directory")
    option("--report", metavar="FILE", help="counts, as JSON")
    command("clean", clean, "canonical URLs to standard output, in input order", inputs="*")
    option = command("compare", compare, "exit 1 at the first difference between two published sets")
    option("out_a", metavar="OUT_A")
    option("out_b", metavar="OUT_B")

    job = parser.parse_args()
    if job.command == "build":
        for flag, value, value_max in (
            ("--urls-per-sitemap", job.urls_per_sitemap, URLS_PER_SITEMAP_MAX),
            ("--bytes-per-sitemap", job.bytes_per_sitemap, BYTES_PER_SITEMAP_MAX[job.protocol]),
            ("--sitemaps-per-index", job.sitemaps_per_index, SITEMAPS_PER_INDEX_MAX[job.protocol]),
        ):
            if not 1 <= value <= value_max:
                parser.error(f"{flag}: protocol {job.protocol} allows 1 to {value_max:,}, not {value:,}")
    job.run(job)


if __name__ == "__main__":
    main()
