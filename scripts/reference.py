#!/usr/bin/env python3
"""The whole job of sitemill once more: plain, slow, and written from the contract alone, to judge the quick one.

    reference.py build INPUT... --base-url URL --out DIR    sitemaps, index files and robots lines, in a new directory
    reference.py clean [INPUT...]                           canonical URLs, one per accepted line
    reference.py compare OUT_A OUT_B                        are two published sets the same?

Three differences from sitemill are meant:
- The 8 digits in a sitemap's name come from SHA-256, as the standard library has no XXH3; `compare` looks past them.
- International hosts go through IDNA 2003, the only one the standard library has. Where it may differ from UTS 46
  (see `nameprep_agrees_with_uts46`) a warning says that the verdict on this host is not binding.
- All input is held in memory, and `--out` must be new or empty.

`compare` wants equal `<lastmod>` too: give both programs the same SOURCE_DATE_EPOCH. Needs Python 3.9.5, nothing else.
"""
from __future__ import annotations

import argparse
import gzip
import hashlib
import ipaddress
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from datetime import datetime, timezone
from encodings import idna
from itertools import zip_longest
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, NoReturn, Optional, Sequence

NAMESPACE = {
    "0.9": "http://www.sitemaps.org/schemas/sitemap/0.9",
    "0.84": "http://www.google.com/schemas/sitemap/0.84",
}
URLS_PER_SITEMAP_MAX = 50_000
BYTES_PER_SITEMAP_MAX = {"0.9": 52_428_800, "0.84": 10_485_760}
SITEMAPS_PER_INDEX_MAX = {"0.9": 50_000, "0.84": 1_000}

URL_CHARS_MIN = 12  # both published schemas
URL_CHARS_MAX = 2_047  # both texts: fewer than 2,048
LINE_BYTES_MAX = 65_536
SHOWN_BYTES_MAX = 2_048  # of a line over LINE_BYTES_MAX, in the rejects file

ROBOTS = "robots-sitemaps.txt"
EXIT_DIFFERENT, EXIT_USAGE, EXIT_DATA, EXIT_NO_INPUT, EXIT_CANNOT_CREATE = 1, 2, 65, 66, 73


class Rejected(Exception):
    """A line that is not listed; the argument is the reason."""


# ---- From a line to its canonical URL ----------------------------------------------------------------------

# What may stand in a canonical URL: RFC 3986's alphabet, less the `'` that the WHATWG parser encodes in a query.
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
SUB_DELIMS = b"!$&'()*+,;="
PATH_KEPT = UNRESERVED + SUB_DELIMS + b":@/"
QUERY_KEPT = PATH_KEPT.replace(b"'", b"") + b"?"
REG_NAME = (UNRESERVED + SUB_DELIMS).decode()


def canonical_line(raw: bytes) -> Optional[str]:
    """The canonical URL of one line without its line end; None if it is blank. The contract orders the checks."""
    if len(raw) > LINE_BYTES_MAX:
        raise Rejected("too-long")
    trimmed = raw.strip(b" \t")
    if not trimmed:
        return None
    url = canonical_url(trimmed)
    if len(url) > URL_CHARS_MAX:
        raise Rejected("too-long")
    if len(url) < URL_CHARS_MIN:
        raise Rejected("too-short")
    return url


def canonical_url(text: bytes) -> str:
    """What the WHATWG parser makes of an absolute http or https URL, in RFC 3986's alphabet, without its fragment."""
    if any(byte < 0x20 or byte == 0x7F for byte in text):
        raise Rejected("control-character")
    scheme_and_rest = re.fullmatch(rb"([A-Za-z][A-Za-z0-9+.-]*):(.*)", text)
    if not scheme_and_rest:
        raise Rejected("not-absolute")
    scheme = scheme_and_rest[1].decode().lower()
    if scheme not in ("http", "https"):
        raise Rejected("scheme")
    without_fragment = scheme_and_rest[2].partition(b"#")[0]
    hierarchy, question_mark, query = without_fragment.partition(b"?")
    # `http:example.com`, `http:\\example.com` and `http:///example.com` are all understood.
    authority, *segments = re.split(rb"[/\\]", hierarchy.lstrip(b"/\\"))
    url = f"{scheme}://{canonical_authority(authority, scheme)}"
    url += percent_encode(b"/" + b"/".join(resolve_dots(segments)), PATH_KEPT)
    return url + "?" + percent_encode(query, QUERY_KEPT) if question_mark else url


