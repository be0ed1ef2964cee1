// The tree as it stands: loops, splits with their tails, placement, storage; every wrong access named.
#include <cmath>

#include <doctest/doctest.h>

#include <ashlar/analysis/regions.h>
#include <ashlar/interp/interpreter.h>

#include "build_programs.h"

using namespace ashlar;
using interp::Array;
using interp::RunError;
using ir::BlockStmt;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Stmt;
using test::Maker, test::ramp;

namespace {

Stmt* loop_over(ir::Program& p, ir::Id axis) {
  Stmt* found = nullptr;
  ir::walk(p.body, [&](const Stmt& s) {
    if (ir::runs_over(s, axis) && !found) found = ir::find(p, s.id);
  });
  return found;
}

ir::Id axis_of(const ir::Program& p, ir::Id stage, ir::Id iter) {
  for (const ir::Root& r : ir::nests_of(p, stage).front()->get<NestStmt>().roots)
    if (r.iter == iter) return r.axis;
  return 0;
}

// Replaces the loop over `axis` by two, by hand; what the primitive `split` does, without its proofs.
std::pair<ir::Id, ir::Id> split(ir::Program& p, ir::Id axis, std::int64_t factor, ir::Tail tail) {
  const ir::Axis parent = p.axis(axis);
  ir::Axis outer, inner;
  outer.id = p.fresh();
  inner.id = p.fresh();
  outer.name = parent.name + "o";
  inner.name = parent.name + "i";
  outer.origin = ir::Axis::Origin::split_outer;
  inner.origin = ir::Axis::Origin::split_inner;
  for (ir::Axis* a : {&outer, &inner}) {
    a->parent = axis;
    a->factor = ir::index(factor);
    a->tail = tail;
    a->reduce = parent.reduce;
    p.axes[a->id] = *a;
  }
  p.axes.at(axis).became = {outer.id, inner.id};
  Stmt* loop = loop_over(p, axis);
  Stmt inside = *loop;
  inside.id = p.fresh();
  inside.get<LoopStmt>().axis = inner.id;
  loop->get<LoopStmt>().axis = outer.id;
  loop->body() = {inside};
  return {outer.id, inner.id};
}

std::string both_agree(const ir::Program& p, interp::Arguments args, const interp::Options& options = {}) {
  interp::Arguments expected = args;
  interp::run_algorithm(p, expected);
  interp::run(p, args, options);
  return interp::difference(args.back().array, expected.back().array);
}

}  // namespace

TEST_CASE("the tree of an unscheduled product gives what its definition gives") {
  test::Matmul m;
  interp::Arguments args{ramp(f32, {5, 7}), ramp(f32, {7, 4}), Array::zeros(f32, {5, 4})};
  CHECK(both_agree(m.p, args) == "");
  const interp::Counters n = interp::run(m.p, args);
  CHECK(n.evaluations.at(m.product) == 5 * 4 * 7);
  CHECK(n.allocations == 0);
  CHECK(both_agree(m.p, {ramp(f32, {5, 0}), ramp(f32, {0, 4}), Array::zeros(f32, {5, 4})}) == "");  // empty sums are the init
}

TEST_CASE("splits: guards skip, shift repeats, a reduction split keeps its one init") {
  for (ir::Tail tail : {ir::Tail::guard, ir::Tail::predicate, ir::Tail::shift}) {
    test::Matmul m;
    split(m.p, axis_of(m.p, m.product, m.j.id), 4, tail == ir::Tail::shift ? ir::Tail::guard : tail);
    split(m.p, axis_of(m.p, m.product, m.k.id), 3, ir::Tail::guard);
    if (tail == ir::Tail::shift) split(m.p, axis_of(m.p, m.product, m.i.id), 4, tail);
    CHECK(both_agree(m.p, {ramp(f32, {6, 7}), ramp(f32, {7, 9}), Array::zeros(f32, {6, 9})}) == "");
  }
}

