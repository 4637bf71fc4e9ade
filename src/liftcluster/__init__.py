"""Compare and combine clusterings by where their points are."""

from importlib.metadata import version as _version

from .estimators import MaxMMDClustering as MaxMMDClustering
from .kernels import Cauchy as Cauchy
from .kernels import Discrete as Discrete
from .kernels import Gaussian as Gaussian
from .kernels import Laplace as Laplace
from .kernels import Matern as Matern
from .kernels import Precomputed as Precomputed
from .lifting import cluster_distance as cluster_distance
from .lifting import represent as represent
from .lifting import represent_samples as represent_samples
from .lifts import Lift as Lift
from .lifts import n_components_for as n_components_for
from .lifts.choice import make_lift as make_lift
from .mmd import mmd_objective as mmd_objective
from .partition import Partition as Partition
from .partition import as_partition as as_partition
from .representation import Representation as Representation
from .representation import load_representation as load_representation
from .scales import bandwidth as bandwidth
from .transport import Transport as Transport
from .transport import emd as emd

__version__ = _version("liftcluster")

__all__ = [
    "Cauchy",
    "Discrete",
    "Gaussian",
    "Laplace",
    "Lift",
    "Matern",
    "MaxMMDClustering",
    "Partition",
    "Precomputed",
    "Representation",
    "Transport",
    "as_partition",
    "bandwidth",
    "cluster_distance",
    "emd",
    "load_representation",
    "make_lift",
    "mmd_objective",
    "n_components_for",
    "represent",
    "represent_samples",
]
