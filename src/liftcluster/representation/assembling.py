"""The representation of stacked partitions, from the sums of their clusters."""

from __future__ import annotations

import numpy as np

from .._util.typing import FloatArray
from ..lifts.base import Lift
from ..partitions.stack import Stack
from .representation import Representation


def assemble(stacks: list[Stack], lift: Lift | None, sums: FloatArray) -> Representation:
    """The representation of stacked partitions from the sums of their clusters."""
    partitions = [p for stack in stacks for p in stack.partitions.values()]
    return Representation(
        sums=sums,
        cluster_weights=np.concatenate([p.cluster_weights for p in partitions]),
        total_weights=np.array([p.total_weight for p in partitions]),
        owner=np.repeat(np.arange(len(partitions)), [p.k for p in partitions]),
        cluster_names=tuple(name for p in partitions for name in p.names),
        partition_names=tuple(name for stack in stacks for name in stack.partitions),
        lift=lift,
    )
