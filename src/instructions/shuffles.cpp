// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/shuffles.h>

#include <string>
#include <vector>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::shuffles {

namespace {

std::string num(int n) { return std::to_string(n); }

std::string indices(const std::vector<int>& list) {
  std::string text = "<" + num(static_cast<int>(list.size())) + " x i32> <";
  for (std::size_t k = 0; k < list.size(); ++k) text += (k ? ", i32 " : "i32 ") + num(list[k]);
  return text + ">";
}

// A square tile of n = 2^m rows is transposed in m steps of n shuffles of two rows each, which one instruction does: step d
// exchanges, of rows i and i + d, the blocks of d elements off the diagonal (Eklundh, A fast computer method for matrix
// transposing, 1972). For d = 1, rows a and b become a0 b0 a2 b2 ... and a1 b1 a3 b3 ...
std::string square(int n, const std::string& element) {
  const std::string row = "<" + num(n) + " x " + element + ">", tile = "<" + num(n * n) + " x " + element + ">";
  const auto name = [](int step, int r) { return "%s" + num(step) + "_" + num(r); };
  std::string text;
  std::vector<int> places;
  for (int r = 0; r < n; ++r) {
    places.clear();
    for (int k = 0; k < n; ++k) places.push_back(r * n + k);
    text += name(0, r) + " = shufflevector " + tile + " {from.value}, " + tile + " poison, " + indices(places) + "\n";
  }
  const auto of_two = [&](const std::string& to, int step, int a, int b) {
    text +=
        to + " = shufflevector " + row + " " + name(step, a) + ", " + row + " " + name(step, b) + ", " + indices(places) + "\n";
  };
  int step = 0;
  for (int d = 1; d < n; d *= 2, ++step)
    for (int i = 0; i < n; ++i) {
      const bool upper = (i & d) == 0;
      places.clear();
      for (int k = 0; k < n; ++k) places.push_back(upper ? ((k & d) == 0 ? k : n + k - d) : ((k & d) == 0 ? k + d : n + k));
      of_two(name(step + 1, i), step, upper ? i : i - d, upper ? i + d : i);
    }
  // Two halves at a time: the tile again.
  std::vector<std::string> parts;
  for (int r = 0; r < n; ++r) parts.push_back(name(step, r));
  for (int length = n; parts.size() > 1; length *= 2) {
    places.clear();
    for (int k = 0; k < 2 * length; ++k) places.push_back(k);
    const std::string part = "<" + num(length) + " x " + element + ">";
    std::vector<std::string> joined;
    for (std::size_t k = 0; k < parts.size(); k += 2) {
      joined.push_back(parts.size() == 2 ? "{to.result}" : "%t" + num(length) + "_" + num(static_cast<int>(k)));
      text += joined.back() + " = shufflevector " + part + " " + parts[k] + ", " + part + " " + parts[k + 1] + ", " +
              indices(places) + (parts.size() == 2 ? "" : "\n");
    }
    parts = joined;
  }
  return text;
}

Intrinsic shuffled(const char* what, Type t, int rows, int columns, bool transposes, Where where) {
  if (rows < 1 || rows > 64 || columns < 1 || columns > 64)
    refuse(what, "1 to 64 rows and columns", num(rows) + " and " + num(columns), where);
  const std::string name = std::string(what) + "_" + ir::text(t) + "_" + num(rows) + "x" + num(columns);
  const std::string element = t == f32 ? "float" : t == f64 ? "double" : "i" + num(8 * static_cast<int>(t.bytes()));
  const std::string n = num(rows * columns), vector = "<" + n + " x " + element + ">";
  std::string lanes;
  for (int i = 0; i < (transposes ? columns : rows); ++i)
    for (int j = 0; j < (transposes ? rows : columns); ++j)
      lanes += (lanes.empty() ? "i32 " : ", i32 ") + num(transposes ? j * columns + i : i * columns + j);
  return intrinsic(
      name.c_str(),
      [&](Meaning& m) {
        Tensor from = m.read("from", t, {rows, columns}),
               to = transposes ? m.write("to", t, {columns, rows}) : m.write("to", t, {rows, columns});
        m.means(to, [&](Var i, Var j) { return transposes ? from(j, i) : from(i, j); });
        const bool by_steps = transposes && rows == columns && rows > 1 && (rows & (rows - 1)) == 0;
        m.emit(Backend::llvm, (by_steps ? square(rows, element)
                                        : "{to.result} = shufflevector " + vector + " {from.value}, " + vector + " poison, <" +
                                              n + " x i32> <" + lanes + ">")
                                  .c_str());
        const std::string from_at =
            transposes ? "j * {from.stride0} + i * {from.stride1}" : "i * {from.stride0} + j * {from.stride1}";
        m.emit(Backend::c, ("for (int i = 0; i < " + num(transposes ? columns : rows) + "; ++i)\nfor (int j = 0; j < " +
                            num(transposes ? rows : columns) +
                            "; ++j) {to.ptr}[i * {to.stride0} + j * {to.stride1}] = {from.ptr}[" + from_at + "];")
                               .c_str());
      },
      where);
}

}  // namespace

Intrinsic transpose(Type t, int rows, int columns, Where where) { return shuffled("transpose", t, rows, columns, true, where); }
Intrinsic move(Type t, int rows, int columns, Where where) { return shuffled("move", t, rows, columns, false, where); }

}  // namespace ashlar::shuffles
