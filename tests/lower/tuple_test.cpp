// Reductions of several values, scheduled: what the schedule and the kernel compute is what the algorithm says.
#include <tuple>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/step.h>

#include "check.h"
#include "launched.h"
#include "tests/support/refused.h"
#include "tests/support/tuple_operators.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

// v[i], p[i]: the largest of row i of x, and where
struct Largest {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x, v, p, value, place;
  Axis k{"k", N};
  lang::Built built;
  Schedule s;
  explicit Largest(const char* target)
      : x(lang::make_input("x", f32, {M, N})),
        v(lang::make_output("v", f32, {M})),
        p(lang::make_output("p", i64, {M})),
        built(defined()),
        s(built, Target::parse(target)) {}
  lang::Built defined() {
    std::tie(value, place) = two(compute("best", {M}, [&](Var i) { return argmax(x(i, k), k); }));
    lang::bind(v, value), lang::bind(p, place);
    return lang::build_program("largest", {x, v, p});
  }
  static std::pair<Tensor, Tensor> two(const std::array<Tensor, 2>& t) { return {t[0], t[1]}; }
  void same() {
    const std::vector<Sizes> shapes{{{"M", 5}, {"N", 300}}, {{"M", 4}, {"N", 31}}, {{"M", 1}, {"N", 1}}, {{"M", 2}, {"N", 0}}};
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, shapes);
    schedule::finish(s.scheduled(), s.target());
    handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, handmade::options_for(s.target())), shapes);
  }
};

// re[i], im[i]: the product of row i of z, complex; both are 32 bits wide
struct Complex {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor z, re, im, a, b;
  Axis k{"k", N};
  lang::Built built;
  Schedule s;
  Complex(const char* target, Order order)
      : z(lang::make_input("z", i32, {M, N, 2})),
        re(lang::make_output("re", i32, {M})),
        im(lang::make_output("im", i32, {M})),
        built(defined(order)),
        s(built, Target::parse(target)) {}
  lang::Built defined(Order order) {
    const auto times = reducer(
        "times", {i32, i32}, {1, 0},
        [](Values<2> l, Values<2> r) { return values(l[0] * r[0] - l[1] * r[1], l[0] * r[1] + l[1] * r[0]); }, order);
    const auto both = compute("product", {M}, [&](Var i) { return times(values(z(i, k, 0), z(i, k, 1)), k); });
    a = both[0], b = both[1];
    lang::bind(re, a), lang::bind(im, b);
    return lang::build_program("product", {z, re, im});
  }
  void same() {
    const std::vector<Sizes> shapes{{{"M", 5}, {"N", 300}}, {{"M", 4}, {"N", 31}}, {{"M", 2}, {"N", 0}}};
    if (s.target().is_gpu()) return handmade::same_on_device(built.program, s, shapes);
    handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, handmade::options_for(s.target())), shapes);
  }
};

}  // namespace

TEST_CASE("argmax taken apart into lanes that keep their own extreme and place") {
  Largest t("x86-64-v3");
  auto [ko, ki] = t.s[t.value].split(t.s[t.value].reduction(), 8);
  Stage lanes = t.s[t.place].rfactor(ki);  // either value names the stage
  lanes.compute_at(t.s[t.value].spatial<1>()[0]);
  lanes.vectorize(lanes.spatial<2>()[1]);
  t.same();
}

TEST_CASE("argmax in parallel rows, split with a remainder taken apart, unrolled") {
  Largest t("x86-64");
  Loop i = t.s[t.value].spatial<1>()[0];
  auto [ko, ki] = t.s[t.value].split(t.s[t.value].reduction(), 4, Tail::peel);
  t.s[t.value].parallel(i).unroll(ki);
  t.same();
}

TEST_CASE("argmax over threads: 64-bit places go through shared memory, on every target") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Largest t(target);
    auto [ko, ki] = t.s[t.value].split(t.s[t.value].reduction(), 64);
    t.s[t.value].bind(t.s[t.value].spatial<1>()[0], gpu::block_x).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
    t.same();
  }
}

