// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/packing.h"

#include <vector>

#include <ashlar/analysis/packed.h>
#include <ashlar/ir/build.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/kits/index_text.h"

namespace ashlar::generator {

namespace {

std::string c_text(const Expr& e, const IndexNames& names) { return index_text(e, names, Syntax::c, "pack_argument"); }

std::string functions(const ir::Kernel& k, const codegen::AbiLayout& layout, const ir::Buffer& b) {
  using Kind = codegen::ArgField::Kind;
  const std::string name = layout.field(Kind::pointer, b.id).name, type = codegen::c_type(b.type);
  IndexNames names;
  std::vector<std::string> symbols;
  for (const Expr& extent : b.extents)
    for (ir::Id id : ir::free_vars(extent))
      if (names.emplace(id, layout.field(Kind::symbol, id).name).second)
        symbols.push_back(fmt::format("int64_t {}", names.at(id)));
  const std::string shape = fmt::format("{}", fmt::join(symbols, ", "));
  for (std::size_t d = 0; d < b.layout.vars.size(); ++d) names[b.layout.vars[d]] = fmt::format("ashlar_index{}", d);

  const std::vector<Expr> extents = analysis::packed_extents(k.symbols, b);
  std::string elements = "1", address;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::string extent = c_text(extents[d], names), at = c_text(b.layout.map[d], names);
    elements += " * " + extent;
    address = d == 0 ? at : fmt::format("({}) * {} + {}", address, extent, at);
  }
  const std::string bytes = fmt::format("{}_packed_{}_bytes", k.name, name);
  std::string call;
  for (const std::string& s : symbols) call += (call.empty() ? "" : ", ") + s.substr(8);

  std::string strides, dense, from, loops;
  for (int d = 0; d < b.rank; ++d) {
    const std::string extent = c_text(b.extents[static_cast<std::size_t>(d)], names);
    loops +=
        fmt::format("{0:{1}}for (ashlar_index{2} = 0; ashlar_index{2} < {3}; ++ashlar_index{2})\n", "", 2 + 2 * d, d, extent);
    if (d + 1 == b.rank) {
      from += fmt::format("ashlar_index{}", d);
      continue;
    }
    std::string inner = "1";
    for (int e = d + 1; e < b.rank; ++e) inner += " * " + c_text(b.extents[static_cast<std::size_t>(e)], names);
    strides += fmt::format("int64_t ashlar_stride{}, ", d);
    dense += fmt::format("  if (ashlar_stride{0} == 0) ashlar_stride{0} = {1};\n", d, inner);
    from += fmt::format("ashlar_index{0} * ashlar_stride{0} + ", d);
  }
  std::string text =
      fmt::format("/* {0} is packed by the caller: {1}_pack_{0} makes, in {2} bytes, what a call takes as {0}'s data. */\n",
                  name, k.name, bytes);
  text += fmt::format("static inline size_t {}({}) {{\n  return (size_t)({}) * sizeof({});\n}}\n", bytes,
                      shape.empty() ? "void" : shape, elements, type);
  text += fmt::format("static inline void {}_pack_{}(const {} *{}, {}{}{}{} *ashlar_packed) {{ /* a stride of zero: dense */\n",
                      k.name, name, type, name, strides, shape, shape.empty() ? "" : ", ", type);
  for (int d = 0; d < b.rank; ++d) text += fmt::format("  int64_t ashlar_index{};\n", d);
  text += fmt::format(
      "  size_t ashlar_element;\n  for (ashlar_element = 0; ashlar_element < {}({}) / sizeof({}); ++ashlar_element)\n"
      "    ashlar_packed[ashlar_element] = 0;\n{}{}",
      bytes, call, type, dense, loops);
  return text + fmt::format("{:{}}ashlar_packed[{}] = {}[{}];\n}}\n", "", 2 + 2 * b.rank, address, name, from);
}

}  // namespace

std::string packing_text(const ir::Kernel& k, const codegen::AbiLayout& layout) {
  std::string text;
  for (const ir::Argument& a : k.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) continue;
    const ir::Buffer& b = k.argument_buffers.at(a.id);
    if (b.packed_by_caller && !b.layout.map.empty()) text += functions(k, layout, b);
  }
  if (text.empty()) return text;
  return "#ifndef ASHLAR_FLOOR_DIV\n#define ASHLAR_FLOOR_DIV\nstatic inline int64_t ashlar_floor_div(int64_t ashlar_a, int64_t "
         "ashlar_b) { "
         "/* the divisor is above 0 */\n"
         "  return ashlar_a / ashlar_b - (ashlar_a % ashlar_b < 0);\n}\n#endif\n" +
         text;
}

}  // namespace ashlar::generator
