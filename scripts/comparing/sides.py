"""The sides: sitemill, and everything that does the same job or a part of it."""

from comparing import CORES, OUT
from comparing.corpora import first_lines
from comparing.installing import (CRATES, DUCKDB_PACKAGE, NPM_FOLDER, NPM_PACKAGE, PYTHON, install_crates,
                                  install_duckdb, install_npm, install_tool)
from comparing.measuring import REPORT, Side

PIPELINES = {"sort": "sort -u, awk, split, pigz", "awk": "awk !seen, awk, split, pigz"}
# How often each escapes: sitemap_generator writes `&` as `&amp;amp;`, which is wrong, but takes it no less time.
CRATES_ESCAPE = {"sitemap-rs": 1, "sitemap_generator": 2}
INSTALLERS = {
    "sort": lambda: install_tool("pigz", "pigz", "the shell pipeline with sort"),
    "awk": lambda: install_tool("pigz", "pigz", "the shell pipeline with awk"),
    "crates": install_crates,
    "duckdb": install_duckdb,
    "npm": install_npm,
}


def sitemill_side(args, sitemill, corpus, level, rounds, more=()):
    options = [*more, *args.build_options]
    command = [sitemill, "build", str(corpus.path), "--base-url", corpus.base_url, "--out", str(OUT)]
    command += ["--level", str(level), "--quiet", "--report", str(REPORT), *options]
    name = " ".join([f"sitemill -{level}", *options])
    return Side(name, corpus, command, rounds, level, is_sitemill=True)


def whole_job(args, sitemill, corpus, peers):
    """sitemill and its peers at each level; and pairs of a peer and the sitemill it is held against."""
    sides, pairs = [], []
    for level in args.levels:
        ours = sitemill_side(args, sitemill, corpus, level, args.rounds)
        theirs = [pipeline(name, corpus, level, args.rounds) for name in PIPELINES if name in peers]
        theirs += [crate(name, corpus, level, args.rounds) for name in CRATES_ESCAPE if "crates" in peers]
        if "npm" in peers and level == (6 if 6 in args.levels else args.levels[-1]):
            sample = first_lines(corpus, args.npm_urls)
            theirs += [npm(writes, sample, level, args.npm_rounds) for writes in ["as-documented", "gathered"]]
        sides += [ours, *theirs]
        pairs += [(side, ours) for side in theirs]
    return sides, pairs


def pipeline(name, corpus, level, rounds):
    command = ["scripts/peers/pipeline.sh", name, str(corpus.path), str(OUT), str(level), str(CORES)]
    return Side(f"{PIPELINES[name]} -{level}", corpus, command, rounds, level)


def crate(name, corpus, level, rounds):
    command = [str(CRATES), name, str(corpus.path), str(OUT), str(level)]
    return Side(f"crate {name} -{level}", corpus, command, rounds, level, times_escaped=CRATES_ESCAPE[name])


def npm(writes, corpus, level, rounds):
    command = ["node", "scripts/peers/npm-sitemap.mjs", str(NPM_FOLDER), str(corpus.path), str(OUT), str(level), writes]
    return Side(f"npm {NPM_PACKAGE}, {writes} -{level}", corpus, command, rounds, level, warm_up=False)


def duckdb(corpus, rounds):
    command = [str(PYTHON), "scripts/peers/duckdb-distinct.py", str(corpus.path)]
    return Side(f"{DUCKDB_PACKAGE}, SELECT DISTINCT", corpus, command, rounds, is_dedup_only=True)
