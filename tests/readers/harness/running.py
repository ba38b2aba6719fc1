"""Runs sitemill and the programs of the readers."""

import json
import shlex
import subprocess
import sys

from harness.records import Record

PROGRAM_SECONDS_MAX = 120


def run_program(command):
    done = run(command)
    if done.stderr:
        sys.exit(f"readers: `{shlex.join(map(str, command))}` complains:\n{done.stderr[-2000:]}")
    return [Record(**json.loads(line)) for line in done.stdout.splitlines()]


def run(command):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="replace", timeout=PROGRAM_SECONDS_MAX)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"readers: `{shlex.join(command)}`: {error}")
    if done.returncode != 0:
        sys.exit(f"readers: `{shlex.join(command)}`: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done
