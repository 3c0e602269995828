"""`dcopt.open`: shards on disk as the parts of a sum, f = Σ_k (n_k/N) f_k with one part for each shard."""

from .opened import Shards, open_set
from .reader import Reader
from .recipes import ShardsSum

__all__ = ["Reader", "Shards", "ShardsSum", "open_set"]
