// sequence/span_pool.cpp: spans of a text, overlapping and of different lengths: the mean of the embeddings of their tokens,
// scaled to length 1. Embeddings are bytes, so their running sums are exact, and a span is the difference of two of them.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol N = p.size("N", 8300, {.min = 1}), rows = p.size("rows", 1900, {.min = 1}), spans = p.size("spans", 4700);
  const Tensor token = p.in("token", u16, {N}, integers(0, 1900)), table = p.in("table", i8, {rows, 56}, integers(-128, 128)),
               scale = p.in("scale", f32, {56}, uniform(0.001, 0.01));
  const Tensor begin = p.in("begin", i32, {spans}, integers(0, 8300)), size = p.in("size", i32, {spans}, integers(0, 31));
  const Tensor before = scan(
      "before", {N + 1, 56}, Along{0}, Combine::add,
      [&](Var n, Var d) { return select(n < N, i32(table(in_range(token(n), 0, rows), d)), 0); }, Scan::exclusive);
  const auto first = [&](const Expr& s) { return clamp(begin(s), 0, N); };
  const auto last = [&](const Expr& s) { return clamp(begin(s) + size(s), 0, N); };
  const Tensor mean = compute("mean", {spans, 56}, [&](Var s, Var d) {
    return f32(before(last(s), d) - before(first(s), d)) * scale(d) / f32(max(last(s) - first(s), 1));
  });
  const Axis d{"d", 56};
  const Tensor square = compute("square", {spans}, [&](Var s) { return sum(mean(s, d) * mean(s, d), d); });
  p.out(compute("y", {spans, 56}, [&](Var s, Var e) { return mean(s, e) / sqrt(square(s) + 1e-6f); }));
}
