"""Tests of the comparison itself, on sets that sitemill did not write."""

import contextlib
import gzip
import html
import sys

from harness import PROTOCOLS, SITEMAPS_PER_INDEX, URLS_PER_SITEMAP
from harness.agreeing import agree, differences
from harness.readers import READERS
from harness.records import Record, as_it_is, typed_urls
from harness.sites import complete, serve


def self_test(work):
    """Writes a correct set, and one with changes that every reader must find exactly."""
    with contextlib.ExitStack() as stack:
        right = [stack.enter_context(serve(work, protocol)) for protocol in PROTOCOLS]
        wrong = [stack.enter_context(serve(work, f"{protocol}-wrong", protocol)) for protocol in PROTOCOLS]
        for site in right:
            publish_by_hand(site, [typed.record for typed in typed_urls(site.base_url)])
        for site in wrong:
            publish_by_hand(site, plant(site)[0])
        for reader in READERS:
            agree(reader, right, as_it_is)
            for site in wrong:
                _, planted = plant(site)
                wanted = [reader.seen_by(typed.record) for typed in typed_urls(site.base_url)]
                found = list(differences(wanted, reader.read(site)))
                expected = [reader.seen_by(Record(loc)).loc for loc in planted]
                if sorted(loc for loc, _ in found) != sorted(expected):
                    shown = "\n".join(["found:", *(text for _, text in found), "planted:", *expected])
                    sys.exit(f"readers: {reader.name}, protocol {site.protocol}: {shown}")
            print(f"  and the {len(planted)} planted differences, as {found[0][1]}", flush=True)


def plant(site):
    """The correct records with one change of each kind, and the changed URLs."""
    records = [typed.record for typed in typed_urls(site.base_url)]
    planted = []

    def change(choose, **tags):
        at = next(at for at, record in enumerate(records) if choose(record) and record.loc not in planted)
        planted.append(records[at].loc)
        records[at] = records[at]._replace(**tags)

    change(lambda record: record.priority == "0.85", priority="0.84")
    change(lambda record: record.priority == "0.0", priority=None)
    change(lambda record: record.priority is None, priority="0.1")
    change(lambda record: record.changefreq == "daily", changefreq="weekly")
    change(lambda record: record.changefreq == "never", changefreq=None)
    change(lambda record: "T" not in (record.lastmod or "T"), lastmod="2005-07-01")
    change(lambda record: (record.lastmod or "").endswith("-08:00"), lastmod="2005-06-03T04:20:00-07:00")
    change(lambda record: (record.lastmod or "").endswith("Z"), lastmod=None)
    # One missing URL, one extra URL, and one URL escaped twice, which is one missing and one extra.
    planted.append(records.pop().loc)
    planted.append(f"{site.base_url}never-given")
    records.append(Record(planted[-1]))
    at = next(at for at, record in enumerate(records) if "sort=" in record.loc and record.loc not in planted)
    planted.append(records[at].loc)
    records[at] = records[at]._replace(loc=records[at].loc.replace("&", "&amp;amp;"))
    planted.append(records[at].loc)
    return records, planted


def publish_by_hand(site, records):
    namespace = PROTOCOLS[site.protocol]
    sitemap_urls = []
    for number, at in enumerate(range(0, len(records), URLS_PER_SITEMAP), 1):
        entries = [entry("url", record._asdict()) for record in records[at:at + URLS_PER_SITEMAP]]
        name = f"sitemap-{number:05}.xml.gz"
        (site.folder / name).write_bytes(gzip.compress(document("urlset", namespace, entries)))
        sitemap_urls.append(site.base_url + name)
    robots_lines = []
    for number, at in enumerate(range(0, len(sitemap_urls), SITEMAPS_PER_INDEX), 1):
        entries = [entry("sitemap", {"loc": url}) for url in sitemap_urls[at:at + SITEMAPS_PER_INDEX]]
        name = f"sitemap-index-{number}.xml"
        (site.folder / name).write_bytes(document("sitemapindex", namespace, entries))
        robots_lines.append(f"Sitemap: {site.base_url}{name}\n")
    (site.folder / "robots-sitemaps.txt").write_text("".join(robots_lines))
    complete(site)


def entry(name, tags):
    escape = lambda text: html.escape(text).replace("&#x27;", "&apos;")
    inner = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in tags.items() if text is not None)
    return f"<{name}>{inner}</{name}>\n"


def document(root, namespace, entries):
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{namespace}">\n'
    return (head + "".join(entries) + f"</{root}>\n").encode()
