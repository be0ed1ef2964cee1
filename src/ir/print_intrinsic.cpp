// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of the intrinsics that users describe.
#include <ashlar/ir/build.h>

#include "ir/print.h"

namespace ashlar::ir {
namespace {

const IntrinsicOperand* result_of(const Intrinsic& f) {
  for (const IntrinsicOperand& o : f.operands)
    if (o.kind == IntrinsicOperand::Kind::tile && o.access != IntrinsicOperand::Access::read) return &o;
  return nullptr;
}

void name_operands(const Intrinsic& f, Namer& names) {
  for (const IntrinsicOperand& o : f.operands) names(o.id, o.name);
}

const char* access_name(IntrinsicOperand::Access a) {
  switch (a) {
    case IntrinsicOperand::Access::read:
      return "read";
    case IntrinsicOperand::Access::write:
      return "write";
    case IntrinsicOperand::Access::accumulate:
      return "accumulate";
  }
  return "";
}

std::string listed(const std::vector<Expr>& list, Namer& names) {
  std::string s;
  for (const Expr& e : list) s += (s.empty() ? "" : ", ") + text(e, names);
  return s;
}

// As the description calls it, where its value uses it.
std::string name_of(const Intrinsic& f, Id v, const char* otherwise) {
  std::string name = otherwise;
  walk(f.value, [&](const Expr& e) {
    if (is(e, Op::var) && e.node()->id == v && e.node()->name) name = e.node()->name;
    return true;
  });
  return name;
}

}  // namespace

std::string text(const Intrinsic& f) {
  const IntrinsicOperand* result = result_of(f);
  if (!result || f.value.empty()) return f.name;
  Namer names;
  name_operands(f, names);
  static constexpr const char* spatial[] = {"i", "j", "l", "m", "n", "o", "p", "q"};
  static constexpr const char* reduce[] = {"k", "k1", "k2", "k3"};
  std::string ranges, at, sums;
  for (std::size_t d = 0; d < f.spatial.size(); ++d) {
    const std::string& v = names(f.spatial[d], name_of(f, f.spatial[d], spatial[d % 8]));
    at += (d ? ", " : "") + v;
    ranges += (d ? ", " : "") + v + " in " + text(f.spatial_extents.at(d), names);
  }
  for (std::size_t d = 0; d < f.reduce.size(); ++d)
    sums += (d ? ", " : "") + names(f.reduce[d], name_of(f, f.reduce[d], reduce[d % 4])) + " in " +
            text(f.reduce_sizes.at(d), names);
  std::string s = f.name + ": " + names(result->id, result->name) + "[" + at + "] " + (f.accumulates ? "+= " : "= ");
  if (!sums.empty()) s += "sum over " + sums + " of ";
  return s + text(f.value, names) + " for " + ranges + (f.rounds_freely ? ", rounded freely" : "");
}

std::string meaning(const Intrinsic& f) {
  Namer names;
  name_operands(f, names);
  std::string s = text(f) + "\n";
  for (const IntrinsicOperand& o : f.operands) {
    s += "  " + o.name + ": " + text(o.type);
    if (o.kind == IntrinsicOperand::Kind::tile)
      s += "[" + listed(o.extents, names) + "] " + access_name(o.access) + " in " + o.scope.name;
    if (o.kind == IntrinsicOperand::Kind::size)
      s += " from " + std::to_string(o.min) + " to " + std::to_string(o.max) + ", multiple of " + std::to_string(o.multiple_of);
    if (!o.map.empty()) {
      Namer own;
      std::string at;
      for (std::size_t d = 0; d < o.vars.size(); ++d) at += (d ? ", " : "") + own(o.vars[d], "d" + std::to_string(d));
      s += ", (" + at + ") held by " + listed(o.map, own);
    }
    s += "\n";
  }
  if (f.group > 1) s += "  by " + std::to_string(f.group) + " lanes\n";
  for (const auto& [end, t] : f.emit) s += "  " + end + ": " + t + "\n";
  for (const auto& [end, t] : f.wait) s += "  " + end + " waits: " + t + "\n";
  if (!f.needs.empty()) s += "  needs " + f.needs + "\n";
  return s;
}

}  // namespace ashlar::ir
