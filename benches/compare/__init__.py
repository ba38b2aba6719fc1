"""The parts of scripts/compare. Paths are relative to the project's folder, which that script makes the current directory."""

import os
import pathlib

WORK = pathlib.Path("target/compare")
OUT = WORK / "out"
# Peers are installed here, and stay.
PEERS = pathlib.Path("target/peers")
CORES = len(os.sched_getaffinity(0))
