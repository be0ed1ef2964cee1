// dynamic/local_alignment.cpp: the best local alignment of each pair of proteins (Smith-Waterman, affine gaps as of Gotoh):
// opening a gap costs 11, going on 1; a table has the score of each pair of amino acids.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol pairs = p.size("pairs", 5, {.min = 1}), n = p.size("n", 170), m = p.size("m", 290);
  const Tensor query = p.in("query", u8, {pairs, n}, integers(0, 24)),
               reference = p.in("reference", u8, {pairs, m}, integers(0, 24));
  const Tensor table = p.in("table", i8, {24, 24}, integers(-4, 7));
  const auto cells = recur(
      "cells", {pairs, n + 1, m + 1}, Along{1, 2}, Lag{1},
      [&](Var, Var, Var) { return values(i16(0), i16(-10000), i16(-10000)); },
      [&](Prior y, Var q, Var i, Var j) {
        const Expr across = max(y[1](q, i, j - 1) - 1, y[0](q, i, j - 1) - 11);
        const Expr down = max(y[2](q, i - 1, j) - 1, y[0](q, i - 1, j) - 11);
        const Expr score = i16(table(in_range(query(q, i - 1), 0, 24), in_range(reference(q, j - 1), 0, 24)));
        return values(max(max(y[0](q, i - 1, j - 1) + score, 0), max(across, down)), across, down);
      });
  const Axis i{"i", n + 1}, j{"j", m + 1};
  p.out(compute("best", {pairs}, [&](Var q) { return maximum(cells[0](q, i, j), {i, j}); }));
}
