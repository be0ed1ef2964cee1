// The interpreter's arguments as compiled code takes them.
#pragma once
#include <deque>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/function.h>
#include <ashlar/runtime/runtime.h>

namespace ops_test {

inline ashlar::interp::Array of_scalar(const ashlar::ir::Value& value) {
  ashlar::interp::Array one = ashlar::interp::Array::zeros(value.type, {1});
  one.set(std::vector<std::int64_t>{0}, value);
  return one;
}

// For the entry on tensors; the arguments must outlive it.
struct Pointers {
  explicit Pointers(ashlar::interp::Arguments& arguments) : tensors(arguments.size()) {
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (arguments[k].is_scalar) {
        scalars.push_back(of_scalar(arguments[k].scalar));
        all.push_back(scalars.back().bytes.data());
        continue;
      }
      ashlar::interp::Array& a = arguments[k].array;
      ashlar_tensor& t = tensors[k];
      t = {};
      t.data = a.bytes.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(a.shape.size());
      const ashlar::ir::TensorCode type = ashlar::ir::tensor_code(a.type);
      t.type_code = type.code, t.type_bits = type.bits, t.type_lanes = 1, t.shape = a.shape.data();
      all.push_back(&t);
    }
  }
  std::vector<ashlar_tensor> tensors;
  std::deque<ashlar::interp::Array> scalars;
  std::vector<const void*> all;
};

}  // namespace ops_test
