"""Builds sitemaps with xml-sitemap-writer as in its documentation, plus a dictionary for the duplicates:
python xml-sitemap-writer.py urls.txt OUT LEVEL.

The package joins the URL of the site with a path, so lines are cut after the host. It puts 15,000 URLs into a file; here
it puts as many as all others.
"""

import sys
from urllib.parse import urlsplit

from xml_sitemap_writer import XMLSitemap

urls, out, level = sys.argv[1:]
with open(urls, encoding="utf-8") as lines:
    distinct = list(dict.fromkeys(line.rstrip("\n") for line in lines))
parts = urlsplit(distinct[0])
site = f"{parts.scheme}://{parts.netloc}"

XMLSitemap.URLS_PER_FILE = 50_000
XMLSitemap.GZIP_COMPRESSION_LEVEL = int(level)
with XMLSitemap(path=out, root_url=site) as sitemap:
    sitemap.add_urls(url[len(site):] for url in distinct)
