#include <ashlar/schedule/instructions/shuffles.h>

#include <string>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::shuffles {

namespace {

std::string num(int n) { return std::to_string(n); }

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
        m.emit(Backend::llvm, ("{to.result} = shufflevector " + vector + " {from.value}, " + vector + " poison, <" + n +
                               " x i32> <" + lanes + ">")
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
