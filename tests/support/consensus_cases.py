"""Problems for the tests of consensus."""

import numpy as np
import pytest

import liftcluster as lc

WORSE = pytest.mark.filterwarnings(
    "ignore:the consensus is farther", r"ignore:\d+ clusters were asked for"
)
LIFTED = [name for name in lc.METHODS if name.startswith("lift")]
TAKES_K = [name for name, method in lc.METHODS.items() if not method.chooses_k]


def separated_blobs(rng, n, d, k=4):
    """Points around centres that are well apart, in clusters of equal size."""
    labels = np.arange(n) % k
    angles = 2 * np.pi * np.arange(k) / k
    centres = np.zeros((k, d))
    centres[:, 0], centres[:, 1] = 8 * np.cos(angles), 8 * np.sin(angles)
    return centres[labels] + rng.standard_normal((n, d)), labels


def noisy_inputs(rng, labels, m=6, share=0.2):
    return [
        np.where(rng.random(len(labels)) < share, rng.permutation(labels), labels) for _ in range(m)
    ]
