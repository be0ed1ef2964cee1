// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/flatten/storage.h"

#include <algorithm>

#include <ashlar/analysis/packed.h>
#include <ashlar/analysis/promises.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"

namespace ashlar::lowering {

using ir::KBuffer;

namespace {

// Row-major strides over the extents, the last one 1.
std::vector<Expr> dense_strides(const std::vector<Expr>& extents, const analysis::Facts& facts) {
  std::vector<Expr> strides(extents.size());
  Expr running = ir::index(1);
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides[d] = running;
    if (d > 0) running = analysis::simplify(ir::mul(extents[d], running), facts);
  }
  return strides;
}

Expr product(const std::vector<Expr>& extents) {
  Expr n = ir::index(1);
  for (const Expr& e : extents) n = ir::mul(n, e);
  return n;
}

Expr round_up(const Expr& bytes, std::int64_t to) { return ir::mul(ir::ceil_div(bytes, ir::index(to)), ir::index(to)); }

}  // namespace

Expr Place::address(const std::vector<Expr>& logical_index) const {
  std::vector<Expr> physical;
  if (buffer->layout.map.empty() || (fragment && !buffer->layout.dropped.empty())) {  // tiles without that dimension: 0 apart
    physical = logical_index;
  } else {
    ir::Substitution s;
    for (std::size_t d = 0; d < buffer->layout.vars.size(); ++d) s.emplace_back(buffer->layout.vars[d], logical_index.at(d));
    for (const Expr& e : buffer->layout.map) physical.push_back(ir::substitute(e, s));
  }
  if (physical.size() != stride.size())
    throw InternalError("an access to " + buffer->name + " with the wrong number of indices");
  Expr sum = ir::index(0);
  for (std::size_t d = 0; d < physical.size() && !fragment; ++d)
    sum = ir::add(sum, ir::mul(ir::sub(physical[d], lo[d]), stride[d]));
  if (fragment) {  // all lanes look at one tile
    Expr tile = ir::index(0);
    for (std::size_t d = 0; d < physical.size(); ++d)
      tile = ir::add(
          tile, ir::mul(ir::div(ir::sub(physical[d], lo[d]), ir::index(fragment->shape[d])), ir::index(fragment->stride[d])));
    if (fragment->lane) tile = ir::substitute(tile, {{fragment->lane, ir::index(0)}});
    return ir::add(ir::mul(tile, ir::index(fragment->registers)), ir::index(fragment->reg));
  }
  for (const Lane& l : lanes) sum = ir::add(ir::mul(sum, ir::index(l.lanes)), l.value);
  return sum;
}

Place place_argument(ir::Kernel& k, ir::Program& p, const ir::Buffer& b) {
  const analysis::Facts facts = analysis::facts_of_arguments(p);
  Place place;
  place.buffer = &b;
  place.kbuffer = b.id;
  place.logical_lo.assign(b.extents.size(), ir::index(0));
  place.logical_extent = b.extents;
  std::vector<Expr> extents = b.extents;
  place.lo = place.logical_lo;
  if (!b.layout.map.empty()) {
    extents = analysis::packed_extents(p.symbols, b);
    place.lo.assign(extents.size(), ir::index(0));
  }
  const std::size_t rank = extents.size();
  if (!b.layout.strides.empty()) {
    place.stride = b.layout.strides;
    for (std::size_t d = 0; d < rank; ++d)
      ir::walk(place.stride[d], [&](const Expr& e) {
        if (ir::is(e, ir::Op::var) && !p.symbols.count(e.node()->id) &&
            std::none_of(k.strides.begin(), k.strides.end(), [&](const ir::StrideArg& s) { return s.id == e.node()->id; }))
          k.strides.push_back({e.node()->id, b.id, static_cast<int>(d)});
        return true;
      });
  } else if (b.packed_by_caller || b.order == ir::Buffer::Order::dense) {
    place.stride = dense_strides(extents, facts);
  } else {
    for (std::size_t d = 0; d < rank; ++d) {
      if (d + 1 == rank && b.order == ir::Buffer::Order::inner_unit_stride) {
        place.stride.push_back(ir::index(1));
        continue;
      }
      const Id id = p.fresh();
      k.strides.push_back({id, b.id, static_cast<int>(d)});
      place.stride.push_back(ir::var(id, b.name + "_stride" + std::to_string(d)));
    }
  }
  KBuffer kb;
  kb.id = b.id;
  kb.name = b.name;
  kb.type = b.type;
  kb.storage = ir::Storage::argument;
  kb.align = std::max<std::int64_t>(b.align, b.type.bytes());
  kb.written = b.role == ir::Role::output;
  if (b.role == ir::Role::constant) {
    kb.storage = ir::Storage::constant;
    kb.align = 64;
    kb.data = b.layout.map.empty() ? b.data : std::make_shared<const std::vector<std::byte>>(analysis::packed_data(b));
    kb.elements = ir::index(static_cast<std::int64_t>(kb.data->size()) / b.type.bytes());
  }
  k.buffers.emplace(kb.id, kb);
  return place;
}

