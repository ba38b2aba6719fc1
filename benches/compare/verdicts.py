"""Thresholds for the figures. Verdicts are printed but not written to the page."""

import statistics
import sys
from dataclasses import dataclass


@dataclass
class Verdict:
    what: str
    threshold: str
    figure: str
    is_met: bool


def at_least(what, threshold, figure):
    return Verdict(what, f"at least {threshold:g}", f"{figure:.2f}", figure >= threshold)


def at_most(what, threshold, figure):
    return Verdict(what, f"at most {threshold:.4g}", f"{figure:.2f}", figure <= threshold)


def no_more_bytes(ours, theirs):
    what = f"bytes per URL: {ours.name}, against {theirs.name}"
    return at_most(what, *(side.median("gzip_bytes") / side.corpus.distinct for side in [theirs, ours]))


def times_as_long(what, times_min, slow, quick):
    """Whether `slow` takes at least `times_min` times as long per line as `quick`, by the median ratio of the rounds."""
    return at_least(f"{what}: {slow.name} / {quick.name}", times_min, statistics.median(wall_ratios(slow, quick)))


def wall_ratios(slow, quick):
    """Ratios of the time per line, round by round."""
    size = slow.corpus.lines / quick.corpus.lines
    return [a.wall / b.wall / size for a, b in zip(slow.runs, quick.runs)]


def print_verdicts(verdicts):
    """Prints to standard error, because standard output is copied to the page."""
    for verdict in verdicts:
        word = "ok" if verdict.is_met else "NOT MET"
        print(f"threshold {word}: {verdict.what}: {verdict.figure}, {verdict.threshold}", file=sys.stderr, flush=True)
