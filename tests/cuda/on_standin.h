#pragma once
// Two kernels on the stand-in of a driver, their operands, and what the driver was asked.
#include <functional>
#include <string>
#include <vector>

#include <ashlar/codegen/jit.h>

#include "tests/cuda/driver.h"
#include "tests/cuda/programs.h"

namespace cuda {

inline const Standin& driver() { return Standin::open(ASHLAR_STANDIN); }
inline std::string said() { return sentence(*ashlar_last_error()); }

struct FreshDriver : Fresh {
  FreshDriver() : Fresh(cuda::driver()) {}
};

inline std::string calls_of(const std::function<void()>& f) {
  const std::string before = driver().standin_calls();
  f();
  return std::string(driver().standin_calls()).substr(before.size());
}

inline const ashlar::codegen::Compiled& add_bias() {
  static const ashlar::codegen::Compiled f =
      ashlar::codegen::compile(kernel_of<gpu_operators::AddBias>("cuda-sm_90a"), ashlar::Target::parse("cuda-sm_90a"));
  return f;
}
inline const ashlar::codegen::Compiled& sum() {  // two launches through a workspace
  static const ashlar::codegen::Compiled f =
      ashlar::codegen::compile(kernel_of<gpu_operators::Sum>("cuda-sm_80"), ashlar::Target::parse("cuda-sm_80"));
  return f;
}

struct Operands {  // of add_bias: x[rows, columns] + b[columns]
  explicit Operands(std::int64_t rows = 3, std::int64_t columns = 70)
      : x{ashlar::f32, {rows, columns}},
        b{ashlar::f32, {columns}},
        y{ashlar::f32, {rows, columns}},
        list{&x.tensor, &b.tensor, &y.tensor} {}
  OnDevice x, b, y;
  std::vector<const void*> list;
};

}  // namespace cuda
