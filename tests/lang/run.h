#pragma once
// Runs what was defined through the reference interpreter.
#include <functional>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/lang/build_program.h>

// The values of the last argument, an output, in row-major order; actual holds its shape.
inline std::vector<double> run(const std::vector<ashlar::lang::ArgumentRef>& arguments, ashlar::interp::Arguments actual) {
  const ashlar::lang::Built b = ashlar::lang::build_program("test", arguments);
  ashlar::interp::run_algorithm(b.program, actual);
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
