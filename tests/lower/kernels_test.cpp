// Lowered kernels compute what their algorithms say, for shapes that divide and shapes that do not.
#include "check.h"
#include "programs.h"

using namespace handmade;
using ir::Part;
using ir::ReducerKind;
using ir::Tail;

TEST_CASE("a loop nest as it was written") {
  Elementwise e;
  check(e, {{{"N", 0}}, {{"N", 1}}, {{"N", 37}}});
  Matmul m;
  check(m, {{{"M", 3}, {"N", 4}, {"K", 5}}, {{"M", 3}, {"N", 4}, {"K", 0}}, {{"M", 0}, {"N", 4}, {"K", 3}}});
  Blur b;
  check(b, {{{"H", 5}, {"W", 7}}, {{"H", 1}, {"W", 1}}});
}

TEST_CASE("tails of a split: every iteration once") {
  for (const Tail tail : {Tail::guard, Tail::predicate, Tail::peel, Tail::shift}) {
    CAPTURE(static_cast<int>(tail));
    for (const bool vectorized : {false, true}) {
      Elementwise e;
      const auto [o, i] = e.split(e.axis(e.stage_b, "i"), 8, tail);
      if (vectorized) e.kind(i, LoopKind::vectorized);
      if (tail == Tail::peel) e.peel(o, Part::full, Part::rest);
      check(e, {{{"N", 8}}, {{"N", 24}}, {{"N", 29}}, {{"N", 31}}});
      if (tail != Tail::shift) check(e, {{{"N", 0}}, {{"N", 5}}});
    }
  }
}

TEST_CASE("a tiled product: register tile unrolled and vectorized, k blocked") {
  for (const bool stores_first : {false, true}) {
    Matmul m;
    const auto t = m.tiled(3, 4, 5);
    m.kind(t.io, LoopKind::parallel);
    m.kind(t.ii, LoopKind::unrolled);
    m.kind(t.ji, LoopKind::vectorized);
    m.block(m.product).get<ir::BlockStmt>().first_stores = stores_first;
    check(m, {{{"M", 6}, {"N", 8}, {"K", 10}},
              {{"M", 7}, {"N", 9}, {"K", 11}},
              {{"M", 1}, {"N", 3}, {"K", 2}},
              {{"M", 2}, {"N", 5}, {"K", 0}}});
  }
}

TEST_CASE("the init of a peeled reduction stands before its first part only") {
  Matmul m;
  const auto [ko, ki] = m.split(m.axis(m.product, "k"), 4);
  m.peel(ko, Part::first, Part::but_first);
  check(m, {{{"M", 2}, {"N", 3}, {"K", 9}}, {{"M", 2}, {"N", 3}, {"K", 1}}, {{"M", 2}, {"N", 3}, {"K", 0}}});
  const ir::Program p = m.derived();
  int inits = 0;
  std::vector<std::string> passes;
  LowerOptions o;
  o.observe = [&](std::string_view pass, const std::string& text) {
    passes.emplace_back(pass);
    if (pass == "inits")
      for (std::size_t at = text.find("init "); at != std::string::npos; at = text.find("init ", at + 1)) ++inits;
  };
  lower(p, o);
  CHECK(inits == 1);
  CHECK(passes.front() == "inits");
  CHECK(passes.back() == "unread");
}

TEST_CASE("the last part of a peeled loop") {
  Matmul m;
  const auto [ko, ki] = m.split(m.axis(m.product, "k"), 4);
  m.peel(ko, Part::but_last, Part::last);
  check(m, {{{"M", 2}, {"N", 3}, {"K", 9}},
            {{"M", 2}, {"N", 3}, {"K", 8}},
            {{"M", 2}, {"N", 3}, {"K", 1}},
            {{"M", 2}, {"N", 3}, {"K", 0}}});
}

TEST_CASE("a producer inside a parallel loop has storage for each worker") {
  for (const bool vectorized : {false, true}) {
    Blur b;
    const auto [yo, yi] = b.split(b.axis(b.stage_out, "y"), 4);
    b.compute_at(b.stage_across, yo);
    b.kind(yo, LoopKind::parallel);
    if (vectorized) {
      b.kind(b.split(b.axis(b.stage_out, "x"), 8).second, LoopKind::vectorized);
      b.kind(b.split(b.axis(b.stage_across, "x"), 8).second, LoopKind::vectorized);
    }
    const ir::Kernel k = b.lowered();
    CHECK(ir::is_int(k.workspace_shared, std::int64_t{0}));
    CHECK(k.buffers.at(b.across).per_worker);
    check(b, {{{"H", 8}, {"W", 24}}, {{"H", 9}, {"W", 27}}, {{"H", 3}, {"W", 5}}, {{"H", 1}, {"W", 1}}, {{"H", 6}, {"W", 16}}});
  }
}

TEST_CASE("a producer inside a vectorized loop has storage for each lane") {
  Blur b;
  const auto [xo, xi] = b.split(b.axis(b.stage_out, "x"), 4);
  b.kind(xi, LoopKind::vectorized);
  b.compute_at(b.stage_across, xi);
  check(b, {{{"H", 3}, {"W", 8}}, {{"H", 4}, {"W", 10}}});
}

