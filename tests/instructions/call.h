#pragma once
// Calls of compiled code on the arguments of an interpreter.
#include <vector>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/interp/interpreter.h>
#include <ashlar/runtime/runtime.h>

namespace instructions {

template <class Compiled>
int call(const Compiled& code, ashlar::interp::Arguments& arguments) {
  std::vector<ashlar_tensor> tensors(arguments.size());
  std::vector<const void*> pointers;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    ashlar::interp::Array& a = arguments[k].array;
    const ashlar::codegen::TensorType type = ashlar::codegen::tensor_type(a.type);
    ashlar_tensor& t = tensors[k];
    t.data = a.bytes.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(a.shape.size());
    t.type_code = static_cast<std::uint8_t>(type.code), t.type_bits = static_cast<std::uint8_t>(type.bits), t.type_lanes = 1;
    t.shape = a.shape.data();
    pointers.push_back(&t);
  }
  return code.call(pointers);
}

}  // namespace instructions
