"""How blocks are sent to the partitions of their regions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def spread(routed: "DataFrame", regions: int) -> "DataFrame":
    """Sends each region to a partition of its own."""
    if regions == 1:
        return routed.repartition(1)
    from pyspark.sql import functions as F

    key = F.from_json(F.lit(json.dumps(_keys(regions))), "array<int>")[F.col("region")]
    return routed.withColumn("key", key).repartition(regions, "key")


def _keys(partitions: int) -> list[int]:
    """For each partition, an integer that Spark sends there: it hashes the key of a row."""
    keys: dict[int, int] = {}
    candidate = 0
    while len(keys) < partitions:
        keys.setdefault(_murmur3(candidate) % partitions, candidate)
        candidate += 1
    return [keys[partition] for partition in range(partitions)]


def _murmur3(value: int) -> int:
    """Spark's hash of an integer: Murmur3, 32 bits, with the seed 42, as a signed number."""

    def rotated(bits: int, by: int) -> int:
        return ((bits << by) | (bits >> (32 - by))) & 0xFFFFFFFF

    bits = rotated(value * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
    bits = (rotated(42 ^ bits, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    bits ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ (bits >> shift)) * factor & 0xFFFFFFFF
    bits ^= bits >> 16
    return bits - (1 << 32) if bits >> 31 else bits
