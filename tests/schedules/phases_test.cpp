// Windows under a stride: what a tile reads is copied, each phase beside each other.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

// y(c, t) of every `stride`th window of so many terms.
struct Filter {
  Tensor x, taps, y;
  template <class Results>
  Filter(Type type, std::int64_t stride, std::int64_t terms, const Results& results)
      : x(input("x", type, {3, results * stride + terms})), taps(input("taps", type, {terms})) {
    const Axis k{"k", terms};
    y = compute("y", {3, results}, [&](Var c, Var t) { return sum(x(c, t * stride + k) * taps(k), k); });
  }
};

}  // namespace

TEST_CASE("by default: windows under a stride read neighbors of one phase") {
  lang::DefinitionScope scope;
  const Symbol T{"T"};
  for (const auto& [type, stride, terms] : {std::tuple(f32, 4, 48), {f32, 2, 9}, {f64, 3, 14}, {i16, 2, 64}, {f32, 8, 32}})
    for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"}) {
      CAPTURE(target);
      CAPTURE(terms);
      const Filter f(type, stride, terms, T);
      const Scheduled s({f.x, f.taps}, {f.y}, {.regroup = false}, target);
      CHECK(s.has("y", "x copied in " + std::to_string(stride) + " phases"));
      for (const std::int64_t results : {0, 1, 63, 64, 130}) s.same({{3, results * stride + terms}, {terms}, {3, results}});
    }
}

TEST_CASE("by default: which windows are copied by phases") {
  lang::DefinitionScope scope;
  const auto copied = [](std::int64_t stride, std::int64_t terms) {
    const Filter f(f32, stride, terms, std::int64_t{200});
    return Scheduled({f.x, f.taps}, {f.y}).has("y", "x copied in");
  };
  CHECK(copied(2, 8));
  CHECK(!copied(2, 7));  // an element is in too few windows
  CHECK(copied(8, 32));
  CHECK(!copied(9, 64));  // too many phases
  CHECK(!copied(1, 64));  // neighbors as they lie
}

TEST_CASE("by default: points with a few values lie side by side in a phase") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  for (const auto& [type, stride, terms, values] :
       {std::tuple(f32, 2, 48, 2), {f32, 3, 13, 4}, {f32, 4, 17, 3}, {i32, 2, 9, 2}})
    for (const char* target : {"x86-64-v4", "x86-64-v3", "aarch64"}) {
      CAPTURE(target);
      CAPTURE(values);
      const Tensor x = input("x", type, {stride * N + terms - 1, values}), w = input("w", type, {terms});
      const Axis k{"k", terms};
      const Tensor y = compute("y", {N, values}, [&](Var n, Var c) { return sum(w(k) * x(stride * n + k, c), k); });
      const Scheduled s({x, w}, {y}, {.regroup = false}, target);
      const bool fits = 2 * values <= s.by.schedule.target().lanes(type);
      if (fits) CHECK(s.has("y", "x copied in " + std::to_string(stride) + " phases"));
      for (const std::int64_t n : {0, 1, 15, 16, 17, 63, 64, 130})
        s.same({{stride * n + terms - 1, values}, {terms}, {n, values}});
    }
}
