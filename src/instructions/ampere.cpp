// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/ampere.h>

#include <string>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

// Who holds what: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and its neighbors. Of all shapes here
// a register of a lane has 32 bits, which are `word` neighbors along k: lane 4 r + q has those of row r (or column r of b)
// that begin at q * word. Along k, and along the 16 rows of a and c, the registers that are one after the other are 4 words
// and 8 rows apart.
namespace ashlar::ampere {

namespace {

int word(Type t) { return 32 / t.bits; }

// Element (row, k) of a, and of b, whose rows are the columns of c. The row is the first dimension of a, k the first of b.
Held left(Type t, const Expr& row, const Expr& k) {
  const int w = word(t);
  return held(row % 8 * 4 + k % (4 * w) / w, k % w + row / 8 * w + k / (4 * w) * (2 * w));
}
Held right(Type t, const Expr& row, const Expr& k) {
  const int w = word(t);
  return held(row % 8 * 4 + k % (4 * w) / w, k % w + k / (4 * w) * w + row / 8 * (2 * w));
}
// Bytes that lie in columns: of two neighbors along j, the lanes hold the first in the registers of one instruction, the
// second in those of the other. Lane 4 r + q then has columns 4 q to 4 q + 3 of the results.
Held right_bytes(const Expr& row, const Expr& k) { return held(row / 2 * 4 + k % 16 / 4, k % 4 + k / 16 * 4 + row % 2 * 8); }
Held result_bytes(const Expr& i, const Expr& j) { return held(i % 8 * 4 + j / 4, j % 4 + i / 8 * 4); }
// The registers of eight columns come before those of the next eight.
Held result(const Expr& i, const Expr& j) { return held(i % 8 * 4 + j % 8 / 2, j % 2 + i / 8 * 2 + j / 8 * 4); }

void expect_factors(const char* call, Type t, Where where) {
  if (t != f16 && t != bf16 && t != f32 && t != i8 && t != u8 && t != e4m3 && t != e5m2)
    refuse(call, "elements of f16, bf16, f32, i8, u8, e4m3 or e5m2", ir::text(t), where);
}

std::string ptx_of(Type t) {
  if (t == i8) return "s8";
  if (t == u8) return "u8";
  if (t == f32) return "tf32";
  return ir::text(t);
}

std::string shape_of(Type t) { return "m16n8k" + std::to_string(depth(t)); }

// Eight columns after the other; `apart`: every other column after the others.
std::string both_halves(Type a, Type b, Type sums, int registers_of_c, bool apart = false) {
  const std::string of_sums = sums == i32 ? "s32" : ir::text(sums);
  const std::string op =
      "mma.sync.aligned." + shape_of(a) + ".row.col." + of_sums + "." + ptx_of(a) + "." + ptx_of(b) + "." + of_sums + " ";
  const int half = registers_of_c / 2;
  const auto range = [](const char* name, int first, int count) {
    return "{" + std::string(name) + "." + std::to_string(first) + "-" + std::to_string(first + count - 1) + "}";
  };
  std::string text;
  for (int h = 0; h < 2; ++h) {
    std::string c = range("C", h * half, half);
    if (apart) {
      c = "{{";
      for (int r = h; r < registers_of_c; r += 2) c += (r > h ? ", {C." : "{C.") + std::to_string(r) + "}";
      c += "}}";
    }
    text += (h ? "\n" : "") + op + c + ", {A}, " + range("B", 2 * h, 2) + ", " + c + ";";
  }
  return text;
}

// Of f32: the factors become numbers of tf32, each one or, where `parts` is 2, the sum of two. The small products come first.
std::string of_tf32(int parts) {
  const auto name = [](const char* of, int part, int r) { return of + std::to_string(part) + "_" + std::to_string(r); };
  std::string text = "{{\n.reg .f32 %rest;\n";
  for (const char* of : {"A", "B"})
    for (int r = 0; r < 4; ++r) {
      const std::string from = std::string("{") + of + "." + std::to_string(r) + "}", lower = of[0] == 'A' ? "a" : "b";
      const std::string first = name(lower.c_str(), 0, r), second = name(lower.c_str(), 1, r);
      text += ".reg .b32 " + first + (parts == 2 ? ", " + second : "") + ";\ncvt.rna.tf32.f32 " + first + ", " + from + ";\n";
      if (parts == 2) text += "sub.rn.f32 %rest, " + from + ", " + first + ";\ncvt.rna.tf32.f32 " + second + ", %rest;\n";
    }
  const auto list = [&](const char* of, int part, int first, int count) {
    std::string all;
    for (int r = first; r < first + count; ++r) all += (all.empty() ? "" : ", ") + name(of, part, r);
    return "{{" + all + "}}";
  };
  const int products[3][2] = {{1, 0}, {0, 1}, {0, 0}};  // which parts of a and b
  for (int h = 0; h < 2; ++h)
    for (int p = parts == 2 ? 0 : 2; p < 3; ++p) {
      const std::string c = h ? "{C.4-7}" : "{C.0-3}";
      text += "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " + c + ", " + list("a", products[p][0], 0, 4) + ", " +
              list("b", products[p][1], 2 * h, 2) + ", " + c + ";\n";
    }
  return text + "}}";
}

Intrinsic product(const std::string& name, Type a, Type b, Type sums, const std::string& text, const char* feature, Where where,
                  bool bytes_in_columns = false) {
  return intrinsic(
      name.c_str(),
      [&](Meaning& m) {
        const int deep = depth(a);
        Tensor A = m.read("A", a, {16, deep}, Scope::fragment), B = m.read("B", b, {deep, 16}, Scope::fragment);
        Tensor C = m.accumulate("C", sums, {16, 16}, Scope::fragment);
        Axis k{"k", deep};
        m.means(C, [&](Var i, Var j) { return sum(sums(A(i, k)) * sums(B(k, j)), k).from(C(i, j)); });
        if (sums.is_float()) m.rounds_freely(where);
        m.holds(A, 32, [&](Var i, Var j) { return left(a, i, j); });
        m.holds(B, 32, [&](Var i, Var j) { return bytes_in_columns ? right_bytes(j, i) : right(b, j, i); });
        m.holds(C, 32, [&](Var i, Var j) { return bytes_in_columns ? result_bytes(i, j) : result(i, j); });
        m.emit(Backend::ptx, text.c_str(), where);
        m.needs(feature, where);
      },
      where);
}

// 32 x 16 bytes, [k, j]. Row r of matrix m is the row of k that puts 4 q to 4 q + 3 into the two registers of lanes with q, two
// columns of j in each.
Intrinsic load_bytes_in_columns(Type t, Where where) {
  return intrinsic(("load_right_" + ir::text(t) + "_columns").c_str(),
                   [&](Meaning& m) {
                     Tensor rows = m.read("rows", t, {32, 16}, Scope::shared), to = m.write("to", t, {32, 16}, Scope::fragment);
                     m.means(to, [&](Var k, Var j) { return rows(k, j); });
                     m.address(rows, 32,
                               [](Var k, Var j) { return held((k / 16 * 2 + k % 4 / 2) * 8 + k % 16 / 4 * 2 + k % 2, j); });
                     m.holds(to, 32, [](Var k, Var j) { return right_bytes(j, k); });
                     m.emit(Backend::ptx,
                            "{{\n.reg .b32 %k<4>;\n"
                            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{%k0, %k1, %k2, %k3}}, [{rows.ptr}];\n"
                            "prmt.b32 {to.0}, %k0, %k1, 0x6420;\nprmt.b32 {to.1}, %k2, %k3, 0x6420;\n"
                            "prmt.b32 {to.2}, %k0, %k1, 0x7531;\nprmt.b32 {to.3}, %k2, %k3, 0x7531;\n}}",
                            where);
                     m.needs("sm_80", where);
                   },
                   where);
}

Intrinsic load(bool is_left, Type t, Lies lies, Where where) {
  const char* call = is_left ? "ampere::load_left" : "ampere::load_right";
  expect_factors(call, t, where);
  const bool columns = lies == Lies::columns;
  if (columns && !is_left && (t == i8 || t == u8)) return load_bytes_in_columns(t, where);
  if (columns && t.bits != 16)
    refuse(call, is_left ? "elements of 16 bits in columns" : "elements of 16 bits, i8 or u8 in columns", ir::text(t), where);
  const int deep = depth(t), run = 128 / t.bits;  // elements of a row that one address gives
  const std::string name = std::string("load_") + (is_left ? "left_" : "right_") + ir::text(t) + (columns ? "_columns" : "");
  // Lane 8 m + r gives the address of row r of matrix m, which becomes register m of all lanes. Of the left factor the second
  // matrix is that of the next eight rows, of the right one that of the next run along k.
  const auto matrix = [&](const Expr& row, const Expr& k) -> Expr {
    return is_left ? row / 8 + k / run * 2 : k / run + row / 8 * 2;
  };
  return intrinsic(
      name.c_str(),
      [&](Meaning& m) {
        const int tall = columns ? deep : 16, wide = columns ? 16 : deep;
        Tensor rows = m.read("rows", t, {tall, wide}, Scope::shared), to = m.write("to", t, {tall, wide}, Scope::fragment);
        m.means(to, [&](Var i, Var j) { return rows(i, j); });
        m.address(rows, 32, [&](Var i, Var j) {
          return columns ? held(matrix(j, i) * 8 + i % 8, j % 8) : held(matrix(i, j) * 8 + i % 8, j % run);
        });
        m.holds(to, 32, [&](Var i, Var j) {
          const Expr row = columns ? Expr(j) : Expr(i), k = columns ? Expr(i) : Expr(j);
          return is_left ? left(t, row, k) : right(t, row, k);
        });
        m.emit(Backend::ptx,
               columns ? "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {to}, [{rows.ptr}];"
                       : "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {to}, [{rows.ptr}];",
               where);
        m.needs("sm_80", where);
      },
      where);
}

std::string numbered(const char* name, int n) { return name + std::to_string(n); }

// A product m16n8k16 of registers: c and two halves of b are named by their first register.
std::string product_of(Type t, const std::string& c, const std::string& a, const std::string& b) {
  const std::string of = ir::text(t);
  return "mma.sync.aligned.m16n8k16.row.col.f32." + of + "." + of + ".f32 " + c + ", " + a + ", " + b + ", " + c + ";\n";
}

// Each half of `to` becomes 0xffff where that of `from` has any bit of `mask`, else 0. The highest bit is not in the mask.
std::string halves_with(const std::string& to, const std::string& from, const std::string& mask) {
  return "and.b32 " + to + ", " + from + ", " + mask + ";\nadd.u32 " + to + ", " + to + ", 0x7fff7fff;\nshr.u32 " + to + ", " +
         to + ", 15;\nand.b32 " + to + ", " + to + ", 0x00010001;\nmul.lo.u32 " + to + ", " + to + ", 0xffff;\n";
}

// c += a b where a zero of a skips its term, for an a in %left0-3. While all of b is finite, these are the two products of 16
// x 8. Otherwise each is that of the finite elements, then what the others add: %count is how many of them meet an a that is
// not zero, %sign the sum of the signs of infinite terms. The sum is infinite if these agree, and NaN if they do not.
std::string products_skipping_zeros(Type t) {
  const std::string exponent = t == bf16 ? "0x7f807f80" : "0x7c007c00", rest = t == bf16 ? "0x007f007f" : "0x03ff03ff",
                    one = t == bf16 ? "0x3f803f80" : "0x3c003c00", of = ir::text(t);
  const std::string left = "{{%left0, %left1, %left2, %left3}}", some = "{{%some0, %some1, %some2, %some3}}",
                    others = "{{%others0, %others1}}";
  std::string text =
      ".reg .b32 %check, %zero, %finite<2>, %some<4>, %others<2>;\n.reg .f32 %count<4>, %sign<4>, %less;\n.reg .pred %p, %q;\n"
      "mov.b32 %zero, 0;\n";
  const auto each = [&](const char* op, const char* to, const std::string& more, int n) {  // in place
    for (int r = 0; r < n; ++r) {
      const std::string name = numbered(to, r);
      text += std::string(op) + " " + name + ", " + name + ", " + more + ";\n";
    }
  };
  for (int r = 0; r < 4; ++r)  // 0 times what is not finite is NaN, which stays
    text += "fma.rn." + of + "x2 %check, " + numbered("{B.", r) + "}, %zero, " + (r ? "%check;\n" : "%zero;\n");
  text +=
      "and.b32 %check, %check, 0x7fff7fff;\nsetp.ne.u32 %p, %check, 0;\nvote.sync.any.pred %p, %p, 0xffffffff;\n"
      "@%p bra.uni OTHERS;\n";
  text += product_of(t, "{C.0-3}", left, "{B.0-1}") + product_of(t, "{C.4-7}", left, "{B.2-3}") + "bra.uni DONE;\nOTHERS:\n";
  for (int r = 0; r < 4; ++r) text += halves_with(numbered("%some", r), numbered("%left", r), "0x7fff7fff");
  each("and.b32", "%some", one, 4);  // 1 where a is not zero
  for (int h = 0; h < 2; ++h) {
    const auto b = [&](int k) { return numbered("{B.", 2 * h + k) + "}"; };
    for (int k = 0; k < 2; ++k) {
      const std::string n = std::to_string(k);
      text += "not.b32 %check, " + b(k) + ";\n" + halves_with("%finite" + n, "%check", exponent) + "and.b32 %others" + n +
              ", " + b(k) + ", %finite" + n + ";\n";
    }
    text += product_of(t, h ? "{C.4-7}" : "{C.0-3}", left, others);
    for (int k = 0; k < 2; ++k) {
      const std::string n = std::to_string(k);
      text += "not.b32 %others" + n + ", %finite" + n + ";\nand.b32 %others" + n + ", %others" + n + ", " + one + ";\n";
    }
    for (int r = 0; r < 4; ++r)
      text += "mov.f32 " + numbered("%count", r) + ", 0f00000000;\nmov.f32 " + numbered("%sign", r) + ", 0f00000000;\n";
    text += product_of(t, "{{%count0, %count1, %count2, %count3}}", some, others);
    for (int k = 0; k < 2; ++k) {  // the sign of what is infinite, 0 of NaN
      const std::string n = std::to_string(k);
      text += halves_with("%check", b(k), rest) + "not.b32 %check, %check;\nand.b32 %others" + n + ", %others" + n +
              ", %check;\nand.b32 %check, " + b(k) + ", 0x80008000;\nor.b32 %others" + n + ", %others" + n + ", %check;\n";
    }
    for (int r = 0; r < 4; ++r)
      text += "and.b32 %check, " + numbered("%left", r) + ", 0x80008000;\nor.b32 " + numbered("%some", r) + ", " +
              numbered("%some", r) + ", %check;\n";
    text += product_of(t, "{{%sign0, %sign1, %sign2, %sign3}}", some, others);
    if (h == 0) each("and.b32", "%some", "0x7fff7fff", 4);
    for (int r = 0; r < 4; ++r) {  // infinity times the sum of signs has its sign; of signs that differ NaN
      const std::string n = std::to_string(r), c = numbered("{C.", 4 * h + r) + "}";
      text += "setp.ne.f32 %p, %count" + n + ", 0f00000000;\nabs.f32 %less, %sign" + n + ";\nsetp.eq.f32 %q, %less, %count" +
              n + ";\nselp.f32 %less, 0f7f800000, 0f7fffffff, %q;\nmul.rn.f32 %less, %less, %sign" + n + ";\n@%p add.rn.f32 " +
              c + ", " + c + ", %less;\n";
    }
  }
  return text + "DONE:\n";
}

Intrinsic rounding_left(const char* call, Type right_type, bool skips, LeftFactor factor, Where where) {
  if (!(right_type == f16) && !(right_type == bf16)) refuse(call, "a right factor of f16 or bf16", ir::text(right_type), where);
  const std::string t = ir::text(right_type);
  const bool rounded = factor == LeftFactor::rounded;
  return intrinsic(
      ((skips ? "mma_skipping_zeros_" : "mma_f32_") + t + (rounded ? "_f32_rounded" : "_f32")).c_str(),
      [&](Meaning& m) {
        Tensor A = m.read("A", f32, {16, 16}, Scope::fragment), B = m.read("B", right_type, {16, 16}, Scope::fragment);
        Tensor C = m.accumulate("C", f32, {16, 16}, Scope::fragment);
        Axis k{"k", 16};
        m.means(C, [&](Var i, Var j) {
          const Expr a = rounded ? f32(right_type(A(i, k))) : Expr(A(i, k)), term = a * f32(B(k, j));
          return sum(skips ? select(a == 0, f32(0), term) : term, k).from(C(i, j));
        });
        m.rounds_freely(where);
        m.holds(A, 32,
                [&](Var i, Var j) { return left(right_type, i, j); });  // before they are rounded: two registers, not one
        m.holds(B, 32, [&](Var i, Var j) { return right(right_type, j, i); });
        m.holds(C, 32, [&](Var i, Var j) { return result(i, j); });
        std::string text = "{{\n.reg .b32 %left<4>;\n";
        for (int r = 0; r < 4; ++r)
          text += "cvt.rn." + t + "x2.f32 %left" + std::to_string(r) + ", {A." + std::to_string(2 * r + 1) + "}, {A." +
                  std::to_string(2 * r) + "};\n";
        const std::string left = "{{%left0, %left1, %left2, %left3}}";
        text += skips ? products_skipping_zeros(right_type)
                      : product_of(right_type, "{C.0-3}", left, "{B.0-1}") + product_of(right_type, "{C.4-7}", left, "{B.2-3}");
        m.emit(Backend::ptx, (text + "}}").c_str(), where);
        m.needs("sm_80", where);
      },
      where);
}

}  // namespace

