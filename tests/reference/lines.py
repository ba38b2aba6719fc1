"""Lines of the inputs, and the rejects."""
from __future__ import annotations

import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple, Optional, Sequence

from contract import EXIT_NO_INPUT, LINE_BYTES_MAX, SHOWN_BYTES_MAX, fail, write_file


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
            # A CR belongs to the line end only directly before an LF.
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
    """Text as a field of a tab-separated file, with control, format, other blank and non-UTF-8 characters escaped."""
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
