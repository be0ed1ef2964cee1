// As a user would write them for speed: raw pointers, the contiguous dimension innermost where rows allow it.
#include "bench/recurrence_loops.h"

namespace bench {
namespace {

void sums(const float* __restrict x, float* __restrict y, Size n) {
  float s = 0;
  for (Size i = 0; i < n; ++i) y[i] = s += x[i];
}

void maxima(const float* __restrict x, float* __restrict y, Size n) {
  float m = x[0];
  y[0] = m;
  for (Size i = 1; i < n; ++i) y[i] = m = x[i] > m ? x[i] : m;
}

void first_rows(const float* __restrict x, float* __restrict y, Size rows, Size steps) {
  for (Size r = 0; r < rows; ++r) {
    float s = y[r * steps] = x[r * steps];
    for (Size t = 1; t < steps; ++t) y[r * steps + t] = s = 0.25f * x[r * steps + t] + 0.75f * s;
  }
}

void first_columns(const float* __restrict x, float* __restrict y, Size steps, Size columns) {
  for (Size c = 0; c < columns; ++c) y[c] = x[c];
  for (Size t = 1; t < steps; ++t)
    for (Size c = 0; c < columns; ++c) y[t * columns + c] = 0.25f * x[t * columns + c] + 0.75f * y[(t - 1) * columns + c];
}

void second_rows(const float* __restrict x, float* __restrict y, Size rows, Size steps) {
  for (Size r = 0; r < rows; ++r) {
    const float* in = x + r * steps;
    float *out = y + r * steps, p = out[0] = in[0], q = out[1] = in[1];
    for (Size t = 2; t < steps; ++t) {
      const float s = 0.2f * in[t] + 1.1f * q - 0.3f * p;
      out[t] = s, p = q, q = s;
    }
  }
}

void second_columns(const float* __restrict x, float* __restrict y, Size steps, Size columns) {
  for (Size k = 0; k < 2 * columns; ++k) y[k] = x[k];
  for (Size t = 2; t < steps; ++t)
    for (Size c = 0; c < columns; ++c)
      y[t * columns + c] = 0.2f * x[t * columns + c] + 1.1f * y[(t - 1) * columns + c] - 0.3f * y[(t - 2) * columns + c];
}

void last(const float* __restrict x, float* __restrict y, Size steps, Size columns) {
  for (Size c = 0; c < columns; ++c) y[c] = x[c];
  for (Size t = 1; t < steps; ++t)
    for (Size c = 0; c < columns; ++c) y[c] = 0.25f * x[t * columns + c] + 0.75f * y[c];
}

void systems_columns(const float* __restrict a, const float* __restrict b, const float* __restrict c, const float* __restrict d,
                     float* __restrict x, float* __restrict scratch, Size n, Size columns) {
  float* __restrict p = scratch, * __restrict q = scratch + n * columns;
  for (Size k = 0; k < columns; ++k) p[k] = c[k] / b[k], q[k] = d[k] / b[k];
  for (Size i = 1; i < n; ++i)
    for (Size k = i * columns; k < (i + 1) * columns; ++k) {
      const float m = 1 / (b[k] - a[k] * p[k - columns]);
      p[k] = c[k] * m;
      q[k] = (d[k] - a[k] * q[k - columns]) * m;
    }
  for (Size k = (n - 1) * columns; k < n * columns; ++k) x[k] = q[k];
  for (Size i = n - 2; i >= 0; --i)
    for (Size k = i * columns; k < (i + 1) * columns; ++k) x[k] = q[k] - p[k] * x[k + columns];
}

void systems_rows(const float* __restrict a, const float* __restrict b, const float* __restrict c, const float* __restrict d,
                  float* __restrict x, float* __restrict scratch, Size rows, Size n) {
  float* __restrict p = scratch, * __restrict q = scratch + n;
  for (Size r = 0; r < rows; ++r, a += n, b += n, c += n, d += n, x += n) {
    p[0] = c[0] / b[0], q[0] = d[0] / b[0];
    for (Size i = 1; i < n; ++i) {
      const float m = 1 / (b[i] - a[i] * p[i - 1]);
      p[i] = c[i] * m;
      q[i] = (d[i] - a[i] * q[i - 1]) * m;
    }
    x[n - 1] = q[n - 1];
    for (Size i = n - 2; i >= 0; --i) x[i] = q[i] - p[i] * x[i + 1];
  }
}

void distance(const int* __restrict a, const int* __restrict b, int* __restrict d, Size m, Size n) {
  for (Size j = 0; j <= n; ++j) d[j] = static_cast<int>(j);
  for (Size i = 1; i <= m; ++i) {
    const int *before = d + (i - 1) * (n + 1), letter = a[i - 1];
    int *row = d + i * (n + 1), left = row[0] = static_cast<int>(i);
    for (Size j = 1; j <= n; ++j) {
      const int up = before[j] + 1, both = before[j - 1] + (letter == b[j - 1] ? 0 : 1), best = up < both ? up : both;
      left = left + 1 < best ? left + 1 : best;
      row[j] = left;
    }
  }
}

void states(const float* __restrict x, float* __restrict y, Size rows, Size steps) {
  for (Size r = 0; r < rows; ++r) {
    const float* in = x + r * steps;
    float u = 0, v = 0;
    for (Size t = 0; t < steps; ++t) {
      const float uu = u - 0.1f, vu = v - 2.3f, uv = u - 1.6f, vv = v - 0.2f;
      u = (uu > vu ? uu : vu) + in[t];
      v = (uv > vv ? uv : vv) - in[t];
    }
    y[r] = u > v ? u : v;
  }
}

void counts(const int* __restrict x, int* __restrict y, Size n) {
  int s = 0;
  for (Size i = 0; i < n; ++i) y[i] = s += x[i];
}

void averages(const float* __restrict x, float* __restrict fast, float* __restrict slow, Size n, bool backwards) {
  if (backwards) {
    float f = fast[n - 1] = x[n - 1], s = slow[n - 1] = x[n - 1];
    for (Size t = n - 2; t >= 0; --t) {
      fast[t] = f = 0.25f * x[t] + 0.75f * f;
      slow[t] = s = 0.0625f * x[t] + 0.9375f * s;
    }
    return;
  }
  float f = fast[0] = x[0], s = slow[0] = x[0];
  for (Size t = 1; t < n; ++t) {
    fast[t] = f = 0.25f * x[t] + 0.75f * f;
    slow[t] = s = 0.0625f * x[t] + 0.9375f * s;
  }
}

}  // namespace

extern const RecurrenceLoops LOOPS;
const RecurrenceLoops LOOPS{sums,           maxima, first_rows,      first_columns, second_rows,
                            second_columns, last,   systems_columns, systems_rows,  distance,
                            states,         counts, averages};

}  // namespace bench
