"""A Markdown page with a section for each measurement, filled by several runs."""

import contextlib
import io
import pathlib
import re
import sys

BEGIN = """\
# sitemill and its peers

Each section is the output of one run of `scripts/compare --markdown` and names the machine and the command. To reproduce it, run
the command again: it installs the peers, generates the input and replaces the section. Runs take turns, so ratios vary less than
times.
"""


def section(title):
    """Starts a section with everything printed from now on."""
    print(f"\n## {title}\n")


@contextlib.contextmanager
def written_to(file):
    """On exit, writes the printed sections to `file`, each with the text printed before the first section."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(Both(sys.stdout, printed)):
        yield
    common, *new = sections(printed.getvalue())
    path = pathlib.Path(file)
    _, *known = sections(path.read_text()) if path.exists() else [BEGIN]
    kept = {text.splitlines()[0]: text for text in known}
    for text in new:
        heading, rest = text.split("\n", 1)
        # A section without a table has no measurement, because its corpus could not be made.
        if "\n|" in rest:
            kept[heading] = f"{heading}\n\n{common.strip()}\n{rest.strip()}\n"
    path.write_text("\n".join([BEGIN, *(text.strip() + "\n" for text in kept.values())]))


def sections(text):
    """The text before the first section, and each section with its heading."""
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
