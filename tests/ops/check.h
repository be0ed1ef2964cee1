#pragma once
// An operator against plain loops, over several shapes: by the interpreter, compiled for this machine, and elsewhere where that
// is asked for (tests/ops/runners.h).
//
//   check("relu", [](Maker& m) {
//     const Symbol N{"N"};
//     m.out(ops::relu(m.in("x", f32, {N})));
//   }, {{{7}}, {{1}}, {{0}}}, [](const Inputs& in) { return Results{in[0].map([](double x) { return x > 0 ? x : 0; })}; });
//
// A program is built and compiled once and called at all shapes. The reference gives the shapes of the results as well: the
// entry refuses a result of another shape. Compiled code gives the interpreter's bits; these are near the reference.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/ops.h>

#include "tests/support/refused.h"

namespace ops_test {

using namespace ashlar;
using Dims = std::vector<std::int64_t>;

// A dense array of doubles, row-major: what references are written in.
struct Nd {
  Dims shape;
  std::vector<double> v;
  explicit Nd(Dims s = {}, double fill = 0) : shape(std::move(s)) { v.assign(static_cast<std::size_t>(count(shape)), fill); }
  static std::int64_t count(const Dims& s) {
    std::int64_t n = 1;
    for (const std::int64_t e : s) n *= e;
    return n;
  }
  std::int64_t n(int d) const { return shape[static_cast<std::size_t>(d)]; }
  std::int64_t size() const { return static_cast<std::int64_t>(v.size()); }
  std::size_t offset(const Dims& at) const {
    std::int64_t k = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (at[d] < 0 || at[d] >= shape[d]) throw std::out_of_range("a reference reads outside of an array");
      k = k * shape[d] + at[d];
    }
    return static_cast<std::size_t>(k);
  }
  double& at(const Dims& i) { return v[offset(i)]; }
  double at(const Dims& i) const { return v[offset(i)]; }
  template <class... I>
  double& operator()(I... i) {
    return v[offset({static_cast<std::int64_t>(i)...})];
  }
  template <class... I>
  double operator()(I... i) const {
    return v[offset({static_cast<std::int64_t>(i)...})];
  }
  double& operator[](std::int64_t k) { return v[static_cast<std::size_t>(k)]; }
  double operator[](std::int64_t k) const { return v[static_cast<std::size_t>(k)]; }
  template <class F>
  Nd map(F f) const {
    Nd r(shape);
    for (std::size_t k = 0; k < v.size(); ++k) r.v[k] = f(v[k]);
    return r;
  }
};
// Calls f with every point of a shape, in row-major order.
void each(const Dims& shape, const std::function<void(const Dims&)>& f);

using Inputs = std::vector<Nd>;  // in the order of m.in(); then the scalars, as arrays of one element
using Results = std::vector<Nd>;
using Values = std::function<double(std::uint64_t random, std::int64_t position)>;

Values between(double low, double high);            // floats, on a grid of 1/256 of the range
Values whole(std::int64_t low, std::int64_t high);  // whole numbers, both ends included
Values edges();                                     // NaN, infinities, zeros of both signs, huge and tiny ones, among ordinary
Values infinities();                                // the same without NaN
Values falls_to(double value, int one_in);          // `value` every so often, among ordinary

class Maker {
 public:
  Tensor in(const char* name, Type, const std::vector<Extent>&, Values = between(-2, 2));
  Expr scalar(const char* name, Type);
  void out(const Tensor&);

  struct Input {
    Tensor tensor;
    Expr scalar;
    Type type;
    Values values;
  };
  std::vector<Input> inputs;
  std::vector<Tensor> results;
};

struct Run {
  Run(std::vector<Dims> s, std::vector<double> v = {}) : shapes(std::move(s)), scalars(std::move(v)) {}
  std::vector<Dims> shapes;  // of the inputs
  std::vector<double> scalars;
};

// |found - expected| <= relative max(|expected|, the largest of the result's row of numbers where `of_largest`) + absolute
struct Tolerance {
  double relative = 4e-7, absolute = 1e-7;
  bool of_largest = false;
  bool emulated = false;                     // on other processors too, every time (tests/ops/runners.h)
  const char* refused_on_devices = nullptr;  // what they say, or a part of it; any other refusal is a failure
};
inline constexpr Tolerance exact{0, 0};

void check(const std::string& name, const std::function<void(Maker&)>& build, const std::vector<Run>& runs,
           const std::function<Results(const Inputs&)>& reference, Tolerance = {});

// What an operator says of arguments that it does not take.
template <class F>
std::string refusal_of(F f) {
  lang::DefinitionScope scope;
  return refused(f);
}

}  // namespace ops_test