TEST_CASE("a reduction loop outside the spatial loops: the init covers all of its points, once") {
  test::Matmul m;
  auto [ko, ki] = split(m.p, axis_of(m.p, m.product, m.k.id), 4, ir::Tail::guard);
  // ko, i, j, ki
  Stmt& nest = *ir::find(m.p, ir::nests_of(m.p, m.product).front()->id);
  Stmt i = nest.body().front(), j = i.body().front(), outer = j.body().front(), inner = outer.body().front();
  j.body() = {inner};
  i.body() = {j};
  outer.body() = {i};
  nest.body() = {outer};
  const interp::Arguments args{ramp(f32, {5, 11}), ramp(f32, {11, 4}), Array::zeros(f32, {5, 4})};
  SUBCASE("as one loop") { CHECK(both_agree(m.p, args) == ""); }
  SUBCASE("the last iteration peeled: the second loop does not initialize again") {
    Stmt& loop = *loop_over(m.p, ko);
    Stmt last = loop;
    loop.get<LoopStmt>().part = ir::Part::but_last;
    last.get<LoopStmt>().part = ir::Part::last;
    ir::find(m.p, nest.id)->body().push_back(last);
    CHECK(both_agree(m.p, args) == "");
    CHECK(both_agree(m.p, {ramp(f32, {5, 3}), ramp(f32, {3, 4}), Array::zeros(f32, {5, 4})}) == "");  // only the last exists
  }
  SUBCASE("the first step stores") {
    ir::find(m.p, ir::blocks_of(m.p, m.product).front()->id)->get<BlockStmt>().first_stores = true;
    CHECK(both_agree(m.p, args) == "");
    CHECK(both_agree(m.p, {ramp(f32, {5, 0}), ramp(f32, {0, 4}), Array::zeros(f32, {5, 4})}) == "");
  }
  (void)ki;
}

TEST_CASE("a split that was proved exact and is not is reported") {
  test::Matmul m;
  split(m.p, axis_of(m.p, m.product, m.i.id), 4, ir::Tail::exact);
  interp::Arguments args{ramp(f32, {6, 2}), ramp(f32, {2, 3}), Array::zeros(f32, {6, 3})};
  CHECK_THROWS_WITH_AS(interp::run(m.p, args), "stage `C` at i = 6, j = 0 leaves a split that was proved exact", RunError);
}

TEST_CASE("an intermediate computed at the top: box, storage, evaluations") {
  test::Blur b;
  interp::Arguments args{ramp(i32, {6}), Array::zeros(i32, {6})};
  CHECK(both_agree(b.p, args) == "");
  const interp::Counters n = interp::run(b.p, args);
  CHECK(n.evaluations.at(b.p_stage) == 8);
  CHECK(n.peak_bytes == 8 * 4);
  CHECK(n.allocations == 1);
}

namespace {
// Moves the nest of `p` (and its alloc, unless it stays outside) into the loop of `out`.
void compute_inside(test::Blur& b, bool alloc_too) {
  const Stmt alloc = b.p.body[0], nest = b.p.body[1];
  Stmt& loop = b.p.body[2].body().front();
  loop.body().insert(loop.body().begin(), nest);
  if (alloc_too) loop.body().insert(loop.body().begin(), alloc);
  b.p.body.erase(b.p.body.begin() + (alloc_too ? 0 : 1), b.p.body.begin() + 2);
}
}  // namespace

TEST_CASE("computed inside the consumer's loop: a window each time") {
  test::Blur b;
  compute_inside(b, true);
  CHECK(both_agree(b.p, {ramp(i32, {6}), Array::zeros(i32, {6})}) == "");
  interp::Arguments args{ramp(i32, {6}), Array::zeros(i32, {6})};
  const interp::Counters n = interp::run(b.p, args);
  CHECK(n.evaluations.at(b.p_stage) == 18);
  CHECK(n.peak_bytes == 3 * 4);
  CHECK(n.allocations == 6);
  CHECK(n.bytes_of.at(b.p_buffer) == 12);
}

TEST_CASE("a sliding window in a ring: each point once, as many slots as stated") {
  test::Blur b;
  compute_inside(b, false);
  Stmt& loop = b.p.body[1].body().front();
  loop.body().front().get<NestStmt>().slides.push_back({loop.id, b.py.id, {}});
  auto fold = [&](std::int64_t slots) {
    ir::Layout& layout = b.p.buffers.at(b.p_buffer).layout;
    const ir::Id v = b.p.fresh();
    layout.vars = {v};
    layout.map = {ir::mod(ir::var(v, "y"), ir::index(slots))};
  };
  interp::Arguments args{ramp(i32, {9}), Array::zeros(i32, {9})};
  SUBCASE("three slots suffice") {
    fold(3);
    CHECK(both_agree(b.p, args) == "");
    const interp::Counters n = interp::run(b.p, args);
    CHECK(n.evaluations.at(b.p_stage) == 11);
    CHECK(n.peak_bytes == 12);
  }
  SUBCASE("two do not: the reader finds another point in its slot") {
    fold(2);
    CHECK_THROWS_WITH_AS(interp::run(b.p, args), "stage `out` at y = 0 reads p[-1], whose storage now holds another point",
                         RunError);
  }
}

