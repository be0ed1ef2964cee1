// Steps of a recurrence that are stencils with periodic borders, and triangles, as schedule_by_default has them: down to
// extents of one.
#include "tests/schedules/by_default.h"

#include <ashlar/ir/print.h>

using namespace ashlar;
using namespace by_default_test;

namespace {

// Four neighbors on a torus, `steps` times.
Tensor heat(const Tensor& x, const Expr& H, const Expr& W) {
  return recur(
      "u", {6, H, W}, Along{0}, Lag{1}, [&](Var, Var y, Var c) { return x(y, c); },
      [&](Prior u, Var t, Var y, Var c) {
        const Expr around =
            u(t - 1, (y - 1) % H, c) + u(t - 1, (y + 1) % H, c) + u(t - 1, y, (c + W - 1) % W) + u(t - 1, y, (c + 1) % W);
        return u(t - 1, y, c) + 0.125f * (around - 4.0f * u(t - 1, y, c));
      });
}

// Of bytes: alive with three neighbors in the row above and beside it, or with two and alive before.
Tensor automaton(const Tensor& x, const Expr& H, const Expr& W) {
  return recur(
      "cells", {4, H, W}, Along{0}, Lag{1}, [&](Var, Var y, Var c) { return x(y, c) & 1; },
      [&](Prior s, Var t, Var y, Var c) {
        const Expr up = (y + H - 1) % H, left = (c + W - 1) % W, right = (c + 1) % W;
        const Expr n = s(t - 1, up, left) + s(t - 1, up, c) + s(t - 1, up, right) + s(t - 1, y, left) + s(t - 1, y, right);
        return select(n == 3 || (n == 2 && s(t - 1, y, c) == 1), u8(1), u8(0));
      });
}

}  // namespace

TEST_CASE("by default: steps on a torus, of extents that a call decides, read neighbors inside and divide no lanes") {
  for (const bool bytes : {false, true}) {
    CAPTURE(bytes);
    lang::DefinitionScope scope;
    const Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
    const Tensor x = lang::make_input("x", bytes ? u8 : f32, {H, W});
    const Scheduled s({x}, {bytes ? automaton(x, H, W) : heat(x, H, W)});
    const std::string text = ir::text(lower(s.by.schedule.scheduled().program, options_for(s.by.schedule.target())));
    CAPTURE(text);
    CHECK(text.find(") % x") == std::string::npos);
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 2}, {2, 1}, {3, 3}, {2, 17}, {5, 70}, {3, 130}})
      s.same({{h, w}, {bytes ? 4 : 6, h, w}});
  }
}

TEST_CASE("by default: steps on a torus of constant extents") {
  for (const std::int64_t w : {1, 2, 3, 16, 37, 96})
    for (const bool bytes : {false, true}) {
      CAPTURE(w);
      CAPTURE(bytes);
      lang::DefinitionScope scope;
      const Expr H = ir::index(3), W = ir::index(w);
      const Tensor x = lang::make_input("x", bytes ? u8 : f32, {H, W});
      const Scheduled s({x}, {bytes ? automaton(x, H, W) : heat(x, H, W)});
      s.same({{3, w}, {bytes ? 4 : 6, 3, w}});
    }
}

TEST_CASE("by default: a tree of which every step has one node less computes no vectors beyond the diagonal") {
  lang::DefinitionScope scope;
  const Symbol N{"N", {.min = 1}}, T{"T", {.min = 1}};
  const Tensor x = lang::make_input("x", f32, {N, T});
  const Scheduled s({x}, {recur(
                             "v", {N, T, T}, Along{1}.backwards(), Lag{1}, [&](Var n, Var, Var j) { return x(n, j); },
                             [&](Prior v, Var n, Var t, Var j) {
                               return select(j <= t, 0.5f * v(n, t + 1, j) + 0.25f * v(n, t + 1, min(j + 1, T - 1)), 0);
                             })});
  const std::string text = ir::text(lower(s.by.schedule.scheduled().program, options_for(s.by.schedule.target())));
  CAPTURE(text);
  CHECK(text.find(" = x16(0.0)") != std::string::npos);
  for (const std::int64_t t : {1, 2, 3, 15, 16, 17, 40}) s.same({{2, t}, {2, t, t}});
}
