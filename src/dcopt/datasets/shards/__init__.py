"""Shards: data on disk in parts, as Zarr v3 groups in AnnData's encoding. Format: docs/out_of_core.md.

This package writes and reads the files, and knows no sums; `dcopt.shards` makes the parts of a sum of them.

    pack       `dcopt.pack`: two passes. The first deals the rows of a source out to buckets, the second makes shards
    scatter    the first pass; its journal, with which packing goes on after it was killed; which slices make a shard
    set_writer the second pass: shard by shard in a working folder, which is renamed when the set is whole
    sources, array_sources, table_source    inputs as blocks; `block` is what they give
    write, zarr_files, manifest             the files of one shard, one array, and the root
    shard      one shard of an existing set: arrays that are mapped and checked when they are read first
    opened     a whole set as a row matrix
"""
