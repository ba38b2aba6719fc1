"""The sitemill binary for the other scripts: the one in SITEMILL, or else the one that Cargo builds."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sitemill():
    """The path of the binary. Call it before changing directory, because SITEMILL may be a relative path."""
    if given := os.environ.get("SITEMILL"):
        return os.path.abspath(given)
    if subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT).returncode:
        sys.exit("sitemill cannot be built; set SITEMILL=FILE to use an existing binary")
    return os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release", "sitemill")
