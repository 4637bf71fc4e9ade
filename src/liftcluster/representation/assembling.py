"""The representation of stacked partitions, from the sums of their clusters."""

from __future__ import annotations

import numpy as np

from .._util.typing import FloatArray
from ..lifts.base import Lift
from ..partitions.stack import Stack
from .representation import Representation


def assemble(stacks: list[Stack], lift: Lift | None, sums: FloatArray) -> Representation:
    """The representation of stacked partitions from the sums of their clusters."""
    firsts = np.cumsum([0] + [len(stack.partitions) for stack in stacks])
    return Representation(
        sums=sums,
        cluster_weights=np.concatenate([stack.cluster_weights for stack in stacks]),
        total_weights=np.concatenate([stack.total_weights for stack in stacks]),
        owner=np.concatenate([stack.owner + i for stack, i in zip(stacks, firsts, strict=False)]),
        cluster_names=tuple(name for stack in stacks for name in stack.cluster_names),
        partition_names=tuple(name for stack in stacks for name in stack.partitions),
        lift=lift,
    )
