"""What scripts/compare is made of. Paths are relative to the project's folder, which it makes the current directory."""

import os
import pathlib

WORK = pathlib.Path("target/compare")
OUT = WORK / "out"
# Peers are installed here, and stay.
PEERS = pathlib.Path("target/peers")
CORES = len(os.sched_getaffinity(0))
