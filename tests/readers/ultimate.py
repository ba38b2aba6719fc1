"""Reads a site with ultimate-sitemap-parser: `ultimate.py HOME_PAGE_URL` starts from its robots.txt.

Prints a JSON object for each page. The parser logs errors to standard error and continues.
"""

import json
import sys

from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_tree_for_homepage

tree = sitemap_tree_for_homepage(sys.argv[1], use_known_paths=False)
for sitemap in tree.all_sitemaps():
    if isinstance(sitemap, InvalidSitemap):
        sys.exit(f"{sitemap.url}: {sitemap.reason}")
for page in tree.all_pages():
    print(json.dumps({
        "loc": page.url,
        "lastmod": page.last_modified and page.last_modified.isoformat(),
        "changefreq": page.change_frequency and page.change_frequency.value,
        "priority": page.priority if page.priority is None else str(page.priority),
    }))