Place place_alloc(ir::Kernel& k, const ir::Program& p, const ir::Stmt& alloc, Id kbuffer, std::vector<Lane> lanes,
                  bool per_worker, const LowerOptions& options) {
  const ir::Buffer& b = p.buffer(alloc.get<ir::AllocStmt>().buffer);
  const analysis::Facts facts = analysis::facts_of_arguments(p);
  Place place;
  place.buffer = &b;
  place.kbuffer = kbuffer;
  analysis::Box logical = analysis::logical_box(p, alloc.id);
  place.logical_lo = std::move(logical.lo);
  place.logical_extent = std::move(logical.extent);
  place.lo = b.layout.map.empty() ? place.logical_lo : analysis::physical_box(p, alloc.id).lo;
  std::vector<Expr> extents = analysis::storage_extents(p, alloc.id);
  for (Expr& e : extents)
    if (!e.empty()) e = analysis::without_promises(e);  // at entry, where there may be no reader that makes them
  for (const Expr& e : extents)
    if (e.empty())
      refuse("lower", "storage of " + b.name + " with a bound over the symbols", "a box that has none", alloc.where);
  if (b.scope == Scope::registers || b.scope == Scope::stack || b.scope == Scope::shared)
    for (Expr& e : extents)
      if (const auto most = analysis::constant_max(e, facts)) e = ir::index(std::max<std::int64_t>(0, *most));
  place.stride = dense_strides(extents, facts);
  place.lanes = std::move(lanes);
  for (const Lane& l : place.lanes) extents.push_back(ir::index(l.lanes));

  KBuffer kb;
  kb.id = kbuffer;
  kb.name = b.name;
  kb.type = b.type;
  kb.align = std::max<std::int64_t>({64, b.align, b.scope.limits.align});
  kb.elements = analysis::simplify(ir::max(ir::index(0), product(extents)), facts);
  kb.per_worker = per_worker;
  std::int64_t count = 0;
  const bool constant = ir::is_int(kb.elements, &count);
  if (b.scope == Scope::registers || b.scope == Scope::stack) {
    const bool registers = b.scope == Scope::registers;
    if (!constant)
      refuse("store_in", "a constant size for " + b.name + " in Scope::" + b.scope.name, ir::text(kb.elements) + " elements",
             alloc.where);
    if (!registers && count * b.type.bytes() > options.stack_limit)
      refuse("store_in", "at most " + std::to_string(options.stack_limit) + " bytes for " + b.name + " in Scope::stack",
             std::to_string(count * b.type.bytes()) + " bytes", alloc.where);
    kb.storage = registers ? ir::Storage::registers : ir::Storage::stack;
    kb.per_worker = false;
  } else if (b.scope == Scope::shared) {
    if (!constant)
      refuse("store_in", "a constant size for " + b.name + " in Scope::shared", ir::text(kb.elements) + " elements",
             alloc.where);
    kb.storage = ir::Storage::shared;
    kb.per_worker = false;
  } else {
    kb.storage = ir::Storage::workspace;
  }
  k.buffers.emplace(kb.id, kb);
  return place;
}

Place place_fragment(ir::Kernel& k, const ir::Program& p, const ir::Stmt& alloc, Id kbuffer, const analysis::HeldBuffer& held) {
  const ir::Buffer& b = p.buffer(alloc.get<ir::AllocStmt>().buffer);
  Place place;
  place.buffer = &b;
  place.kbuffer = kbuffer;
  analysis::Box logical = analysis::logical_box(p, alloc.id);
  place.lo = place.logical_lo = std::move(logical.lo);
  place.logical_extent = std::move(logical.extent);
  place.stride.assign(place.lo.size(), ir::index(1));
  FragmentPlace& f = place.fragment.emplace();
  f.shape = held.tile.shape;
  f.registers = held.tile.registers;
  const std::vector<std::int64_t> counts = analysis::tile_counts(p, alloc, held.tile);
  if (counts.empty()) throw InternalError("a fragment without a constant size: " + b.name);
  std::int64_t tiles = 1;
  f.stride.resize(counts.size());
  for (std::size_t d = counts.size(); d-- > 0; tiles *= counts[d]) f.stride[d] = tiles;
  for (const int d : b.layout.dropped) f.stride[static_cast<std::size_t>(d)] = 0;
  KBuffer kb;
  kb.id = kbuffer;
  kb.name = b.name;
  kb.type = b.type;
  kb.storage = ir::Storage::registers;
  kb.elements = ir::index(tiles * f.registers);
  k.buffers.emplace(kb.id, kb);
  return place;
}

void plan_workspace(ir::Kernel& k, const ir::Program& p, const std::vector<Life>& lives) {
  const analysis::Facts facts = analysis::facts_of_arguments(p);
  struct Slot {
    Expr bytes;
    bool per_worker = false;
    std::size_t free_from = 0;
    std::vector<Id> members;
  };
  std::vector<Slot> slots;
  std::int64_t align = 64;
  for (const Life& life : lives) align = std::max(align, k.buffers.at(life.kbuffer).align);
  std::vector<Life> order = lives;
  std::stable_sort(order.begin(), order.end(), [](const Life& a, const Life& b) { return a.from < b.from; });
  for (const Life& life : order) {
    const KBuffer& b = k.buffers.at(life.kbuffer);
    const Expr bytes = analysis::simplify(round_up(ir::mul(b.elements, ir::index(b.type.bytes())), align), facts);
    Slot* best = nullptr;
    for (Slot& s : slots) {
      if (s.free_from > life.from || s.per_worker != b.per_worker) continue;
      if (ir::same(s.bytes, bytes)) {
        best = &s;
        break;
      }
      if (!best) best = &s;
    }
    if (best && !ir::same(best->bytes, bytes)) best->bytes = analysis::simplify(ir::max(best->bytes, bytes), facts);
    if (!best) best = &slots.emplace_back(Slot{bytes, b.per_worker, 0, {}});
    best->free_from = life.to + 1;
    best->members.push_back(life.kbuffer);
  }
  Expr total[2] = {ir::index(0), ir::index(0)};
  for (const Slot& s : slots) {
    Expr& end = total[s.per_worker];
    for (Id id : s.members) k.buffers.at(id).offset = end;
    end = analysis::simplify(ir::add(end, s.bytes), facts);
  }
  k.workspace_shared = total[0];
  k.workspace_per_worker = total[1];
  k.workspace_align = align;
}

}  // namespace ashlar::lowering
