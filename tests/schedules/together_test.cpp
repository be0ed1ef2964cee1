// Results of different shapes from the same rows, by default: one pass over the rows makes both.
#include "tests/schedules/by_default.h"

using namespace by_default_test;

namespace {

// Rows in bytes, each with the scale that its largest number asks for.
struct Quantized {
  std::vector<Tensor> results;
  Quantized(const Tensor& x, int depth) {
    const Axis k{"k", depth};
    const auto shape = x.shape().extents();
    if (shape.size() == 2) {
      const Tensor most = compute("most", {{"t", shape[0]}}, [&](Var t) { return maximum(abs(x(t, k)), k); });
      const Tensor scale = compute("scale", {{"t", shape[0]}}, [&](Var t) { return max(most(t), 1.0f) / 8.0f; });
      results = {scale, compute("q", {{"t", shape[0]}, {"d", shape[1]}},
                                [&](Var t, Var d) { return saturate(i8, round(x(t, d) / scale(t))); })};
    } else {
      const Tensor scale =
          compute("scale", {{"t", shape[0]}, {"h", shape[1]}}, [&](Var t, Var h) { return maximum(abs(x(t, h, k)), k); });
      results = {scale, compute("q", {{"t", shape[0]}, {"h", shape[1]}, {"d", shape[2]}}, [&](Var t, Var h, Var d) {
                   return saturate(i8, round(x(t, h, d) * 8.0f / max(scale(t, h), 1.0f)));
                 })};
    }
  }
};

}  // namespace

TEST_CASE("by default: rows and what is found of each row are made in one pass") {
  lang::DefinitionScope scope;
  const Symbol T{"T"};
  const Tensor x = input("x", f32, {T, 200});
  const Scheduled s({x}, Quantized(x, 200).results);
  CHECK(s.has("q", "computed beside scale"));
  CHECK(s.has("most", "computed at t of scale"));
  CHECK(s.has("scale", "t in parallel"));
  CHECK(s.text().find("nest q t [t, +1) d [0, +200) beside t") != std::string::npos);
  for (const std::int64_t t : {0, 1, 7}) s.same({{t, 200}, {t}, {t, 200}});
  // on one thread too
  const Scheduled alone({x}, Quantized(x, 200).results, {.parallel = false});
  CHECK(alone.has("q", "computed beside scale"));
  CHECK(alone.text().find("parallel") == std::string::npos);
}

TEST_CASE("by default: heads of a row, a scale each") {
  lang::DefinitionScope scope;
  const Symbol T{"T"};
  const Tensor x = input("x", f32, {T, 12, 64});
  const Scheduled s({x}, Quantized(x, 64).results);
  CHECK(s.has("q", "computed beside scale"));
  CHECK(s.text().find("nest q t [t, +1) h [0, +12) d [0, +64) beside t") != std::string::npos);
  for (const std::int64_t t : {0, 1, 5}) s.same({{t, 12, 64}, {t, 12}, {t, 12, 64}});
}

TEST_CASE("by default: a result of a row whose reader computes several rows at once stays apart") {
  for (const char* target : {"x86-64-v3", "x86-64-v4", "aarch64+sve"}) {
    CAPTURE(target);
    lang::DefinitionScope scope;
    const Symbol T{"T"}, N{"N"};
    const Tensor x = input("x", f32, {T, N});
    const Axis k{"k", N};
    const Tensor most = compute("most", {{"t", T}}, [&](Var t) { return maximum(x(t, k), k); });
    const Tensor total = compute("total", {{"t", T}}, [&](Var t) { return sum(exp(x(t, k) - most(t)), k); });
    const Scheduled s({x}, {most, total}, {.regroup = false}, target);
    const std::string told = s.by.choices.text();
    CHECK_MESSAGE(told.find("not computed beside most: several rows are computed at once") != std::string::npos, told);
    CHECK(s.has("most", "in parallel"));
    CHECK(s.has("total", "in parallel"));
    for (const std::int64_t t : {0, 1, 4, 37}) s.same({{t, 50}, {t}, {t}});
  }
}

TEST_CASE("by default: what does not gain by one pass, or may not, stays apart") {
  lang::DefinitionScope scope;
  const Symbol T{"T"}, N{"N"};
  const auto apart = [](const Scheduled& s) { return s.text().find("beside") == std::string::npos; };
  {  // a row that no cache holds until it is read again
    const Tensor x = input("x", f32, {T, 1 << 20});
    CHECK(apart(Scheduled({x}, Quantized(x, 1 << 20).results)));
  }
  {  // rows of other tensors
    const Tensor x = input("x", f32, {T, 64}), z = input("z", f32, {T, 64});
    const Axis k{"k", 64};
    const Tensor most = compute("most", {{"t", T}}, [&](Var t) { return maximum(x(t, k), k); });
    CHECK(
        apart(Scheduled({x, z}, {most, compute("y", {{"t", T}, {"d", 64}}, [&](Var t, Var d) { return z(t, d) + most(t); })})));
  }
  {  // a row that needs what is found of another row
    const Tensor x = input("x", f32, {N, 64});
    const Axis k{"k", 64};
    const Tensor most = compute("most", {{"t", N}}, [&](Var t) { return maximum(x(t, k), k); });
    const Tensor y = compute("y", {{"t", N}, {"d", 64}}, [&](Var t, Var d) { return x(t, d) + most(N - 1 - t); });
    const Scheduled s({x}, {most, y});
    CHECK(apart(s));
    s.same({{6, 64}, {6}, {6, 64}});
  }
  {  // two readers: the first found is computed beside, the other by itself
    const Tensor x = input("x", f32, {N, 64});
    const Axis k{"k", 64};
    const Tensor most = compute("most", {{"t", N}}, [&](Var t) { return maximum(x(t, k), k); });
    const auto over = [&](const char* name, float by) {
      return compute(name, {{"t", N}, {"d", 64}}, [&](Var t, Var d) { return x(t, d) * by + most(t); });
    };
    const Scheduled s({x}, {most, over("y", 2), over("z", 3)});
    CHECK(s.has("y", "computed beside most") != s.has("z", "computed beside most"));
    s.same({{6, 64}, {6}, {6, 64}, {6, 64}});
  }
}