def resolve_dots(segments: Sequence[bytes]) -> list[bytes]:
    """`.` and `..` are taken out, also when written `%2e`; a path that ends in one of them then ends in a slash."""
    kept: list[bytes] = []
    for number, segment in enumerate(segments, start=1):
        dots = segment.lower().replace(b"%2e", b".")
        if dots == b"..":
            del kept[-1:]
        if dots not in (b".", b".."):
            kept.append(segment)
        elif number == len(segments):
            kept.append(b"")
    return kept


def percent_encode(text: bytes, kept: bytes) -> str:
    """A valid %XX stays as it stands; any other `%`, and every byte not in `kept`, is encoded."""
    encoded = []
    for at, byte in enumerate(text):
        starts_escape = byte == ord("%") and re.fullmatch(rb"[0-9A-Fa-f]{2}", text[at + 1 : at + 3])
        encoded.append(chr(byte) if byte in kept or starts_escape else f"%{byte:02X}")
    return "".join(encoded)


def canonical_authority(authority: bytes, scheme: str) -> str:
    userinfo, _, host_and_port = authority.rpartition(b"@")
    if userinfo not in (b"", b":"):  # `http://@host/` and `http://:@host/` name neither a user nor a password
        raise Rejected("credentials")
    # A colon inside brackets belongs to an IPv6 address. The pattern matches anything, if only its first 0 bytes.
    host_length = next(re.finditer(rb"(\[[^\]]*\]?|[^:\[])*", host_and_port)).end()
    host = canonical_host(host_and_port[:host_length])
    digits = host_and_port[host_length + 1 :]
    if not digits:
        return host
    significant = digits.lstrip(b"0") or b"0"
    if not re.fullmatch(rb"[0-9]{1,5}", significant) or int(significant) > 65_535:
        raise Rejected("port")
    port = int(significant)
    return host if port == {"http": 80, "https": 443}[scheme] else f"{host}:{port}"


# ---- Hosts -------------------------------------------------------------------------------------------------


def canonical_host(host: bytes) -> str:
    try:
        if host.startswith(b"["):
            return canonical_ipv6(host)
        decoded = re.sub(rb"%([0-9A-Fa-f]{2})", lambda escaped: bytes([int(escaped[1], 16)]), host)
        domain = domain_to_ascii(decoded.decode("utf-8"))
        # Stricter than WHATWG by " ` { }, which no reg-name of RFC 3986 may hold.
        if not domain or any(character not in REG_NAME for character in domain):
            raise ValueError("empty, or a character that no host may hold")
        return canonical_ipv4(domain) if ends_in_a_number(domain) else domain
    except ValueError as error:  # UnicodeError is one too
        raise Rejected("host") from error


def domain_to_ascii(domain: str) -> str:
    """UTS 46, not transitional and without a check of lengths or hyphens, by way of IDNA 2003."""
    return ".".join(label_to_ascii(map_label(label)) for label in re.split("[.\u3002\uff0e\uff61]", domain))


def map_label(label: str) -> str:
    if label.isascii():
        return label.lower()
    if not nameprep_agrees_with_uts46(label):
        print(f"warning: {label!a}: IDNA 2003 may differ from UTS 46, verdict not binding", file=sys.stderr)
    # UTS 46 keeps two letters that IDNA 2003 turned into others; the rest is case folding and NFKC in both.
    mapped = "".join(part if part in "ßς" else idna.nameprep(part) for part in re.split("([ßς])", label))
    if "." in mapped:
        raise ValueError("a sign such as U+2026 that would become dots")
    return mapped


def nameprep_agrees_with_uts46(label: str) -> bool:
    """False for characters younger than Unicode 3.2, and for invisible and right-to-left ones: new rules."""
    return not any(
        unicodedata.ucd_3_2_0.category(character) in ("Cn", "Cf")
        or unicodedata.bidirectional(character) in ("R", "AL", "AN")
        for character in label + label.lower()
    )


def label_to_ascii(label: str) -> str:
    if not label.isascii():
        if label.startswith("xn--") or unicodedata.category(label[0]).startswith("M"):
            raise ValueError("half punycode, or a combining mark with nothing to stand on")
        return "xn--" + label.encode("punycode").decode("ascii")
    if label.startswith("xn--"):
        decoded = label[len("xn--") :].encode("ascii").decode("punycode")
        if decoded.isascii() or map_label(decoded) != decoded or label_to_ascii(decoded) != label:
            raise ValueError("punycode of a label that is not written so")
    return label


def ends_in_a_number(domain: str) -> bool:
    return re.search(r"(\A|\.)([0-9]+|0x[0-9a-f]*)\.?\Z", domain) is not None


