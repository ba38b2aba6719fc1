"""The readers, and the form in which each returns a record."""

import datetime
import functools
import html
import re
from collections.abc import Callable
from dataclasses import dataclass

from harness import NODE_FOLDER, PYTHON, RUST_READER, SCHEMAS, SOURCES
from harness.records import Record, as_it_is
from harness.running import run, run_program
from harness.sites import Site


@dataclass
class Reader:
    name: str
    version: Callable[[], str]
    read: Callable[[Site], list[Record]]
    seen_by: Callable[[Record], Record]
    remark: str = ""


def read_with_ultimate(site):
    return run_program([PYTHON, "-W", "ignore", SOURCES / "ultimate.py", site.base_url])


def seen_by_ultimate(record):
    # Character references are decoded again after the XML parser has decoded them: `&copy=` becomes `©=`.
    loc = html.unescape(record.loc)
    # A datetime: midnight without a zone for a date, so both forms remain distinct; +00:00 for Z.
    lastmod = record.lastmod and record.lastmod.replace("Z", "+00:00")
    if lastmod and "T" not in lastmod:
        lastmod += "T00:00:00"
    # A Decimal, which keeps the digits; 0.5, the protocol's default, if missing.
    return record._replace(loc=loc, lastmod=lastmod, priority=record.priority or "0.5")


def read_with_advertools(site):
    return run_program([PYTHON, "-W", "ignore", SOURCES / "advertools_frame.py", f"{site.base_url}robots.txt"])


def seen_by_advertools(record):
    # A timestamp in UTC if all values of a sitemap have the same form, else the original text.
    lastmod = record.lastmod and (record.lastmod, utc(record.lastmod))
    return record._replace(lastmod=lastmod, priority=number(record.priority))


def read_with_npm(site):
    return run_program(["node", SOURCES / "npm-sitemap.mjs", NODE_FOLDER, *site.index_urls()])


def read_with_crate(name, site):
    return run_program([RUST_READER, name, site.unpacked, site.base_url, *site.index_urls()])


def seen_with_priority_as_number(record):
    # A floating-point number: 1.0 is 1.
    return record._replace(priority=number(record.priority))


def seen_by_sitemap_crate(record):
    # A time with a zone: midnight in UTC for a date, +00:00 for Z.
    lastmod = record.lastmod and record.lastmod.replace("Z", "+00:00")
    if lastmod and "T" not in lastmod:
        lastmod += "T00:00:00+00:00"
    return seen_with_priority_as_number(record._replace(lastmod=lastmod))


def read_with_xmllint(site):
    """Validates every file, then parses its canonical form as written by libxml2, which has only one spelling."""
    found = []
    for index_url in site.index_urls():
        index = canonical(site, index_url, "siteindex")
        for sitemap_url in map(unescape, re.findall(r"<loc>([^<]*)</loc>", index)):
            sitemap = canonical(site, sitemap_url, "sitemap")
            for entry in re.findall(r"<url>(.*?)</url>", sitemap, re.DOTALL):
                tags = re.findall(r"<(\w+)>([^<]*)</\1>", entry)
                found.append(Record(**{tag: unescape(text) for tag, text in tags}))
    return found


def canonical(site, url, schema):
    path = site.unpacked / url.removeprefix(site.base_url).removesuffix(".gz")
    run(["xmllint", "--nonet", "--noout", "--schema", SCHEMAS / f"{schema}-{site.protocol}.xsd", path])
    return run(["xmllint", "--nonet", "--c14n", path]).stdout


def unescape(text):
    """Unescapes text of canonical XML, which escapes only these three. The ampersand is last, so it is decoded once."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def number(priority):
    return priority and float(priority)


def utc(lastmod):
    time = datetime.datetime.fromisoformat(lastmod.replace("Z", "+00:00"))
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    return time.astimezone(datetime.timezone.utc).isoformat()


def pinned(file, before):
    """The version after `before`; the installed one is the same."""
    return lambda: re.search(re.escape(before) + r"([\d.]+)", (SOURCES / file).read_text())[1]


def xmllint_version():
    return "with libxml2 " + re.search(r"version (\d+)", run(["xmllint", "--version"]).stderr)[1]


READERS = [
    Reader("ultimate-sitemap-parser", pinned("requirements.txt", "ultimate-sitemap-parser=="), read_with_ultimate,
           seen_by_ultimate,
           "from robots.txt; it decodes character references twice and reads a missing priority as 0.5"),
    Reader("advertools", pinned("requirements.txt", "advertools=="), read_with_advertools, seen_by_advertools,
           "from robots.txt"),
    Reader("npm sitemap", pinned("package.json", '"sitemap": "'), read_with_npm, seen_with_priority_as_number,
           "from the index files"),
    Reader("crate sitemaps", pinned("rust/Cargo.toml", 'sitemaps = "='), functools.partial(read_with_crate, "sitemaps"),
           seen_with_priority_as_number, "from the unpacked index files"),
    Reader("crate sitemap", pinned("rust/Cargo.toml", 'sitemap = "='), functools.partial(read_with_crate, "sitemap"),
           seen_by_sitemap_crate, "from the unpacked index files; it reads a date as midnight in UTC"),
    Reader("xmllint", xmllint_version, read_with_xmllint, as_it_is, "valid by the schemas"),
]
