"""Helpers of scripts that test several parts and print a line for each. The first failure ends the script with exit code 1."""

import os
import pathlib
import shlex
import subprocess
import sys


def say(name, words):
    print(f"{name:<12} {words}", flush=True)


def path():
    """PATH with sbin, where servers are."""
    return os.environ["PATH"] + ":/usr/sbin:/sbin"


def run(command, **options):
    """Runs a command and returns its standard output. If it fails, exits with all of its output."""
    words = [str(word) for word in command]
    options = {"env": {**os.environ, "PATH": path()}, "stderr": subprocess.PIPE, **options}
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr or ''}")
    return done.stdout


def expect(is_right, words):
    if not is_right:
        sys.exit(f"scripts/{pathlib.Path(sys.argv[0]).name}: {words}")
