"""How many random examples the tests draw, by the variable `LIFTCLUSTER_LONG`.

Unset, as in `python -m pytest`: a quarter of the usual number. `.ci/coverage` sets 1, with fixed
seeds; `.ci/long` sets 50, with new examples each time.
"""

import math
import os

import pytest

TIMES = float(os.environ.get("LIFTCLUSTER_LONG", "0.25"))
IS_LONG = TIMES > 1


def examples(n: int) -> int:
    """Number of examples to draw instead of the usual n."""
    return math.ceil(n * TIMES)


def also(*case: object) -> object:
    """A case of ``parametrize`` that is tested only in the long form."""
    return pytest.param(*case, marks=pytest.mark.long)
