"""The command line: ``sitemill …`` and ``python -m sitemill …``."""

import signal
import sys

from . import _sitemill


def main() -> None:
    # The program has a handler of its own, and cleans up before it ends. A signal that is ignored stays ignored, as under nohup.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_sitemill.main(["sitemill", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
