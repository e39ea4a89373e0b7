"""The choices that there are for the way from a gateway to Kafka."""

from enum import StrEnum


class Compression(StrEnum):
    """How batches are compressed on their way to Kafka."""

    NONE = "none"
    GZIP = "gzip"
    LZ4 = "lz4"
    SNAPPY = "snappy"
    ZSTD = "zstd"


class Routing(StrEnum):
    """How streams are spread over the partitions of a topic; all of a stream goes to one."""

    KEY = "key"
    ROUND_ROBIN = "round-robin"


class Hashing(StrEnum):
    """How a key becomes the number of a partition."""

    CRC32 = "crc32"
    FNV1A = "fnv1a"
    MURMUR2 = "murmur2"
