"""What poisoned memory holds, as little-endian 4-byte words. Imports nothing, so that every stage may ask."""

POISON_NAN = 0xFFF5FFF5
"""A NaN in float64, float32, float16 and bfloat16."""

POISON_NUMBER = 0xA5A5A5A5
"""A small negative number in every floating-point type, a large negative one as int32."""
