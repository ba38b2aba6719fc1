"""The sides: sitemill, and other tools for the same job or a part of it."""

import dataclasses
from collections.abc import Callable

from compare import CORES, OUT
from compare.corpora import first_lines
from compare.installing import (CRATES, DJANGO_PACKAGE, DUCKDB_PACKAGE, GEM_PACKAGE, GEMS, NPM_FOLDER, NPM_PACKAGE,
                                  PYTHON, WRITER_PACKAGE, install_crates, install_duckdb, install_gem, install_npm,
                                  install_python_package, install_tool)
from compare.measuring import REPORT, Side
from compare.verdicts import no_more_bytes, times_as_long

# The levels of the peers. sitemill's defaults are compared with the first, and sitemill at each level with all at that level.
LEVELS = [6, 1]
SORTED = ["--order", "sorted"]
# The lines with which peers warm up.
REHEARSAL_LINES = 1000


@dataclasses.dataclass
class Peer:
    """Another tool for the whole job. `name` and each word of `command` may contain {level}, and words of `command` {urls}
    and {out}."""

    name: str
    command: list
    # Longer inputs are cut to this, so that ten rounds take minutes. Their figures are per line.
    lines_max: int | None = None
    # For a tool that chooses the level itself, or is too slow to be measured at several.
    only_level: int | None = None
    sorts: bool = False
    # How often it escapes XML's reserved characters.
    times_escaped: int = 1


@dataclasses.dataclass
class Kind:
    """Peers that are installed together."""

    install: Callable
    peers: list


def pipeline(name, distinct, **more):
    command = ["benches/compare/peers/pipeline.sh", distinct, "{urls}", "{out}", "{level}", str(CORES)]
    return Peer(name + ", split, pigz -{level}", command, **more)


def crate(name, **more):
    return Peer(f"crate {name}, level {{level}}", [str(CRATES), name, "{urls}", "{out}", "{level}"], 500_000, **more)


def npm(writes, **more):
    command = ["node", "benches/compare/peers/npm-sitemap.mjs", str(NPM_FOLDER), "{urls}", "{out}", "{level}", writes]
    return Peer(f"npm {NPM_PACKAGE}, {writes}, level {{level}}", command, **more)


def python(name, program, **more):
    return Peer(name, [str(PYTHON), f"benches/compare/peers/{program}", "{urls}", "{out}", "{level}"], **more)


KINDS = {
    "sort": Kind(lambda: install_tool("pigz", "pigz", "the shell pipeline with sort"),
                 [pipeline("sort -u, awk", "sort", sorts=True)]),
    "awk": Kind(lambda: install_tool("pigz", "pigz", "the shell pipeline with awk"),
                [pipeline("awk !seen, awk", "awk", lines_max=1_000_000)]),
    "duckdb": Kind(lambda: install_tool("pigz", "pigz", "DuckDB") and install_duckdb(),
                   [pipeline(f"{DUCKDB_PACKAGE}, DISTINCT ORDER BY", "duckdb", sorts=True)]),
    # sitemap_generator writes `&` as `&amp;amp;`, which is wrong but saves it no time.
    "crates": Kind(install_crates, [crate("sitemap-rs"), crate("sitemap_generator", times_escaped=2)]),
    "npm": Kind(install_npm, [npm("gathered", lines_max=200_000),
                              npm("as-documented", lines_max=30_000, only_level=LEVELS[0])]),
    "django": Kind(lambda: install_python_package(DJANGO_PACKAGE, "Django"),
                   [python(f"Python {DJANGO_PACKAGE}, level {{level}}", "django-sitemaps.py", lines_max=100_000)]),
    "writer": Kind(lambda: install_python_package(WRITER_PACKAGE, "xml-sitemap-writer"),
                   [python(f"Python {WRITER_PACKAGE}, level {{level}}", "xml-sitemap-writer.py", lines_max=200_000)]),
    "ruby": Kind(install_gem,
                 [Peer(f"Ruby {GEM_PACKAGE}, level 6",
                       ["ruby", "benches/compare/peers/ruby-sitemap-generator.rb", str(GEMS), "{urls}", "{out}"],
                       lines_max=60_000, only_level=6)]),
}


