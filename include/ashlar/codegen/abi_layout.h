// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The layout of `f_args`, the plain C structure that f_run takes. This is the only place that decides it; the code generator,
// the descriptor and the header writer all use it.
//
// Fields, in this order, each aligned to its own size, as C lays them out:
//   pointers   one for each tensor, in the order of declaration
//   symbols    int64_t, in the order of their first use in the tensors' extents
//   strides    int64_t NAME_strideD, by tensor in the order of declaration, then by dimension; those not known to be 1.
//              Zero means dense, row-major
//   scalars    by value, in the order of declaration
// Names are C identifiers and unique within the structure: other names are converted, and a second `A` becomes `A_2`.
//
//   typedef struct blur_args { const float *in; float *out; int64_t W, H, in_stride0, out_stride0; float sigma; } blur_args;
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/kernel.h>

namespace ashlar::codegen {

struct ArgField {
  enum class Kind { pointer, symbol, stride, scalar } kind = Kind::pointer;
  std::string name;
  ir::Id id = 0;         // of the buffer, symbol, stride variable or scalar
  ir::Id buffer = 0;     // pointers and strides
  int dim = -1;          // strides
  Type type;             // pointers: of the elements. symbols, strides: i64. scalars: theirs
  bool written = false;  // pointers: an output
  std::int64_t offset = 0, bytes = 0;
  std::string declaration() const;  // "const float *A", "int64_t M", "uint16_t h"
};

struct AbiLayout {
  std::vector<ArgField> fields;
  std::int64_t bytes = 0, align = 1;                    // sizeof and alignof
  const ArgField& field(ArgField::Kind, ir::Id) const;  // InternalError if there is none
};

AbiLayout abi_layout(const ir::Kernel&, int pointer_bytes);

// The type an element or scalar has in C: "float", "int8_t"; f16 and bf16 travel as uint16_t bits, e4m3, e5m2 and bool as
// uint8_t.
std::string c_type(Type);
std::string c_identifier(std::string_view name);  // letters, digits and _; never a keyword of C or C++

// Types in an ashlar_tensor (DLPack's codes): 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 e4m3fn, 12 e5m2.
struct TensorType {
  std::uint8_t code, bits;
};
TensorType tensor_type(Type);

}  // namespace ashlar::codegen
