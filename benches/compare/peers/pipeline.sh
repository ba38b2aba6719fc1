#!/usr/bin/env bash
# Builds sitemaps in shell: pipeline.sh sort|awk|duckdb urls.txt OUT LEVEL THREADS, from the root of the repository. `sort`
# and `duckdb` sort the URLs; `awk` keeps their order and holds all of them in memory.
# Does less work than sitemill: escapes only &, writes no index file, validates nothing, syncs nothing.
set -euo pipefail
distinct=$1 urls=$2 out=$3 threads=$5
export LC_ALL=C SHELL=/bin/sh LEVEL="$4"

elements() {
  awk '{ gsub(/&/, "\\&amp;"); print "<url><loc>" $0 "</loc></url>" }'
}

case $distinct in
  sort) sort -u --parallel="$threads" -S 4G -T "$out" "$urls" | elements ;;
  awk) awk '!seen[$0]++' "$urls" | elements ;;
  duckdb) target/peers/venv/bin/python benches/compare/peers/duckdb-sorted.py "$urls" ;;
esac |
split -l 50000 -d -a 5 --filter='{
  echo "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"; cat; echo "</urlset>"
} | pigz -"$LEVEL" > "$FILE.xml.gz"' - "$out/sitemap-"
