"""Reads a site with advertools: `advertools_frame.py ROBOTS_URL` prints a JSON object for each row of its frame.

It logs to standard error, and goes on, if anything is wrong. (A file called advertools.py would import itself.)
"""

import json
import logging
import sys

import pandas
from advertools import sitemap_to_df

# advertools logs every file that it fetches; only complaints are of interest.
logging.getLogger().setLevel(logging.WARNING)


def plain(value):
    if pandas.isna(value):
        return None
    return value.isoformat() if isinstance(value, pandas.Timestamp) else value


frame = sitemap_to_df(sys.argv[1])
if "errors" in frame:
    sys.exit("\n".join(frame["errors"].dropna()))
for row in frame.reindex(columns=["loc", "lastmod", "changefreq", "priority"]).to_dict("records"):
    print(json.dumps({column: plain(value) for column, value in row.items()}))
