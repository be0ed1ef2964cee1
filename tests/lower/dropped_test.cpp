// drop_dim: components that are the same along a dimension are stored once, whatever loops run over it.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"
#include "tests/support/refused.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// y[i, c] = o / l of (m, l, o)[i, c] over k: the softmax of row i of x times the columns of v, in one pass
struct Attend {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"}, C{"C"};
  Tensor x, v, y, m, l, o, result;
  Axis k{"k", N};
  lang::Built built;
  Schedule s;
  explicit Attend(const char* target)
      : x(lang::make_input("x", f32, {M, N})),
        v(lang::make_input("v", f32, {N, C})),
        y(lang::make_output("y", f32, {M, C})),
        built(defined()),
        s(built, Target::parse(target)) {}
  lang::Built defined() {
    const auto online = reducer(
        "online", {f32, f32, f32}, {lowest(f32), 0, 0},
        [](Values<3> a, Values<3> b) {
          Expr top = max(a[0], b[0]), ea = exp(a[0] - top), eb = exp(b[0] - top);
          return values(top, a[1] * ea + b[1] * eb, a[2] * ea + b[2] * eb);
        },
        Order::any);
    const auto all = compute("attend", {M, C}, [&](Var i, Var c) { return online(values(x(i, k), 1, v(k, c)), k); });
    m = all[0], l = all[1], o = all[2];
    result = compute("result", {M, C}, [&](Var i, Var c) { return o(i, c) / l(i, c); });
    lang::bind(y, result);
    return lang::build_program("attend", {x, v, y});
  }
  Stage dropped() { return s[l].drop_dim(0, 1).drop_dim(1, 1); }
  void same() {
    const std::vector<Sizes> shapes{
        {{"M", 5}, {"N", 9}, {"C", 6}}, {{"M", 1}, {"N", 1}, {"C", 9}}, {{"M", 3}, {"N", 4}, {"C", 0}}};
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, shapes);
    schedule::finish(s.scheduled(), s.target());
    const ir::Kernel kernel = lower(s.scheduled().program, handmade::options_for(s.target()));
    for (const Sizes& shape : shapes) {
      interp::Arguments expected = handmade::arguments_for(built.program, shape), scheduled = expected, found = expected;
      interp::run_algorithm(built.program, expected);
      interp::run(s.scheduled().program, scheduled);
      interp::run(kernel, found, {interp::Options::Order::shuffled, 7});
      CHECK(interp::difference(scheduled.back().array, expected.back().array, 1e-5, 1e-5) == "");
      CHECK(interp::difference(found.back().array, expected.back().array, 1e-5, 1e-5) == "");
    }
  }
};

std::int64_t elements(const Schedule& s, const std::string& name, const Sizes& shape) {
  interp::Arguments a = handmade::arguments_for(s.scheduled().program, shape);
  const auto counters = interp::run(s.scheduled().program, a);
  for (const auto& [id, b] : s.scheduled().program.buffers)
    if (b.name == name) return counters.bytes_of.at(id) / b.type.bytes();
  return -1;
}

}  // namespace

TEST_CASE("the reduction inside of the dropped dimension is done again for each of its points") {
  Attend t("x86-64");
  t.dropped();
  CHECK(elements(t.s, "attend0", {{"M", 5}, {"N", 9}, {"C", 6}}) == 5);
  CHECK(elements(t.s, "attend2", {{"M", 5}, {"N", 9}, {"C", 6}}) == 30);
  t.same();
}

TEST_CASE("the reduction around the dropped dimension: every step reads what the step before stored") {
  for (const char* order : {"k i c", "i k c", "k c i"}) {
    CAPTURE(order);
    Attend t("x86-64-v3");
    Stage a = t.dropped();
    auto [i, c] = a.spatial<2>();
    Loop k = a.reduction();
    if (order[0] == 'i')
      a.reorder(i, k, c);
    else if (order[2] == 'i')
      a.reorder(k, i, c);
    else
      a.reorder(k, c, i);
    t.same();
  }
}

TEST_CASE("loops over the dropped dimension that are split, vectorized, and inside of the consumer's") {
  Attend t("x86-64-v3");
  auto [i, c] = t.s[t.result].spatial<2>();
  Stage a = t.dropped().compute_at(i);
  auto [ai, ac] = a.spatial<2>();
  auto [co, ci] = a.split(ac, 4);
  a.reorder(a.reduction(), ai, co, ci).vectorize(ci);
  t.same();
  CHECK(elements(t.s, "attend1", {{"M", 5}, {"N", 9}, {"C", 6}}) == 1);
}

TEST_CASE("a block of rows on a device: one thread a row, its maximum and sum its own") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Attend t(target);
    auto [i, c] = t.s[t.result].spatial<2>();
    auto [io, ii] = t.s[t.result].split(i, 32);
    auto [co, ci] = t.s[t.result].split(c, 8);
    t.s[t.result].reorder(io, co, ii, ci).bind(io, gpu::block_y).bind(co, gpu::block_x).bind(ii, gpu::thread_x);
    Stage a = t.dropped().compute_at(ii).store_in(Scope::stack);
    auto [ai, ac] = a.spatial<2>();
    a.reorder(a.reduction(), ai, ac);
    t.same();
  }
}

