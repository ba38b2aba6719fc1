"""Builds sitemaps with Django's sitemap framework as in its documentation, plus a dictionary for the duplicates:
python django-sitemaps.py urls.txt OUT LEVEL.

Django serves each sitemap as a page. Here its views render all pages of the set into gzip files.
"""

import gzip
import pathlib
import sys
from urllib.parse import urlsplit

import django
from django.conf import settings

urls, out, level = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
with open(urls, encoding="utf-8") as lines:
    distinct = list(dict.fromkeys(line.rstrip("\n") for line in lines))
site = urlsplit(distinct[0])

settings.configure(
    ALLOWED_HOSTS=["*"], INSTALLED_APPS=["django.contrib.sitemaps"], ROOT_URLCONF=__name__,
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}])
django.setup()

from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import index, sitemap
from django.test import RequestFactory
from django.urls import path


class Pages(Sitemap):
    """Paths of the site, 50,000 to a sitemap, which is Django's default."""

    protocol = site.scheme

    def items(self):
        return distinct

    def location(self, url):
        return url[len(f"{site.scheme}://{site.netloc}"):]


pages = {"pages": Pages}
urlpatterns = [
    path("sitemap.xml", index, {"sitemaps": pages}, name="django.contrib.sitemaps.views.index"),
    path("sitemap-<section>.xml", sitemap, {"sitemaps": pages}, name="django.contrib.sitemaps.views.sitemap"),
]


def rendered(view, page, **arguments):
    request = RequestFactory(SERVER_NAME=site.netloc).get("/", {"p": page}, secure=site.scheme == "https")
    return view(request, sitemaps=pages, **arguments).render().content


(out / "sitemap.xml").write_bytes(rendered(index, 1))
for page in range(1, Pages().paginator.num_pages + 1):
    with gzip.open(out / f"sitemap-pages-{page}.xml.gz", "wb", compresslevel=level) as file:
        file.write(rendered(sitemap, page, section="pages"))
