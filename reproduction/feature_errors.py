"""Figures 8 and 9: error of LiftEMD with ρ random features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from liftcluster import Fourier, Partition, Structured, bandwidth, represent
from liftcluster.comparison.measures.lifted import lift_emd

from . import published
from .consensus_tasks import kmeans_task
from .data import Labelled, Located
from .plots import plot_errors
from .section import Claim, Section, Settings, Values, markdown_table
from .sensitivity import CONSTRUCTED
from .tasks import Task

__all__ = ["FIGURE_8", "FIGURE_9", "bound", "check_errors", "lift_errors"]

FAILURE = 0.1  # probability δ with which the bound may fail
_ACCURATE = 0.1  # relative error up to which we call the approximation "very accurate"


def _plan_2d2c(settings: Settings, located: Mapping[str, Located]) -> dict[str, Task]:
    options = {"components": [10, 20, 50, 100, 200, 500, 1000, 2000], "seeds": 200}
    return {"2d2c": Task("figure-8-2d2c", errors_2d2c, options)}


def _plan_mnist(settings: Settings, located: Mapping[str, Located]) -> dict[str, Task]:
    options = {"components": [100, 250, 500, 1000, 2000, 4000, 8000], "seeds": 10}
    return {
        name: Task(f"figure-9-{name}", errors_of_kmeans, options, where, (kmeans_task(where, 0),))
        for name, where in located.items()
    }


def errors_2d2c(components: list[int], seeds: int) -> Values:
    data = CONSTRUCTED["2d2c"]()
    return lift_errors(data.X, data.reference, data.first, components, seeds)


def errors_of_kmeans(
    points: Labelled, kmeans: list[int], components: list[int], seeds: int
) -> Values:
    return lift_errors(points.X, points.classes, kmeans, components, seeds)


def lift_errors(X: Any, a: Any, b: Any, components: list[int], seeds: int) -> Values:
    """|LiftEMD with ρ features − exact LiftEMD| for each ρ and seed, for two kinds of features."""
    partitions = [Partition.from_labels(labels) for labels in (a, b)]
    width = bandwidth(X, rng=0)
    kinds: dict[str, Fourier | Structured] = {
        "independent": Fourier(sampling="iid"),  # as in the paper
        "ours": Fourier() if X.shape[1] < 48 else Structured(),  # as in lift="auto"
    }

    def value(**options: Any) -> float:
        rep = represent(X, partitions, bandwidth=width, **options)
        return lift_emd(rep[0], rep[1])

    exact = value(lift="exact")
    errors = {
        kind: [
            [
                abs(value(lift=replace(lift, n_components=rho), rng=seed) - exact)
                for seed in range(seeds)
            ]
            for rho in components
        ]
        for kind, lift in kinds.items()
    }
    return {
        "n": len(X),
        "exact": exact,
        "vectors": sum(p.k for p in partitions),
        "components": components,
        "errors": errors,
    }


def bound(components: Any, vectors: int) -> Any:
    """ε(ρ) of theorem 3.1 for this number of vectors, with probability 1 - δ = 0.9.

    This is :func:`liftcluster.n_components_for`, solved for ε.
    """
    return np.sqrt(16 * np.log(vectors * (vectors - 1) / FAILURE) / np.asarray(components))


def _collect(results: Mapping[str, Any]) -> Values:
    """Means and 90 % quantiles of the errors over seeds."""
    ((name, found),) = results.items()
    summary = {
        kind: {
            "mean": [float(np.mean(draws)) for draws in many],
            "q90": [float(np.quantile(draws, 0.9)) for draws in many],
        }
        for kind, many in found["errors"].items()
    }
    return {key: found[key] for key in ("n", "exact", "vectors", "components")} | {
        "name": name,
        "seeds": len(found["errors"]["ours"][0]),
        "errors": summary,
        "bound": bound(found["components"], found["vectors"]).tolist(),
    }


def check_errors(values: Values) -> list[Claim]:
    components, independent = values["components"], values["errors"]["independent"]
    rho = published.SUFFICIENT_COMPONENTS[values["name"]]
    at = components.index(rho)
    error, share = independent["mean"][at], independent["mean"][at] / values["exact"]
    slope = float(np.polyfit(np.log(components), np.log(independent["mean"]), 1)[0])
    above = [
        r
        for r, q90, top in zip(components, independent["q90"], values["bound"], strict=True)
        if q90 > top
    ]
    ours = values["errors"]["ours"]["mean"][at]
    return [
        Claim(
            f"ρ = {rho:,} suffices for “a very accurate approximation”",
            share <= _ACCURATE,
            f"the mean error is {error:.4f}, {share:.1%} of the distance {values['exact']:.3f} "
            f"(threshold: {_ACCURATE:.0%}); with the library's default frequencies {ours:.4f}",
        ),
        Claim(
            "The error falls as 1/√ρ, and stays below the bound of theorem 3.1",
            not above and abs(slope + 0.5) <= 0.1,
            f"as ρ^{slope:.2f}; the 90 % quantile is "
            + (f"above the bound at ρ = {above}" if above else "below the bound at every ρ"),
        ),
    ]


def _describe(values: Values) -> str:
    columns = [
        values["errors"]["independent"]["mean"],
        values["errors"]["independent"]["q90"],
        values["errors"]["ours"]["mean"],
        values["bound"],
    ]
    rows = [
        [f"{rho:,}", *(f"{number:.4f}" for number in numbers)]
        for rho, *numbers in zip(values["components"], *columns, strict=True)
    ]
    header = ["ρ", "independent frequencies, mean", "90 % quantile", "ours, mean", "bound"]
    return (
        f"Error of LiftEMD with ρ features; the exact value is {values['exact']:.4f}. "
        f"{values['n']:,} points, {values['seeds']} seeds. The bound is that of theorem 3.1 with "
        f"its constant, for the {values['vectors']} vectors compared.\n\n"
        + markdown_table(header, rows)
    )


_SHARED = (_collect, check_errors, _describe, plot_errors)
FIGURE_8 = Section(
    "figure-8", "Figure 8: error of LiftEMD against ρ on 2D2C", (), _plan_2d2c, *_SHARED
)
FIGURE_9 = Section(
    "figure-9",
    "Figure 9: error of LiftEMD against ρ on MNIST train",
    ("mnist-train",),
    _plan_mnist,
    *_SHARED,
)
