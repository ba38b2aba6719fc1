"""Turns a line into its canonical URL."""
from __future__ import annotations

import re
from typing import Optional, Sequence

from contract import LINE_BYTES_MAX, URL_CHARS_MAX, URL_CHARS_MIN, Rejected
from hosts import SUB_DELIMS, UNRESERVED, can_be_resolved, canonical_host

# The characters of a canonical URL: RFC 3986's, without the `'` that the WHATWG parser encodes in a query.
PATH_KEPT = UNRESERVED + SUB_DELIMS + b":@/"
QUERY_KEPT = PATH_KEPT.replace(b"'", b"") + b"?"


def canonical_line(raw: bytes) -> Optional[str]:
    """The canonical URL of a line without its line end; None if it is blank. The contract defines the order of the checks."""
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
    """The WHATWG parser's form of an absolute http or https URL, in RFC 3986's alphabet, without its fragment."""
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
    # `http:example.com`, `http:\\example.com` and `http:///example.com` are all accepted.
    authority, *segments = re.split(rb"[/\\]", hierarchy.lstrip(b"/\\"))
    url = f"{scheme}://{canonical_authority(authority, scheme)}"
    url += percent_encode(b"/" + b"/".join(resolve_dots(segments)), PATH_KEPT)
    return url + "?" + percent_encode(query, QUERY_KEPT) if question_mark else url


def resolve_dots(segments: Sequence[bytes]) -> list[bytes]:
    """Removes `.` and `..`, also when written `%2e`. A path that ends in one of them then ends in a slash."""
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
    """Keeps every valid %XX; encodes any other `%` and every byte not in `kept`."""
    encoded = []
    for at, byte in enumerate(text):
        starts_escape = byte == ord("%") and re.fullmatch(rb"[0-9A-Fa-f]{2}", text[at + 1 : at + 3])
        encoded.append(chr(byte) if byte in kept or starts_escape else f"%{byte:02X}")
    return "".join(encoded)


def canonical_authority(authority: bytes, scheme: str) -> str:
    userinfo, _, host_and_port = authority.rpartition(b"@")
    if userinfo not in (b"", b":"):  # `http://@host/` and `http://:@host/` name neither a user nor a password
        raise Rejected("credentials")
    # A colon inside brackets belongs to an IPv6 address. The pattern always matches, possibly the empty string.
    host_length = next(re.finditer(rb"(\[[^\]]*\]?|[^:\[])*", host_and_port)).end()
    host = canonical_host(host_and_port[:host_length])
    digits = host_and_port[host_length + 1 :]
    if not can_be_resolved(host):
        raise Rejected("host")
    if not digits:
        return host
    significant = digits.lstrip(b"0") or b"0"
    if not re.fullmatch(rb"[0-9]{1,5}", significant) or int(significant) > 65_535:
        raise Rejected("port")
    port = int(significant)
    return host if port == {"http": 80, "https": 443}[scheme] else f"{host}:{port}"
