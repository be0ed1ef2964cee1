#!/usr/bin/env python3
"""Minimax coefficients of the math functions in src/ir/math/*.cpp. Needs mpmath; the build does not.

    scripts/fit_polynomials.py            every fit below
    scripts/fit_polynomials.py sinh       those whose name begins so

A fit is a polynomial in given powers, or a quotient P(z)/Q(z), of least weighted error on an interval (Remez' exchange, on a grid).
Coefficients are rounded one after another from the lowest power, the rest fitted again each time (as in N. Brisebarre, S. Chevillard,
Efficient polynomial L-infinity approximations, ARITH 2007, in its simplest form). Printed: the error as a power of two, then the
coefficients as hexadecimal constants.
"""
import sys

from mpmath import atanh, cos, erf, erfc, exp, log, log1p, lu_solve, matrix, mp, mpf, nint, pi, sin, sinh, sqrt, tanh

mp.prec = 260


def rounded(x, bits):
    if x == 0:
        return mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(nint(mp.ldexp(m, bits)), e - bits)


def text(x):
    m, e = mp.frexp(x)
    sign, m = ("-" if m < 0 else ""), abs(m) * 2
    digits = ("%x" % int(mp.ldexp(m, 52))).rstrip("0")
    return "%s0x%s%sp%d" % (sign, digits[0], "." + digits[1:] if digits[1:] else "", e - 1)


def grid(low, high, count):
    return [low + (high - low) * (1 - cos(pi * k / (count - 1))) / 2 for k in range(count)]


def extrema(errors, count):
    """Indices of `count` alternating extrema of a sampled error."""
    runs = []
    for k, e in enumerate(errors):
        if e == 0:
            continue
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = k
        else:
            runs.append(k)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def minimax(f, w, low, high, powers, denominator=0):
    """Coefficients of P (and of Q = 1 + q1 z + ...) with least max |w (f - P/Q)|, and that error."""
    xs = grid(mpf(low), mpf(high), 1200)
    fs, ws = [f(x) for x in xs], [w(x) for x in xs]
    n = len(powers) + denominator
    at = [round(k * (len(xs) - 1) / n) for k in range(n + 1)]
    q = [mpf(0)] * denominator
    best = None
    for _ in range(14):
        for _ in range(1 if denominator == 0 else 6):
            a, b = matrix(n + 1, n + 1), matrix(n + 1, 1)
            for row, k in enumerate(at):
                x, below = xs[k], 1 + sum(c * xs[k] ** (j + 1) for j, c in enumerate(q))
                for j, p in enumerate(powers):
                    a[row, j] = x**p
                for j in range(denominator):
                    a[row, len(powers) + j] = -fs[k] * x ** (j + 1)
                a[row, n] = (-1) ** row * below / ws[k]
                b[row] = fs[k]
            s = lu_solve(a, b)
            q = [s[len(powers) + j] for j in range(denominator)]
        p = [s[j] for j in range(len(powers))]
        errors = []
        for x, y, v in zip(xs, fs, ws):
            errors.append(v * (y - sum(c * x**e for c, e in zip(p, powers)) / (1 + sum(c * x ** (j + 1) for j, c in enumerate(q)))))
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, p, q)
        found = extrema(errors, n + 1)
        if len(found) < n + 1 or found == at:
            break
        at = found
    return best[1], best[2], best[0]


def polynomial(f, w, low, high, powers, bits, fixed=()):
    """As minimax, with coefficients of `bits` bits; those in `fixed` are given for the first powers."""
    done = [mpf(c) for c in fixed]
    for k in range(len(done), len(powers)):
        rest = lambda x: f(x) - sum(c * x**p for c, p in zip(done, powers))
        c, _, _ = minimax(rest, w, low, high, powers[k:])
        done.append(rounded(c[0], bits))
    xs = grid(mpf(low), mpf(high), 3000)
    return done, max(abs(w(x) * (f(x) - sum(c * x**p for c, p in zip(done, powers)))) for x in xs)


