"""The sides: sitemill, and other tools for the same job or a part of it."""

from compare import CORES, OUT
from compare.corpora import first_lines
from compare.installing import (CRATES, DUCKDB_PACKAGE, NPM_FOLDER, NPM_PACKAGE, PYTHON, install_crates,
                                  install_duckdb, install_npm, install_tool)
from compare.measuring import REPORT, Side
from compare.verdicts import no_more_bytes, times_as_long

PIPELINES = {"sort": "sort -u, awk, split, pigz", "awk": "awk !seen, awk, split, pigz"}
# How often each escapes. sitemap_generator writes `&` as `&amp;amp;`, which is wrong but saves it no time.
CRATES_ESCAPE = {"sitemap-rs": 1, "sitemap_generator": 2}
INSTALLERS = {
    "sort": lambda: install_tool("pigz", "pigz", "the shell pipeline with sort"),
    "awk": lambda: install_tool("pigz", "pigz", "the shell pipeline with awk"),
    "crates": install_crates,
    "duckdb": install_duckdb,
    "npm": install_npm,
}


# The gzip level of peers when sitemill uses its default.
PEERS_LEVEL = 6


def sitemill_side(args, sitemill, corpus, level, rounds, more=(), options=None):
    """`level` None means the default level, `options` None the options from the command line."""
    options = [*more, *(args.build_options if options is None else options)]
    command = [sitemill, "build", str(corpus.path), "--base-url", corpus.base_url, "--out", str(OUT)]
    command += [] if level is None else ["--level", str(level)]
    command += ["--quiet", "--report", str(REPORT), *options]
    name = " ".join([f"sitemill{level_word(level)}", *options])
    return Side(name, corpus, command, rounds, level, is_sitemill=True)


def first_level(args):
    """The first of several levels; None for sitemill's default."""
    return args.levels[0] if args.levels else None


def level_word(level):
    return ", default" if level is None else f" -{level}"


def with_defaults(args, sitemill, corpus, peers):
    """sitemill with its defaults and peers at level 6; pairs of a peer and its sitemill counterpart; and a function that
    returns the verdicts once all sides have run."""
    ours = sitemill_side(args, sitemill, corpus, None, args.rounds)
    ordered = sitemill_side(args, sitemill, corpus, None, args.rounds, ["--order", "sorted"])
    # Its size is an upper bound and the same in every round.
    zlib = sitemill_side(args, sitemill, corpus, 4, 1, ["--gzip-engine", "flate2"])
    pipelines = {name: pipeline(name, corpus, PEERS_LEVEL, args.rounds) for name in PIPELINES if name in peers}
    crates, documented, gathered = [], [], []
    if "crates" in peers:
        sample = first_lines(corpus, args.crates_urls)
        crates = [crate(name, sample, PEERS_LEVEL, args.rounds) for name in CRATES_ESCAPE]
    if "npm" in peers:
        sample = first_lines(corpus, args.npm_urls)
        documented, gathered = ([npm(writes, sample, PEERS_LEVEL, args.npm_rounds)]
                                for writes in ["as-documented", "gathered"])
    theirs = [*pipelines.values(), *crates, *documented, *gathered]
    for side in theirs:
        # No warm-up: these take long, and sitemill's runs have already cached the input.
        side.warm_up = False
    pairs = [(side, ours) for side in theirs]
    sort = [pipelines["sort"]] if "sort" in pipelines else []
    pairs += [(side, ordered) for side in sort]

    def verdicts():
        yield no_more_bytes(ours, zlib)
        for times_min, sides in [(8, sort), (12, crates), (100, documented)]:
            yield from (times_as_long("time", times_min, side, ours) for side in sides)
        for side in sort:
            yield times_as_long("time", 5, side, ordered)
            yield no_more_bytes(ordered, side)

    return [ours, ordered, zlib, *theirs], pairs, verdicts


def at_levels(args, sitemill, corpus, peers):
    """sitemill and its peers at each level, and pairs of a peer and its sitemill counterpart."""
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
    command = ["benches/compare/peers/pipeline.sh", name, str(corpus.path), str(OUT), str(level), str(CORES)]
    return Side(f"{PIPELINES[name]} -{level}", corpus, command, rounds, level)


def crate(name, corpus, level, rounds):
    command = [str(CRATES), name, str(corpus.path), str(OUT), str(level)]
    return Side(f"crate {name} -{level}", corpus, command, rounds, level, times_escaped=CRATES_ESCAPE[name])


def npm(writes, corpus, level, rounds):
    program = "benches/compare/peers/npm-sitemap.mjs"
    command = ["node", program, str(NPM_FOLDER), str(corpus.path), str(OUT), str(level), writes]
    return Side(f"npm {NPM_PACKAGE}, {writes} -{level}", corpus, command, rounds, level, warm_up=False)


def duckdb(corpus, rounds):
    command = [str(PYTHON), "benches/compare/peers/duckdb-distinct.py", str(corpus.path)]
    return Side(f"{DUCKDB_PACKAGE}, SELECT DISTINCT", corpus, command, rounds, is_dedup_only=True)
