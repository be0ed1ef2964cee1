// fresh/packets.cpp: radio packets, each of its own length: the whitening by a shift register of 9 bits (PN9) is taken away,
// and the CRC-32 of what is left, by a table of bytes, is held to the one received.
#include "bench/programs/program.h"

namespace {
std::vector<std::uint32_t> remainders() {
  std::vector<std::uint32_t> table;
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? (c >> 1) ^ 0xEDB88320u : c >> 1;
    table.push_back(c);
  }
  return table;
}

struct Traffic {
  std::vector<std::int32_t> bytes, length;
  std::vector<std::uint32_t> check;
};

Traffic traffic(int packets, int longest) {  // every third packet is damaged
  const std::vector<std::uint32_t> table = remainders();
  std::mt19937_64 engine(3);
  Traffic all;
  for (int p = 0; p < packets; ++p) {
    const int length = 1 + static_cast<int>(engine() % static_cast<unsigned>(longest));
    std::uint32_t crc = ~0u, state = 0x1FF;
    for (int t = 0; t < longest; ++t) {
      const std::uint32_t byte = engine() % 256;
      all.bytes.push_back(static_cast<std::int32_t>(byte ^ (state & 255)));
      for (int k = 0; k < 8; ++k) state = (state >> 1) | (((state ^ (state >> 5)) & 1) << 8);
      if (t < length) crc = table[(crc ^ byte) & 255] ^ (crc >> 8);
    }
    all.length.push_back(length);
    all.check.push_back(p % 3 == 2 ? crc : ~crc);
  }
  return all;
}
}  // namespace

PROGRAM(p) {
  const Traffic sent = traffic(110, 1500);
  const Symbol P = p.size("P", 110, {.min = 1}), L = p.size("L", 1500, {.min = 1});
  const Tensor bytes = p.in("bytes", u8, {P, L}, numbers(sent.bytes)), length = p.in("length", i32, {P}, numbers(sent.length)),
               check = p.in("check", u32, {P}, numbers(sent.check));
  const Tensor table = constant("table", u32, {256}, remainders());
  const Tensor white = recur(
      "white", {L}, Along{0}, Lag{1}, [&](Var) { return u32(0x1FF); },
      [&](Prior y, Var t) {
        Expr state = y(t - 1);
        for (int k = 0; k < 8; ++k) state = (state >> 1) | (((state ^ (state >> 5)) & 1) << 8);
        return state;
      });
  const Tensor clear =
      compute("clear", {P, L}, [&](Var n, Var t) { return select(t < length(n), bytes(n, t) ^ u8(white(t)), 0); });
  p.out(clear);
  // crc(n, t): of the first t bytes of packet n
  const Tensor crc = recur(
      "crc", {P, L + 1}, Along{1}, Lag{1}, [&](Var, Var) { return u32(0xFFFFFFFFu); },
      [&](Prior y, Var n, Var t) {
        const Expr before = y(n, t - 1);
        return select(t <= length(n), table(u8(before) ^ clear(n, t - 1)) ^ (before >> 8), before);
      });
  p.out(compute("intact", {P}, [&](Var n) { return u8(~crc(n, L) == check(n)); }));
}
