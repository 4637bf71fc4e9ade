"""The representation of stacked partitions, from the sums of their clusters."""

from __future__ import annotations

from itertools import accumulate, chain

import numpy as np

from .._util.typing import Array, FloatArray
from ..lifts.base import Lift
from ..partitions.stack import Stack
from .representation import Representation


def assemble(stacks: list[Stack], lift: Lift | None, sums: FloatArray) -> Representation:
    """The representation of stacked partitions from the sums of their clusters."""
    firsts = accumulate([len(stack.partitions) for stack in stacks[:-1]], initial=0)
    numbered = zip(stacks, firsts, strict=True)
    return Representation(
        sums=sums,
        cluster_weights=_joined([stack.cluster_weights for stack in stacks]),
        total_weights=_joined([stack.total_weights for stack in stacks]),
        owner=_joined([stack.owner + i if i else stack.owner for stack, i in numbered]),
        cluster_names=tuple(chain.from_iterable(stack.cluster_names for stack in stacks)),
        partition_names=tuple(chain.from_iterable(stack.partitions for stack in stacks)),
        lift=lift,
    )


def _joined(arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
