"""Types of command-line arguments."""

import argparse


def count(word):
    """A number of lines, such as 200000, 200k, 5M or 1G."""
    factor = {"k": 10**3, "M": 10**6, "G": 10**9}.get(word[-1:], 1)
    digits = word if factor == 1 else word[:-1]
    if not digits.isdecimal() or int(digits) < 1:
        raise argparse.ArgumentTypeError(f"{word}: a number of lines is like 200000, 200k, 5M or 1G")
    return int(digits) * factor


def counts(words):
    """Comma-separated numbers of lines."""
    return list(map(count, words.split(",")))


def levels(words):
    """Comma-separated gzip levels."""
    return list(map(int, words.split(",")))


def names_of(known):
    """The type of comma-separated names from `known`."""
    def parse(words):
        names = words.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]}: there are {', '.join(known)}")
        return names
    return parse


def split_at_dashes(words):
    """The words before and after `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1:]
