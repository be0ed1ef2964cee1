// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The printed form of kernels, the launches of parallel programs included.
#include <ashlar/ir/build.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/ir/placed_text.h>
#include <ashlar/ir/refusal.h>

#include "ir/print.h"

namespace ashlar::ir {
namespace {

struct KernelWriter {
  const Kernel& k;
  bool facts = false;  // what lowering knows as well
  Namer names;
  std::string out;
  std::vector<PlacedLine> placed = {};        // the same lines, each with the place of its statement
  std::vector<const KStmt*> statements = {};  // of each line; null: none
  const KStmt* now = nullptr;
  std::string show(const Expr& e) { return text(e, names); }
  void line(int depth, const std::string& s) {
    std::string whole = std::string(static_cast<std::size_t>(depth) * 2, ' ') + s;
    out += whole + "\n";
    placed.push_back({std::move(whole), now ? now->where : Where{}, 0});
    statements.push_back(now);
  }
  void body(const std::vector<KStmt>& list, int depth) {
    for (const KStmt& s : list) statement(s, depth);
  }
  void inside(const std::vector<KStmt>& list, int depth) {
    const Namer::Scope scope(names);
    body(list, depth);
  }
  std::string name_of(Id buffer) { return names(buffer, k.buffers.at(buffer).name); }
  std::string facts_of(const KStmt& s) const { return facts && s.nest ? "  of nest " + std::to_string(s.nest) : std::string(); }

  void statement(const KStmt& s, int depth) {
    now = &s;
    s.visit(
        [&](const KFor& n) {
          const Namer::Scope scope(names);
          line(depth, std::string(n.kind == LoopKind::parallel ? "parallel " : "") +
                          (n.kind == LoopKind::bound ? std::string(text(n.bound_to)) + " " : "") + "for " +
                          names(n.var, n.name) + " in [" + show(n.begin) + ", +" + show(n.extent) + ")" + facts_of(s) +
                          (facts && n.ring ? ring(*n.ring) : std::string()));
          body(n.body, depth + 1);
        },
        [&](const KIf& n) {
          line(depth, "if " + show(n.condition) + facts_of(s));
          inside(n.body, depth + 1);
          if (n.otherwise.empty()) return;
          now = &s;
          line(depth, "else");
          inside(n.otherwise, depth + 1);
        },
        [&](const KLet& n) {
          line(depth, names(n.var, n.name) + " = " + show(n.value) + facts_of(s));
          body(n.body, depth);
        },
        [&](const KStore& n) {
          line(depth, name_of(n.buffer) + "[" + show(n.address) + "] " +
                          (n.atomic ? std::string("atomic ") + op_name(*n.atomic) : std::string()) + "= " + show(n.value) +
                          (n.mask.empty() ? "" : "  where " + show(n.mask)) + facts_of(s) +
                          (facts && n.group ? "  of group " + std::to_string(n.group) : std::string()));
        },
        [&](const KPrefetch& n) { line(depth, "prefetch " + name_of(n.buffer) + "[" + show(n.address) + "]" + facts_of(s)); },
        [&](const KLaunch& n) {
          const Namer::Scope scope(names);
          n.tile ? tiles(n, depth) : launch(n, depth);
          body(n.body, depth + 1);
        },
        [&](const KSync& n) { line(depth, sync(n)); }, [&](const KCall& n) { line(depth, call(n) + facts_of(s)); });
  }

  // ---- what lowering knows
  std::string ring(const Ring& r) {
    std::string s = "  in a ring of " + std::to_string(r.stages) + (r.async_copy ? ", by asynchronous copies:" : ":");
    for (const auto& [id, elements] : r.buffers) s += " " + name_of(id) + "[" + std::to_string(elements) + "]";
    return s;
  }
  static std::string list(const std::set<Id>& ids) {
    std::string s;
    for (const Id id : ids) s += (s.empty() ? "" : ", ") + std::to_string(id);
    return s;
  }
  std::string list(const std::vector<Id>& buffers) {
    std::string s;
    for (const Id id : buffers) s += (s.empty() ? "" : ", ") + name_of(id);
    return s;
  }
  std::string facts_of(const KBuffer& b) {
    const BufferFacts& known = b.facts();
    std::string s;
    if (known.recurrent) s += ", of a recurrence";
    if (known.shares_places) s += ", points share places";
    if (known.fragment) s += ", a fragment";
    if (!known.points.empty()) s += ", points by loops " + list(known.points);
    if (known.part)
      s += ", parts that start from " + show(known.part->start) + ", shared out by loops " + list(known.part->over);
    if (known.combination) {
      s += ", " + list(known.combination->all) + " from " + list(known.combination->part) + " over";
      for (const ThreadAxis& axis : known.combination->axes) s += " " + std::string(text(axis));
    }
    if (!known.slots.empty()) s += ", " + std::to_string(known.slots.size()) + " addresses in copies of a ring";
    return s.empty() ? s : "  (" + s.substr(2) + ")";
  }

