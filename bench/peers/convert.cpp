#include "bench/peers/convert.h"

#include <immintrin.h>

#include <bit>

namespace bench {

void convert_bf16(const std::uint16_t* from, float* to, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = std::bit_cast<float>(std::uint32_t{from[k]} << 16);
}

void convert_f16(const std::uint16_t* from, float* to, std::int64_t n) {
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k))));
  for (; k < n; ++k) to[k] = _cvtsh_ss(from[k]);
}

}  // namespace bench