TEST_CASE("reading before writing is reported") {
  test::Blur b;
  std::swap(b.p.body[1], b.p.body[2]);
  analysis::derive_regions(b.p);
  interp::Arguments args{ramp(i32, {6}), Array::zeros(i32, {6})};
  CHECK_THROWS_WITH_AS(interp::run(b.p, args), "stage `out` at y = 0 reads p[-1], which was not written", RunError);
}

TEST_CASE("an output that is not written everywhere is reported") {
  test::Blur b;
  b.p.body[2].body().front().get<LoopStmt>().part = ir::Part::but_last;
  interp::Arguments args{ramp(i32, {6}), Array::zeros(i32, {6})};
  CHECK_THROWS_WITH_AS(interp::run(b.p, args),
                       "the output out was not written everywhere: element 5 in row-major order is missing", RunError);
}

TEST_CASE("a run ends where its blocks have executed as often as they may") {
  test::Matmul m;
  interp::Arguments args{ramp(f32, {5, 7}), ramp(f32, {7, 4}), Array::zeros(f32, {5, 4})};
  interp::Options enough, less;
  enough.max_blocks = 5 * 4 * 7, less.max_blocks = 5 * 4 * 7 - 1;
  CHECK(both_agree(m.p, args, enough) == "");
  CHECK_THROWS_WITH_AS(interp::run(m.p, args, less), "more than 139 executions of blocks", RunError);
}

TEST_CASE("parallel loops run in any order") {
  test::Blur b;
  compute_inside(b, true);
  b.p.body[0].body().front().get<LoopStmt>().kind = ir::LoopKind::parallel;
  for (auto order : {interp::Options::Order::forward, interp::Options::Order::reverse, interp::Options::Order::shuffled})
    CHECK(both_agree(b.p, {ramp(i32, {6}), Array::zeros(i32, {6})}, {order, 5}) == "");
}

TEST_CASE("a parallel loop whose iterations depend on each other is found by the order") {
  test::Blur b;
  compute_inside(b, false);
  Stmt& loop = b.p.body[1].body().front();
  loop.body().front().get<NestStmt>().slides.push_back({loop.id, b.py.id, {}});
  loop.get<LoopStmt>().kind = ir::LoopKind::parallel;
  interp::Arguments args{ramp(i32, {6}), Array::zeros(i32, {6})};
  CHECK_THROWS_WITH_AS(interp::run(b.p, args, {interp::Options::Order::reverse, 0}),
                       "stage `out` at y = 5 reads p[4], which was not written", RunError);
}

TEST_CASE("a padded split over filled storage reads the fill") {
  Maker m;
  const Expr K = m.symbol("K");
  const ir::Id in = m.input("in", f32, {K}), copy = m.temporary("copy", f32, 1), out = m.output("out", f32, {ir::index(1)});
  const ir::IterVar c = m.iter("c"), o = m.spatial("o", ir::index(1)), k = m.reduce("k", K);
  const ir::Id cache = m.stage(copy, {c}, m.at(in, {Maker::of(c)}));
  ir::Stage& s = m.p.stages.at(cache);
  s.origin = ir::Stage::Origin::cache_read;
  s.origin_of = in;
  s.has_fill = true;
  s.fill = ir::float_const(f32, 0);
  const ir::Id total = m.stage(out, {o, k}, m.at(copy, {Maker::of(k)}), ir::ReducerKind::sum, ir::float_const(f32, 0));
  split(m.p, axis_of(m.p, total, k.id), 4, ir::Tail::pad);
  CHECK(both_agree(m.p, {ramp(f32, {6}), Array::zeros(f32, {1})}) == "");
  interp::Arguments args{ramp(f32, {6}), Array::zeros(f32, {1})};
  CHECK(interp::run(m.p, args).peak_bytes == 8 * 4);
}