int depth(Type factors) { return factors.bits == 8 ? 32 : factors.bits == 16 ? 16 : 8; }

Intrinsic mma(Type factors, Type sums, Rounding rounding, Where where) {
  const char* call = "ampere::mma";
  expect_factors(call, factors, where);
  if (factors == i8 || factors == u8)
    refuse(call, "factors of floats (ampere::mma(a, b) is of i8 and u8)", ir::text(factors), where);
  if (!(sums == f32) && !(factors == f16 && sums == f16)) refuse(call, "sums in f32, or of f16 in f16", ir::text(sums), where);
  if (factors == f32 && rounding == Rounding::of_machine)
    refuse(call, "Rounding::to_tf32 or Rounding::to_3xtf32 for factors of f32", "Rounding::of_machine", where);
  if (factors != f32 && rounding != Rounding::of_machine)
    refuse(call, "Rounding::of_machine for factors of " + ir::text(factors),
           rounding == Rounding::to_tf32 ? "Rounding::to_tf32" : "Rounding::to_3xtf32", where);
  if (factors == f32)
    return product(rounding == Rounding::to_tf32 ? "mma_tf32" : "mma_3xtf32", f32, f32, f32,
                   of_tf32(rounding == Rounding::to_tf32 ? 1 : 2), "sm_80", where);
  const bool eight = factors.bits == 8;
  return product("mma_" + ir::text(factors) + "_" + ir::text(sums), factors, factors, sums,
                 both_halves(factors, factors, sums, sums == f16 ? 4 : 8), eight ? "sm_100" : "sm_80", where);
}

