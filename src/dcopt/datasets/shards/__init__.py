"""Shards: data on disk in parts, as Zarr v3 groups in AnnData's encoding. Format: docs/out_of_core.md."""
