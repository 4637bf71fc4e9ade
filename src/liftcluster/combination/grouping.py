"""Groups of lifted clusters, and the lift that separates points best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._util.typing import FloatArray
from .._util.warning import warn
from ..lifts.choice import Lifting, choose_settings
from ..lifts.settings import Exact, Nystroem
from ..representation.representation import Representation
from .methods.lifted import group_centres
from .methods.registry import Task
from .methods.tuples import by_first_appearance

_LANDMARKS = 500


def group_clusters(task: Task, k: int, rep: Representation) -> FloatArray:
    """Centres of at most k groups of the lifted clusters, or those that the method returns."""
    assert task.method.function is not None
    codes = task.method.function(rep, min(k, rep.s), rng=task.rng, **task.options)
    if codes.ndim == 2:
        return np.asarray(codes)
    # Numbered by the inputs, and not by which random centre k-means started from.
    first, codes = by_first_appearance(codes)
    return group_centres(rep, codes, len(first))


def lifting_for_consensus(lifting: Lifting, n: int) -> Lifting:
    """Landmarks in place of Fourier features, where "auto" stands for those.

    Points are told apart by small similarities, which are lost in the noise of random features.
    """
    if lifting.lift == "auto" and not isinstance(
        choose_settings(lifting, n, None), Exact | Nystroem
    ):
        return replace(lifting, lift=Nystroem(_LANDMARKS))
    return lifting


def warn_if_fewer(asked: int, rep: Representation, n_groups: int, used: int) -> None:
    """Warn that fewer clusters were found than were asked for."""
    if used < asked:
        warn(
            f"{asked} clusters were asked for, but the inputs' {rep.s} clusters form "
            f"{n_groups} groups, of which {used} are the best for some point"
        )
