// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>

#include "tests/ptx/executor/executor.h"

namespace ashlar::ptx {

// Words: address; element, rank and swizzle; five extents; four strides; five boxes and steps, packed.
std::array<std::uint64_t, 16> encode(const TensorMap& m) {
  std::array<std::uint64_t, 16> w = {};
  w[0] = m.address;
  w[1] = m.element_bytes | std::uint64_t(m.rank) << 8 | std::uint64_t(m.swizzle) << 16;
  for (std::size_t d = 0; d < 5; ++d) w[2 + d] = m.extents[d];
  for (std::size_t d = 1; d < 5; ++d) w[6 + d] = m.strides[d];
  for (std::size_t d = 0; d < 5; ++d) w[11 + d] = m.box[d] | std::uint64_t(m.element_strides[d]) << 32;
  return w;
}

TensorMap decode(const std::array<std::uint64_t, 16>& w) {
  TensorMap m;
  m.address = w[0];
  m.element_bytes = w[1] & 0xff, m.rank = w[1] >> 8 & 0xff, m.swizzle = static_cast<std::uint32_t>(w[1] >> 16);
  m.strides[0] = m.element_bytes;
  for (std::size_t d = 0; d < 5; ++d) m.extents[d] = w[2 + d];
  for (std::size_t d = 1; d < 5; ++d) m.strides[d] = w[6 + d];
  for (std::size_t d = 0; d < 5; ++d)
    m.box[d] = static_cast<std::uint32_t>(w[11 + d]), m.element_strides[d] = static_cast<std::uint32_t>(w[11 + d] >> 32);
  return m;
}

}  // namespace ashlar::ptx
