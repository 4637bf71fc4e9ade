"""Lifting maps: each turns points into vectors whose inner products are kernel values."""

from .base import Lift as Lift
from .exact import SpanLift as SpanLift
from .fourier import FourierLift as FourierLift
from .fourier import n_components_for as n_components_for
from .grid import GridLift as GridLift
from .nystroem import NystromLift as NystromLift
from .structured import StructuredLift as StructuredLift
from .transformer import TransformerLift as TransformerLift
