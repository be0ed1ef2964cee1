// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/cortex_m.h>

#include <string>

#include <ashlar/ir/refusal.h>

// The texts name LLVM's intrinsics for the instructions; what they compute is in the Arm Architecture Reference Manuals for
// ARMv7-M and ARMv8-M, under the instruction's name.
namespace ashlar::cortex_m {

namespace {

std::string number(int n) { return std::to_string(n); }

void demand(bool holds, const char* expected, const std::string& found, Where where) {
  if (!holds) refuse("intrinsic", expected, found, where);
}

// %x0, %x1 for row `n` of a tile of bytes: elements 0 and 2, and 1 and 3, as halves of a word.
std::string widened_row(const std::string& tile, int n) {
  const std::string row = "%" + tile + number(n) + ".";
  return row + "at = mul i64 {" + tile + ".stride0}, " + number(n) + "\n" + row + "ptr = getelementptr i8, ptr {" + tile +
         ".ptr}, i64 " + row + "at\n" + row + "word = load i32, ptr " + row + "ptr, align 1\n" + row +
         "turned = call i32 @llvm.fshl.i32(i32 " + row + "word, i32 " + row + "word, i32 24)\n" + row +
         "even = call i32 @llvm.arm.sxtb16(i32 " + row + "word)\n" + row + "odd = call i32 @llvm.arm.sxtb16(i32 " + row +
         "turned)\n";
}

// {c.result}: of every element of c what `step` makes of it, %r0, %r1, ...
template <class Step>
std::string each_result(int rows, int columns, Step&& step) {
  const std::string type = "<" + number(rows * columns) + " x i32>";
  std::string text, all = "poison";
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const int n = i * columns + j;
      text += "%c" + number(n) + " = extractelement " + type + " {c.value}, i64 " + number(n) + "\n" + step(i, j, n);
    }
  for (int n = 0; n < rows * columns; ++n) {
    const std::string to = n + 1 == rows * columns ? "{c.result}" : "%all" + number(n);
    text += to + " = insertelement " + type + " " + all + ", i32 %r" + number(n) + ", i64 " + number(n) + "\n";
    all = to;
  }
  return text;
}

}  // namespace

Intrinsic smlad(int rows, int columns, Where where) {
  demand(rows >= 1 && columns >= 1 && rows * columns <= 16, "a tile of 1 to 16 results", number(rows) + " x " + number(columns),
         where);
  return intrinsic(("smlad_" + number(rows) + "x" + number(columns)).c_str(),
                   [&](Meaning& m) {
                     Tensor a = m.read("a", i8, {rows, 4}), b = m.read("b", i8, {columns, 4}),
                            c = m.accumulate("c", i32, {rows, columns});
                     Axis k{"k", 4};
                     m.means(c, [&](const Var& i, const Var& j) { return sum(i32(a(i, k)) * i32(b(j, k)), k).from(c(i, j)); });
                     std::string text;
                     for (int i = 0; i < rows; ++i) text += widened_row("a", i);
                     for (int j = 0; j < columns; ++j) text += widened_row("b", j);
                     text += each_result(rows, columns, [](int i, int j, int n) {
                       const auto add = [&](const std::string& to, const std::string& half, const std::string& from) {
                         return "%" + to + number(n) + " = call i32 @llvm.arm.smlad(i32 %a" + number(i) + "." + half +
                                ", i32 %b" + number(j) + "." + half + ", i32 %" + from + number(n) + ")\n";
                       };
                       return add("e", "even", "c") + add("r", "odd", "e");
                     });
                     m.emit(Backend::llvm, text.c_str());
                     m.needs("dsp", where);
                   },
                   where);
}

Intrinsic vmladava(int rows, int columns, Where where) { return vmladava(rows, columns, Terms{}, where); }

Intrinsic vmladava(int rows, int columns, Terms terms, Where where) {
  const int count = terms.runs * terms.length;
  demand(rows >= 1 && columns >= 1 && rows * columns <= 16, "a tile of 1 to 16 results", number(rows) + " x " + number(columns),
         where);
  demand(terms.runs >= 1 && terms.length >= 1 && (count == 16 || count == 8), "terms of 16 or 8 neighbors",
         number(terms.runs) + " x " + number(terms.length), where);
  const bool plain = terms.runs == 1;
  return intrinsic(
      ("vmladava_" + number(rows) + "x" + number(columns) + "x" + number(count) + (plain ? "" : "_" + number(terms.runs)))
          .c_str(),
      [&](Meaning& m) {
        const auto tile = [&](const char* name, int n) {
          return plain ? m.read(name, i8, {n, terms.length}) : m.read(name, i8, {n, terms.runs, terms.length});
        };
        Tensor a = tile("a", rows), b = tile("b", columns), c = m.accumulate("c", i32, {rows, columns});
        Axis run{"r", terms.runs}, k{"k", terms.length};
        m.means(c, [&](const Var& i, const Var& j) {
          return plain ? sum(i32(a(i, k)) * i32(b(j, k)), k).from(c(i, j))
                       : sum(i32(a(i, run, k)) * i32(b(j, run, k)), {run, k}).from(c(i, j));
        });
        const std::string bytes = "<" + number(count) + " x i8>", lanes = count == 16 ? bytes : "<8 x i16>";
        std::string text;
        const auto row = [&](const std::string& name, int all, int n) {
          const std::string whole = "<" + number(all * count) + " x i8>", one = "%" + name + number(n);
          std::string order;
          for (int e = 0; e < count; ++e) order += (e ? ", i32 " : "i32 ") + number(n * count + e);
          text += one + (count == 16 ? "" : ".bytes") + " = shufflevector " + whole + " {" + name + ".value}, " + whole +
                  " poison, <" + number(count) + " x i32> <" + order + ">\n";
          if (count == 8) text += one + " = sext " + bytes + " " + one + ".bytes to " + lanes + "\n";
        };
        for (int i = 0; i < rows; ++i) row("a", rows, i);
        for (int j = 0; j < columns; ++j) row("b", columns, j);
        text += each_result(rows, columns, [&](int i, int j, int n) {
          return "%r" + number(n) + " = call i32 @llvm.arm.mve.vmldava." + (count == 16 ? "v16i8" : "v8i16") +
                 "(i32 0, i32 0, i32 0, i32 %c" + number(n) + ", " + lanes + " %a" + number(i) + ", " + lanes + " %b" +
                 number(j) + ")\n";
        });
        m.emit(Backend::llvm, text.c_str());
        m.needs("mve", where);
      },
      where);
}

}  // namespace ashlar::cortex_m
