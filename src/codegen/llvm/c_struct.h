// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Where the fields of the runtime's C structures lie on a machine with pointers of 4 or 8 bytes, by the rules of C on every
// target here: a field is aligned to its own size, a structure to the largest of its fields.
//
//   offset_of(context, ContextField::workspace, 4) == 12
#include <array>
#include <cstddef>

#include <ashlar/runtime/desc.h>

namespace ashlar::codegen {

// Sizes of the fields in their order; 0: a pointer or a size_t.
template <std::size_t N>
using CStruct = std::array<std::size_t, N>;

constexpr CStruct<11> context_fields = {4, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0};
enum class ContextField {
  size,
  flags,
  stream,
  workspace,
  workspace_bytes,
  error,
  user,
  allocate,
  release,
  parallelism,
  parallel_for
};
constexpr CStruct<6> error_fields = {4, 4, 4, 8, 8, 0};
constexpr CStruct<10> tensor_fields = {0, 4, 4, 4, 1, 1, 2, 0, 0, 8};
enum class TensorField { data, device_type, device_id, ndim, type_code, type_bits, type_lanes, shape, strides, byte_offset };

constexpr CStruct<20> descriptor_fields = {4, 4, 0, 4, 4, 8, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0};

constexpr CStruct<5> variant_fields = {0, 0, 0, 0, 0};
constexpr CStruct<6> library_fields = {4, 4, 0, 4, 4, 0};

// Of field `n`; n == N: the structure's size.
template <std::size_t N>
constexpr std::size_t offset_of(const CStruct<N>& fields, std::size_t n, std::size_t pointer_bytes) {
  std::size_t at = 0, largest = 1;
  for (std::size_t k = 0; k <= n; ++k) {
    const std::size_t bytes = k == N ? largest : fields[k] == 0 ? pointer_bytes : fields[k];
    at = (at + bytes - 1) / bytes * bytes;
    if (k == n) return at;
    largest = bytes > largest ? bytes : largest;
    at += bytes;
  }
  return at;
}
template <std::size_t N>
constexpr std::size_t size_of(const CStruct<N>& fields, std::size_t pointer_bytes) {
  return offset_of(fields, N, pointer_bytes);
}
constexpr std::size_t offset_of(ContextField f, std::size_t pointer_bytes) {
  return offset_of(context_fields, static_cast<std::size_t>(f), pointer_bytes);
}
constexpr std::size_t offset_of(TensorField f, std::size_t pointer_bytes) {
  return offset_of(tensor_fields, static_cast<std::size_t>(f), pointer_bytes);
}

static_assert(sizeof(void*) != 8 || (offset_of(ContextField::error, 8) == offsetof(ashlar_context, error) &&
                                     offset_of(ContextField::parallelism, 8) == offsetof(ashlar_context, parallelism) &&
                                     offset_of(ContextField::parallel_for, 8) == offsetof(ashlar_context, parallel_for) &&
                                     size_of(context_fields, 8) == sizeof(ashlar_context)));
static_assert(sizeof(void*) != 8 || (offset_of(error_fields, 3, 8) == offsetof(ashlar_error, expected) &&
                                     offset_of(error_fields, 5, 8) == offsetof(ashlar_error, what) &&
                                     size_of(error_fields, 8) == sizeof(ashlar_error)));
static_assert(sizeof(void*) != 8 || (offset_of(descriptor_fields, 11, 8) == offsetof(ashlar_abi1_desc, arguments) &&
                                     size_of(descriptor_fields, 8) == sizeof(ashlar_abi1_desc)));
static_assert(sizeof(void*) != 8 || (offset_of(descriptor_fields, 5, 8) == offsetof(ashlar_abi1_desc, features) &&
                                     size_of(variant_fields, 8) == sizeof(ashlar_abi1_variant) &&
                                     size_of(library_fields, 8) == sizeof(ashlar_abi1_library)));
static_assert(sizeof(void*) != 8 || (offset_of(TensorField::type_lanes, 8) == offsetof(ashlar_tensor, type_lanes) &&
                                     offset_of(TensorField::strides, 8) == offsetof(ashlar_tensor, strides) &&
                                     size_of(tensor_fields, 8) == sizeof(ashlar_tensor)));

}  // namespace ashlar::codegen
