"""What was asked of a figure, and what it came to."""

import statistics
from dataclasses import dataclass


@dataclass
class Verdict:
    what: str
    asked: str
    got: str
    is_met: bool


def at_least(what, asked, got):
    return Verdict(what, f"at least {asked:g}", f"{got:.2f}", got >= asked)


def at_most(what, asked, got):
    return Verdict(what, f"at most {asked:.4g}", f"{got:.2f}", got <= asked)


def no_more_bytes(ours, theirs):
    what = f"bytes a URL: {ours.name}, against {theirs.name}"
    return at_most(what, *(side.median("gzip_bytes") / side.corpus.distinct for side in [theirs, ours]))


def times_as_long(what, asked, slow, quick):
    """Whether `slow` takes at least `asked` times as long per line as `quick`: the median of the rounds' ratios."""
    return at_least(f"{what}: {slow.name} / {quick.name}", asked, statistics.median(wall_ratios(slow, quick)))


def wall_ratios(slow, quick):
    """Per line, round by round."""
    size = slow.corpus.lines / quick.corpus.lines
    return [a.wall / b.wall / size for a, b in zip(slow.runs, quick.runs)]


def print_verdicts(verdicts):
    verdicts = list(verdicts)
    if verdicts:
        print("\n| asked of | asked | got | |\n|---|--:|--:|---|")
    for verdict in verdicts:
        word = "met" if verdict.is_met else "**missed**"
        print(f"| {verdict.what} | {verdict.asked} | {verdict.got} | {word} |")
