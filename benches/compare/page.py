"""A page of Markdown that several runs write, a section for each thing that they measure."""

import contextlib
import io
import pathlib
import re
import sys

BEGIN = """\
# sitemill and its peers

Each section is the output of one run of `scripts/compare --markdown` and names its machine and its command. To reproduce
a section, run its command again: it installs the peers, makes the input and replaces the section. Ratios compare runs that
took turns, and vary less than times.
"""


def section(title):
    """What is printed from here on belongs to it."""
    print(f"\n## {title}\n")


@contextlib.contextmanager
def written_to(file):
    """At the end, puts what was printed into `file`: each section with all that stood before the first."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(Both(sys.stdout, printed)):
        yield
    common, *new = sections(printed.getvalue())
    path = pathlib.Path(file)
    _, *known = sections(path.read_text()) if path.exists() else [BEGIN]
    kept = {text.splitlines()[0]: text for text in known}
    for text in new:
        heading, rest = text.split("\n", 1)
        # Without a table nothing was measured: its corpus could not be made.
        if "\n|" in rest:
            kept[heading] = f"{heading}\n\n{common.strip()}\n{rest.strip()}\n"
    path.write_text("\n".join([BEGIN, *(text.strip() + "\n" for text in kept.values())]))


def sections(text):
    """What stands before the first, and each from its heading on."""
    return re.split("^(?=## )", text, flags=re.MULTILINE)


class Both(io.TextIOBase):
    """Writes to two streams."""

    def __init__(self, *streams):
        self.streams = streams

    def write(self, text):
        for stream in self.streams:
            stream.write(text)
        return len(text)

    def flush(self):
        self.streams[0].flush()
