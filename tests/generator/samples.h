#pragma once
// Generators for the tests of the tool. Included by one test only: each registers itself.
#include <ashlar/ashlar.h>

#include "tests/generator/formulas.h"

enum class SampleMode { plain, doubled };
template <>
struct ashlar::ParamNames<SampleMode> {
  static constexpr NamedValue<SampleMode> values[] = {{"plain", SampleMode::plain}, {"doubled", SampleMode::doubled}};
};

namespace {
using namespace ashlar;

class Scale : public Generator {
 public:
  Param<int> by{"by", 2, {{2, 3, 4}}, "what each element is multiplied by"};
  Param<Type> T{"T", f32, "element type"};
  Param<bool> vector{"vector", true};
  Param<float> bias{"bias", 0.1f, "added afterwards"};
  Param<SampleMode> mode{"mode", SampleMode::plain};
  Symbol N{"N", {.min = 1}};
  Input x{"x", T, {N}};
  Output y{"y", T, {N}};

  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return T(f32(x(i)) * (*mode == SampleMode::doubled ? 2 * by : *by) + bias); });
  }
  void schedule(Schedule& s) override {
    auto [i] = s[y].spatial<1>();
    if (vector) s[y].vectorize(i, 8);
  }
};
ASHLAR_GENERATOR(Scale, "scale");

class Chosen : public formulas::RowSums {  // a schedule with choices
 public:
  void schedule(Schedule& s) override {
    const Loop i = s[y].spatial<1>()[0];
    auto [o, n] = s[y].split(i, s.choose("rows", {4, 2, 8}));
    s.choose_one_of("inside", {[] {}, [&, l = n] { s[y].unroll(l); }});
  }
};
ASHLAR_GENERATOR(Chosen, "chosen");

class WrongSchedule : public formulas::RowSums {  // a parallel loop over a reduction
 public:
  void schedule(Schedule& s) override { s[y].parallel(s[y].reduction()); }
};
ASHLAR_GENERATOR(WrongSchedule, "wrong_schedule");

class WrongAlgorithm : public Generator {  // one index too few
 public:
  Symbol M{"M"};
  Input x{"x", f32, {M, M}};
  Output y{"y", f32, {M}};
  void algorithm() override {
    y = compute("y", {M}, [&](Var i) { return x(i); });
  }
};
ASHLAR_GENERATOR(WrongAlgorithm, "wrong_algorithm");

class TwoSymbols : public Generator {  // of one name
 public:
  Symbol M{"M"}, N{"M"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M, N}};
  void algorithm() override {
    y = compute("y", {M, N}, [&](Var i, Var j) { return x(i, j); });
  }
};
ASHLAR_GENERATOR(TwoSymbols, "two_symbols");

class LeftOut : public Generator {  // no schedule(): the default one
 public:
  Symbol M{"M"}, N{"N"};
  Input A{"A", f32, {M, N}}, x{"x", f32, {N}};
  Output y{"y", f32, {M}};
  void algorithm() override {
    Axis k{"k", N};
    y = compute("y", {M}, [&](Var i) { return sum(A(i, k) * x(k), k); });
  }
};
ASHLAR_GENERATOR(LeftOut, "left_out");

class PlainLoops : public LeftOut {  // an empty one: none
 public:
  void schedule(Schedule&) override {}
};
ASHLAR_GENERATOR(PlainLoops, "plain_loops");

class Unbound : public Generator {  // says nothing of its output
 public:
  Symbol M{"M"};
  Output y{"y", f32, {M}};
  void algorithm() override {}
};
ASHLAR_GENERATOR(Unbound, "unbound");

class Panels : public Generator {  // the interface is another one where there is AVX2
 public:
  Input a{"a", f32, {16, 16}}, b{"b", f32, {16, 16}};
  Output c{"c", f32, {16, 16}};
  void algorithm() override {
    Axis k{"k", 16};
    c = compute("c", {16, 16}, [&](Var i, Var j) { return sum(a(i, k) * b(k, j), k); });
  }
  void schedule(Schedule& s) override {
    if (s.target().has("avx2")) s.pack_argument(b, [](Var k, Var j) { return at(j / 4, k, j % 4); }, Pack::by_caller);
  }
};
ASHLAR_GENERATOR(Panels, "panels");

class NarrowSums : public Generator {  // one in the type of its terms, one in a wider one
 public:
  Symbol M{"M"}, N{"N"};
  Input x{"x", i8, {M, N}};
  Output bytes{"bytes", i8, {M}}, wide{"wide", i32, {M}};
  void algorithm() override {
    Axis k{"k", N};
    bytes = compute("bytes", {M}, [&](Var i) { return sum(x(i, k), k); });
    wide = compute("wide", {M}, [&](Var i) { return sum(i32(x(i, k)), k); });
  }
  void schedule(Schedule&) override {}
};
ASHLAR_GENERATOR(NarrowSums, "narrow_sums");
}  // namespace
