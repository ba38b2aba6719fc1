"""Serves sets on the loopback interface."""

import contextlib
import csv
import functools
import gzip
import http.server
import pathlib
import shutil
import sys
import threading
from dataclasses import dataclass

from harness import SITEMAPS_PER_INDEX, URLS_PER_SITEMAP
from harness.records import Record, typed_urls
from harness.running import run


@dataclass
class Site:
    """A published set. `folder` is served at `base_url`; `unpacked` holds the same files without gzip."""

    protocol: str
    folder: pathlib.Path
    unpacked: pathlib.Path
    base_url: str

    def index_urls(self):
        lines = (self.folder / "robots-sitemaps.txt").read_text().splitlines()
        return [line.removeprefix("Sitemap: ") for line in lines]


def form_of(sitemill):
    help_text = run([sitemill, "build", "--help"]).stdout
    return "csv" if "--format" in help_text else "lines"


def publish_with_sitemill(site, sitemill, form):
    typed_urls_here = list(typed_urls(site.base_url))
    if form == "csv":
        path = site.folder.with_name(f"{site.protocol}-input.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(Record._fields)
            rows.writerows([typed.url, *typed.record[1:]] for typed in typed_urls_here)
    elif form == "lines":
        path = site.folder.with_name(f"{site.protocol}-input.txt")
        path.write_text("".join(f"{typed.url}\n" for typed in typed_urls_here), encoding="utf-8")
    else:
        sys.exit(f"readers: SITEMILL_READERS_FORM is csv or lines, not {form}")
    run([sitemill, "build", path, "--base-url", site.base_url, "--out", site.folder, "--protocol", site.protocol,
         "--urls-per-sitemap", URLS_PER_SITEMAP, "--sitemaps-per-index", SITEMAPS_PER_INDEX,
         "--max-rejects", "0", "--quiet"])
    complete(site)


def complete(site):
    """Writes robots.txt as an administrator would, and the unpacked copies for readers without gzip support."""
    robots_lines = (site.folder / "robots-sitemaps.txt").read_text()
    (site.folder / "robots.txt").write_text(f"User-agent: *\nDisallow: /cart\n\n{robots_lines}")
    site.unpacked.mkdir()
    for path in site.folder.glob("*.xml.gz"):
        (site.unpacked / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    for path in site.folder.glob("*.xml"):
        shutil.copy(path, site.unpacked)
    files = {suffix: len(list(site.folder.glob(suffix))) for suffix in ("*.xml.gz", "*.xml")}
    if min(files.values()) < 2:
        sys.exit(f"readers: the set must have several sitemaps and index files, not {files}")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    # `.xml.gz` is served as application/gzip, without Content-Encoding.
    extensions_map = {".gz": "application/gzip", ".xml": "application/xml", ".txt": "text/plain"}

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(work, name, protocol=None):
    """An empty site. Its port must be known before the set is built."""
    folder = work / name
    folder.mkdir()
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base_url = f"http://127.0.0.1:{server.server_port}/"
        try:
            yield Site(protocol or name, folder, work / f"{name}-unpacked", base_url)
        finally:
            server.shutdown()
