#pragma once
// Reductions whose axes run as far as tables say, and tables that keep their promises: offsets that ascend from 0 to Z.
#include <algorithm>
#include <map>
#include <string>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace tables {

using namespace ashlar;
using Sizes = std::map<std::string, std::int64_t>;

// Where row i of Z entries begins (i = 0 to M): rows of 0, 1, 2 ... entries in an order without order, the last one the rest.
inline std::int64_t offset(std::int64_t i, std::int64_t M, std::int64_t Z) {
  std::int64_t at = 0;
  for (std::int64_t r = 0; r < i; ++r) at += (r * 7 + 3) % 5 == 3 ? 0 : (r * 5 + 2) % 11;
  return i == M ? Z : std::min(at, Z);
}

// y(i) = sum of val(p) x(col(p)) over the entries p of row i: a sparse matrix (CSR) times a vector.
struct Sparse {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}}, Z{"Z"};
  Tensor first = lang::make_input("first", i32, {M + 1}), col = lang::make_input("col", i32, {Z}),
         val = lang::make_input("val", f32, {Z}), x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {M});

  Tensor rows = compute("rows", {M}, [&](Var i) {
    Axis p{"p", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
    return sum(val(p) * x(in_range(col(p), 0, N)), p);
  });
  lang::Built built = (lang::bind(y, rows), lang::build_program("sparse", {first, col, val, x, y}));
  Schedule s;
  explicit Sparse(const char* target) : s(built, Target::parse(target)) {}
};

// The same through a stage of products, one an entry.
struct Products {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N", {.min = 1}}, Z{"Z"};
  Tensor first = lang::make_input("first", i32, {M + 1}), col = lang::make_input("col", i32, {Z}),
         val = lang::make_input("val", f32, {Z}), x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {M});
  Tensor entry = compute("entry", [&](Var p) { return val(p) * x(in_range(col(p), 0, N)); });
  Tensor rows = compute("rows", {M}, [&](Var i) {
    Axis p{"p", in_range(first(i), 0, Z + 1), in_range(first(i + 1), 0, Z + 1)};
    return sum(entry(p), p);
  });
  lang::Built built = (lang::bind(y, rows), lang::build_program("products", {first, col, val, x, y}));
  Schedule s;
  explicit Products(const char* target) : s(built, Target::parse(target)) {}
};

// The tables of a program by their names: `first` ascends to Z, `col` lies below N.
inline void fill(const ir::Program& p, const Sizes& at, interp::Arguments& args) {
  for (std::size_t n = 0; n < args.size(); ++n) {
    if (args[n].is_scalar) continue;
    const std::string& name = p.buffer(p.arguments[n].id).name;
    interp::Array& a = args[n].array;
    if (name == "first")
      a = interp::Array::make(a.type, a.shape,
                              [&](auto i) { return static_cast<double>(offset(i[0], at.at("M"), at.at("Z"))); });
    if (name == "col")
      a = interp::Array::make(a.type, a.shape, [&](auto i) { return static_cast<double>((i[0] * 7 + 2) % at.at("N")); });
  }
}

}  // namespace tables
