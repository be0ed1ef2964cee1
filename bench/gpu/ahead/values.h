// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Elements of tensors as bytes, by DLPack's code and bits of their type: what a program without the compiler needs to make
// inputs and to compare results. ahead/values_test.cpp holds it against ir/numeric.h.
//
//   put(bytes, 3, {2, 16}, 0.1);            // element 3, rounded to f16
//   get(bytes, 3, {2, 16})                  // 0.0999755859375
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ahead {

using Bytes = std::vector<std::byte>;

struct Type {
  int code = 0, bits = 0;  // 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 e4m3, 12 e5m2
  bool is_float() const { return code == 2 || code == 4 || code == 10 || code == 12; }
  bool is_packed() const { return bits == 4; }  // two elements in a byte, the first one low
};

std::size_t bytes_of(Type, std::int64_t elements);
void put(Bytes&, std::int64_t at, Type, double);  // floats to nearest even, integers modulo 2^bits
double get(const Bytes&, std::int64_t at, Type);  // 64-bit integers lose their low bits

// 64 bits of FNV-1a over the bytes, in which every NaN of a float type is the same.
std::uint64_t hash(const Bytes&, Type);

// "": all elements of `found` are equal to those of `meant` (NaNs are equal; -0 and +0 are not), or apart by at most
// allowed(n, x, y). Otherwise the first that is not, and how many.
template <class Allowed>
std::string apart(const Bytes& found, const Bytes& meant, Type type, std::int64_t elements, Allowed allowed);

bool same(double, double);
std::string text(double);

template <class Allowed>
std::string apart(const Bytes& found, const Bytes& meant, Type type, std::int64_t elements, Allowed allowed) {
  std::string first;
  std::int64_t count = 0;
  for (std::int64_t n = 0; n < elements; ++n) {
    const double x = get(found, n, type), y = get(meant, n, type);
    if (same(x, y) || (x - y <= allowed(n, x, y) && y - x <= allowed(n, x, y))) continue;
    if (count++ == 0) first = "element " + std::to_string(n) + ": " + text(x) + ", expected " + text(y);
  }
  return count == 0 ? "" : first + "; " + std::to_string(count) + " of " + std::to_string(elements) + " differ";
}

}  // namespace ahead
