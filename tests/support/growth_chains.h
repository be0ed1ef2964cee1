#pragma once
// Programs of many stages, as they are scheduled by default: what each takes is what a stage costs, times their number.
#include "tests/support/growth_programs.h"

namespace growth {

// Each stage is read from both ends, so that it is stored, with loops of its own.
struct Stored : Operator {
  explicit Stored(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor before = k == 0 ? x : stages.back();
      stages.push_back(compute("s", {N}, [&](Var i) { return exp(before(i)) + before(N - 1 - i) * 0.5f; }));
    }
  }
};

// Windows of windows, down the columns of an image: each stage reads three rows of the one before.
struct Windows {
  lang::DefinitionScope scope;
  Symbol H{"H", {.min = 1}}, W{"W", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {H, W}), y = lang::make_output("y", f32, {H, W});
  std::vector<Tensor> stages;
  explicit Windows(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor before = k == 0 ? x : stages.back();
      const auto at = [&](Var i, int by, Var j) { return k == 0 ? before(clamp(i + by, 0, H - 1), j) : before(i + by, j); };
      const auto value = [&](Var i, Var j) { return exp(at(i, -1, j)) + at(i, 0, j) + at(i, 1, j); };
      stages.push_back(k + 1 == n ? compute("s", {H, W}, value) : compute("s", value));
    }
  }
  lang::Built build() {
    lang::bind(y, stages.back());
    return lang::build_program("windows", {x, y});
  }
};

// Results that have nothing to do with each other but what they are computed of.
struct Outputs {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N});
  std::vector<lang::ArgumentRef> arguments{x};
  explicit Outputs(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor y = lang::make_output(("y" + std::to_string(k)).c_str(), f32, {N});
      lang::bind(y, compute("s", {N}, [&](Var i) { return exp(x(i)) * static_cast<float>(k + 1); }));
      arguments.emplace_back(y);
    }
  }
  lang::Built build() { return lang::build_program("outputs", arguments); }
};

// Recurrences of recurrences: each goes through the rows of the one before.
struct Filters {
  lang::DefinitionScope scope;
  Symbol R{"R", {.min = 1}}, T{"T", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {R, T}), y = lang::make_output("y", f32, {R, T});
  std::vector<Tensor> stages;
  explicit Filters(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor before = k == 0 ? x : stages.back();
      stages.push_back(recur(
          "s", {{"r", R}, {"t", T}}, Along{1}, Lag{1}, [&](Var r, Var t) { return before(r, t); },
          [&](Prior s, Var r, Var t) { return before(r, t) + s(r, t - 1) * 0.5f; }));
    }
  }
  lang::Built build() {
    lang::bind(y, stages.back());
    return lang::build_program("filters", {x, y});
  }
};

// Sums of rows, each of what the one before made of them.
struct Rows {
  lang::DefinitionScope scope;
  Symbol R{"R", {.min = 1}}, T{"T", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {R, T}), y = lang::make_output("y", f32, {R, T});
  std::vector<Tensor> stages;
  explicit Rows(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor before = k == 0 ? x : stages.back();
      Axis a{"a", T};
      const Tensor total = compute("total", {R}, [&](Var r) { return sum(before(r, a), a); });
      stages.push_back(compute("s", {R, T}, [&](Var r, Var t) { return before(r, t) / total(r); }));
    }
  }
  lang::Built build() {
    lang::bind(y, stages.back());
    return lang::build_program("rows", {x, y});
  }
};

}  // namespace growth
