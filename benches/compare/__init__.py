"""The modules of scripts/compare. Paths are relative to the root of the repository, the current directory of that script."""

import os
import pathlib

WORK = pathlib.Path("target/compare")
OUT = WORK / "out"
# Peers are installed here and kept.
PEERS = pathlib.Path("target/peers")
CORES = len(os.sched_getaffinity(0))
