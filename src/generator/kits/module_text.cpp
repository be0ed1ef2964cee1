// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/kits/module_text.h"

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::generator {

namespace {

using ir::ArgumentKind;

bool is_known(const KitInterface& k, ir::Id id) {
  for (const KitSymbol& s : k.solved())
    if (s.id == id) return true;
  for (ir::Id other : k.unsolved())
    if (other == id) return true;
  return false;
}

std::string extent_checks(const KitInterface& k, const std::string& function, const KitArgument& a) {
  std::string t;
  for (std::size_t d = 0; d < a.buffer->extents.size(); ++d) {
    const Expr& e = a.buffer->extents[d];
    bool known = true, tells = false;
    for (const KitSymbol& s : k.solved())
      tells = tells || (&k.arguments()[s.argument] == &a && s.dim == d && ir::is(e, ir::Op::var));
    for (ir::Id id : ir::free_vars(e)) known = known && is_known(k, id);
    if (known && !tells)
      t += fmt::format("    library.extent(\"{}\", \"{}\", {}, {}, {}, \"{}\")\n", function, a.name, a.python, d,
                       k.extent_text(e, Syntax::python), in_docstring(ir::text(e)));
  }
  return t;
}

std::string facts(const ir::Symbol& s, const std::string& function, const std::string& name) {
  std::string t;
  if (s.min > 0)
    t += fmt::format("    library.fact(\"{}\", \"{}\", lambda: {} >= {}, \"at least {}\")\n", function, s.name, name, s.min,
                     s.min);
  if (s.max != INT64_MAX)
    t += fmt::format("    library.fact(\"{}\", \"{}\", lambda: {} <= {}, \"at most {}\")\n", function, s.name, name, s.max,
                     s.max);
  if (s.multiple_of != 1)
    t += fmt::format("    library.fact(\"{}\", \"{}\", lambda: {} % {} == 0, \"a multiple of {}\")\n", function, s.name, name,
                     s.multiple_of, s.multiple_of);
  return t;
}

}  // namespace

std::string tuple_text(const std::vector<std::string>& parts) {
  return parts.size() == 1 ? fmt::format("({},)", parts[0]) : fmt::format("({})", fmt::join(parts, ", "));
}

std::string extents_text(const ir::Buffer& b) {
  std::vector<std::string> extents;
  for (const Expr& e : b.extents) extents.push_back(ir::text(e));
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string in_docstring(std::string s) {
  for (char& c : s)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
  return s;
}

std::string dtype_name(Type t) {
  switch (t.code) {
    case Type::Code::signed_:
      return fmt::format("int{}", t.bits);
    case Type::Code::index:
      return "int64";
    case Type::Code::unsigned_:
      return fmt::format("uint{}", t.bits);
    case Type::Code::bfloat:
      return "bfloat16";
    case Type::Code::boolean:
      return "bool";
    case Type::Code::e4m3:
      return "float8_e4m3fn";
    case Type::Code::e5m2:
      return "float8_e5m2";
    default:
      return fmt::format("float{}", t.bits);
  }
}

const char* number_type(Type t) { return t.is_float() ? "float" : t.is_bool() ? "bool" : "int"; }

std::string inputs_text(const KitInterface& k) {
  std::vector<std::string> list;
  for (const KitArgument& a : k.arguments())
    if (!a.is(ArgumentKind::output)) list.push_back(a.python);
  for (ir::Id id : k.unsolved()) list.push_back(k.symbol_name(id));
  return fmt::format("{}", fmt::join(list, ", "));
}

std::vector<std::string> gradients_of(const KitInterface& k, const KitFacts& facts) {
  const std::vector<const KitArgument*> made = k.all(ArgumentKind::output);
  std::vector<std::string> results;
  std::size_t found = 0;
  for (std::size_t n = 0; n < facts.forward_arguments; ++n) {
    const bool has = found < made.size() && made[found]->python == python_name("grad_" + k.arguments()[n].name);
    results.emplace_back(has ? made[found++]->python : "None");
  }
  return results;
}

std::string shapes_function(const ir::Kernel& kernel, const KitInterface& k, std::string (*type)(Type),
                            const std::string& more) {
  std::string t = fmt::format("def _shapes({}):\n", inputs_text(k));
  const std::vector<const KitArgument*> inputs = k.all(ArgumentKind::input);
  for (const KitArgument* a : inputs)
    t += fmt::format("    library.expect(\"{}\", \"{}\", {}, {}, {})\n", kernel.name, a->name, a->python, a->buffer->rank,
                     type(a->buffer->type));
  t += more;
  for (const KitSymbol& s : k.solved())
    t += fmt::format("    {} = {}\n", s.name,
                     k.value_text(s, fmt::format("{}.shape[{}]", k.arguments()[s.argument].python, s.dim), Syntax::python));
  for (const KitArgument* a : inputs) t += extent_checks(k, kernel.name, *a);
  for (const KitSymbol& s : k.solved()) t += facts(kernel.symbols.at(s.id), kernel.name, s.name);
  for (ir::Id id : k.unsolved()) t += facts(kernel.symbols.at(id), kernel.name, k.symbol_name(id));
  std::vector<std::string> shapes;
  for (const KitArgument* a : k.all(ArgumentKind::output)) {
    std::vector<std::string> extents;
    for (const Expr& e : a->buffer->extents) extents.push_back(k.extent_text(e, Syntax::python));
    shapes.push_back(extents.empty() ? "()" : tuple_text(extents));
  }
  return t + fmt::format("    return [{}]\n\n\n", fmt::join(shapes, ", "));
}

}  // namespace ashlar::generator
