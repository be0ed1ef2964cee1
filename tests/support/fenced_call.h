// Calls compiled code on fenced memory: no byte outside of an argument may be touched, and the result is the algorithm's.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <ashlar/codegen/jit.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/runtime/runtime.h>

#include "tests/support/fenced.h"

namespace fenced {

// `arguments` are tensors of at least one dimension, the last the result.
inline void same(const ashlar::codegen::Compiled& code, const ashlar::ir::Program& algorithm,
                 ashlar::interp::Arguments arguments, Fenced::Side side) {
  const std::size_t count = arguments.size();
  std::vector<std::unique_ptr<Fenced>> memory;
  std::vector<ashlar_tensor> tensors(count);
  std::vector<const void*> pointers;
  for (std::size_t k = 0; k < count; ++k) {
    ashlar::interp::Array& a = arguments[k].array;
    memory.push_back(std::make_unique<Fenced>(a.bytes.size(), side));
    if (!a.bytes.empty()) std::memcpy(memory[k]->data(), a.bytes.data(), a.bytes.size());
    const ashlar::ir::TensorCode type = ashlar::ir::tensor_code(a.type);
    tensors[k].data = memory[k]->data(), tensors[k].device_type = 1;
    tensors[k].ndim = static_cast<std::int32_t>(a.shape.size()), tensors[k].shape = a.shape.data();
    tensors[k].type_code = type.code, tensors[k].type_bits = type.bits, tensors[k].type_lanes = 1;
    pointers.push_back(&tensors[k]);
  }
  REQUIRE(code.call(pointers) == ASHLAR_OK);
  ashlar::interp::run_algorithm(algorithm, arguments);
  const auto& expected = arguments.back().array.bytes;
  CHECK((expected.empty() || std::memcmp(memory.back()->data(), expected.data(), expected.size()) == 0));
}

}  // namespace fenced
