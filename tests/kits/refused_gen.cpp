// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kits refuse.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {

class HalfScalar : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", f16, {N}};
  Scalar a{"a", f16};
  Output y{"y", f16, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) * a; });
  }
};
ASHLAR_GENERATOR(HalfScalar, "half_scalar");

class DoubleScalar : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", f64, {N}};
  Scalar a{"a", f64};
  Output y{"y", f64, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) * a; });
  }
};
ASHLAR_GENERATOR(DoubleScalar, "double_scalar");

class FourBits : public Generator {
 public:
  Symbol N{"N"};
  Input x{"x", i4, {N}};
  Output y{"y", i32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return i32(x(i)); });
  }
};
ASHLAR_GENERATOR(FourBits, "four_bits");

class Packed : public Generator {
 public:
  Symbol N{"N", {.multiple_of = 8}};
  Input x{"x", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i); });
  }
  void schedule(Schedule& s) override {
    s.pack_argument(x, [&](Var i) { return at(i / 8, i % 8); }, Pack::by_caller);
  }
};
ASHLAR_GENERATOR(Packed, "packed");

class NoInput : public Generator {
 public:
  Symbol N{"N"};
  Output y{"y", i32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return i32(i); });
  }
};
ASHLAR_GENERATOR(NoInput, "no_input");

class Rounded : public Generator {  // has no derivative
 public:
  Symbol N{"N"};
  Input x{"x", f32, {N}};
  Output y{"y", i32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return i32(round(x(i))); });
  }
};
ASHLAR_GENERATOR(Rounded, "rounded");

class Unused : public Generator {  // of w
 public:
  Symbol N{"N"};
  Input x{"x", f32, {N}}, w{"w", f32, {N}};
  Output y{"y", f32, {N}};
  void algorithm() override {
    y = compute("y", {N}, [&](Var i) { return x(i) + 0 * floor(w(i)); });
  }
};
ASHLAR_GENERATOR(Unused, "unused");

}  // namespace
