"""The inputs. All lines are canonical URLs, so every side must list exactly the distinct ones."""

import functools
import itertools
import json
import pathlib
import random
import re
import shlex
import subprocess
from dataclasses import dataclass

from compare import WORK
from compare.installing import as_root, install

SHOP_BASE_URL = "https://www.example.com/"
PATHS_BASE_URL = "https://files.example.com/"
SHUFFLE_SEED = 1
# Decompresses files that apt has fetched, in any format.
APT_CAT = ["/usr/lib/apt/apt-helper", "cat-file"]
# Paths that are valid in a URL unchanged: nothing to percent-encode, no space, no `?` (RFC 3986, section 3.3).
CHARACTERS = rb"[A-Za-z0-9._~!$&'()*+,;=:@/-]*"
PATH = CHARACTERS + rb"(?:%[0-9A-Fa-f]{2}" + CHARACTERS + rb")*"
# A line of a Contents index: a path, spaces, the packages that hold it.
CONTENTS_LINE = re.compile(rb"(" + PATH + rb")[ \t]+\S+\n")
TITLES = {"shop": "shop URLs, shuffled", "shop-ordered": "shop URLs, in order", "paths": "file paths, sorted",
          "paths-shuffled": "file paths, shuffled"}
DOT_SEGMENT = re.compile(rb"(?:^|/)\.\.?(?:/|$)")


# Compared by identity, so that functions of it can be cached.
@dataclass(eq=False)
class Corpus:
    title: str
    path: pathlib.Path
    base_url: str
    lines: int
    distinct: int
    bytes: int
    # Whether it has all lines of the input, or only the first.
    is_whole: bool = True

    @functools.cached_property
    def fingerprint(self):
        """The fingerprint of the distinct lines, independent of their order."""
        with open(self.path, "rb") as file:
            return fingerprint({line.removesuffix(b"\n") for line in file})


def fingerprint(urls):
    """Independent of the order of the URLs, but changed by any missing, repeated or different one."""
    return sum(map(hash, urls))


def shop(lines, duplicates, order="shuffled"):
    title = TITLES["shop" if order == "shuffled" else "shop-ordered"]
    return generated(title, f"shop-{order}-{lines}.txt", lines, "--duplicates", duplicates, "--order", order)


def short(lines):
    """Shuffled short URLs without duplicates."""
    return generated("short URLs, shuffled", f"short-{lines}.txt", lines, "--style", "short")


def generated(title, name, lines, *options):
    path, counts = WORK / name, WORK / "counts.json"
    command = ["scripts/urls", str(lines), *options, "--out", str(path)]
    subprocess.run([*command, "--counts", str(counts)], check=True)
    found = json.loads(counts.read_text())
    corpus = Corpus(title, path, SHOP_BASE_URL, found["lines"], found["distinct"], found["bytes"])
    return announced(corpus, f"`{shlex.join(command)}`")


def paths(lines, order="sorted"):
    """The file paths of all packages known to apt, in byte order or shuffled. `lines` limits them to the middle of that
    order."""
    every_path, source = all_paths()
    if order == "shuffled":
        random.Random(SHUFFLE_SEED).shuffle(every_path)
    begin = 0 if lines is None else max(0, (len(every_path) - lines) // 2)
    taken = every_path[begin:][:lines]
    if len(taken) < len(every_path):
        source += f"; of these, {len(taken):,} from the middle"
    path = WORK / f"paths-{order}-{len(taken)}.txt"
    path.write_bytes(b"".join(PATHS_BASE_URL.encode() + taken_path + b"\n" for taken_path in taken))
    title = TITLES["paths" if order == "sorted" else "paths-shuffled"]
    corpus = Corpus(title, path, PATHS_BASE_URL, len(taken), len(set(taken)), path.stat().st_size)
    return announced(corpus, source)


def all_paths():
    """The sorted paths, and a description of their source."""
    if not contents_files():
        install_contents()
    every_path, lines = [], 0
    for file in contents_files():
        with subprocess.Popen([*APT_CAT, file], stdout=subprocess.PIPE) as process:
            for line in process.stdout:
                lines += 1
                found = CONTENTS_LINE.fullmatch(line)
                if found and not DOT_SEGMENT.search(found[1]):
                    every_path.append(found[1])
        if process.returncode:
            raise Unavailable(f"`{' '.join(APT_CAT)}` failed with exit code {process.returncode}")
    if not every_path:
        raise Unavailable("the Contents indexes hold no path")
    every_path.sort()
    left_out = lines - len(every_path)
    return every_path, (f"apt's Contents indexes: {lines:,} paths, without {left_out:,} that contain a space or another "
                        "byte that no URL may contain")


def contents_files():
    """The Contents indexes, which apt fetches for apt-file."""
    command = ["apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Contents-deb"]
    try:
        listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except OSError:
        raise Unavailable("apt is needed, for the Contents indexes of Debian") from None
    return [file for file in listed.splitlines() if pathlib.Path(file).exists()]


def install_contents():
    for command in [["apt-get", "update"], ["apt-get", "install", "-y", "apt-file"], ["apt-file", "update"]]:
        if not install("the corpus of file paths", as_root(command)):
            raise Unavailable("no Contents index")


@functools.cache
def first_lines(corpus, lines):
    """A corpus of the first `lines` lines, or the corpus itself if it has no more or `lines` is None."""
    if lines is None or lines >= corpus.lines:
        return corpus
    path = corpus.path.with_suffix(f".first-{lines}.txt")
    with open(corpus.path, "rb") as file:
        taken = list(itertools.islice(file, lines))
    path.write_bytes(b"".join(taken))
    first = Corpus(corpus.title, path, corpus.base_url, lines, len(set(taken)), path.stat().st_size, is_whole=False)
    return announced(first, f"the first lines of {corpus.path}")


class Unavailable(Exception):
    """The corpus cannot be made on this machine."""


CORPORA = {
    "shop": lambda lines, duplicates: shop(lines, duplicates),
    "shop-ordered": lambda lines, duplicates: shop(lines, duplicates, "sorted"),
    "paths": lambda lines, duplicates: paths(lines),
    "paths-shuffled": lambda lines, duplicates: paths(lines, "shuffled"),
}


def in_words(lines):
    """A number of lines as in a heading: 5 million, or 30,000."""
    return f"{lines / 1e6:.3g} million" if lines >= 1_000_000 else f"{lines:,}"


def announced(corpus, source):
    print(f"- input: {corpus.title}, {corpus.lines:,} lines, {corpus.bytes / 1e6:,.0f} MB, {corpus.distinct:,} "
          f"distinct URLs: {source}", flush=True)
    return corpus
