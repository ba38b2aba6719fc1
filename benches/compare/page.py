"""A Markdown page whose generated part, between two markers, has a section for each measurement. Several runs fill it."""

import contextlib
import io
import pathlib
import re
import sys

BEGIN, END = "<!-- Generated from here on: see the top of this page. -->\n", "<!-- End of the generated part. -->\n"


def section(title):
    """Starts a section with everything printed from now on."""
    print(f"\n## {title}\n")


@contextlib.contextmanager
def written_to(file):
    """On exit, writes the printed sections to `file`, each with the text printed before the first section. A new file has
    only the generated part."""
    path = pathlib.Path(file)
    before, generated, after = parts(path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(Both(sys.stdout, printed)):
        yield
    common, *new = sections(printed.getvalue())
    _, *known = sections(generated)
    kept = {text.splitlines()[0]: text for text in known}
    for text in new:
        heading, rest = text.split("\n", 1)
        # A section without a table has no measurement, because its corpus could not be made.
        if "\n|" in rest:
            kept[heading] = f"{heading}\n\n{common.strip()}\n{rest.strip()}\n"
    path.write_text("\n".join([before + BEGIN, *(text.strip() + "\n" for text in kept.values()), END + after]))


def parts(path):
    """The text before the generated part, that part, and the text after it."""
    text = path.read_text() if path.exists() else BEGIN + END
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(END) < text.index(BEGIN):
        sys.exit(f"compare: {path}: needs these two lines, between which the measurements go:\n{BEGIN}{END}")
    before, rest = text.split(BEGIN)
    generated, after = rest.split(END)
    return before, generated, after


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