def canonical_ipv4(domain: str) -> str:
    """One to four numbers, the last of which fills the bytes that are left: `0x7f.1` is 127.0.0.1."""
    *first, last = [ipv4_number(label) for label in re.sub(r"\.\Z", "", domain).split(".")]
    if len(first) > 3 or any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        raise ValueError("more than 32 bits")
    return ".".join(str(byte) for byte in bytes(first) + last.to_bytes(4 - len(first), "big"))


def ipv4_number(label: str) -> int:
    """Decimal, octal after `0`, hexadecimal after `0x`; `0x` alone is 0."""
    for form, base in (("0x([0-9a-f]*)", 16), ("0([0-7]*)", 8), ("([1-9][0-9]*)", 10)):
        digits = re.fullmatch(form, label)
        if digits:
            significant = digits[1].lstrip("0") or "0"
            # 32 bits never take more than 11 digits, and Python declines to read thousands of them.
            return int(significant, base) if len(significant) <= 11 else 1 << 32
    raise ValueError("not a number")


def canonical_ipv6(host: bytes) -> str:
    if not re.fullmatch(rb"\[[0-9A-Fa-f:.]+\]", host):
        raise ValueError("no IPv6 address in brackets, or one with a zone")
    address = ipaddress.IPv6Address(host[1:-1].decode()).packed
    pieces = [f"{address[at] << 8 | address[at + 1]:x}" for at in range(0, 16, 2)]
    # The longest run of two zeros or more is compressed; of equal runs, the first.
    for zeros in range(8, 1, -1):
        for at in range(9 - zeros):
            if pieces[at : at + zeros] == ["0"] * zeros:
                return f"[{':'.join(pieces[:at])}::{':'.join(pieces[at + zeros:])}]"
    return f"[{':'.join(pieces)}]"


# ---- Lines and rejects -------------------------------------------------------------------------------------


class Line(NamedTuple):
    input: str  # as given on the command line
    number: int  # from 1, in this input
    offset: int  # bytes before it, in this input
    raw: bytes  # without its line end, untrimmed


def read_lines(inputs: Sequence[str]) -> Iterator[Line]:
    for name in inputs:
        try:
            data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        except OSError as error:
            fail(EXIT_NO_INPUT, f"{name}: cannot be read ({error.strerror})")
        offset = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        for number, ended in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data[offset:]), start=1):
            # Only a CR right before an LF belongs to the line end.
            yield Line(name, number, offset, re.sub(rb"\r?\n\Z", b"", ended))
            offset += len(ended)


class Rejects:
    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.rows = ["input\tline\toffset\treason\ttext\n"]

    def add(self, line: Line, reason: str) -> None:
        self.count[reason] += 1
        text = visible(line.raw) if len(line.raw) <= LINE_BYTES_MAX else visible(line.raw[:SHOWN_BYTES_MAX]) + "…"
        self.rows.append(f"{visible(os.fsencode(line.input))}\t{line.number}\t{line.offset}\t{reason}\t{text}\n")

    def write(self, path: Optional[str]) -> None:
        if path:
            write_file(Path(path), "".join(self.rows).encode())


