// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/launches.h>

#include <algorithm>
#include <functional>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "codegen/uses.h"

namespace ashlar::codegen {

std::vector<const ir::KStmt*> launches_of(const ir::Kernel& k) {
  std::vector<const ir::KStmt*> all;
  const std::function<void(const std::vector<ir::KStmt>&)> find = [&](const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (s.is<ir::KLaunch>()) {
        all.push_back(&s);
        continue;
      }
      for (const auto* part : s.bodies()) find(*part);
    }
  };
  find(k.body);
  return all;
}

namespace {

// Symbols, strides and host loops are of index type; a let outside may have any.
Type outside_type(const std::vector<ir::KStmt>& list, ir::Id id) {
  for (const ir::KStmt& s : list) {
    if (const auto* let = s.as<ir::KLet>(); let && let->var == id) return let->value.type();
    if (s.is<ir::KLaunch>()) continue;
    for (const auto* inside : s.bodies())
      if (const Type t = outside_type(*inside, id); !t.is_index()) return t;
  }
  return ir::index_type;
}

}  // namespace

std::vector<LaunchParameter> parameters_of(const ir::Kernel& k, const ir::KLaunch& l, bool prefetches) {
  const Uses uses = uses_of(l.body, prefetches ? Prefetches::counted : Prefetches::ignored);
  std::vector<LaunchParameter> all;
  using Kind = LaunchParameter::Kind;
  for (ir::Id id : uses.buffers) {
    if (k.tensor_maps.contains(id)) continue;
    const auto it = k.buffers.find(id);
    if (it == k.buffers.end()) throw InternalError("codegen: kernel " + k.name + " accesses an unknown buffer");
    if (it->second.storage == ir::Storage::argument || it->second.storage == ir::Storage::workspace)
      all.push_back({Kind::address, id, it->second.type, 0});
  }
  for (ir::Id id : uses.vars) {
    if (id == l.thread || std::count(std::begin(l.block), std::end(l.block), id)) continue;
    const auto scalar = k.scalars.find(id);
    all.push_back({Kind::variable, id, scalar == k.scalars.end() ? outside_type(k.body, id) : scalar->second.type, 0});
  }
  std::int64_t offset = 0;
  for (LaunchParameter& p : all) p.offset = offset, offset += 8;
  return all;
}

bool may_be_split(const ir::Kernel& k, const ir::KLaunch& l, int d) {
  constexpr std::int64_t most = 65535;
  const Expr& blocks = l.grid[static_cast<std::size_t>(d)];
  if (d == 0 || blocks.empty()) return false;
  analysis::Facts facts;
  for (const auto& [id, symbol] : k.symbols) facts.bound(id, symbol.min, symbol.max);
  const auto bound = analysis::constant_max(blocks, facts);
  return !bound || *bound > most;
}

}  // namespace ashlar::codegen
