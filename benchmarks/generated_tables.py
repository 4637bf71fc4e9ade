"""Generated tables and images with known classes, of 800 rows unless said otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["N_POINTS", "TABLES", "Made", "Maker", "join"]

Rng = np.random.Generator
Made = tuple[np.ndarray, np.ndarray]  # points and classes
Maker = Callable[[Rng], Made]
N_POINTS = 800


def join(parts: list[np.ndarray]) -> Made:
    """The points of all parts; the class of a point is the number of its part."""
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(p) for p in parts])


def _mixture(k: int, d: int, distance: float, **traits: Any) -> Maker:
    """Gaussian classes whose centres are about ``distance`` standard deviations apart."""

    def make(rng: Rng) -> Made:
        return _gaussians(rng, k, d, distance, **traits)

    return make


def _gaussians(
    rng: Rng,
    k: int,
    d: int,
    distance: float,
    *,
    sizes: float = 1.0,
    correlated: bool = False,
    nuisance: int = 0,
    tails: float | None = None,
    n: int = N_POINTS,
) -> Made:
    """n rows of k Gaussian classes in d columns.

    ``sizes`` is the ratio of the largest class to the smallest, ``nuisance`` the number of columns
    of noise alone, ``tails`` the degrees of freedom of Student's t in place of a Gaussian;
    correlated classes have a random covariance each.
    """
    centres = rng.standard_normal((k, d)) * distance / np.sqrt(2 * d)
    share = np.geomspace(1, sizes, k)
    classes = rng.choice(k, n, p=share / share.sum())
    noise = rng.standard_normal((n, d))
    if tails is not None:
        noise /= np.sqrt(rng.chisquare(tails, (n, 1)) / tails)
    if correlated:
        for c in range(k):
            axes = rng.standard_normal((d, d)) / np.sqrt(d)
            noise[classes == c] = noise[classes == c] @ axes
    X = centres[classes] + noise
    if nuisance:
        X = np.column_stack([X, rng.standard_normal((n, nuisance))])
    return X, classes


def _skewed(rng: Rng) -> Made:
    """Four classes in 8 log-normal columns."""
    X, classes = _gaussians(rng, 4, 8, 5.0)
    return np.exp(0.6 * X), classes


def _ratings(rng: Rng) -> Made:
    """Four classes by 12 answers on a scale of one to five."""
    X, classes = _gaussians(rng, 4, 12, 4.0)
    return np.clip(np.rint(X + 3), 1, 5), classes


def _binary(rng: Rng) -> Made:
    """Five classes in 25 columns of zeros and ones."""
    classes = rng.integers(5, size=N_POINTS)
    chance = rng.beta(0.5, 0.5, (5, 25))
    return (rng.random((N_POINTS, 25)) < chance[classes]).astype(float), classes


def _counts(rng: Rng) -> Made:
    """20 principal components of log counts of 300 genes in cells of 7 types, 8 to 1 in size."""
    k, genes = 7, 300
    share = np.geomspace(1, 8, k)
    classes = rng.choice(k, N_POINTS, p=share / share.sum())
    rate = np.exp(rng.normal(-1, 1, genes) + 0.7 * rng.standard_normal((k, genes)))
    depth = rng.lognormal(0, 0.3, (N_POINTS, 1))
    Z = np.log1p(rng.poisson(depth * rate[classes]))
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    return U[:, :20] * s[:20], classes


def _topics(rng: Rng) -> Made:
    """15 principal components of the frequencies of 400 words in texts of 60, on 6 topics."""
    k, words = 6, 400
    classes = rng.integers(k, size=N_POINTS)
    topics = rng.dirichlet(np.full(words, 0.08), k)
    common = rng.dirichlet(np.full(words, 0.3))
    Z = np.array([rng.multinomial(60, 0.45 * topics[c] + 0.55 * common) for c in classes])
    Z = np.sqrt(Z / Z.sum(axis=1, keepdims=True))
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    return U[:, :15] * s[:15], classes


def _curves(rng: Rng) -> Made:
    """Noisy periodic curves of four shapes with random phases: closed curves in 40 dimensions."""
    t = np.linspace(0, 2 * np.pi, 40)
    shapes = [
        np.sin,
        lambda x: 1.5 * np.sin(2 * x),
        lambda x: np.sign(np.sin(x)),
        lambda x: np.sin(x) + np.sin(3 * x),
    ]
    classes = rng.integers(len(shapes), size=N_POINTS)
    phase = rng.uniform(0, 2 * np.pi, N_POINTS)
    X = np.array([shapes[c](t + p) for c, p in zip(classes, phase, strict=True)])
    return X + 0.25 * rng.standard_normal(X.shape), classes


def _glyphs(rng: Rng) -> Made:
    """Images of 12 × 12 pixels: five random glyphs, shifted, with noise."""
    glyphs = rng.random((5, 6, 6)) < 0.45
    classes = rng.integers(5, size=N_POINTS)
    X = np.zeros((N_POINTS, 12, 12))
    for image, c in zip(X, classes, strict=True):
        row, column = rng.integers(2, 5, 2)
        image[row : row + 6, column : column + 6] = glyphs[c]
    X += 0.5 * (np.roll(X, 1, axis=1) + np.roll(X, 1, axis=2))
    return (X + 0.2 * rng.standard_normal(X.shape)).reshape(N_POINTS, -1), classes


def _rotated(rng: Rng) -> Made:
    """The digits 0, 3, 4 and 7 of scikit-learn, rotated by up to 20 degrees."""
    from scipy.ndimage import rotate
    from sklearn.datasets import load_digits

    digits = load_digits()
    rows = rng.permutation(np.flatnonzero(np.isin(digits.target, (0, 3, 4, 7))))[:N_POINTS]
    angles = rng.uniform(-20, 20, len(rows))
    X = [
        rotate(digits.images[i], a, reshape=False, order=1)
        for i, a in zip(rows, angles, strict=True)
    ]
    return np.reshape(X, (len(rows), -1)), digits.target[rows]


def _subspaces(rng: Rng) -> Made:
    """Five classes of 160 points on random planes through different points of 20 dimensions."""
    parts = []
    for _ in range(5):
        plane = rng.standard_normal((2, 20))
        offset = 1.2 * rng.standard_normal(20)
        parts.append(offset + rng.standard_normal((160, 2)) @ plane)
    X, classes = join(parts)
    return X + 0.3 * rng.standard_normal(X.shape), classes


def _mixed_units(rng: Rng) -> Made:
    """Three classes by 3 numbers, 3 skewed numbers and 3 categories as indicator columns."""
    X, classes = _gaussians(rng, 3, 9, 3.5)
    categories = np.clip(np.rint(X[:, 6:] + 1.5), 0, 3).astype(int)
    columns = [np.eye(4)[column] for column in categories.T]
    return np.column_stack([X[:, :3], np.exp(X[:, 3:6]), *columns]), classes


TABLES: dict[str, Maker] = {
    "table_far": _mixture(6, 10, 9.0),
    "table_near": _mixture(6, 10, 5.0),
    "table_overlapping": _mixture(6, 10, 3.5),
    "table_two_near": _mixture(2, 20, 4.0),
    "table_three_wide": _mixture(3, 50, 4.5),
    "table_many_classes": _mixture(15, 20, 6.0),
    "table_many_near": _mixture(12, 8, 4.5),
    "table_uneven": _mixture(5, 12, 5.0, sizes=25.0),
    "table_uneven_overlapping": _mixture(4, 8, 3.5, sizes=10.0),
    "table_correlated": _mixture(5, 8, 5.0, correlated=True),
    "table_correlated_overlapping": _mixture(4, 6, 3.0, correlated=True),
    "table_nuisance": _mixture(4, 5, 6.0, nuisance=25),
    "table_heavy_tails": _mixture(5, 6, 6.0, tails=3.0),
    "table_small": _mixture(3, 7, 4.5, n=120),
    "table_skewed": _skewed,
    "table_ratings": _ratings,
    "table_binary": _binary,
    "table_counts": _counts,
    "table_topics": _topics,
    "table_subspaces": _subspaces,
    "table_mixed_units": _mixed_units,
    "image_curves": _curves,
    "image_glyphs": _glyphs,
    "image_rotated_digits": _rotated,
}
