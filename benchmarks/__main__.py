"""`python -m benchmarks [NAME] [options]`: one of the measurements beside this file."""

import runpy
import sys

NAMES = ("speed", "coverage", "compare", "consensus", "page", "soak", "fingerprint", "mutation")

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.argv.insert(1, "speed")
if sys.argv[1] not in NAMES:
    sys.exit(f"usage: python -m benchmarks [{{{','.join(NAMES)}}}] [--help]")
name = sys.argv.pop(1)
runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
