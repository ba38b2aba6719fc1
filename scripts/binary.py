"""The sitemill that the other scripts run: the one that SITEMILL names, or else the one that Cargo builds."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sitemill():
    """Its path. To be called where the command was typed, as what SITEMILL says may begin there."""
    if given := os.environ.get("SITEMILL"):
        return os.path.abspath(given)
    if subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT).returncode:
        sys.exit("sitemill cannot be built; SITEMILL=FILE names one that is")
    return os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release", "sitemill")