  void launch(const Launch& l, int depth) {
    std::string s = "launch " + l.name + " grid " + three(l.grid);
    bool clusters = false;
    for (const Expr& e : l.cluster) clusters = clusters || !(e.empty() || is_int(e, 1));
    if (clusters) s += " clusters of " + three(l.cluster);
    s += ", " + std::to_string(l.threads) + " threads";
    if (l.warp > 1) s += " in warps of " + std::to_string(l.warp);
    if (l.shared_bytes > 0) s += ", " + std::to_string(l.shared_bytes) + " bytes shared";
    if (l.registers > 0) s += ", " + std::to_string(l.registers) + " registers";
    for (int d = 0; d < 3; ++d)
      if (l.block[d] != 0) names(l.block[d], d == 0 ? "block_x" : d == 1 ? "block_y" : "block_z");
    if (l.thread != 0) names(l.thread, "thread");
    line(depth, s);
  }
  void tiles(const KLaunch& l, int depth) {
    std::string s = "launch " + l.name + " grid " + three(l.grid) + ", tiles of " + list(l.tensors);
    for (std::size_t n = 0; n < l.parameters.size(); ++n) s += (n ? ", " : " with ") + show(l.parameters[n]);
    line(depth, s);
  }
  std::string three(const Expr (&e)[3]) {
    std::string s = "(";
    for (int d = 0; d < 3; ++d) s += (d == 0 ? "" : ", ") + (e[d].empty() ? "1" : show(e[d]));
    return s + ")";
  }

  std::string barrier(const Sync& s) { return names(s.buffer, k.buffers.at(s.buffer).name) + "[" + show(s.index) + "]"; }
  static std::string group(Completion c) {
    switch (c) {
      case Completion::copy_group:
        return "copies";
      case Completion::bulk_group:
        return "bulk copies";
      case Completion::product_group:
        return "products";
      case Completion::call:
      case Completion::barrier:
        break;
    }
    throw InternalError("a sync waits for an unknown group");
  }
  std::string sync(const Sync& s) {
    using K = Sync::Kind;
    switch (s.kind) {
      case K::block:
        return "barrier of the block";
      case K::named:
        return "barrier " + show(s.index) + " of " + show(s.count) + " threads";
      case K::named_arrive:
        return "arrive at barrier " + show(s.index) + " of " + show(s.count) + " threads";
      case K::warp:
        return "barrier of the warp";
      case K::cluster_arrive:
        return "arrive at the barrier of the cluster";
      case K::cluster_wait:
        return "wait at the barrier of the cluster";
      case K::mbarrier_init:
        return "init " + barrier(s) + " for " + show(s.count) + " arrivals";
      case K::mbarrier_arrive:
        return "arrive at " + barrier(s) + (s.rank.empty() ? "" : " of block " + show(s.rank) + " of the cluster");
      case K::mbarrier_expect:
        return "arrive at " + barrier(s) + ", expecting " + show(s.bytes) + " bytes";
      case K::mbarrier_wait:
        return "wait at " + barrier(s) + " for parity " + show(s.parity);
      case K::commit:
        return "commit " + group(s.group);
      case K::wait:
        return "wait for " + group(s.group) + ", " + show(s.count) + " pending";
      case K::wait_read:
        return "wait for the reads of " + group(s.group) + ", " + show(s.count) + " pending";
      case K::fence_init:
        return "fence of initialized barriers";
      case K::fence_proxy:
        return "fence between proxies";
      case K::fence_product:
        return "fence of products";
      case K::fence_device:
        return "fence of the device";
      case K::registers:
        return "registers " + show(s.count);
    }
    throw InternalError("a sync of no kind");
  }

  std::string call_of_function(const Call& c) {
    std::string s = "call " + function(c.function).symbol;
    const auto list = [&](const std::vector<Expr>& each) {
      std::string t = "(";
      for (std::size_t d = 0; d < each.size(); ++d) t += (d ? ", " : "") + show(each[d]);
      return t + ")";
    };
    for (std::size_t a = 0; a < c.actuals.size(); ++a) {
      const Call::Actual& r = c.actuals[a];
      s += a == 0 ? " " : ", ";
      s += a + c.results < c.actuals.size() ? "reads " : "writes ";
      s += names(r.buffer, k.buffers.at(r.buffer).name) + "[" + show(r.address) + "] at " + list(r.positions) + " of " +
           list(r.extents) + " by " + list(r.strides);
    }
    return s;
  }