TEST_CASE("an unrolled loop around a vectorized one, with tails in both") {
  Blur b;
  const auto [yo, yi] = b.split(b.axis(b.stage_out, "y"), 3);
  const auto [xo, xi] = b.split(b.axis(b.stage_out, "x"), 4);
  b.reorder({yo, xo, yi, xi});
  b.kind(yi, LoopKind::unrolled);
  b.kind(xi, LoopKind::vectorized);
  check(b, {{{"H", 6}, {"W", 8}}, {{"H", 7}, {"W", 9}}, {{"H", 1}, {"W", 2}}});
}

TEST_CASE("stages that do not live together share the workspace") {
  Handmade h("chain");
  const Expr n = h.symbol("N");
  const Id in = h.input("in", f32, {n}), out = h.output("out", f32, {n});
  Id from = in;
  for (int k = 0; k < 6; ++k) {
    const Id t = h.temporary("t" + std::to_string(k), f32, 1);
    h.stage("t" + std::to_string(k), t, {{"i", n}}, {},
            [&](const Point& i) { return ir::add(h.read(from, {i[0]}), h.number(f32, 1)); });
    from = t;
  }
  h.stage("out", out, {{"i", n}}, {}, [&](const Point& i) { return h.read(from, {i[0]}); });
  const ir::Kernel k = h.lowered();
  CHECK(ir::text(k.workspace_shared) == "(N + 15) / 16 * 128");  // two buffers alive at once, not six
  check(h, {{{"N", 5}}, {{"N", 33}}});
}

TEST_CASE("arms that are not taken read nothing") {
  for (const bool vectorized : {false, true}) {
    Handmade h("shifted");
    const Expr n = h.symbol("N");
    const Id in = h.input("in", f32, {n}), out = h.output("out", f32, {n});
    const Id s = h.stage("out", out, {{"i", n}}, {}, [&](const Point& i) {
      const Expr left = ir::select(ir::gt(i[0], ir::index(0)), h.read(in, {ir::sub(i[0], ir::index(1))}), h.number(f32, 7));
      const Expr right =
          ir::select(ir::ge(ir::add(i[0], ir::index(1)), n), h.number(f32, 9), h.read(in, {ir::add(i[0], ir::index(1))}));
      return ir::add(left, right);
    });
    if (vectorized) h.kind(h.split(h.axis(s, "i"), 8).second, LoopKind::vectorized);
    check(h, {{{"N", 1}}, {{"N", 8}}, {{"N", 27}}});
  }
}

TEST_CASE("two values a step: both are computed before either is stored") {
  for (const bool vectorized : {false, true}) {
    Handmade h("argmax");
    const Expr m = h.symbol("M"), n = h.symbol("N");
    const Id in = h.input("in", f32, {n, m}), best = h.output("best", f32, {m}), place = h.output("place", i64, {m});
    ir::Reducer r;
    const Id s = h.stages("argmax", {best, place}, {{"i", m}}, {{"k", n}},
                          [&](const Point& i) { return std::vector<Expr>{h.read(in, {i[1], i[0]}), ir::cast(i64, i[1])}; },
                          ReducerKind::custom, {h.number(f32, -100), h.number(i64, -1)});
    ir::Reducer& reducer = h.p.stages.at(s).reducer;
    std::vector<Expr> left, right;
    for (const Type t : {f32, i64}) {
      reducer.left.push_back(h.p.fresh());
      left.push_back(ir::var(reducer.left.back(), "a", t));
      reducer.right.push_back(h.p.fresh());
      right.push_back(ir::var(reducer.right.back(), "b", t));
    }
    const Expr take_left = ir::ge(left[0], right[0]);
    reducer.combine = {ir::select(take_left, left[0], right[0]), ir::select(take_left, left[1], right[1])};
    if (vectorized) {
      const auto [io, ii] = h.split(h.axis(s, "i"), 4);
      h.reorder({io, h.axis(s, "k"), ii});
      h.kind(ii, LoopKind::vectorized);
    }
    check(h, {{{"M", 4}, {"N", 6}}, {{"M", 7}, {"N", 3}}, {{"M", 3}, {"N", 0}}});
  }
}

TEST_CASE("narrow floats compute in f32 and round after every operator; functions are spelled out") {
  for (const Type t : {f16, bf16}) {
    Handmade h("half");
    const Expr n = h.symbol("N");
    const Id a = h.input("A", t, {n}), b = h.input("B", t, {n}), out = h.output("out", t, {n});
    const Id s = h.stage("out", out, {{"i", n}}, {}, [&](const Point& i) {
      const Expr x = h.read(a, {i[0]}), y = h.read(b, {i[0]});
      return ir::add(ir::mul(x, y), ir::add(ir::unary(ir::Op::exp, ir::div(x, h.number(t, 8))), h.number(t, 0.3)));
    });
    h.kind(h.split(h.axis(s, "i"), 8).second, LoopKind::vectorized);
    check(h, {{{"N", 16}}, {{"N", 21}}});
  }
}

TEST_CASE("triangles: bounds that depend on a vectorized loop become masks") {
  Handmade h("triangle");
  const Expr n = h.symbol("N");
  const Id in = h.input("in", f32, {n}), out = h.output("out", f32, {n});
  const Id s = h.stage(
      "out", out, {{"i", n}}, {{"k", n}}, [&](const Point& i) { return h.read(in, {i[1]}); }, ReducerKind::sum,
      h.number(f32, 0));
  auto& iters = h.p.stages.at(s).iters;
  iters[1].end = ir::add(ir::var(iters[0].id, "i"), ir::index(1));
  h.kind(h.split(h.axis(s, "i"), 4).second, LoopKind::vectorized);
  check(h, {{{"N", 8}}, {{"N", 11}}, {{"N", 2}}});
}
