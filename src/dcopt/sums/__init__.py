"""Sums of components: everything above the data asks them, and never a matrix."""

from .anchored import AnchoredSum
from .batch import LinearBatch
from .build_components import components
from .component_stream import ComponentStream
from .components import Components
from .curvature import Curvature, Entries
from .estimated import EstimatedSum, estimated
from .function import Function, KnownSquare
from .linear import LinearSum
from .protocol import FREE, Batch, Cost, Facts, Look, Sum, SumBase
from .stream import StreamSum
from .watching import WatchingSum

__all__ = [
    "FREE", "AnchoredSum", "Batch", "ComponentStream", "Components", "Cost", "Curvature", "Entries", "EstimatedSum",
    "Facts", "Function", "KnownSquare", "LinearBatch", "LinearSum", "Look", "StreamSum", "Sum", "SumBase",
    "WatchingSum", "components", "estimated",
]  # fmt: skip
