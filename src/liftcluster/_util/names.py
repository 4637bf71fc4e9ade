"""Names of measures, methods, lifts and kernels, known before any of them is loaded."""

from __future__ import annotations

from typing import Literal

MeasureName = Literal[
    "lift_emd", "lift_kd", "lift_hausdorff", "centroid", "adco", "cdistance", "spri", "spari",
    "rand", "jaccard", "mirkin", "fowlkes_mallows", "adjusted_rand", "accuracy",
    "element_centric", "nmi", "ami", "vi", "nvi",
]  # fmt: skip
MethodName = Literal[
    "auto", "lift_km", "lift_hac", "lift_barycentre", "lift_places", "lift_walk", "cspa", "hgpa",
    "mcla", "hbgf", "lwea", "lwgp", "evidence", "ec_cms", "sdgca", "ecpcs_hc", "ecpcs_mc",
    "hyperedge_medoids", "majority", "balls", "agglomerative", "furthest", "local_search", "medoid",
]  # fmt: skip
LiftName = Literal["auto", "exact", "fourier", "structured", "grid", "nystroem"]
SamplingName = Literal["auto", "iid", "orthogonal", "quasi"]
KernelName = Literal["gaussian", "laplace", "cauchy", "matern", "discrete"]
