// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The printed form of kernels, the launches of parallel programs included.
#include <ashlar/ir/build.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/ir/refusal.h>

#include "ir/print.h"

namespace ashlar::ir {
namespace {

struct KernelWriter {
  const Kernel& k;
  Namer names;
  std::string out;
  std::string show(const Expr& e) { return text(e, names); }
  void line(int depth, const std::string& s) { out += std::string(static_cast<std::size_t>(depth) * 2, ' ') + s + "\n"; }
  void body(const std::vector<KStmt>& list, int depth) {
    for (const KStmt& s : list) statement(s, depth);
  }
  void statement(const KStmt& s, int depth) {
    switch (s.kind) {
      case KStmt::Kind::for_: {
        const Namer::Scope scope(names);
        line(depth, std::string(s.loop_kind == LoopKind::parallel ? "parallel " : "") +
                        (s.loop_kind == LoopKind::bound ? std::string(text(s.bound_to)) + " " : "") + "for " +
                        names(s.var, s.name) + " in [" + show(s.begin) + ", +" + show(s.extent) + ")");
        body(s.body, depth + 1);
        break;
      }
      case KStmt::Kind::if_:
        line(depth, "if " + show(s.value));
        {
          const Namer::Scope scope(names);
          body(s.body, depth + 1);
        }
        if (!s.otherwise.empty()) {
          const Namer::Scope scope(names);
          line(depth, "else");
          body(s.otherwise, depth + 1);
        }
        break;
      case KStmt::Kind::let:
        line(depth, names(s.var, s.name) + " = " + show(s.value));
        body(s.body, depth);
        break;
      case KStmt::Kind::store:
        line(depth, names(s.buffer, k.buffers.at(s.buffer).name) + "[" + show(s.address) + "] " +
                        (s.atomic ? std::string("atomic ") + op_name(*s.atomic) : std::string()) + "= " + show(s.value) +
                        (s.mask.empty() ? "" : "  where " + show(s.mask)));
        break;
      case KStmt::Kind::prefetch:
        line(depth, "prefetch " + names(s.buffer, k.buffers.at(s.buffer).name) + "[" + show(s.address) + "]");
        break;
      case KStmt::Kind::launch: {
        const Namer::Scope scope(names);
        launch(*s.launch, depth);
        body(s.body, depth + 1);
        break;
      }
      case KStmt::Kind::sync:
        line(depth, sync(*s.sync));
        break;
      case KStmt::Kind::call:
        line(depth, call(*s.call));
        break;
    }
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
    throw InternalError("a sync waits for a group that is none");
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
        return "fence of initialised barriers";
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

std::string text(const Kernel& k) {
  KernelWriter w{k, {}, {}};
  w.out = "kernel " + k.name + "\n";
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
  return w.out;
}

}  // namespace ashlar::ir
