// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/codegen/launches.h>

#include <algorithm>
#include <functional>
#include <set>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen {

std::vector<const ir::KStmt*> launches_of(const ir::Kernel& k) {
  std::vector<const ir::KStmt*> all;
  const std::function<void(const std::vector<ir::KStmt>&)> find = [&](const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (s.kind == ir::KStmt::Kind::launch) {
        all.push_back(&s);
        continue;
      }
      find(s.body);
      find(s.otherwise);
    }
  };
  find(k.body);
  return all;
}

namespace {

struct Uses {
  std::set<ir::Id> vars, buffers, bound;

  void look(const Expr& e) {
    if (e.empty()) return;
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, ir::Op::var)) vars.insert(x.node()->id);
      if (ir::is(x, ir::Op::load)) buffers.insert(x.node()->id);
      return true;
    });
  }
  void look(const ir::Kernel& k, const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (s.kind == ir::KStmt::Kind::prefetch) continue;  // a hint: its buffer is a parameter where something else uses it
      for (const Expr* e : {&s.begin, &s.extent, &s.value, &s.address, &s.mask}) look(*e);
      if (s.kind == ir::KStmt::Kind::store) buffers.insert(s.buffer);
      if (s.kind == ir::KStmt::Kind::sync)
        for (const Expr* e : {&s.sync->index, &s.sync->count, &s.sync->bytes, &s.sync->parity, &s.sync->rank}) look(*e);
      if (s.kind == ir::KStmt::Kind::call)
        for (const ir::Call::Actual& a : s.call->actuals) {
          look(a.address);
          for (const Expr& p : a.positions) look(p);
          if (a.buffer && !k.tensor_maps.contains(a.buffer)) buffers.insert(a.buffer);
        }
      if (s.var) bound.insert(s.var);
      look(k, s.body);
      look(k, s.otherwise);
    }
  }
};

// Symbols, strides and host loops are of index type; a let outside may have any.
Type outside_type(const std::vector<ir::KStmt>& list, ir::Id id) {
  for (const ir::KStmt& s : list) {
    if (s.kind == ir::KStmt::Kind::let && s.var == id) return s.value.type();
    if (s.kind == ir::KStmt::Kind::launch) continue;
    for (const auto* inside : {&s.body, &s.otherwise})
      if (const Type t = outside_type(*inside, id); !t.is_index()) return t;
  }
  return ir::index_type;
}

}  // namespace

std::vector<LaunchParameter> parameters_of(const ir::Kernel& k, const ir::KStmt& launch) {
  const ir::Launch& l = *launch.launch;
  Uses uses;
  uses.look(k, launch.body);
  std::vector<LaunchParameter> all;
  using Kind = LaunchParameter::Kind;
  for (ir::Id id : uses.buffers) {
    const auto it = k.buffers.find(id);
    if (it == k.buffers.end()) throw InternalError("codegen: kernel " + k.name + " accesses an unknown buffer");
    if (it->second.storage == ir::Storage::argument || it->second.storage == ir::Storage::workspace)
      all.push_back({Kind::address, id, it->second.type, 0});
  }
  for (ir::Id id : uses.vars) {
    if (uses.bound.contains(id) || id == l.thread || std::count(std::begin(l.block), std::end(l.block), id)) continue;
    const auto scalar = k.scalars.find(id);
    all.push_back({Kind::variable, id, scalar == k.scalars.end() ? outside_type(k.body, id) : scalar->second.type, 0});
  }
  std::int64_t offset = 0;
  for (LaunchParameter& p : all) p.offset = offset, offset += 8;
  return all;
}

}  // namespace ashlar::codegen
