// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/kits/kit_c.h"

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::generator {

namespace {

using ir::ArgumentKind;

// {"x", "x", ASHLAR_KIT_INPUT, 2, 0x2002 /* f32 */, 0, 0, 0}
std::string row(const std::string& name, const std::string& parameter, const std::string& rest) {
  return fmt::format("    {{\"{}\", \"{}\", {}}}", name, parameter, rest);
}

std::string argument_text(const KitArgument& a) {
  if (a.buffer) {
    const codegen::TensorType t = codegen::tensor_type(a.buffer->type);
    return row(a.name, a.python,
               fmt::format("{}, {}, 0x{:04x} /* {} */, 0, 0, {}",
                           a.is(ArgumentKind::output) ? "ASHLAR_KIT_OUTPUT" : "ASHLAR_KIT_INPUT", a.buffer->rank,
                           t.code | t.bits << 8, ir::text(a.buffer->type), a.buffer->align));
  }
  const Type t = a.scalar->type;
  if (t.is_float()) return row(a.name, a.python, "ASHLAR_KIT_REAL, 0, 0, 0, 0, 0");
  if (t.is_bool()) return row(a.name, a.python, "ASHLAR_KIT_BOOLEAN, 0, 0, 0, 0, 0");
  const auto [least, most] = integer_range(t);
  const std::string from = least == 0 ? "0" : fmt::format("-INT64_C({}) - 1", most);
  return row(a.name, a.python, fmt::format("ASHLAR_KIT_INTEGER, 0, 0, {}, INT64_C({}), 0", from, most));
}

// "N < 0 || M < 0 ? -1 : N + M": with an extent that is not known yet, the sum is not either. One symbol alone keeps its value.
std::string known_text(const Expr& value, const std::string& text, const std::vector<std::string>& names) {
  if (names.empty() || ir::is(value, ir::Op::var)) return text;
  return fmt::format("{} < 0 ? -1 : {}", fmt::join(names, " < 0 || "), text);
}

std::string shapes_text(const KitInterface& k) {
  std::string t =
      "static void ashlar_shapes(const ashlar_tensor *ashlar_t, const ashlar_kit_number *ashlar_n, ashlar_kit_shape *ashlar_s) "
      "{\n  (void)ashlar_t, (void)ashlar_n, (void)ashlar_s;\n";
  for (const KitSymbol& s : k.solved()) {
    const std::string told = fmt::format("ashlar_t[{}].shape[{}]", s.argument, s.dim);
    std::vector<std::string> names;
    for (ir::Id id : ir::free_vars(s.value)) names.push_back(id == KitInterface::told ? told : k.symbol_name(id));
    t += fmt::format("  const int64_t {} = {};\n", s.name, known_text(s.value, k.value_text(s, told, Syntax::c), names));
  }
  std::size_t at = k.arguments().size();
  for (ir::Id id : k.unsolved()) t += fmt::format("  const int64_t {} = ashlar_n[{}].integer;\n", k.symbol_name(id), at++);
  for (const KitSymbol& s : k.solved()) t += fmt::format("  (void){};\n", s.name);
  for (std::size_t n = 0; n < k.arguments().size(); ++n)
    if (const KitArgument& a = k.arguments()[n]; a.is(ArgumentKind::output))
      for (std::size_t d = 0; d < a.buffer->extents.size(); ++d) {
        const Expr& e = a.buffer->extents[d];
        std::vector<std::string> names;
        for (ir::Id id : ir::free_vars(e)) names.push_back(k.symbol_name(id));
        t += fmt::format("  ashlar_s[{}][{}] = {};\n", n, d, known_text(e, k.extent_text(e, Syntax::c), names));
      }
  return t + "}\n\n";
}

std::string run_text(const KitInterface& k, const std::string& function) {
  std::vector<std::string> actuals;
  for (std::size_t n = 0; n < k.arguments().size(); ++n) {
    const KitArgument& a = k.arguments()[n];
    actuals.push_back(a.buffer ? fmt::format("&ashlar_t[{}]", n)
                               : fmt::format("({})ashlar_n[{}].{}", codegen::c_type(a.scalar->type), n,
                                             a.scalar->type.is_float() ? "real" : "integer"));
  }
  return fmt::format(
      "static int ashlar_run(ashlar_tensor *ashlar_t, const ashlar_kit_number *ashlar_n, const ashlar_context *ashlar_c) {{\n"
      "  (void)ashlar_n;\n  return {}_with({}, ashlar_c);\n}}\n\n",
      function, fmt::join(actuals, ", "));
}

}  // namespace

std::string kit_c_text(const KitInterface& k, const std::string& function) {
  std::vector<std::string> list;
  for (const KitArgument& a : k.arguments()) list.push_back(argument_text(a));
  for (ir::Id id : k.unsolved())
    list.push_back(row(k.symbol_name(id), k.symbol_name(id), "ASHLAR_KIT_EXTENT, 0, 0, 0, INT64_MAX, 0"));
  return fmt::format("static const ashlar_kit_argument ashlar_arguments[] = {{\n{}}};\n\n", fmt::join(list, ",\n")) +
         shapes_text(k) + run_text(k, function);
}

std::string kit_op_text(const KitInterface& k, const std::string& function) {
  return fmt::format("{{\"{}\", ashlar_arguments, {}, ashlar_shapes, ashlar_run}}", function,
                     k.arguments().size() + k.unsolved().size());
}

void require_processors(const HeaderFacts& facts, const char* kit) {
  if (facts.vulkan || facts.cuda || !facts.hosted)
    refuse(kit, "processors with an operating system",
           facts.vulkan ? "vulkan"
           : facts.cuda ? "a CUDA device"
                        : "a bare processor",
           Where{});
}

void require_tensors(const HeaderFacts& facts, const char* kit) {
  if (facts.vulkan || !facts.hosted)
    refuse(kit, "processors with an operating system, and CUDA devices", facts.vulkan ? "vulkan" : "a bare processor", Where{});
}

}  // namespace ashlar::generator
