// quantized/product_codes.cpp: the nearest of vectors that are kept as 12 codes of a byte each (product quantization): for each
// query a table of distances to all centroids, then one look-up for each code.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol queries = p.size("queries", 7), items = p.size("items", 8009, {.min = 1});
  const Tensor query = p.in("query", f32, {queries, 48}, uniform(-1, 1)),
               book = p.in("book", f32, {12, 256, 4}, uniform(-1, 1));
  const Tensor codes = p.in("codes", u8, {items, 12}, integers(0, 256));

  const Axis d{"d", 4}, m{"m", 12}, item{"item", items};
  const Tensor table = compute("table", {queries, 12, 256}, [&](Var q, Var s, Var c) {
    const Expr apart = query(q, s * 4 + d) - book(s, c, d);
    return sum(apart * apart, d);
  });
  const Tensor distance = compute("distance", {queries, items}, [&](Var q, Var i) { return sum(table(q, m, codes(i, m)), m); });
  const auto [least, nearest] = compute("nearest", {queries}, [&](Var q) { return argmin(distance(q, item), item); });
  p.out(least);
  p.out(nearest);
}