def report(name, coefficients, error):
    print("%s: 2^%.2f\n  {%s}" % (name, float(log(error, 2)), ", ".join(text(c) for c in coefficients)), flush=True)


def even(f):
    """f as a function of the square of its argument; its value at 0 from nearby."""
    return lambda z: f(sqrt(max(z, mpf(2) ** -60)))


half_ln2, low_f, high_f = log(mpf(2)) / 2, sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1
tiny = mpf(2) ** -40


def away(f):
    return lambda x: f(x if abs(x) > tiny else tiny)


log_q = away(lambda f: (log1p(f) - f) / f**2)          # log(1 + f) = f + f^2 q
log2_q = away(lambda f: (log1p(f) / log(mpf(2)) - f / log(mpf(2))) / f)
sin_q = even(lambda r: (sin(r) - r) / r**3)
sinh_q = even(lambda r: (sinh(r) - r) / r**3)
atanh_q = even(lambda s: (atanh(s) / s - 1) / s**2 - mpf(1) / 3)

FITS = {}


def fit(name):
    def add(g):
        FITS[name] = g
        return g
    return add


for bits, tag, n_fast_exp, n_fast_log, n_sin, n_sinh in ((24, "f32", 5, 7, 4, 4), (53, "f64", 0, 0, 8, 8)):
    fit("sinh_" + tag)(lambda bits=bits, n=n_sinh: polynomial(sinh_q, even(lambda r: r**3 / sinh(r)), 0, 1, list(range(n)), bits))
    if n_fast_exp:
        fit("fast_exp_twice_" + tag)(lambda bits=bits, n=n_fast_exp: polynomial(
            lambda r: 2 * exp(r), lambda r: exp(-r) / 2, -half_ln2 * 1.001, half_ln2 * 1.001, list(range(n + 1)), bits))
        fit("fast_exp2_twice_" + tag)(lambda bits=bits, n=n_fast_exp: polynomial(
            lambda r: 2 * exp(r * log(mpf(2))), lambda r: mpf(2) ** -r / 2, mpf(-0.5), mpf(0.5), list(range(n + 1)), bits))
    if n_fast_log:
        fit("fast_log_" + tag)(lambda bits=bits, n=n_fast_log: polynomial(
            log_q, away(lambda f: f**2 / log1p(f)), low_f, high_f, list(range(n)), bits))
    fit("fast_sin_" + tag)(lambda bits=bits, n=n_sin: polynomial(
        sin_q, even(lambda r: r**3 / sin(r)), 0, (pi / 2 * 1.0001) ** 2, list(range(n)), bits))
fit("pow_atanh_f64")(lambda: polynomial(atanh_q, lambda z: z + mpf(2) ** -12, 0, (high_f / (2 + high_f)) ** 2 * 1.001, list(range(1, 10)), 53))


@fit("fast_tanh_f32")
def _():
    f = even(lambda x: tanh(x) / x)
    p, q, e = minimax(f, lambda z: 1 / f(z), 0, mpf(9) ** 2, list(range(6)), 3)
    return [rounded(c, 24) for c in p + [mpf(1)] + q], e


@fit("fast_erf_f32")
def _():
    f = even(lambda x: erf(x) / x)
    p, q, e = minimax(f, lambda z: 1 / f(z), 0, mpf(3.925) ** 2, list(range(7)), 4)
    return [rounded(c, 24) for c in p + [mpf(1)] + q], e


@fit("erf_center_f32")
def _():
    return polynomial(even(lambda x: erf(x) / x - 1), even(lambda x: x / erf(x)), 0, 1, list(range(7)), 24)


@fit("erf_tail_f32")
def _():
    ln2 = log(mpf(2))
    return polynomial(lambda a: log(erfc(a)) / ln2, lambda a: erfc(a) * ln2 / erf(a), 1, mpf(3.84), list(range(7)), 24)


if __name__ == "__main__":
    for name, g in FITS.items():
        if len(sys.argv) < 2 or any(name.startswith(a) for a in sys.argv[1:]):
            report(name, *g())
