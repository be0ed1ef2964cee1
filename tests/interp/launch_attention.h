#pragma once
// A tile of attention with online softmax on fragments: scores by mma, row maxima across lanes, the accumulator rescaled, and
// the probabilities taken as the next product's operand in the registers where they are: the map of the scores' fragments is
// the map of the operand's.
#include "tests/interp/launch_builder.h"

namespace launches::fragments {

using ir::Completion;

constexpr std::int64_t queries = 64, keys = 32, dim = 32;  // of a tile; four warps of 16 queries

// O = softmax2(Q K^T) V with powers of two in the place of those of e; Q [S, 32], K, V [T, 32], O [S, 32].
inline Builder attention() {
  Builder b("attention");
  const Expr S = b.symbol("S"), T = b.symbol("T");
  const Id Q = b.input("Q", bf16, {S, num(dim)}), K = b.input("K", bf16, {T, num(dim)}), V = b.input("V", bf16, {T, num(dim)});
  const Id O = b.output("O", f32, {S, num(dim)});
  const Id Qs = b.shared("Qs", bf16, queries * dim, 0), Ks = b.shared("Ks", bf16, 2 * keys * dim, 4096);
  const Id Vs = b.shared("Vs", bf16, 2 * keys * dim, 8192);
  const Id q = b.registers("q", bf16, 16), kv = b.registers("kv", bf16, 8), p = b.registers("p", bf16, 16);
  const Id s = b.registers("s", f32, 16), o = b.registers("o", f32, 16), other = b.registers("other", f32, 1);
  const Id top = b.registers("top", f32, 2), next = b.registers("next", f32, 2), sum = b.registers("sum", f32, 2);
  const Id scale = b.registers("scale", f32, 2);
  const ir::Intrinsic& copy = b.intrinsic(ir::copy_async(bf16, 8));
  const ir::Intrinsic &rows = b.intrinsic(ir::ldmatrix(bf16, 4, false)), &columns = b.intrinsic(ir::ldmatrix(bf16, 4, true));
  const ir::Intrinsic &mma = b.intrinsic(ir::mma_m16n8k16(bf16)), &shuffle = b.intrinsic(ir::shuffle_xor(f32));
  const auto real = [](double x) { return ir::float_const(f32, x); };
  const auto reg = [&](Id r, std::int64_t at) { return b.at(r, num(at)); };
  const auto set = [&](Id r, std::int64_t at, const Expr& value) { b.store(r, num(at), value); };
  const auto exp2 = [](const Expr& x) { return ir::unary(ir::Op::exp2, x); };
  // Rows of 64 bytes: four granules of eight elements, permuted so that eight rows meet all banks.
  const auto place = [](const Expr& row, const Expr& x) { return row * dim + exclusive_or(x, row / 2 % 4 * 8); };

  b.launch(ir::ceil_div(S, num(queries)), 128, 12288, [&](const Expr& block, const Expr& thread) {
    const Expr lane = b.let("lane", thread % 32), warp = b.let("warp", thread / 32);
    const Expr first = b.let("first", block * queries), steps = b.let("steps", ir::ceil_div(T, num(keys)));
    const Expr line = b.let("line", thread / 4), piece = b.let("piece", thread % 4 * 8);
    const auto fetch = [&](const Expr& step) {  // one step's keys and values into its slot
      const Expr slot = b.let("slot", step % 2), row = b.let("row", step * keys + line);
      const Expr valid = ir::select(ir::lt(row, T), num(8), num(0));
      b.call(copy, {{Ks, slot * (keys * dim) + place(line, piece)}, {K, row * dim + piece}, valid});
      b.call(copy, {{Vs, slot * (keys * dim) + place(line, piece)}, {V, row * dim + piece}, valid});
    };
    const auto across_lanes = [&](Id r, std::int64_t at, ir::Op how) {  // over the four lanes that share a row
      for (std::int64_t mask : {1, 2}) {
        b.call(shuffle, {{other, num(0)}, {r, num(at)}, mask});
        set(r, at, ir::binary(how, reg(r, at), reg(other, 0)));
      }
    };
    for (std::int64_t half = 0; half < 2; ++half) {
      const Expr y = line + half * 32, row = first + y;
      b.call(copy, {{Qs, place(y, piece)}, {Q, row * dim + piece}, ir::select(ir::lt(row, S), num(8), num(0))});
      set(top, half, real(-1e30));
      set(sum, half, real(0));
    }
    for (std::int64_t r = 0; r < 16; ++r) set(o, r, real(0));
    b.within([&] { fetch(num(0)); });
    b.commit({"Qs", "Ks", "Vs"}, Completion::copy_group);

    b.loop("step", steps, [&](const Expr& step) {
      b.when(ir::lt(step + 1, steps), [&] { fetch(step + 1); });
      b.commit({"Qs", "Ks", "Vs"}, Completion::copy_group);
      b.wait_group({"Qs", "Ks", "Vs"}, Completion::copy_group, 1);
      b.block_barrier({"Qs", "Ks", "Vs"});
      const Expr slot = b.let("slot_read", step % 2) * (keys * dim);
      for (std::int64_t d = 0; d < 2; ++d)
        b.call(rows, {{q, num(d * 8)}, {Qs, place(warp * 16 + lane % 16, lane / 16 * 8 + d * 16)}});
      for (std::int64_t n = 0; n < 4; ++n) {  // scores: 8 keys at a time
        for (std::int64_t r = 0; r < 4; ++r) set(s, n * 4 + r, real(0));
        b.call(rows, {{kv, num(0)}, {Ks, slot + place(lane % 8 + n * 8, lane / 8 * 8)}});
        for (std::int64_t d = 0; d < 2; ++d) b.call(mma, {{s, num(n * 4)}, {q, num(d * 8)}, {kv, num(d * 4)}});
        for (std::int64_t r = 0; r < 4; ++r) {
          const Expr key = step * keys + lane % 4 * 2 + (n * 8 + r % 2);
          set(s, n * 4 + r, ir::select(ir::lt(key, T), reg(s, n * 4 + r), real(-1e30)));
        }
      }
      for (std::int64_t h = 0; h < 2; ++h) {  // a lane's two rows: lane / 4 and 8 below
        set(next, h, reg(top, h));
        for (std::int64_t n = 0; n < 4; ++n)
          for (std::int64_t c = 0; c < 2; ++c) set(next, h, ir::max(reg(next, h), reg(s, n * 4 + h * 2 + c)));
        across_lanes(next, h, ir::Op::max);
        set(scale, h, exp2(ir::sub(reg(top, h), reg(next, h))));
        set(top, h, reg(next, h));
        set(sum, h, ir::mul(reg(sum, h), reg(scale, h)));
        for (std::int64_t n = 0; n < 4; ++n)
          for (std::int64_t c = 0; c < 2; ++c) {
            const std::int64_t at = n * 4 + h * 2 + c;
            set(s, at, exp2(ir::sub(reg(s, at), reg(top, h))));
            set(sum, h, ir::add(reg(sum, h), reg(s, at)));
            set(p, at, ir::cast(bf16, reg(s, at)));
            set(o, at, ir::mul(reg(o, at), reg(scale, h)));
          }
      }
      for (std::int64_t n = 0; n < 4; ++n) {  // the output: 8 columns at a time, over 32 keys
        b.call(columns, {{kv, num(0)}, {Vs, slot + place(lane, num(n * 8))}});
        for (std::int64_t d = 0; d < 2; ++d) b.call(mma, {{o, num(n * 4)}, {p, num(d * 8)}, {kv, num(d * 4)}});
      }
      b.block_barrier({"Ks", "Vs"});
    });
    for (std::int64_t h = 0; h < 2; ++h) {
      across_lanes(sum, h, ir::Op::add);
      const Expr row = first + warp * 16 + lane / 4 + h * 8;
      b.when(ir::lt(row, S), [&] {
        for (std::int64_t n = 0; n < 4; ++n)
          for (std::int64_t c = 0; c < 2; ++c)
            b.store(O, row * dim + lane % 4 * 2 + (n * 8 + c), ir::div(reg(o, n * 4 + h * 2 + c), reg(sum, h)));
      });
    }
  });
  return b;
}

}  // namespace launches::fragments
