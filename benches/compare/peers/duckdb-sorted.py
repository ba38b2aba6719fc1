"""Writes the distinct lines of a file in byte order, with DuckDB, as <url> elements: python duckdb-sorted.py urls.txt.

A line is one field: nothing is quoted, and the separator is a byte that no line holds. DuckDB also escapes `&`, on all
cores, so that no other program has to read the lines.
"""

import sys

import duckdb

QUERY = """
COPY (
    SELECT '<url><loc>' || replace(url, '&', '&amp;') || '</loc></url>' FROM (
        SELECT DISTINCT url FROM read_csv(
            $urls, columns = {'url': 'VARCHAR'}, auto_detect = false, header = false, delim = '\x1f', quote = '',
            escape = '')
        ORDER BY url
    )
) TO '/dev/stdout' (FORMAT csv, HEADER false, DELIMITER '\x1f', QUOTE '', ESCAPE '')
"""

duckdb.execute(QUERY, {"urls": sys.argv[1]})
