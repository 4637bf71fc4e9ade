"""Start-up time of the library and the command line: `python -m benchmarks start`.

Each row is the best of several new processes, measured alternately. The unit is the time of
`import numpy`, so that ratios are comparable between machines. Needs an idle machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from functools import partial

from .timing import best_times, machine

POINTS = "[0, 0, 1], [0, 1, 1], [[0.0], [1.0], [2.0]]"
UNIT = "import numpy"
STATEMENTS = [
    UNIT,
    "import liftcluster",
    "from liftcluster import Partition",
    "from liftcluster import distance",
    f"import liftcluster as lc; lc.distance({POINTS}, measure='lift_kd')",
    f"import liftcluster as lc; lc.distance({POINTS})",  # loads POT, which loads scikit-learn
]
COMMANDS = [
    "--version",
    "--help",
    "compare --help",
    "compare mine.csv --bogus",
    "compare mine.csv --measures lift_end",
    "compare gone.csv --labels u,v",
]
COMPLETION = {
    "_LIFTCLUSTER_COMPLETE": "complete_bash",
    "COMP_WORDS": "liftcluster compare --measures li",
    "COMP_CWORD": "3",
}


def run(arguments: list[str], variables: dict[str, str] | None = None) -> None:
    """Run Python in a new process; its output and exit code are ignored."""
    environment = os.environ | (variables or {})
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False, env=environment)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    jobs = {code: partial(run, ["-c", code]) for code in STATEMENTS}
    jobs |= {
        f"liftcluster {line}": partial(run, ["-m", "liftcluster", *line.split()])
        for line in COMMANDS
    }
    words = COMPLETION["COMP_WORDS"] + "<Tab>"
    jobs[words] = partial(run, ["-m", "liftcluster"], COMPLETION)
    seconds = best_times(jobs, repeats)
    print(machine())
    print(f"| command | seconds | times `{UNIT}` |")
    print("|---|---|---|")
    for name, best in seconds.items():
        print(f"| `{name}` | {best:.3f} | {best / seconds[UNIT]:.2f} |")


if __name__ == "__main__":
    main()