def sitemill_side(args, sitemill, corpus, level, rounds, more=(), options=None):
    """`level` None means the default level, `options` None the options from the command line."""
    options = [*level_option(level), *more, *(args.build_options if options is None else options)]
    command = [sitemill, "build", str(corpus.path), "--base-url", corpus.base_url, "--out", str(OUT)]
    command += ["--quiet", "--report", str(REPORT), *options]
    return Side(" ".join(["sitemill", *options]), corpus, command, rounds, level, is_sitemill=True)


def level_option(level):
    return [] if level is None else ["--level", str(level)]


def first_level(args):
    """The first of several levels; None for sitemill's default."""
    return args.levels[0] if args.levels else None


@dataclasses.dataclass
class Comparison:
    """The sides of a comparison, in groups of equal effort."""

    # Sides of sitemill with its defaults: in input order and sorted.
    ours: Side
    ordered: Side
    # Compresses with zlib, which gives an upper bound of the size.
    zlib: Side
    # For each level, sitemill's sides and pairs of a peer's side and the Peer.
    levels: dict

    def sides(self):
        return [self.ours, self.ordered, self.zlib, *(side for level in self.levels for side in self.at_level(level))]

    def at_level(self, level):
        ours, theirs = self.levels[level]
        return [*ours, *(side for side, _ in theirs)]

    def pairs(self):
        """Each peer's side with the side of sitemill that it is compared with: the defaults first, then equal levels."""
        _, first = next(iter(self.levels.values()))
        groups = [((self.ours, self.ordered), first), *self.levels.values()]
        return [(side, counterpart) for (plain, ordered), theirs in groups for side, peer in theirs
                for counterpart in ([plain, ordered] if peer.sorts else [plain])]

    def groups(self):
        """Titles and sides for the chart. sitemill's defaults are next to the first level."""
        for at, level in enumerate(self.levels):
            defaults = [self.ours, self.ordered] if at == 0 else []
            title = f"all at gzip level {level}" + (", and sitemill's defaults" if defaults else "")
            yield title, [*defaults, *self.at_level(level)]

    def verdicts(self):
        yield no_more_bytes(self.ours, self.zlib)
        # The thresholds are for peers at their usual level.
        _, first = self.levels.get(LEVELS[0], (None, []))
        for words, times_min in [("sort -u", 8), ("crate", 12), ("as-documented", 100)]:
            yield from (times_as_long("time", times_min, side, self.ours) for side, _ in first if words in side.name)
        for side, _ in first:
            if "sort -u" in side.name:
                yield times_as_long("time", 5, side, self.ordered)
                yield no_more_bytes(self.ordered, side)


def comparison(args, sitemill, corpus, kinds):
    """sitemill with its defaults and at each level, and the peers of `kinds` at each level."""
    side = lambda level, more=(), rounds=args.rounds: sitemill_side(args, sitemill, corpus, level, rounds, more)
    # Its size is the same in every round.
    zlib = side(4, ["--gzip-engine", "flate2"], rounds=1)
    levels = {}
    for level in args.levels or LEVELS:
        peers = [peer for kind in kinds for peer in KINDS[kind].peers if peer.only_level in [None, level]]
        theirs = [(peer_side(peer, corpus, level, args.rounds), peer) for peer in peers]
        levels[level] = (side(level), side(level, SORTED)), theirs
    return Comparison(side(None), side(None, SORTED), zlib, levels)


def peer_side(peer, corpus, level, rounds):
    """Peers take long, so they warm up on a few lines: that loads their programs, and shows early if one fails. sitemill's
    runs have already cached the input."""
    def side(lines_max, rehearsal):
        taken = first_lines(corpus, lines_max)
        fill = lambda word: word.format(level=level, urls=taken.path, out=OUT)
        return Side(fill(peer.name), taken, list(map(fill, peer.command)), rounds, level,
                    times_escaped=peer.times_escaped, rehearsal=rehearsal)
    return side(peer.lines_max, side(REHEARSAL_LINES, None))


def duckdb_distinct(corpus, rounds):
    command = [str(PYTHON), "benches/compare/peers/duckdb-distinct.py", str(corpus.path)]
    return Side(f"{DUCKDB_PACKAGE}, SELECT DISTINCT", corpus, command, rounds, is_dedup_only=True)
