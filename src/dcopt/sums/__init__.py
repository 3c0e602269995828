"""Sums of components: everything above the data asks them, and never a matrix."""

from .anchored import AnchoredSum
from .base import SumBase
from .batch import LinearBatch
from .build_components import components
from .component_stream import ComponentStream
from .components import Components
from .cox import CoxSum
from .curvature import Curvature, Entries
from .estimated import EstimatedSum, estimated
from .function import Function, KnownSquare
from .homes import Given, Here, Homes, PartData, Recipe
from .linear import LinearSum
from .over_rows import Parted, over_rows
from .parts import PartsSum
from .protocol import FREE, Batch, Cost, Facts, Look, Sum, SumOverRows
from .stream import StreamSum
from .watching import WatchingSum

__all__ = [
    "FREE", "AnchoredSum", "Batch", "ComponentStream", "Components", "Cost", "CoxSum", "Curvature", "Entries",
    "EstimatedSum",
    "Facts", "Function", "Given", "Here", "Homes", "KnownSquare", "LinearBatch", "LinearSum", "Look", "PartData",
    "Parted", "PartsSum", "Recipe", "StreamSum", "Sum", "SumBase", "SumOverRows", "WatchingSum",
    "components", "estimated", "over_rows",
]  # fmt: skip
