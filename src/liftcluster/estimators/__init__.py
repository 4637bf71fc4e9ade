"""scikit-learn estimators: consensus, lift and clusterers as objects with ``fit``."""

from .clusterers import MaxMMDClustering as MaxMMDClustering
from .clusterers import NeighbourCut as NeighbourCut
from .lifted_consensus import LiftedConsensus as LiftedConsensus
from .lifter import ClusterLifter as ClusterLifter
