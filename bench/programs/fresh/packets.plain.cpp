#include <array>
#include <vector>

#include "bench/programs/plain.h"

namespace {
std::array<std::uint32_t, 256> remainders() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    table[i] = c;
  }
  return table;
}
}  // namespace

PLAIN(a) {
  const std::int64_t packets = a.size(0), longest = a.size(1);
  const std::uint8_t* __restrict received = a.in<std::uint8_t>(0);
  const std::int32_t* __restrict length = a.in<std::int32_t>(1);
  const std::uint32_t* __restrict check = a.in<std::uint32_t>(2);
  std::uint8_t* __restrict clear = a.out<std::uint8_t>(0);
  std::uint8_t* __restrict intact = a.out<std::uint8_t>(1);
  static const std::array<std::uint32_t, 256> table = remainders();
  static std::vector<std::uint8_t> of_white;
  of_white.resize(static_cast<std::size_t>(longest));
  std::uint8_t* __restrict white = of_white.data();
  std::uint32_t state = 0x1FF;
  for (std::int64_t t = 0; t < longest; ++t) {
    white[t] = static_cast<std::uint8_t>(state);
    for (int k = 0; k < 8; ++k) state = state >> 1 | ((state ^ state >> 5) & 1) << 8;
  }
  for (std::int64_t p = 0; p < packets; ++p) {
    const std::uint8_t* __restrict in = received + p * longest;
    std::uint8_t* __restrict out = clear + p * longest;
    for (std::int64_t t = 0; t < length[p]; ++t) out[t] = in[t] ^ white[t];
    for (std::int64_t t = length[p]; t < longest; ++t) out[t] = 0;
    std::uint32_t crc = ~0u;
    for (std::int64_t t = 0; t < length[p]; ++t) crc = table[(crc ^ out[t]) & 255] ^ crc >> 8;
    intact[p] = ~crc == check[p];
  }
}