def visible(text: bytes) -> str:
    """Text as one field of a tab-separated file. Unprintable: control, format and other blank characters, no UTF-8."""
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
    shown = []
    for character in text.decode("utf-8", "surrogateescape"):
        if character in named:
            shown.append(named[character])
        elif not character.isprintable():
            shown += [f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape")]
        else:
            shown.append(character)
    return "".join(shown)


# ---- build -------------------------------------------------------------------------------------------------


def render(element: str, protocol: str, entries: Sequence[bytes]) -> bytes:
    """A sitemap (`urlset`) or an index file (`sitemapindex`), byte for byte."""
    header = f'<?xml version="1.0" encoding="UTF-8"?>\n<{element} xmlns="{NAMESPACE[protocol]}">\n'
    return header.encode() + b"".join(entries) + f"</{element}>\n".encode()


def divide(entries: Sequence[bytes], entries_max: int, bytes_max: int) -> list[list[bytes]]:
    """Each group takes entries until the next one would pass a limit. No entry may be longer than `bytes_max`."""
    groups: list[list[bytes]] = []
    group_bytes = 0
    for entry in entries:
        if not groups or len(groups[-1]) == entries_max or group_bytes + len(entry) > bytes_max:
            groups.append([])
            group_bytes = 0
        groups[-1].append(entry)
        group_bytes += len(entry)
    return groups


def build(job: argparse.Namespace) -> None:
    directory = base_directory(job.base_url)
    origin = "/".join(directory.split("/")[:3]) + "/"
    scope_prefix = {"directory": directory, "host": origin, "any": ""}[job.scope]
    room, index_room = (job.bytes_per_sitemap - len(render(of, job.protocol, [])) for of in ("urlset", "sitemapindex"))
    time = run_time()
    if len(index_entry(directory + sitemap_name(1, b""), time)) > index_room:
        fail(EXIT_USAGE, "--bytes-per-sitemap: too small for an index file with one entry")

    rejects = Rejects()
    listed: dict[str, bytes] = {}  # URL → entry, in input order; the first of equal URLs stays
    lines = blank = duplicates = 0
    for line in read_lines(job.inputs):
        lines += 1
        try:
            url = canonical_line(line.raw)
            if url is None:
                blank += 1
                continue
            if not url.startswith(scope_prefix):
                raise Rejected("out-of-scope")
            entry = f"<url><loc>{escape(url)}</loc></url>\n".encode()
            if len(entry) > room:
                raise Rejected("entry-too-large")
            duplicates += url in listed
            listed[url] = entry
        except Rejected as rejected:
            rejects.add(line, str(rejected))
    assert lines == blank + len(listed) + duplicates + sum(rejects.count.values()), "a line was lost or counted twice"

    groups = divide(list(listed.values()), job.urls_per_sitemap, room)
    sitemaps = [render("urlset", job.protocol, group) for group in groups]
    names = [sitemap_name(number, xml) for number, xml in enumerate(sitemaps, start=1)]
    entries = [index_entry(directory + name, time) for name in names]
    groups = divide(entries, job.sitemaps_per_index, index_room)
    indexes = [render("sitemapindex", job.protocol, group) for group in groups]

    if listed:
        publish(Path(job.out), directory, dict(zip(names, sitemaps)), indexes)
    rejects.write(job.rejects)
    if job.report:
        report = dict(lines=lines, blank=blank, listed=len(listed), duplicates=duplicates, rejected=rejects.count)
        report |= dict(sitemaps=len(sitemaps), indexes=len(indexes), xml_bytes=sum(map(len, sitemaps)))
        write_file(Path(job.report), (json.dumps(report, indent=2) + "\n").encode())
    if not listed:
        fail(EXIT_DATA, "not one valid URL, nothing is published")


def base_directory(base_url: str) -> str:
    """The canonical --base-url, ending in a slash: where the files are published and what they may list."""
    text = os.fsencode(base_url).strip(b" \t")
    if b"?" in text or b"#" in text:
        fail(EXIT_USAGE, "--base-url: names a directory, so it can have neither query nor fragment")
    try:
        url = canonical_url(text)
    except Rejected as rejected:
        fail(EXIT_USAGE, f"--base-url: {rejected}")
    directory = url if url.endswith("/") else url + "/"
    if len(directory + sitemap_name(1, b"")) > URL_CHARS_MAX:
        fail(EXIT_USAGE, "--base-url: too long for the URL of a sitemap")
    return directory


def sitemap_name(number: int, xml: bytes) -> str:
    return f"sitemap-{number:05d}-{hashlib.sha256(xml).hexdigest()[:8]}.xml.gz"


def index_entry(url: str, time: str) -> bytes:
    return f"<sitemap><loc>{escape(url)}</loc><lastmod>{time}</lastmod></sitemap>\n".encode()


def escape(text: str) -> str:
    entity = {"&": "&amp;", "'": "&apos;", '"': "&quot;", ">": "&gt;", "<": "&lt;"}
    return "".join(entity.get(character, character) for character in text)


def run_time() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    time = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch else datetime.now(timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def publish(out: Path, directory: str, sitemaps: dict[str, bytes], indexes: Sequence[bytes]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            fail(EXIT_CANNOT_CREATE, f"{out}: is not empty; name a new directory")
    except OSError as error:
        fail(EXIT_CANNOT_CREATE, f"{out}: cannot be created ({error.strerror})")
    index_names = [f"sitemap-index-{number}.xml" for number in range(1, len(indexes) + 1)]
    for name, xml in sitemaps.items():
        write_file(out / name, gzip.compress(xml, mtime=0))
    for name, xml in zip(index_names, indexes):
        write_file(out / name, xml)
    write_file(out / ROBOTS, "".join(f"Sitemap: {directory}{name}\n" for name in index_names).encode())


# ---- clean -------------------------------------------------------------------------------------------------


def clean(job: argparse.Namespace) -> None:
    rejects = Rejects()
    for line in read_lines(job.inputs or ["-"]):
        try:
            url = canonical_line(line.raw)
            if url is not None:
                print(url)
        except Rejected as rejected:
            rejects.add(line, str(rejected))
    rejects.write(job.rejects)


# ---- compare -----------------------------------------------------------------------------------------------


def compare(job: argparse.Namespace) -> None:
    sitemaps = urls = 0
    nothing = ("nothing", b"")
    for a, b in zip_longest(published(Path(job.out_a)), published(Path(job.out_b)), fillvalue=nothing):
        if a[0] != b[0]:
            fail(EXIT_DIFFERENT, f"different: {a[0]} in {job.out_a}, {b[0]} in {job.out_b}")
        if a[1] != b[1]:
            fail(EXIT_DIFFERENT, f"different: {a[0]}, {first_difference(a[1], b[1])}")
        sitemaps += a[0].endswith(".gz")
        urls += a[1].count(b"<url>")
    print(f"same: {sitemaps} sitemaps, {urls} URLs")


def published(out: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of the robots lines, then of each index file and the sitemaps in it; XXXXXXXX for the hashes."""

    def masked(text: str) -> str:
        return re.sub(r"\b(sitemap-[0-9]{5,})-[0-9a-f]{8}\.xml\.gz\b", r"\1-XXXXXXXX.xml.gz", text)

    try:
        yield ROBOTS, (out / ROBOTS).read_bytes()
        index_files = out.glob("sitemap-index-*.xml")
        for index_file in sorted(index_files, key=lambda path: (len(path.name), path.name)):
            index = index_file.read_bytes().decode()
            yield index_file.name, masked(index).encode()
            for name in re.findall(r"/([^/<>]+)</loc>", index):
                yield masked(name), gzip.decompress((out / name).read_bytes())
    except (OSError, EOFError, ValueError) as error:
        fail(EXIT_DIFFERENT, f"different: {out} is not a published set ({error})")


def first_difference(a: bytes, b: bytes) -> str:
    for number, lines in enumerate(zip_longest(a.split(b"\n"), b.split(b"\n"), fillvalue=b""), start=1):
        if lines[0] != lines[1]:
            return f"line {number}:\n  {visible(lines[0])}\n  {visible(lines[1])}"
    return "the line end of the last line"


# ---- The command line --------------------------------------------------------------------------------------


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        fail(EXIT_CANNOT_CREATE, f"{path}: cannot be written ({error.strerror})")


def fail(code: int, message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)


def size(text: str) -> int:
    for unit, unit_bytes in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)):
        if text.endswith(unit):
            return int(text[: -len(unit)]) * unit_bytes
    return int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description="The reference implementation of sitemill.")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, run: Callable[..., None], summary: str, inputs: str = "") -> Callable[..., object]:
        options = commands.add_parser(name, help=summary, description=summary)
        options.set_defaults(run=run)
        if inputs:
            options.add_argument("inputs", nargs=inputs, metavar="INPUT", help="a file, or - for standard input")
            options.add_argument("--rejects", metavar="FILE", help="every refused line, tab-separated")
        return options.add_argument

    option = command("build", build, "sitemaps, index files and robots lines", inputs="+")
    option("--base-url", required=True, metavar="URL", help="the directory the files will be published in")
    option("--out", required=True, metavar="DIR", help="a new or empty directory")
    option("--protocol", choices=list(NAMESPACE), default="0.9")
    option("--urls-per-sitemap", type=int, default=50_000, metavar="N")
    option("--bytes-per-sitemap", type=size, default="10MiB", metavar="SIZE")
    option("--sitemaps-per-index", type=int, default=1_000, metavar="N")
    option("--scope", choices=["directory", "host", "any"], default="directory")
    option("--report", metavar="FILE", help="counts, as JSON")
    command("clean", clean, "canonical URLs to standard output, in input order", inputs="*")
    option = command("compare", compare, "exit 1 at the first difference between two published sets")
    option("out_a", metavar="OUT_A")
    option("out_b", metavar="OUT_B")

    job = parser.parse_args()
    if job.command == "build":
        for flag, value, value_max in (
            ("--urls-per-sitemap", job.urls_per_sitemap, URLS_PER_SITEMAP_MAX),
            ("--bytes-per-sitemap", job.bytes_per_sitemap, BYTES_PER_SITEMAP_MAX[job.protocol]),
            ("--sitemaps-per-index", job.sitemaps_per_index, SITEMAPS_PER_INDEX_MAX[job.protocol]),
        ):
            if not 1 <= value <= value_max:
                parser.error(f"{flag}: protocol {job.protocol} allows 1 to {value_max:,}, not {value:,}")
    job.run(job)


if __name__ == "__main__":
    main()
