"""Hosts: domains by UTS 46, and IP addresses in all spellings."""
from __future__ import annotations

import ipaddress
import re
import sys
import unicodedata
from encodings import idna

from contract import Rejected

# RFC 3986, sections 2.3 and 2.2, combined as in 3.2.2.
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
SUB_DELIMS = b"!$&'()*+,;="
REG_NAME = (UNRESERVED + SUB_DELIMS).decode()


def canonical_host(host: bytes) -> str:
    try:
        if host.startswith(b"["):
            return canonical_ipv6(host)
        decoded = re.sub(rb"%([0-9A-Fa-f]{2})", lambda escaped: bytes([int(escaped[1], 16)]), host)
        domain = domain_to_ascii(decoded.decode("utf-8"))
        # Stricter than WHATWG: RFC 3986 forbids " ` { } in a reg-name.
        if not domain or any(character not in REG_NAME for character in domain):
            raise ValueError("empty, or a character that no host may hold")
        return canonical_ipv4(domain) if ends_in_a_number(domain) else domain
    except ValueError as error:  # UnicodeError is one too
        raise Rejected("host") from error


def domain_to_ascii(domain: str) -> str:
    """UTS 46 (nontransitional, without checks of lengths and hyphens) by means of IDNA 2003. ASCII stays unchanged."""
    if domain.isascii():
        return domain.lower()
    return ".".join(label_to_ascii(map_label(label)) for label in re.split("[.\u3002\uff0e\uff61]", domain))


def map_label(label: str) -> str:
    if label.isascii():
        return label.lower()
    if not nameprep_agrees_with_uts46(label):
        print(f"warning: {label!a}: IDNA 2003 may differ from UTS 46, verdict not binding", file=sys.stderr)
    # UTS 46 keeps two letters that IDNA 2003 maps to others. Otherwise both apply case folding and NFKC.
    mapped = "".join(part if part in "ßς" else idna.nameprep(part) for part in re.split("([ßς])", label))
    if "." in mapped:
        raise ValueError("a sign such as U+2026 that would become dots")
    return mapped


def nameprep_agrees_with_uts46(label: str) -> bool:
    """False for characters added after Unicode 3.2, and for invisible and right-to-left ones, whose rules changed."""
    return not any(
        unicodedata.ucd_3_2_0.category(character) in ("Cn", "Cf")
        or unicodedata.bidirectional(character) in ("R", "AL", "AN")
        for character in label + label.lower()
    )


def label_to_ascii(label: str) -> str:
    if not label.isascii():
        if label.startswith("xn--") or unicodedata.category(label[0]).startswith("M"):
            raise ValueError("half punycode, or a leading combining mark")
        return "xn--" + label.encode("punycode").decode("ascii")
    if label.startswith("xn--"):
        decoded = label[len("xn--") :].encode("ascii").decode("punycode")
        if decoded.isascii() or map_label(decoded) != decoded or label_to_ascii(decoded) != label:
            raise ValueError("punycode that does not round-trip")
    return label


def can_be_resolved(host: str) -> bool:
    """RFC 1035, section 2.3.4: labels of 1 to 63 bytes, 253 in all; a final dot names the root."""
    name = host[:-1] if host.endswith(".") else host
    return len(name) <= 253 and all(1 <= len(label) <= 63 for label in name.split("."))


def ends_in_a_number(domain: str) -> bool:
    return re.search(r"(\A|\.)([0-9]+|0x[0-9a-f]*)\.?\Z", domain) is not None


def canonical_ipv4(domain: str) -> str:
    """One to four numbers, of which the last fills the remaining bytes: `0x7f.1` is 127.0.0.1."""
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
            # 32 bits need at most 11 digits, and Python refuses to parse thousands of them.
            return int(significant, base) if len(significant) <= 11 else 1 << 32
    raise ValueError("not a number")


def canonical_ipv6(host: bytes) -> str:
    if not re.fullmatch(rb"\[[0-9A-Fa-f:.]+\]", host):
        raise ValueError("no IPv6 address in brackets, or one with a zone")
    address = ipaddress.IPv6Address(host[1:-1].decode()).packed
    pieces = [f"{address[at] << 8 | address[at + 1]:x}" for at in range(0, 16, 2)]
    # The first of the longest runs of at least two zeros is compressed.
    for zeros in range(8, 1, -1):
        for at in range(9 - zeros):
            if pieces[at : at + zeros] == ["0"] * zeros:
                return f"[{':'.join(pieces[:at])}::{':'.join(pieces[at + zeros:])}]"
    return f"[{':'.join(pieces)}]"
