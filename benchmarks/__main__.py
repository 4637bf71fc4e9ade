"""`python -m benchmarks [NAME] [options]`: run one of the benchmarks of this folder."""

import runpy
import sys

NAMES = ("speed", "coverage", "compare", "consensus", "page", "device", "out-of-core", "dask")
NAMES += ("soak", "fingerprint", "mutation", "signals", "start", "drift", "stability")
NAMES += ("alternatives", "aggregation", "growth", "fixed")
FILES = {"dask": "scale_dask"}  # a file called dask would shadow the library

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.argv.insert(1, "speed")
if sys.argv[1] not in NAMES:
    sys.exit(f"usage: python -m benchmarks [{{{','.join(NAMES)}}}] [--help]")
name = sys.argv.pop(1).replace("-", "_")
runpy.run_module(f"benchmarks.{FILES.get(name, name)}", run_name="__main__", alter_sys=True)
