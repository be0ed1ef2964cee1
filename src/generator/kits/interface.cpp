// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/kits/interface.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/codegen/affine.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::generator {

namespace {

// Keywords, and the names that generated modules use themselves.
constexpr std::array reserved = {"False",   "None",     "True",     "and",    "as",       "assert", "async",  "await",
                                 "break",   "class",    "continue", "def",    "del",      "elif",   "else",   "except",
                                 "finally", "for",      "from",     "global", "if",       "import", "in",     "is",
                                 "lambda",  "nonlocal", "not",      "or",     "pass",     "raise",  "return", "try",
                                 "while",   "with",     "yield",    "torch",  "library",  "out",    "shapes", "ctx",
                                 "inputs",  "self",     "jax",      "saved",  "gradients"};

// What this dimension says of a symbol, where it has one unknown alone: (told - constant - the others) / coefficient.
std::optional<KitSymbol> read(const Expr& extent, const std::vector<KitSymbol>& solved) {
  const auto affine = codegen::affine(extent);
  if (!affine) return std::nullopt;
  std::optional<std::pair<ir::Id, std::int64_t>> unknown;
  Expr rest = ir::sub(ir::var(KitInterface::told, "told"), ir::index(affine->constant));
  for (const auto& [id, coefficient] : affine->terms) {
    const bool known = std::any_of(solved.begin(), solved.end(), [&](const KitSymbol& s) { return s.id == id; });
    if (known)
      rest = ir::sub(rest, ir::mul(ir::index(coefficient), ir::var(id, "")));
    else if (unknown)
      return std::nullopt;
    else
      unknown = {id, coefficient};
  }
  if (!unknown) return std::nullopt;
  KitSymbol s;
  s.id = unknown->first;
  s.value = unknown->second < 0 ? ir::div(ir::sub(ir::index(0), rest), ir::index(-unknown->second))
                                : ir::div(rest, ir::index(unknown->second));
  return s;
}

}  // namespace

void require_plain(const ir::Buffer& b, const char* kit) {
  if (!b.packed_by_caller && !b.type.is_packed()) return;
  refuse(kit, "tensors in their own layout, of types with at least a byte",
         b.name + (b.packed_by_caller ? ", packed by the caller" : fmt::format(" of type {}", ir::text(b.type))), b.where);
}

std::pair<std::int64_t, std::int64_t> integer_range(Type t) {
  const int bits = t.is_bool() ? 1 : t.is_index() ? 64 : t.bits;
  if (t.is_bool() || t.is_unsigned()) return {0, bits == 64 ? INT64_MAX : (std::int64_t{1} << bits) - 1};
  const std::int64_t most = bits == 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
  return {-most - 1, most};
}

std::string python_name(std::string name) {
  name = codegen::c_identifier(name);
  while (std::find(reserved.begin(), reserved.end(), name) != reserved.end()) name += '_';
  return name;
}

KitInterface::KitInterface(const ir::Kernel& k, std::span<const ir::Argument> arguments, const char* kit)
    : kernel_(k), kit_(kit) {
  std::set<std::string> taken;
  const auto unique = [&](std::string name) {
    name = python_name(name);
    while (!taken.insert(name).second) name += '_';
    return name;
  };
  for (const ir::Argument& a : arguments) {
    KitArgument& argument = arguments_.emplace_back();
    argument.kind = a.kind;
    if (a.kind == ir::ArgumentKind::scalar) {
      argument.scalar = &k.scalars.at(a.id);
      argument.name = argument.scalar->name;
      const Type t = argument.scalar->type;
      if (t.is_float() && t.bits < 32)
        refuse(kit, "scalars of f32, f64, integers and bool, which Python has numbers for",
               fmt::format("{} of type {}", argument.name, ir::text(t)), argument.scalar->where);
    } else {
      argument.buffer = &k.argument_buffers.at(a.id);
      argument.name = argument.buffer->name;
      require_plain(*argument.buffer, kit);
    }
    argument.python = unique(argument.name);
  }
  if (all(ir::ArgumentKind::input).empty())
    refuse(kit, "a tensor that is read, whose device says where to compute", "no Input", Where{});
  if (all(ir::ArgumentKind::output).empty()) refuse(kit, "an Output", "none", Where{});
  for (const auto& [id, symbol] : k.symbols) names_[id] = unique(symbol.name);
  solve();
}

bool KitInterface::solve_one() {
  for (std::size_t n = 0; n < arguments_.size(); ++n) {
    if (!arguments_[n].is(ir::ArgumentKind::input)) continue;
    const std::vector<Expr>& extents = arguments_[n].buffer->extents;
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (std::optional<KitSymbol> s = read(extents[d], solved_)) {
        s->argument = n, s->dim = d, s->name = names_.at(s->id);
        solved_.push_back(std::move(*s));
        return true;
      }
  }
  return false;
}

void KitInterface::solve() {
  while (solve_one()) {}
  const auto known = [&](ir::Id id) {
    return std::any_of(solved_.begin(), solved_.end(), [&](const KitSymbol& s) { return s.id == id; }) ||
           std::find(unsolved_.begin(), unsolved_.end(), id) != unsolved_.end();
  };
  for (const KitArgument& a : arguments_)
    if (a.is(ir::ArgumentKind::output))
      for (const Expr& extent : a.buffer->extents)
        for (ir::Id id : ir::free_vars(extent))
          if (!known(id)) unsolved_.push_back(id);
}

std::vector<const KitArgument*> KitInterface::all(ir::ArgumentKind kind) const {
  std::vector<const KitArgument*> found;
  for (const KitArgument& a : arguments_)
    if (a.is(kind)) found.push_back(&a);
  return found;
}

std::string KitInterface::value_text(const KitSymbol& s, const std::string& told_text, Syntax syntax) const {
  IndexNames names = names_;
  names[told] = told_text;
  return index_text(s.value, names, syntax, kit_);
}

std::string KitInterface::extent_text(const Expr& extent, Syntax syntax) const {
  return index_text(extent, names_, syntax, kit_);
}

KitInterface forward_interface(const ir::Kernel& k, const KitFacts& facts, const char* kit) {
  const auto count = static_cast<std::ptrdiff_t>(facts.forward_arguments + facts.forward_outputs);
  std::vector<ir::Argument> list(k.arguments.begin(), k.arguments.begin() + count);
  for (std::size_t n = facts.forward_arguments; n < list.size(); ++n) list[n].kind = ir::ArgumentKind::output;
  return KitInterface(k, list, kit);
}

std::string signature_text(const KitInterface& k, const std::string& function) {
  std::vector<std::string> parameters, results;
  for (const KitArgument& a : k.arguments()) {
    std::string text = fmt::format("{}: {}", a.name, ir::text(a.buffer ? a.buffer->type : a.scalar->type));
    if (a.buffer) {
      std::vector<std::string> extents;
      for (const Expr& e : a.buffer->extents) extents.push_back(ir::text(e));
      text += fmt::format("[{}]", fmt::join(extents, ", "));
    }
    (a.is(ir::ArgumentKind::output) ? results : parameters).push_back(std::move(text));
  }
  for (ir::Id id : k.unsolved()) parameters.push_back(k.symbol_name(id));
  std::string text = fmt::format("{}({}) -> {}", function, fmt::join(parameters, ", "), fmt::join(results, ", "));
  for (char& c : text)  // of strings in C and Python
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

}  // namespace ashlar::generator
