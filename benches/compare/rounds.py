"""Counts rounds, and records how busy the machine is besides the measured programs."""

import os
import sys
from dataclasses import dataclass

from compare.sampling import read

# Fields of the first line of /proc/stat (proc(5)): idle and waiting processors, and time that the host gave to other
# machines. Time of guests is part of `user` and `nice`, so fields after `steal` are left out.
IDLE, IOWAIT, STEAL = 3, 4, 7


def rounds(count):
    """Yields the number of each round, from 0. Prints the load of the machine before and during each."""
    loads, busy = [], []
    for number in range(count):
        loads.append(os.getloadavg()[0])
        print(f"round {number + 1} of {count}: load average {loads[-1]:.2f}", file=sys.stderr)
        begin = Processors.now()
        yield number
        busy.append(Processors.now().since(begin))
    shown = lambda figures, digits: " ".join("–" if figure is None else f"{figure:.{digits}f}" for figure in figures)
    print(f"- load average over 1 minute, before each round: {shown(loads, 1)}")
    print("- % of all processor time during each round: stolen by the host "
          f"{shown([stolen for stolen, _ in busy], 1)}; used by other processes and the kernel "
          f"{shown([others for _, others in busy], 1)}", flush=True)


@dataclass
class Processors:
    """Seconds of all processors since the machine started."""

    total: float
    busy: float
    # None if the kernel does not report it.
    stolen: float | None
    # The part of `busy` of this process and its children that have ended.
    own: float

    @classmethod
    def now(cls):
        ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in read("/proc/stat").partition("\n")[0].split()[1:]]
        ticks = ticks[:STEAL + 1]
        stolen = ticks[STEAL] if len(ticks) > STEAL else None
        busy = sum(ticks) - ticks[IDLE] - ticks[IOWAIT] - (stolen or 0)
        return cls(sum(ticks), busy, stolen, sum(os.times()[:4]))

    def since(self, begin):
        """Percent of the time since `begin`: stolen, and used by others."""
        total = max(self.total - begin.total, 1e-9)
        others = max(0, (self.busy - begin.busy) - (self.own - begin.own))
        return None if self.stolen is None else (self.stolen - begin.stolen) / total * 100, others / total * 100