Intrinsic mma(Type a, Type b, Lies right, Where where) {
  for (const Type t : {a, b})
    if (t != i8 && t != u8)
      refuse("ampere::mma", "factors of i8 or u8 (those of floats take the type of the sums and a Rounding)", ir::text(t),
             where);
  const bool columns = right == Lies::columns;
  return product("mma_" + ir::text(a) + "_" + ir::text(b) + (columns ? "_columns" : ""), a, b, i32,
                 both_halves(a, b, i32, 8, columns), "sm_80", where, columns);
}

Intrinsic mma_rounding_left(Type right_type, LeftFactor factor, Where where) {
  return rounding_left("ampere::mma_rounding_left", right_type, false, factor, where);
}
Intrinsic mma_skipping_zeros(Type right_type, LeftFactor factor, Where where) {
  return rounding_left("ampere::mma_skipping_zeros", right_type, true, factor, where);
}

Intrinsic exchange_rows(Where where) {
  return intrinsic(
      "exchange_rows",
      [&](Meaning& m) {
        Tensor from = m.read("from", f32, {16, 4}, Scope::fragment), to = m.write("to", f32, {16, 4}, Scope::fragment);
        m.means(to, [&](Var i, Var r) { return from(i, r); });
        m.holds(from, 32, [](Var i, Var r) { return held(i % 8 * 4 + r, i / 8); });
        m.holds(to, 32, [](Var i, Var r) { return held(i % 8 * 4, i / 8 * 4 + r); });
        std::string text;
        for (int k = 0; k < 8; ++k)  // from lane k % 4 of four
          text += (k ? "\nshfl.sync.idx.b32 {to." : "shfl.sync.idx.b32 {to.") + std::to_string(k) + "}, {from." +
                  std::to_string(k / 4) + "}, " + std::to_string(k % 4) + ", 0x1c1f, 0xffffffff;";
        m.emit(Backend::ptx, text.c_str(), where);
        m.needs("sm_80", where);
      },
      where);
}

Intrinsic load_left(Type t, Lies lies, Where where) { return load(true, t, lies, where); }
Intrinsic load_right(Type t, Lies lies, Where where) { return load(false, t, lies, where); }

}  // namespace ashlar::ampere
