"""URLs and tags as the input spells them, and as readers must return them."""

import itertools
from typing import NamedTuple

URL_LENGTH_MAX = 2_047


class Record(NamedTuple):
    """A URL with its tags. None is a missing tag; a tuple means any of its values."""

    loc: str
    lastmod: object = None
    changefreq: object = None
    priority: object = None


def as_it_is(record):
    return record


def without_tags(record):
    return Record(record.loc)


class Typed(NamedTuple):
    """A URL as the input spells it, and the record that must be read."""

    url: str
    record: Record


def typed_urls(base_url):
    """Every kind of URL with every combination of tags, each once. `lastmod` varies slowest, so some sitemaps have one
    form of it and others two, which advertools reads differently."""
    date = "2005-06-{day:02}"
    lastmods = [None, date, date + "T04:20:{second:02}-08:00", date + "T12:20:{second:02}Z"]
    changefreqs = [None, "always", "hourly", "daily", "weekly", "monthly", "yearly", "never"]
    priorities = [None, "0.0", "0.5", "1.0", "0.85"]
    for number, (lastmod, changefreq, priority, kind) in enumerate(
            itertools.product(lastmods, changefreqs, priorities, url_kinds(base_url))):
        lastmod = lastmod and lastmod.format(day=number % 30 + 1, second=number % 60)
        typed, listed = (url.replace("{n}", str(number)) for url in kind)
        # Pads the URL to the same length for every number.
        padding = "x" * (URL_LENGTH_MAX - len(listed.replace("{long}", "")))
        typed, listed = (base_url + url.replace("{long}", padding[len(base_url):]) for url in (typed, listed))
        yield Typed(typed, Record(listed, lastmod, changefreq, priority))


def url_kinds(base_url):
    """The URL in the input, and the URL that must be listed."""
    same = lambda url: (url, url)
    return [
        same("p//{n}/"),
        same("list?page={n}&sort=price&dir=asc"),
        same("o'neill's/{n}"),
        same("caf%C3%A9/50%25/{n}"),
        same("a%2fb%2Fc/{n}"),
        ("ümlat/{n}.html", "%C3%BCmlat/{n}.html"),
        ("suche?q=日本語&n={n}", "suche?q=%E6%97%A5%E6%9C%AC%E8%AA%9E&n={n}"),
        ('<b>"{n}"</b>?<i>', "%3Cb%3E%22{n}%22%3C/b%3E?%3Ci%3E"),
        # Entity names as part of the URL reveal a reader that decodes once too often or not at all.
        same("shop?id={n}&amp;colour=red"),
        same("shop?id={n}&copy=2&lt=3"),
        same("shop?t=&lt;{n}&gt;&quot;&apos;"),
        same("(p);v=1,2/@:!$*+~/{n}"),
        same("long/{n}/{long}"),
    ]
