#pragma once
// The programs over which saved schedules are read, by name. Small, and between them with every kind of stage.
#include <string_view>
#include <vector>

#include <ashlar/ashlar.h>
#include <ashlar/lang/build_program.h>

namespace fuzz {

using namespace ashlar;

struct LoaderProgram {
  lang::Built built;
  std::vector<Tensor> stages;  // the last one is the output
};

inline LoaderProgram loader_program(std::string_view name) {
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 4}}, K{"K"};
  if (name == "matmul") {
    Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}),
           C = lang::make_output("C", f32, {M, N});
    Axis k{"k", K};
    lang::bind(C, compute("C", {{"i", M}, {"j", N}}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); }));
    return {lang::build_program("matmul", {A, B, C}), {A, B, C}};
  }
  if (name == "blur") {
    Tensor in = lang::make_input("in", f32, {M, N}), out = lang::make_output("out", f32, {M, N - 2});
    const Tensor wide = boundary::repeat(in);
    const Tensor across = compute("across", [&](Var y, Var x) { return wide(y, x) + wide(y, x + 1) + wide(y, x + 2); });
    lang::bind(out, compute("blur", {{"y", M}, {"x", N - 2}},
                            [&](Var y, Var x) { return across(y - 1, x) + across(y, x) + across(y + 1, x); }));
    return {lang::build_program("blur", {in, out}), {in, across, out}};
  }
  if (name == "histogram") {
    Tensor in = lang::make_input("in", u8, {M, N}), counts = lang::make_output("counts", u32, {256});
    lang::bind(counts, scatter("counts", {256}, Combine::add, u32(0), {{"y", M}, {"x", N}},
                               [&](Var y, Var x) { return put(u32(1), in(y, x)); }));
    return {lang::build_program("histogram", {in, counts}), {in, counts}};
  }
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {M, N});  // low_pass
  lang::bind(y, recur(
                    "low_pass", {{"r", M}, {"t", N}}, Along{1}, Lag{1}, [&](Var r, Var t) { return x(r, t); },
                    [&](Prior before, Var r, Var t) { return 0.5f * x(r, t) + 0.5f * before(r, t - 1); }));
  return {lang::build_program("low_pass", {x, y}), {x, y}};
}

}  // namespace fuzz
