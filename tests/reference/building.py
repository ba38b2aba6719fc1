"""The `build` command: sitemaps, index files, robots lines and the report."""
from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Sequence

from contract import (EXIT_CANNOT_CREATE, EXIT_DATA, EXIT_USAGE, NAMESPACE, ROBOTS, URL_CHARS_MAX, Rejected, fail,
                     write_file)
from lines import Rejects, read_lines
from urls import canonical_line, canonical_url


def render(element: str, protocol: str, entries: Sequence[bytes]) -> bytes:
    """The bytes of a sitemap (`urlset`) or an index file (`sitemapindex`)."""
    header = f'<?xml version="1.0" encoding="UTF-8"?>\n<{element} xmlns="{NAMESPACE[protocol]}">\n'
    return header.encode() + b"".join(entries) + f"</{element}>\n".encode()


def divide(entries: Sequence[bytes], entries_max: int, bytes_max: int) -> list[list[bytes]]:
    """Each group takes entries until the next one would exceed a limit. No entry may be longer than `bytes_max`."""
    groups: list[list[bytes]] = []
    group_bytes = 0
    for entry in entries:
        if not groups or len(groups[-1]) == entries_max or group_bytes + len(entry) > bytes_max:
            groups.append([])
            group_bytes = 0
        groups[-1].append(entry)
        group_bytes += len(entry)
    return groups


def build(job: argparse.Namespace) -> None:
    directory = base_directory(job.base_url)
    origin = "/".join(directory.split("/")[:3]) + "/"
    scope_prefix = {"directory": directory, "host": origin, "any": ""}[job.scope]
    room, index_room = (job.bytes_per_sitemap - len(render(of, job.protocol, [])) for of in ("urlset", "sitemapindex"))
    time = run_time()
    if len(index_entry(directory + sitemap_name(1, b""), time)) > index_room:
        fail(EXIT_USAGE, "--bytes-per-sitemap: too small for an index file with one entry")

    rejects = Rejects()
    listed: dict[str, bytes] = {}  # URL → entry, in input order; the first of equal URLs wins
    lines = blank = duplicates = 0
    for line in read_lines(job.inputs):
        lines += 1
        try:
            url = canonical_line(line.raw)
            if url is None:
                blank += 1
                continue
            if not url.startswith(scope_prefix):
                raise Rejected("out-of-scope")
            entry = f"<url><loc>{escape(url)}</loc></url>\n".encode()
            if len(entry) > room:
                raise Rejected("entry-too-large")
            duplicates += url in listed
            listed[url] = entry
        except Rejected as rejected:
            rejects.add(line, str(rejected))
    assert lines == blank + len(listed) + duplicates + sum(rejects.count.values()), "a line was lost or counted twice"

    groups = divide(list(listed.values()), job.urls_per_sitemap, room)
    sitemaps = [render("urlset", job.protocol, group) for group in groups]
    names = [sitemap_name(number, xml) for number, xml in enumerate(sitemaps, start=1)]
    entries = [index_entry(directory + name, time) for name in names]
    groups = divide(entries, job.sitemaps_per_index, index_room)
    indexes = [render("sitemapindex", job.protocol, group) for group in groups]

    if listed:
        publish(Path(job.out), directory, dict(zip(names, sitemaps)), indexes)
    rejects.write(job.rejects)
    if job.report:
        report = dict(lines=lines, blank=blank, listed=len(listed), duplicates=duplicates, rejected=rejects.count)
        report |= dict(sitemaps=len(sitemaps), indexes=len(indexes), xml_bytes=sum(map(len, sitemaps)))
        write_file(Path(job.report), (json.dumps(report, indent=2) + "\n").encode())
    if not listed:
        fail(EXIT_DATA, "not one valid URL, nothing is published")


def base_directory(base_url: str) -> str:
    """The canonical --base-url, ending in a slash: where the files are published and what they may list."""
    text = os.fsencode(base_url).strip(b" \t")
    if b"?" in text or b"#" in text:
        fail(EXIT_USAGE, "--base-url: names a directory, so it can have neither query nor fragment")
    try:
        url = canonical_url(text)
    except Rejected as rejected:
        fail(EXIT_USAGE, f"--base-url: {rejected}")
    directory = url if url.endswith("/") else url + "/"
    if len(directory + sitemap_name(1, b"")) > URL_CHARS_MAX:
        fail(EXIT_USAGE, "--base-url: too long for the URL of a sitemap")
    return directory


def sitemap_name(number: int, xml: bytes) -> str:
    return f"sitemap-{number:05d}-{hashlib.sha256(xml).hexdigest()[:8]}.xml.gz"


def index_entry(url: str, time: str) -> bytes:
    return f"<sitemap><loc>{escape(url)}</loc><lastmod>{time}</lastmod></sitemap>\n".encode()


def escape(text: str) -> str:
    entity = {"&": "&amp;", "'": "&apos;", '"': "&quot;", ">": "&gt;", "<": "&lt;"}
    return "".join(entity.get(character, character) for character in text)


def run_time() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    time = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch else datetime.now(timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def publish(out: Path, directory: str, sitemaps: dict[str, bytes], indexes: Sequence[bytes]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            fail(EXIT_CANNOT_CREATE, f"{out}: is not empty; name a new directory")
    except OSError as error:
        fail(EXIT_CANNOT_CREATE, f"{out}: cannot be created ({error.strerror})")
    index_names = [f"sitemap-index-{number}.xml" for number in range(1, len(indexes) + 1)]
    for name, xml in sitemaps.items():
        write_file(out / name, gzip.compress(xml, mtime=0))
    for name, xml in zip(index_names, indexes):
        write_file(out / name, xml)
    write_file(out / ROBOTS, "".join(f"Sitemap: {directory}{name}\n" for name in index_names).encode())
