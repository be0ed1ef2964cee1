# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formats that NumPy does not have, as integers of their bits."""
import numpy as np


def bf16_bits(x):
    """f32 to the nearest bf16, ties to even; no NaN."""
    u = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _table(exponent_bits, mantissa_bits, infinity):
    bias = (1 << (exponent_bits - 1)) - 1
    values = []
    for b in range(1 << (1 + exponent_bits + mantissa_bits)):
        m, e = b & ((1 << mantissa_bits) - 1), b >> mantissa_bits & ((1 << exponent_bits) - 1)
        v = m * 2.0 ** (1 - bias - mantissa_bits) if e == 0 else (m + (1 << mantissa_bits)) * 2.0 ** (e - bias - mantissa_bits)
        if infinity and e == (1 << exponent_bits) - 1:
            v = np.inf if m == 0 else np.nan
        if not infinity and mantissa_bits == 3 and (b & 0x7F) == 0x7F:
            v = np.nan
        values.append(-v if b >> (exponent_bits + mantissa_bits) else v)
    return np.array(values, np.float64)


E4M3, E5M2, E2M1 = _table(4, 3, False), _table(5, 2, True), _table(2, 1, False)


def nearest_bits(table, x):
    """The nearest of a table of up to 256 numbers, ties to the even code; for finite numbers in range."""
    half = len(table) // 2
    positive = table[:half][np.isfinite(table[:half])]
    a = np.abs(np.asarray(x, np.float64))
    high = np.clip(np.searchsorted(positive, a), 1, len(positive) - 1)
    low = high - 1
    down, up = a - positive[low], positive[high] - a
    take_low = (down < up) | ((down == up) & (low % 2 == 0))
    return (np.where(take_low, low, high) + half * np.signbit(x)).astype(np.uint8)
