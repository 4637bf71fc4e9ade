"""Compare and combine clusterings by where their points are."""

import liftcluster_start as _start  # noqa: F401  first: it hears interrupts while the rest loads

from . import anndata as anndata
from . import datasets as datasets
from . import plot as plot
from ._version import __version__ as __version__
from .combination import Consensus as Consensus
from .combination import consensus as consensus
from .comparison import compare as compare
from .comparison import distance as distance
from .comparison import distance_matrix as distance_matrix
from .ensembles import base_partitions as base_partitions
from .estimators import ClusterLifter as ClusterLifter
from .estimators import LiftedConsensus as LiftedConsensus
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
from .methods.registry import METHODS as METHODS
from .methods.registry import Method as Method
from .mmd import mmd_objective as mmd_objective
from .partition import Partition as Partition
from .partition import as_partition as as_partition
from .permutation import Significance as Significance
from .permutation import significance as significance
from .profiles import Profile as Profile
from .profiles import bandwidth_profile as bandwidth_profile
from .report import Report as Report
from .report import make_report as make_report
from .representation import Representation as Representation
from .representation import load_representation as load_representation
from .representing import cluster_distance as cluster_distance
from .representing import represent as represent
from .representing import represent_samples as represent_samples
from .scales import bandwidth as bandwidth
from .sources import Blocks as Blocks
from .streamed_consensus import StreamedConsensus as StreamedConsensus
from .tables import TableScan as TableScan
from .tables import scan_table as scan_table
from .tally import Tally as Tally
from .transport import Transport as Transport
from .transport import emd as emd

__all__ = [
    "MEASURES",
    "METHODS",
    "Blocks",
    "Cauchy",
    "ClusterLifter",
    "Comparison",
    "Consensus",
    "Discrete",
    "Gaussian",
    "Laplace",
    "Lift",
    "LiftedConsensus",
    "Matern",
    "MaxMMDClustering",
    "Measure",
    "Method",
    "Partition",
    "Precomputed",
    "Profile",
    "Report",
    "Representation",
    "Significance",
    "StreamedConsensus",
    "TableScan",
    "Tally",
    "Transport",
    "as_partition",
    "bandwidth",
    "bandwidth_profile",
    "base_partitions",
    "cluster_distance",
    "compare",
    "consensus",
    "distance",
    "distance_matrix",
    "emd",
    "load_representation",
    "make_lift",
    "make_report",
    "mmd_objective",
    "n_components_for",
    "represent",
    "represent_samples",
    "scan_table",
    "significance",
]