TEST_CASE("a complex product over threads: both parts of a value are exchanged before either changes") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    Complex t(target, Order::any);
    auto [io, ii] = t.s[t.a].split(t.s[t.a].spatial<1>()[0], 2);
    auto [ko, ki] = t.s[t.a].split(t.s[t.a].reduction(), 64);
    t.s[t.a].bind(io, gpu::block_x).bind(ii, gpu::thread_y).cross_thread_reduce(ki).bind(ki, gpu::thread_x);
    t.same();
  }
}

TEST_CASE("Order::regroup: runs of neighbors may be taken apart, and nothing else") {
  {
    Complex t("x86-64", Order::regroup);
    auto [ko, ki] = t.s[t.a].split(t.s[t.a].reduction(), 16);
    const std::string why = refused([&] { t.s[t.a].rfactor(ki); });
    CHECK(
        why.find("rfactor: expected a reducer declared with Order::any, found times of product, whose terms are met in order; "
                 "rfactor sums its parts apart") != std::string::npos);
    CHECK(refused([&] { t.s[t.a].reorder(ki, ko); }).find("a reducer declared with Order::any") != std::string::npos);
    Stage runs = t.s[t.a].rfactor(ko);
    runs.parallel(runs.spatial<2>()[1]);
    t.same();
  }
  {
    Complex t("x86-64", Order::exact);
    auto [ko, ki] = t.s[t.a].split(t.s[t.a].reduction(), 16);
    CHECK(refused([&] { t.s[t.a].rfactor(ko); }).find("a reducer declared with Order::any") != std::string::npos);
    t.s[t.a].unroll(ki);
    t.same();
  }
  {
    Complex t("cuda-sm_80", Order::regroup);  // the butterfly of a warp takes parts in both orders
    auto [ko, ki] = t.s[t.a].split(t.s[t.a].reduction(), 32);
    CHECK(refused([&] { t.s[t.a].cross_thread_reduce(ki); }).find("a reducer declared with Order::any") != std::string::npos);
  }
}

TEST_CASE("an identity that does not combine with itself: empty parts may not meet") {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {}), z = lang::make_output("z", f32, {});
  Axis k{"k", N};
  const auto scaled = reducer(
      "scaled_sum", {f32, f32}, {lowest(f32), 0},
      [](Values<2> a, Values<2> b) {
        Expr m = max(a[0], b[0]);
        return values(m, a[1] * exp(a[0] - m) + b[1] * exp(b[0] - m));  // -inf - -inf is NaN
      },
      Order::any);
  const auto both = compute("s", [&] { return scaled(values(x(k), 1), k); });
  lang::bind(y, both[0]), lang::bind(z, both[1]);
  const lang::Built built = lang::build_program("scaled", {x, y, z});
  Schedule s(built, Target::parse("x86-64"));
  auto [ko, ki] = s[both[0]].split(s[both[0]].reduction(), 8);
  const std::string why = refused([&] { s[both[0]].rfactor(ki); });
  CHECK(why.find(
            "rfactor: expected a reducer whose identity combines with itself (a part without terms is the identity), found "
            "scaled_sum of s\n  conflict: the identity (-inf, 0) combined with itself gives (-inf, nan)") != std::string::npos);
  handmade::check_kernel(s.scheduled().program, lower(s.scheduled().program, handmade::options_for(s.target())),
                         {{{"N", 1}}, {{"N", 19}}});
}

TEST_CASE("operators that reduce to several values, on devices") {
  for (const char* target : {"vulkan", "cuda-sm_80"}) {
    const Target t = Target::parse(target);
    const gpu_operators::ArgMax largest(t);
    handmade::same_on_device(largest.built.program, largest.s, {{{"M", 3}, {"N", 200}}, {{"M", 2}, {"N", 0}}});
    const gpu_operators::ComplexProduct product(t);
    handmade::same_on_device(product.built.program, product.s, {{{"M", 5}, {"N", 131}}, {{"M", 1}, {"N", 1}}});
    const gpu_operators::OnlineAttention attention(t);
    handmade::same_on_device(attention.built.program, attention.s,
                             {{{"M", 40}, {"N", 21}}, {{"M", 1}, {"N", 1}}, {{"M", 33}, {"N", 16}}});
  }
}
