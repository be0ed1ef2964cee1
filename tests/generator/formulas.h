#pragma once
// Algorithms that several tests schedule.
#include <ashlar/ashlar.h>

namespace formulas {

using namespace ashlar;

struct Blur : Generator {  // sums of 3 x 3 elements, by way of rows
  Symbol H{"H", {.min = 3}}, W{"W", {.min = 3}};
  Input x{"x", f32, {H, W}};
  Output y{"y", f32, {H - 2, W - 2}};
  Tensor across;
  void algorithm() override {
    across = compute("across", [&](Var r, Var c) { return x(r, c) + x(r, c + 1) + x(r, c + 2); });
    y = compute("y", {{"r", H - 2}, {"c", W - 2}},
                [&](Var r, Var c) { return across(r, c) + across(r + 1, c) + across(r + 2, c); });
  }
};

struct RowSums : Generator {
  Symbol M{"M"}, N{"N"};
  Input x{"x", f32, {M, N}};
  Output y{"y", f32, {M}};
  void algorithm() override {
    Axis k{"k", N};
    y = compute("y", {M}, [&](Var i) { return strict_sum(x(i, k), k); });
  }
};

}  // namespace formulas