  std::string call(const Call& c) {
    if (c.function) return call_of_function(c);
    const Intrinsic& f = k.intrinsics.at(c.intrinsic);
    std::string s = "call " + f.name;
    for (std::size_t a = 0; a < c.actuals.size(); ++a) {
      const Call::Actual& actual = c.actuals[a];
      s += (a == 0 ? " " : ", ") + (a < f.operands.size() ? f.operands[a].name + "=" : std::string());
      if (const auto map = k.tensor_maps.find(actual.buffer); map != k.tensor_maps.end())
        s += names(actual.buffer, map->second.name);
      else if (actual.buffer != 0)
        s += names(actual.buffer, k.buffers.at(actual.buffer).name);
      if (!actual.address.empty()) s += actual.buffer != 0 ? "[" + show(actual.address) + "]" : show(actual.address);
      for (std::size_t p = 0; p < actual.positions.size(); ++p)
        s += (p == 0 ? "[" : ", ") + show(actual.positions[p]) + (p + 1 == actual.positions.size() ? "]" : "");
      for (std::size_t d = 0; d < actual.strides.size(); ++d)
        s += (d == 0 ? " by (" : ", ") + show(actual.strides[d]) + (d + 1 == actual.strides.size() ? ")" : "");
    }
    return s;
  }
};

const char* storage_name(Storage s) {
  switch (s) {
    case Storage::argument:
      return "argument";
    case Storage::stack:
      return "stack";
    case Storage::registers:
      return "registers";
    case Storage::workspace:
      return "workspace";
    case Storage::constant:
      return "constant";
    case Storage::shared:
      return "shared";
    case Storage::barrier:
      return "mbarrier";
  }
  throw InternalError("a buffer of no storage");
}

}  // namespace

namespace {

KernelWriter written(const Kernel& k, bool facts) {
  KernelWriter w{k, facts, {}, {}};
  w.line(0, "kernel " + k.name);
  for (const auto& [id, b] : k.buffers) w.names(id, b.name);
  for (const auto& [id, m] : k.tensor_maps) w.names(id, m.name);
  for (const auto& [id, s] : k.symbols) w.names(id, s.name);
  for (const auto& [id, s] : k.scalars) w.names(id, s.name);
  for (const auto& [id, b] : k.buffers) {
    std::string s = std::string(storage_name(b.storage)) + " " + w.names(id, b.name);
    if (b.storage != Storage::barrier) s += ": " + text(b.type);
    if (!b.elements.empty()) s += "[" + w.show(b.elements) + "]";
    if (!b.offset.empty())
      s += " at " + w.show(b.offset) + (b.storage == Storage::workspace && b.per_worker ? " of each worker" : "");
    if (facts) s += w.facts_of(b);
    w.line(1, s);
  }
  for (const auto& [id, m] : k.tensor_maps) {
    std::string s =
        "tensor map " + w.names(id, m.name) + " of " + w.names(m.buffer, k.buffers.at(m.buffer).name) + ", boxes of ";
    for (std::size_t d = 0; d < m.box.size(); ++d) s += (d == 0 ? "" : " x ") + std::to_string(m.box[d]);
    if (m.swizzle != 0) s += ", swizzled by " + std::to_string(m.swizzle) + " bytes";
    w.line(1, s);
  }
  w.body(k.body, 0);
  return w;
}

}  // namespace

std::string text(const Kernel& k) { return written(k, false).out; }
std::string text_with_facts(const Kernel& k) { return written(k, true).out; }
std::vector<PlacedLine> placed_text(const Kernel& k) { return written(k, false).placed; }

void place_at_lines(Kernel& k, std::span<const Where> lines) {
  const KernelWriter w = written(k, false);
  std::vector<const KStmt*> seen = w.statements;
  std::size_t next = 0;  // statements stand in the order of their lines; only the line of an else has one that came before
  const auto place = [&](auto&& self, KBody& body) -> void {
    for (KStmt& s : body) {
      while (next < seen.size() && seen[next] != &s) ++next;
      if (next == seen.size()) throw InternalError("a statement of a kernel without a printed line");
      if (next < lines.size()) s.where = lines[next];
      for (KBody* inside : s.bodies()) self(self, *inside);
    }
  };
  place(place, k.body);
}

}  // namespace ashlar::ir
