#include <algorithm>

#include "bench/programs/plain.h"

PLAIN(a) {
  static constexpr std::int32_t steps[89] = {
      7,    8,    9,    10,   11,    12,    13,    14,    16,    17,    19,    21,    23,    25,    28,    31,    34,   37,
      41,   45,   50,   55,   60,    66,    73,    80,    88,    97,    107,   118,   130,   143,   157,   173,   190,  209,
      230,  253,  279,  307,  337,   371,   408,   449,   494,   544,   598,   658,   724,   796,   876,   963,   1060, 1166,
      1282, 1411, 1552, 1707, 1878,  2066,  2272,  2499,  2749,  3024,  3327,  3660,  4026,  4428,  4871,  5358,  5894, 6484,
      7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
  static constexpr std::int32_t moves[8] = {-1, -1, -1, -1, 2, 4, 6, 8};
  const std::int64_t channels = a.size(0), bytes = a.size(1);
  const std::uint8_t* __restrict data = a.in<std::uint8_t>(0);
  const std::int16_t* __restrict start = a.in<std::int16_t>(1);
  const std::uint8_t* __restrict start_index = a.in<std::uint8_t>(2);
  std::int16_t* __restrict out = a.out<std::int16_t>(0);
  for (std::int64_t c = 0; c < channels; ++c) {
    std::int32_t level = start[c], index = std::min<std::int32_t>(start_index[c], 88);
    for (std::int64_t k = 0; k < bytes; ++k)
      for (int half = 0; half < 2; ++half) {
        const std::int32_t code = data[c * bytes + k] >> half * 4 & 15, step = steps[index];
        std::int32_t change = step >> 3;
        change += step & -(code >> 2 & 1);
        change += (step >> 1) & -(code >> 1 & 1);
        change += (step >> 2) & -(code & 1);
        level = std::clamp(code & 8 ? level - change : level + change, -32768, 32767);
        index = std::clamp(index + moves[code & 7], 0, 88);
        out[c * bytes * 2 + k * 2 + half] = static_cast<std::int16_t>(level);
      }
  }
}
