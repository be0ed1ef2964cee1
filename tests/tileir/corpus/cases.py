# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cases are: a name and a function that runs a kernel and returns its largest error."""
import numpy as np

CASES = []  # (name, function)
FAULTS = []  # (name, what the report must hold, function)


def case(name):
    def keep(function):
        CASES.append((name, function))
        return function
    return keep


def fault(name, *needed):
    def keep(function):
        FAULTS.append((name, needed, function))
        return function
    return keep


def exact(a, want):
    """0 where all are equal, bits for floats too; and the kernel wrote all of it."""
    want = np.asarray(want).astype(a.bits.dtype)
    if a.out and not a.written.all():
        raise AssertionError(f"{np.count_nonzero(~a.written)} elements were not written")
    same = a.bits == want
    if a.bits.dtype.kind == "f":
        same |= np.isnan(a.bits) & np.isnan(want)
    if not same.all():
        n = np.flatnonzero(~same.reshape(-1))[0]
        got, expected = a.bits.reshape(-1)[n], want.reshape(-1)[n]
        raise AssertionError(f"{np.count_nonzero(~same)} elements differ, the first is {n}: {got}, expected {expected}")
    return 0.0


def close(a, want, bound, where=None):
    """The largest error, of numbers over 1 a relative one."""
    got, want = a.values().astype(np.float64), np.asarray(want, np.float64)
    expected = np.ones(got.shape, bool) if where is None else np.broadcast_to(where, got.shape)
    if a.out and not np.array_equal(a.written, expected):
        raise AssertionError(f"{np.count_nonzero(a.written)} elements were written, expected {np.count_nonzero(expected)}")
    error = np.where(expected, np.abs(got - want) / np.maximum(1, np.abs(want)), 0)
    if not error.max(initial=0) <= bound:
        n = np.nanargmax(np.where(np.isnan(error), np.inf, error).reshape(-1))
        is_, should = got.reshape(-1)[n], np.broadcast_to(want, got.shape).reshape(-1)[n]
        raise AssertionError(f"element {n} is {is_}, expected {should}: {error.reshape(-1)[n]:.3g} is more than {bound}")
    return float(error.max(initial=0))
