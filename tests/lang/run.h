#pragma once
// Runs what was defined through the reference interpreter, both ways: the definitions alone, and the tree that computes every
// stage at the top over the box its readers need.
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/analysis/regions.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/lang/build_program.h>

// The values of the last argument, an output, in row-major order; actual holds its shape.
inline std::vector<double> run(const std::vector<ashlar::lang::ArgumentRef>& arguments, ashlar::interp::Arguments actual) {
  ashlar::lang::Built b = ashlar::lang::build_program("test", arguments);
  ashlar::interp::Arguments tree = actual;
  ashlar::interp::run_algorithm(b.program, actual);
  ashlar::analysis::derive_regions(b.program);
  ashlar::interp::run(b.program, tree);
  CHECK(ashlar::interp::difference(tree.back().array, actual.back().array) == "");
  const ashlar::interp::Array& result = actual.back().array;
  std::vector<double> values;
  std::vector<std::int64_t> index(result.shape.size(), 0);
  for (std::int64_t n = result.elements(), k = 0; k < n; ++k) {
    std::int64_t rest = k;
    for (std::size_t d = index.size(); d-- > 0; rest /= result.shape[d]) index[d] = rest % result.shape[d];
    const ashlar::ir::Value v = result.at(index);
    values.push_back(v.type.is_float() ? v.f : static_cast<double>(v.i));
  }
  return values;
}

// 1, 2, 3, ... in row-major order.
inline ashlar::interp::Array counting(ashlar::Type t, std::vector<std::int64_t> shape) {
  double next = 0;
  return ashlar::interp::Array::make(t, std::move(shape), [&](std::span<const std::int64_t>) { return ++next; });
}
