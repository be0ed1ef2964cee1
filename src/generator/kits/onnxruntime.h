// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The kit for ONNX Runtime: of each operator a C file over ashlar/runtime/onnxruntime.h (-e onnxruntime), which defines an
// ashlar_ort_op. ashlar_add_onnxruntime_ops (cmake/AshlarKits.cmake) makes a custom-op library of them.
//
//   y = mine.windows(x) with the attributes shift, R     of windows(x: i32[N], shift: i8, R) -> y: i32[R, N / 4 + 1]
//
// Devices are refused, and scalars of f64, which no attribute of ONNX holds.
#include <string>

#include <ashlar/ir/kernel.h>

#include "generator/header.h"

namespace ashlar::generator {

std::string onnxruntime_c_text(const ir::Kernel&, const HeaderFacts&, const std::string& header);

}  // namespace ashlar::generator
