"""How to lift: one value for each lift, which carries its settings and checks them when made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from .._util.checks import check_choice, check_count, check_positive
from .._util.names import LiftName, SamplingName

LIFTS: tuple[str, ...] = get_args(LiftName)
SAMPLINGS: tuple[str, ...] = get_args(SamplingName)[1:]


@dataclass(frozen=True)
class Exact:
    """Exact kernel values, by the kernel trick: O(n²) time, no error.

    The lifted clusters are coordinates in the span of the clusters themselves, so the lift is made
    from partitions and cannot be extended to others.

    See Also
    --------
    Fourier, Structured, Grid, Nystroem

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.represent([[0.0], [1.0]], [0, 1], lift=lc.Exact())
    Representation(2 clusters of 1 partition(s), exact)
    """


@dataclass(frozen=True)
class Fourier:
    """Random Fourier features: linear in the number of points, with a standard error.

    Parameters
    ----------
    n_components : int, optional
        Number of features ρ; 2048 by default.
    sampling : "auto", "iid", "orthogonal" or "quasi", default "auto"
        How the frequencies are drawn: independently, in orthogonal blocks (kernels of the
        Euclidean distance only), or by a scrambled Sobol' sequence. "auto" takes quasi-random
        frequencies below 16 dimensions and orthogonal ones from there on.
    tol : float, optional
        In place of ``n_components``: features are added until no distance between two unit
        cluster vectors has a standard error above this. What was computed is kept.

    See Also
    --------
    Structured : The same for many dimensions.
    Grid : The same without random numbers, for few dimensions.
    n_components_for : How many features an error takes.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.represent([[0.0], [1.0]], [0, 1], bandwidth=1.0, lift=lc.Fourier(100), rng=0)
    Representation(2 clusters of 1 partition(s), quasi-random Fourier features, ρ = 100)
    """

    n_components: int | None = None
    sampling: SamplingName = "auto"
    tol: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.sampling, ("auto", *SAMPLINGS), "sampling")
        _check_size(self, self.tol)


@dataclass(frozen=True)
class Structured:
    """Fourier features by fast Walsh-Hadamard transforms, for many dimensions (32 and more).

    Parameters
    ----------
    n_components : int, optional
        Number of features ρ; 2048 by default.
    tol : float, optional
        In place of ``n_components``: features are added until no distance between two unit
        cluster vectors has a standard error above this. What was computed is kept.

    See Also
    --------
    Fourier : The same by a matrix product, for fewer dimensions.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lift = lc.make_lift([[0.0] * 64, [1.0] * 64], lift=lc.Structured(128), rng=0)
    >>> lift.n_components
    128
    """

    n_components: int | None = None
    tol: float | None = None

    def __post_init__(self) -> None:
        _check_size(self, self.tol)


@dataclass(frozen=True)
class Grid:
    """Fourier features on a regular grid of frequencies, for one to three dimensions.

    Errors are deterministic bounds. For the Gaussian kernel only.

    Parameters
    ----------
    error : float, optional
        Largest error of a kernel value; 1e-6 by default.
    n_components : int, optional
        In place of ``error``: the most precise grid with at most this many features.

    See Also
    --------
    Fourier : Random frequencies, for any number of dimensions.

    Examples
    --------
    >>> import liftcluster as lc
    >>> rep = lc.represent([[0.0], [1.0]], [0, 1], bandwidth=1.0, lift=lc.Grid(1e-3))
    >>> bool(rep.max_error < 0.1)
    True
    """

    error: float | None = None
    n_components: int | None = None

    def __post_init__(self) -> None:
        if self.error is not None and self.n_components is not None:
            raise ValueError("a grid takes either error or n_components, not both")
        _check_size(self)
        if self.error is not None and not check_positive(self.error, "error") < 1:
            raise ValueError(f"error must lie in (0, 1), got {self.error}")


@dataclass(frozen=True)
class Nystroem:
    """Nystroem features: similarities to landmark points, for any kernel of any objects.

    The error is a bias, distances come out too short, and no standard error is reported.

    Parameters
    ----------
    n_components : int, optional
        Number of landmarks, drawn among the points; 2048 by default (500 in a consensus).

    See Also
    --------
    Fourier : Without bias, for kernels of the difference of two points.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [5.0]]
    >>> lc.represent(X, [0, 0, 1], bandwidth=1.0, lift=lc.Nystroem(2), rng=0)
    Representation(2 clusters of 1 partition(s), Nystroem, 2 landmarks, ρ = 2)
    """

    n_components: int | None = None

    def __post_init__(self) -> None:
        _check_size(self)


LiftSettings: TypeAlias = Exact | Fourier | Structured | Grid | Nystroem

_BY_NAME: dict[str, type[LiftSettings]] = {
    kind.__name__.lower(): kind for kind in get_args(LiftSettings)
}


def as_lift_settings(lift: Any) -> LiftSettings | Literal["auto"]:
    """The settings that a name stands for, or settings as they are."""
    if isinstance(lift, LiftSettings):
        return lift
    if isinstance(lift, str):
        check_choice(lift, LIFTS, "lift")
        return "auto" if lift == "auto" else _BY_NAME[lift]()
    if isinstance(lift, type) and lift in _BY_NAME.values():
        raise TypeError(f"lift must be a value, got the class {lift.__name__}; write it with ()")
    raise TypeError(
        f"lift must be one of {', '.join(LIFTS)}, settings such as Fourier(4000), a Lift or a "
        f"scikit-learn transformer, got {type(lift).__name__}"
    )


def _check_size(settings: Any, tol: float | None = None) -> None:
    n_components = settings.n_components
    if n_components is not None and tol is not None:
        raise ValueError(
            "give either n_components or tol, which takes as many features as it needs"
        )
    if n_components is not None:
        # As int: products of small NumPy integers would overflow.
        object.__setattr__(settings, "n_components", check_count(n_components, "n_components"))
    if tol is not None:
        check_positive(tol, "tol")
