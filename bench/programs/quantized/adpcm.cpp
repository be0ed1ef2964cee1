// quantized/adpcm.cpp: decoding of IMA ADPCM, a code of 4 bits for each sample, every channel from its own start. The level and
// the place in the table of steps depend on the sample before.
#include "bench/programs/program.h"

namespace {
std::vector<int> codes(int bytes) {  // large steps are rare, as in sound, so that the place in the table wanders
  std::mt19937_64 random(43);
  const auto code = [&] {
    const int large = random() % 6 == 0 ? 4 : 0, size = static_cast<int>(random() % 4), sign = random() % 2 == 0 ? 8 : 0;
    return sign + large + size;
  };
  std::vector<int> all(static_cast<std::size_t>(bytes));
  for (int& b : all) b = code() + 16 * code();
  return all;
}
}  // namespace

PROGRAM(p) {
  const Symbol channels = p.size("channels", 23), bytes = p.size("bytes", 2011);
  const Tensor data = p.in("data", u8, {channels, bytes}, numbers(codes(23 * 2011)));
  const Tensor start = p.in("start", i16, {channels}, integers(-20000, 20000)),
               start_index = p.in("start_index", u8, {channels}, integers(0, 89));
  const Tensor steps = constant(
      "steps", i32,
      {7,    8,    9,    10,   11,    12,    13,    14,    16,    17,    19,    21,    23,    25,    28,    31,    34,   37,
       41,   45,   50,   55,   60,    66,    73,    80,    88,    97,    107,   118,   130,   143,   157,   173,   190,  209,
       230,  253,  279,  307,  337,   371,   408,   449,   494,   544,   598,   658,   724,   796,   876,   963,   1060, 1166,
       1282, 1411, 1552, 1707, 1878,  2066,  2272,  2499,  2749,  3024,  3327,  3660,  4026,  4428,  4871,  5358,  5894, 6484,
       7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767});
  const Tensor moves = constant("moves", i32, {-1, -1, -1, -1, 2, 4, 6, 8});

  const auto [level, index] = recur(
      "decoder", {channels, bytes * 2 + 1}, Along{1}, Lag{1},
      [&](Var c, Var) { return values(i32(start(c)), min(i32(start_index(c)), 88)); },
      [&](Prior y, Var c, Var t) {
        const Expr before = y[1](c, t - 1), step = steps(clamp(before, 0, 88));
        const Expr code = i32(data(c, (t - 1) / 2)) >> i32((t - 1) % 2 * 4) & 15;
        const Expr change = (step >> 3) + select((code & 4) != 0, step, 0) + select((code & 2) != 0, step >> 1, 0) +
                            select((code & 1) != 0, step >> 2, 0);
        const Expr next = y[0](c, t - 1) + select((code & 8) != 0, -change, change);
        return values(clamp(next, -32768, 32767), clamp(before + moves(code & 7), 0, 88));
      });
  p.out(compute("samples", {channels, bytes * 2}, [&](Var c, Var t) { return i16(level(c, t + 1)); }));
}
