"""Compare and combine clusterings by where their points are."""

from importlib.metadata import version as _version

from . import datasets as datasets
from . import plot as plot
from .comparison import compare as compare
from .comparison import distance as distance
from .comparison import distance_matrix as distance_matrix
from .estimators import MaxMMDClustering as MaxMMDClustering
from .explanation import Comparison as Comparison
from .kernels import Cauchy as Cauchy
from .kernels import Discrete as Discrete
from .kernels import Gaussian as Gaussian
from .kernels import Laplace as Laplace
from .kernels import Matern as Matern
from .kernels import Precomputed as Precomputed
from .lifts import Lift as Lift
from .lifts import n_components_for as n_components_for
from .lifts.choice import make_lift as make_lift
from .measures.registry import MEASURES as MEASURES
from .measures.registry import Measure as Measure
from .mmd import mmd_objective as mmd_objective
from .partition import Partition as Partition
from .partition import as_partition as as_partition
from .permutation import Significance as Significance
from .permutation import significance as significance
from .profiles import Profile as Profile
from .profiles import bandwidth_profile as bandwidth_profile
from .representation import Representation as Representation
from .representation import load_representation as load_representation
from .representing import cluster_distance as cluster_distance
from .representing import represent as represent
from .representing import represent_samples as represent_samples
from .scales import bandwidth as bandwidth
from .transport import Transport as Transport
from .transport import emd as emd

__version__ = _version("liftcluster")

__all__ = [
    "MEASURES",
    "Cauchy",
    "Comparison",
    "Discrete",
    "Gaussian",
    "Laplace",
    "Lift",
    "Matern",
    "MaxMMDClustering",
    "Measure",
    "Partition",
    "Precomputed",
    "Profile",
    "Representation",
    "Significance",
    "Transport",
    "as_partition",
    "bandwidth",
    "bandwidth_profile",
    "cluster_distance",
    "compare",
    "distance",
    "distance_matrix",
    "emd",
    "load_representation",
    "make_lift",
    "mmd_objective",
    "n_components_for",
    "represent",
    "represent_samples",
    "significance",
]
