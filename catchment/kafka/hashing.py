"""How a key becomes a number, and with it a partition.

The hashes are those of librdkafka's partitioners `fnv1a` and `murmur2` (the last is also that of Java
clients), so that whoever writes with the same key and partitioner meets the same partition.
"""

_32_BITS = 0xFFFFFFFF
_31_BITS = 0x7FFFFFFF


def fnv1a(key: bytes) -> int:
    """FNV-1a of 32 bits; like librdkafka's, negative results count without their sign."""
    value = 0x811C9DC5
    for byte in key:
        value = ((value ^ byte) * 0x01000193) & _32_BITS
    return min(value, (1 << 32) - value)


def murmur2(key: bytes) -> int:
    """MurmurHash2 of 32 bits with the seed that Kafka's own clients use, without the sign."""
    factor = 0x5BD1E995
    whole = len(key) & ~3
    value = (0x9747B28C ^ len(key)) & _32_BITS
    for place in range(0, whole, 4):
        word = int.from_bytes(key[place : place + 4], "little") * factor & _32_BITS
        word = (word ^ word >> 24) * factor & _32_BITS
        value = (value * factor & _32_BITS) ^ word
    if rest := key[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * factor & _32_BITS
    value = (value ^ value >> 13) * factor & _32_BITS
    return (value ^ value >> 15) & _31_BITS
