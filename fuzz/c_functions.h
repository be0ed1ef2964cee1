#pragma once
// Functions in C that random programs call: of single values, and of boxes of a stage. Each gives the same bits wherever it
// runs.
#include <cstdint>
#include <cstring>

#include <ashlar/lang.h>

namespace fuzz {

// Whole numbers stay small whole numbers.
template <class T>
T chosen(T a, T b) {
  return a > b ? a : static_cast<T>(b / 2);
}
extern "C" {
inline float fuzz_chosen_f32(float a, float b) { return a > b ? a : -b; }
inline double fuzz_chosen_f64(double a, double b) { return a > b ? a : -b; }
inline std::int8_t fuzz_chosen_i8(std::int8_t a, std::int8_t b) { return chosen(a, b); }
inline std::uint8_t fuzz_chosen_u8(std::uint8_t a, std::uint8_t b) { return chosen(a, b); }
inline std::int16_t fuzz_chosen_i16(std::int16_t a, std::int16_t b) { return chosen(a, b); }
inline std::uint16_t fuzz_chosen_u16(std::uint16_t a, std::uint16_t b) { return chosen(a, b); }
inline std::int32_t fuzz_chosen_i32(std::int32_t a, std::int32_t b) { return chosen(a, b); }
inline std::uint32_t fuzz_chosen_u32(std::uint32_t a, std::uint32_t b) { return chosen(a, b); }
inline std::int64_t fuzz_chosen_i64(std::int64_t a, std::int64_t b) { return chosen(a, b); }
inline std::uint64_t fuzz_chosen_u64(std::uint64_t a, std::uint64_t b) { return chosen(a, b); }
inline bool fuzz_chosen_bool(bool a, bool b) { return a && !b; }
}

// Calls the function of a type; an empty Expr for the types that C has not.
inline ashlar::Expr call_chosen(const ashlar::Expr& a, const ashlar::Expr& b) {
  using namespace ashlar;
  const Type t = a.type();
  if (t == f32) return c_function("fuzz_chosen_f32", fuzz_chosen_f32)(a, b);
  if (t == f64) return c_function("fuzz_chosen_f64", fuzz_chosen_f64)(a, b);
  if (t == i8) return c_function("fuzz_chosen_i8", fuzz_chosen_i8)(a, b);
  if (t == u8) return c_function("fuzz_chosen_u8", fuzz_chosen_u8)(a, b);
  if (t == i16) return c_function("fuzz_chosen_i16", fuzz_chosen_i16)(a, b);
  if (t == u16) return c_function("fuzz_chosen_u16", fuzz_chosen_u16)(a, b);
  if (t == i32) return c_function("fuzz_chosen_i32", fuzz_chosen_i32)(a, b);
  if (t == u32) return c_function("fuzz_chosen_u32", fuzz_chosen_u32)(a, b);
  if (t == i64) return c_function("fuzz_chosen_i64", fuzz_chosen_i64)(a, b);
  if (t == u64) return c_function("fuzz_chosen_u64", fuzz_chosen_u64)(a, b);
  if (t == bool_) return c_function("fuzz_chosen_bool", fuzz_chosen_bool)(a, b);
  return {};
}

// Bits of an element of a region, by its index from the region's first.
inline std::uint64_t bits_at(const ashlar_tensor& r, const std::int64_t* at) {
  const std::int64_t size = r.type_bits / 8;
  const auto* from = static_cast<const char*>(r.data);
  for (std::int32_t d = 0; d < r.ndim; ++d) from += at[d] * r.strides[d] * size;
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<std::size_t>(size));
  return bits;
}

// Calls f for every index of the region, row-major.
template <class F>
void each_index(const ashlar_tensor& r, F&& f) {
  std::int64_t at[8] = {};
  for (std::int32_t d = 0; d < r.ndim; ++d)
    if (r.shape[d] <= 0) return;
  for (;;) {
    f(static_cast<const std::int64_t*>(at));
    std::int32_t d = r.ndim;
    while (d > 0 && ++at[d - 1] == r.shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

extern "C" {
// regions: any tensor, an i32 of any rank. Each element: a sum over the whole of the first, which all need, and its own index.
inline int fuzz_mixed(const ashlar_tensor* r, const std::int64_t* begin) {
  std::uint64_t sum = 0;
  each_index(r[0], [&](const std::int64_t* at) {
    std::uint64_t weight = 1;
    for (std::int32_t d = 0; d < r[0].ndim; ++d) weight = weight * 31 + static_cast<std::uint64_t>(begin[d] + at[d]);
    sum += weight * bits_at(r[0], at);
  });
  const std::int64_t* own = begin + r[0].ndim;
  each_index(r[1], [&](const std::int64_t* at) {
    std::uint64_t v = sum;
    std::int64_t to = 0;
    for (std::int32_t d = 0; d < r[1].ndim; ++d) {
      v = v * 7 + static_cast<std::uint64_t>(own[d] + at[d]);
      to += at[d] * r[1].strides[d];
    }
    static_cast<std::int32_t*>(r[1].data)[to] = static_cast<std::int32_t>(v % 9) - 4;
  });
  return 0;
}
// regions: a tensor, an i32 and a u8 of its rank. Each element needs its own.
inline int fuzz_pointwise(const ashlar_tensor* r, const std::int64_t* begin) {
  for (std::int32_t d = 0; d < r[0].ndim; ++d)
    if (r[0].shape[d] != r[1].shape[d] || begin[d] != begin[r[0].ndim + d] || r[1].shape[d] != r[2].shape[d]) return 1;
  each_index(r[1], [&](const std::int64_t* at) {
    const std::uint64_t v = bits_at(r[0], at) * 3;
    std::int64_t to = 0, second = 0;
    for (std::int32_t d = 0; d < r[1].ndim; ++d) to += at[d] * r[1].strides[d], second += at[d] * r[2].strides[d];
    static_cast<std::int32_t*>(r[1].data)[to] = static_cast<std::int32_t>(v % 9) - 4;
    static_cast<std::uint8_t*>(r[2].data)[second] = static_cast<std::uint8_t>(v % 5);
  });
  return 0;
}
}

}  // namespace fuzz
