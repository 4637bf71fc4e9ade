"""How many times as many examples as in `.ci/run`: `LIFTCLUSTER_LONG`, which `.ci/long` sets."""

import os

TIMES = int(os.environ.get("LIFTCLUSTER_LONG", "1"))
