"""Only finds duplicates, with DuckDB: python duckdb-distinct.py urls.txt prints the number of distinct lines and the time.

A line is one field: nothing is quoted, and the separator is a byte that no line holds. Counting needs every distinct
URL to be found, and spares DuckDB to hand them out. The time is that of the query alone, without Python's start.
"""

import json
import sys
import time

import duckdb

QUERY = """
SELECT count(*) FROM (SELECT DISTINCT url FROM read_csv(
    ?, columns = {'url': 'VARCHAR'}, auto_detect = false, header = false, delim = '\x1f', quote = '', escape = ''))
"""

begin = time.perf_counter()
(distinct,) = duckdb.execute(QUERY, [sys.argv[1]]).fetchone()
print(json.dumps({"distinct": distinct, "seconds": time.perf_counter() - begin}))
