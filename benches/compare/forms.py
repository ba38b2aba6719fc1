"""Measures sitemill on the same URLs in every input format."""

import dataclasses
import gzip
import shutil
import subprocess

from compare import WORK
from compare.installing import PYTHON, install_duckdb
from compare.measuring import measure, take_turns
from compare.sides import first_level, level_option, sitemill_side
from compare.tables import print_ratios, print_table

# A date for every URL, as in an export; the same in all formats.
DATE = "2024-{:02}-{:02}"
PARQUET = """
import sys, duckdb
duckdb.execute(f"COPY (SELECT loc, CAST(lastmod AS TIMESTAMPTZ) AS lastmod FROM read_csv('{sys.argv[1]}')) "
               f"TO '{sys.argv[2]}' (FORMAT parquet)")
"""


def forms(args, sitemill, corpora):
    for corpus in corpora:
        level = first_level(args)
        inputs = {"text": corpus.path, **written(corpus)}
        sides = []
        for form, path in inputs.items():
            side = sitemill_side(args, sitemill, dataclasses.replace(corpus, path=path), level, args.rounds)
            # Only the text has one URL per line, with which the output can be compared.
            side.name, side.compares_urls = " ".join([form, *level_option(level)]), form == "text"
            sides.append(side)
        take_turns(sides)
        print_table(sides)
        print_ratios([(side, sides[0]) for side in sides[1:]])
        zcat = sorted(measure(["zcat", str(inputs["gzip"])]).wall for _ in range(args.rounds))[args.rounds // 2]
        print(f"\n`zcat` alone takes {zcat:.2f} s for the gzip text.")
        for path in inputs.values():
            path.unlink()


def written(corpus):
    """Writes the corpus in all formats except plain text."""
    paths = {form: WORK / f"rows.{end}" for form, end in
             [("CSV", "csv"), ("JSON lines", "jsonl"), ("Parquet", "parquet"), ("gzip", "txt.gz")]}
    with open(corpus.path) as lines, open(paths["CSV"], "w") as csv, open(paths["JSON lines"], "w") as jsonl:
        csv.write("loc,lastmod\n")
        for number, line in enumerate(lines):
            url, date = line.rstrip("\n"), DATE.format(number % 12 + 1, number % 28 + 1)
            csv.write(csv_row(url, date))
            jsonl.write(f'{{"loc":"{url}","lastmod":"{date}"}}\n')
    with open(corpus.path, "rb") as text, gzip.open(paths["gzip"], "wb", 1) as packed:
        shutil.copyfileobj(text, packed, 1 << 20)
    if install_duckdb():
        subprocess.run([str(PYTHON), "-c", PARQUET, str(paths["CSV"]), str(paths["Parquet"])], check=True,
                       stdout=subprocess.DEVNULL)
    else:
        del paths["Parquet"]
    return paths


def csv_row(url, value):
    return f'"{url}",{value}\n' if "," in url else f"{url},{value}\n"
