// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16 bits, whose rows lie in shared memory where lanes say, and of which each
// lane has two neighbors of row lane / 4, or of column lane / 4 where it is transposed.
#include <cstring>

#include "tests/ptx/executor/instructions/lanes.h"

namespace ashlar::ptx {
namespace {

struct Matrix {
  u16 at[8][8];
  bool known[8][8];
};

// Element n (0, 1) of a lane.
void place_of(int lane, int n, bool transposed, int& row, int& column) {
  row = lane / 4, column = 2 * (lane % 4) + n;
  if (transposed) std::swap(row, column);
}

Place row_of(Warp& w, const Instr& i, const Operand& address, int lane, bool store) {
  return locate(w, i, lane, i.space, address_of(w, i, address, lane), 16, store, 16);
}

void load(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const Operand& address = i.ops[1];
  const u32 speaking = i.count == 4 ? ~0u : (1u << (8 * i.count)) - 1;
  if (address.parts[0].kind == Operand::kReg) w.need_known(i, address.parts[0], mask & speaking, "the address of a row");
  std::array<Matrix, 4> matrices = {};
  for (int m = 0; m < i.count; ++m)
    for (int row = 0; row < 8; ++row) {
      const int lane = 8 * m + row;
      const Place p = row_of(w, i, address, lane, false);
      accessed(w, i, lane, p, 16, false, false, nullptr);
      for (int column = 0; column < 8; ++column) {
        Matrix& to = matrices[static_cast<std::size_t>(m)];
        std::memcpy(&to.at[row][column], p.data + 2 * column, 2);
        to.known[row][column] = p.written[2 * column] != 0 && p.written[2 * column + 1] != 0;
      }
    }
  for (int m = 0; m < i.count; ++m) {
    const Operand& o = i.ops[0].parts[static_cast<std::size_t>(m)];
    u64* d = w.dst(o);
    u32 known = 0;
    each(mask, [&](int l) {
      int r0 = 0, c0 = 0, r1 = 0, c1 = 0;
      place_of(l, 0, i.mode != 0, r0, c0), place_of(l, 1, i.mode != 0, r1, c1);
      const Matrix& from = matrices[static_cast<std::size_t>(m)];
      d[l] = from.at[r0][c0] | u32(from.at[r1][c1]) << 16;
      known |= u32(from.known[r0][c0] && from.known[r1][c1]) << l;
    });
    w.know(o, mask, known);
  }
}

void store(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const Operand& address = i.ops[0];
  const u32 speaking = i.count == 4 ? ~0u : (1u << (8 * i.count)) - 1;
  if (address.parts[0].kind == Operand::kReg) w.need_known(i, address.parts[0], mask & speaking, "the address of a row");
  for (int m = 0; m < i.count; ++m) {
    const Operand& o = i.ops[1].parts[static_cast<std::size_t>(m)];
    const u64* a = w.src(o);
    const u32 known = w.known_of(o);
    Matrix matrix = {};
    for (int l = 0; l < 32; ++l)
      for (int n = 0; n < 2; ++n) {
        int row = 0, column = 0;
        place_of(l, n, i.mode != 0, row, column);
        matrix.at[row][column] = static_cast<u16>(a[l] >> (16 * n));
        matrix.known[row][column] = (known >> l & 1) != 0;
      }
    for (int row = 0; row < 8; ++row) {
      const int lane = 8 * m + row;
      const Place p = row_of(w, i, address, lane, true);
      accessed(w, i, lane, p, 16, true, false, reinterpret_cast<const u8*>(matrix.at[row]));
      std::memcpy(p.data, matrix.at[row], 16);
      for (int n = 0; n < 16; ++n) p.written[n] = matrix.known[row][n / 2];
    }
  }
}

void transpose(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const u64* a = w.src(i.ops[1]);
  const u32 known = w.known_of(i.ops[1]);
  Matrix matrix = {};
  for (int l = 0; l < 32; ++l)
    for (int n = 0; n < 2; ++n) {
      const int row = l / 4, column = 2 * (l % 4) + n;
      matrix.at[row][column] = static_cast<u16>(a[l] >> (16 * n)), matrix.known[row][column] = (known >> l & 1) != 0;
    }
  u64* d = w.dst(i.ops[0]);
  u32 result_known = 0;
  each(mask, [&](int l) {
    const int row = l / 4, column = 2 * (l % 4);
    d[l] = matrix.at[column][row] | u32(matrix.at[column + 1][row]) << 16;
    result_known |= u32(matrix.known[column][row] && matrix.known[column + 1][row]) << l;
  });
  w.know(i.ops[0], mask, result_known);
}

void decode(Decode& d, bool is_store) {
  if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
  if (!d.take("m8n8")) d.fail("has no shape that is known");
  d.in.count = static_cast<u8>(1 << d.must("number of matrices", {"x1", "x2", "x4"}));
  d.in.mode = d.take("trans");
  d.in.space = d.space(Space::kGeneric);
  d.type_among({T::b16});
  d.operands(2, 2);
  d.address(is_store ? 0 : 1);
  d.vector(is_store ? 1 : 0, d.in.count, T::b32, false, !is_store);
  d.in.run = is_store ? store : load;
}

}  // namespace

void add_matrices(Table& t) {
  t["ldmatrix"] = [](Decode& d) { decode(d, false); };
  t["stmatrix"] = [](Decode& d) { decode(d, true); };
  t["movmatrix"] = [](Decode& d) {
    if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !d.take("trans"))
      d.fail("expected .sync.aligned.m8n8.trans");
    d.type_among({T::b16});
    d.operands(2, 2);
    d.result(0, T::b32), d.value(1, T::b32);
    d.in.run = transpose;
  };
}

}  // namespace ashlar::ptx