TEST_CASE("drop_dim is proved, or refused with what differs") {
  Attend t("x86-64");
  CHECK(refused([&] {
          t.s[t.o].drop_dim(2, 1);
        }).find("drop_dim: expected component 2 of attend to be the same for every i1, found v[k, i1]") != std::string::npos);
  CHECK(refused([&] {
          t.s[t.o].drop_dim(0, 0);
        }).find("expected component 0 of attend to be the same for every i0, found x[i0, k]") != std::string::npos);
  CHECK(refused([&] { t.s[t.o].drop_dim(3, 0); }).find("a component of attend below 3, found 3") != std::string::npos);
  CHECK(refused([&] { t.s[t.o].drop_dim(0, 2); }).find("a dimension of attend below 2, found 2") != std::string::npos);
  CHECK(refused([&] { t.s[t.result].drop_dim(0, 0); }).find("a stage with storage of its own") != std::string::npos);
  t.s[t.o].drop_dim(0, 1);
  CHECK(refused([&] { t.s[t.o].drop_dim(0, 1); }).find("a dimension that attend0 has, found 1, which was dropped") !=
        std::string::npos);
  Stage a = t.s[t.l].drop_dim(1, 1);
  auto [i, c] = a.spatial<2>();
  Loop k = a.reduction();
  CHECK(refused([&] { a.parallel(c); }).find("parallel: expected iterations of i1 of attend one after another") !=
        std::string::npos);
  auto [ko, ki] = a.split(k, 4);
  CHECK(refused([&] { a.reorder(ko, c, ki); }).find("between two loops of the reduction") != std::string::npos);
  CHECK(refused([&] { a.fuse(i, c); }).find("loops of its own over the dimension that components of attend lack, found") !=
        std::string::npos);
  CHECK(refused([&] { a.peel(c, Peel::first); }).find("whole loops over the dimension that components of attend lack") !=
        std::string::npos);
  t.same();
  Loop lanes = a.split(c, 4).inner;
  CHECK(refused([&] { a.vectorize(lanes); }).find("write it at the same time") != std::string::npos);
  t.same();
}

TEST_CASE("a reduction that is done again starts again (fuzz seed 934001824)") {
  Attend t("x86-64");
  Stage a = t.dropped();
  for (const Loop loop : a.spatial<2>()) {  // both init all points before the loop over the dimension that is dropped
    const std::string why = refused([&] { a.decompose_init(loop); });
    CHECK(why.find("decompose_init: expected the init of attend inside of the loops over the dimension that components lack") !=
          std::string::npos);
    CHECK(why.find("found an init outside of i1 of attend") != std::string::npos);
  }
  Attend other("x86-64");
  other.s[other.o].decompose_init(other.s[other.o].spatial<2>()[0]);
  CHECK(refused([&] { other.dropped(); }).find("the second iteration of i1 of attend would go on from") != std::string::npos);
  Attend inside("x86-64");
  Stage b = inside.dropped();
  b.decompose_init(b.reduction());
  inside.same();
}

TEST_CASE("what a dropped component reads may not stand inside the loops over the dimension") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, C{"C"};
  Tensor x = lang::make_input("x", f32, {M}), y = lang::make_output("y", f32, {M, C});
  Tensor square = compute("square", [&](Var i) { return x(i) * x(i); });
  const auto two = compute("two", {M, C}, [&](Var i, Var c) { return values(square(i), f32(c) * x(i)); });
  lang::bind(y, compute("sum", {M, C}, [&](Var i, Var c) { return two[0](i, c) + two[1](i, c); }));
  const lang::Built built = lang::build_program("two", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  Stage t = s[two[0]].drop_dim(0, 1);
  auto [i, c] = t.spatial<2>();
  CHECK(refused([&] {
          s[square].compute_at(c);
        }).find("what component 0 of two reads computed outside of i1 of two, found square, computed inside") !=
        std::string::npos);
  s[square].compute_at(i);
  t.vectorize(t.split(c, 4).inner);
  handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, handmade::options_for(s.target())),
                         {{{"M", 3}, {"C", 7}}, {{"M", 2}, {"C", 0}}});
}

TEST_CASE("nor may what the other components read: one block knows all values (fuzz seed 943001262)") {
  lang::DefinitionScope scope;
  Symbol M{"M"};
  Tensor x = lang::make_input("x", f32, {M}), y = lang::make_output("y", f32, {M});
  Tensor square = compute("square", [&](Var i) { return x(i) * x(i); });
  const auto two = compute("two", {M}, [&](Var i) { return values(f32(2), square(i)); });
  lang::bind(y, compute("sum", {M}, [&](Var i) { return two[0](i) + two[1](i); }));
  const lang::Built built = lang::build_program("two", {x, y});
  Schedule s(built, Target::parse("x86-64"));
  Stage t = s[two[0]].drop_dim(0, 0);
  CHECK(refused([&] { s[square].compute_at(t.spatial<1>()[0]); }).find("what component 1 of two reads computed outside of") !=
        std::string::npos);
  handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, handmade::options_for(s.target())),
                         {{{"M", 3}}, {{"M", 0}}});
}
