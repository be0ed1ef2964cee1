// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches: loops bound to the blocks and threads of a device.
//
// A launch is one nest at the root with everything computed inside it. Its blocks are the outermost loops; threads stand inside
// them, and so do nests that are computed for the block as a whole into Scope::shared, with threads of their own.
//
//   for bi         block_y
//     for bj       block_x
//       nest A_shared                      for the block, by all of its threads
//         for c    threads
//       for ti     thread_y
//         for tj   thread_x
//           block C
#include <algorithm>
#include <map>

#include <ashlar/ir/function.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/scope_call.h>
#include <ashlar/analysis/thread_tree.h>

#include "schedule/legality/legality.h"

namespace ashlar::schedule {
namespace {

using ir::LoopKind;

bool bound(const Stmt& s) { return ir::is_loop(s, LoopKind::bound); }

std::string bound_name(const Program& p, const Stmt& loop) {
  return name_of(p, loop) + ", bound to " + ir::text(loop.get<LoopStmt>().bound_to);
}

// Warps and lanes see the threads of a block in another way than thread_x, thread_y and thread_z.
bool flat_view(ThreadAxis a) { return a == gpu::warp || a == gpu::lane; }
bool grid_view(ThreadAxis a) { return a.level == gpu::thread_x.level; }

// Do loops over both axes take one thread for different iterations?
bool overlap(ThreadAxis a, ThreadAxis b) {
  return a == b || (!ir::is_block(a) && !ir::is_block(b) && (a == gpu::threads || b == gpu::threads));
}

[[noreturn]] void refuse_at(const Stmt& at, const std::string& expected, const std::string& found) {
  ashlar::refuse("bind", expected, found, at.where);
}

// The most iterations of a loop, or nothing.
std::optional<std::int64_t> most_iterations(const Program& p, const Stmt& loop) {
  const ir::LoopRange r = ir::range_of(p, loop);
  return analysis::constant_max(ir::sub(r.end, r.begin), analysis::facts_at(p, loop.id));
}

// Where each buffer in shared memory starts, and where each copy of one in a ring: multiples of this (of swizzled tiles).
constexpr std::int64_t shared_unit = 128;

// Of an alloc: the buffers that the pipelined loop around makes of it.
std::int64_t ring_of(const Program& p, const Stmt& alloc) {
  const auto path = ir::path_to(p, alloc.id);
  if (path.size() < 2) return 1;
  const LoopStmt* around = path[path.size() - 2]->as<LoopStmt>();
  if (!around || !around->pipeline) return 1;
  const std::vector<Id>& loads = around->pipeline->loads;
  const Id stage = p.buffer(alloc.get<AllocStmt>().buffer).stage;
  return std::find(loads.begin(), loads.end(), stage) != loads.end() ? around->pipeline->stages : 1;
}

bool shared(const Program& p, const Stmt& nest) {
  const auto& buffers = p.stage(nest.get<NestStmt>().stage).buffers;
  return std::any_of(buffers.begin(), buffers.end(), [&](Id b) { return p.buffer(b).scope == Scope::shared; });
}

struct LaunchShape {
  const Program& p;
  const Device& device;
  std::map<std::pair<int, int>, std::int64_t> extent;  // of thread axes: the largest
  const Stmt* flat = nullptr;
  const Stmt* grid = nullptr;
  const Stmt* all_threads = nullptr;
  const Stmt* fragment = nullptr;          // an alloc: the launch has whole warps
  std::vector<const Stmt*> combined = {};  // reductions over threads

  void visit(const Stmt& s, std::vector<const Stmt*>& path) {
    path.push_back(&s);
    if (bound(s)) loop(s, path);
    if (s.is<NestStmt>()) nest(s, path);
    if (const AllocStmt* alloc = s.as<AllocStmt>(); alloc && p.buffer(alloc->buffer).scope == Scope::fragment) fragment = &s;
    for (const Stmt& inner : s.body()) visit(inner, path);
    path.pop_back();
  }

  void loop(const Stmt& s, const std::vector<const Stmt*>& path) {
    const LoopStmt& l = s.get<LoopStmt>();
    if (l.combines) combined.push_back(&s);
    if (flat_view(l.bound_to)) flat = &s;
    if (grid_view(l.bound_to)) grid = &s;
    if (l.bound_to == gpu::threads) all_threads = &s;
    if (flat && grid)
      refuse_at(s, "thread axes, or warp and lane, in one launch, not both",
                bound_name(p, *flat) + ", and " + bound_name(p, *grid));
    bool other_nest = false;
    for (std::size_t k = path.size() - 1; k-- > 0;) {
      if (path[k]->is<NestStmt>()) other_nest = true;
      if (!bound(*path[k]) || !overlap(path[k]->get<LoopStmt>().bound_to, l.bound_to)) continue;
      if (!other_nest || !inside_shared(path, k))
        refuse_at(s, "an axis that no enclosing loop is bound to, unless the stage lies in Scope::shared",
                  bound_name(p, s) + ", inside " + bound_name(p, *path[k]));
    }
    const auto own_nest = std::find_if(path.rbegin(), path.rend(), [](const Stmt* around) { return around->is<NestStmt>(); });
    if (!ir::is_block(l.bound_to) && !l.combines) own_memory(**own_nest, s);
    if (ir::is_block(l.bound_to) || l.bound_to == gpu::threads) return;
    const auto most = most_iterations(p, s);
    if (!most)
      refuse_at(s, "a constant extent for " + name_of(p, s) + " (split it, and bind the inner loop)",
                "an extent of " + ir::text(p.axis(l.axis).extent));
    auto& e = extent[{l.bound_to.level, l.bound_to.dim}];
    e = std::max<std::int64_t>({e, *most, 1});
    if (l.bound_to == gpu::lane && *most > device.warp)
      refuse_at(s, "at most " + std::to_string(device.warp) + " lanes, a warp of " + device.name,
                name_of(p, s) + " of " + std::to_string(*most) + " iterations");
  }

  // Memory of a thread's own is not seen by the others: all threads compute what is read there, not each a part. (What is
  // computed inside a loop over threads is read inside it.)
  void own_memory(const Stmt& nest, const Stmt& over_threads) const {
    for (Id id : p.stage(nest.get<NestStmt>().stage).buffers)
      if (const ir::Buffer& b = p.buffer(id); b.scope == Scope::registers || b.scope == Scope::stack)
        refuse_at(
            over_threads,
            "memory that the threads of a block share for " + b.name +
                ", because each computes a part of it (store_in(Scope::shared), or compute_at inside the loop over threads)",
            bound_name(p, over_threads) + ", around the computation of " + b.name + " in Scope::" + b.scope.name);
  }

  // The shape of a block: thread_x, thread_y, thread_z, lane, warp. A launch that has lanes or warps has whole warps.
  static constexpr ThreadAxis shape[] = {gpu::thread_x, gpu::thread_y, gpu::thread_z, gpu::lane, gpu::warp};
  std::int64_t extent_of(ThreadAxis a) const {
    if ((flat || fragment) && a == gpu::lane) return device.warp;
    const auto it = extent.find({a.level, a.dim});
    return it == extent.end() ? 1 : it->second;
  }
  std::int64_t threads() const {
    std::int64_t n = 1;
    for (ThreadAxis a : shape) n *= extent_of(a);
    return n;
  }
  // Shared memory through which a reduction over threads goes.
  std::int64_t combining_bytes(const Stmt& loop) const {
    const LoopStmt& node = loop.get<LoopStmt>();
    std::int64_t below = 1;
    for (ThreadAxis a : shape) {
      if (a == node.bound_to) break;
      below *= extent_of(a);
    }
    const bool all = node.bound_to == gpu::threads;
    std::vector<Type> types;
    std::int64_t bytes = 0;
    for (Id b : stage_around(p, loop.id).buffers) {
      types.push_back(p.buffer(b).type);
      bytes += types.back().bytes();
    }
    return bytes *
           analysis::thread_tree(threads(), device.warp, all ? 1 : below, all ? threads() : extent_of(node.bound_to), types)
               .shared_elements();
  }

  // Between path[k] and the end stands a nest that is computed for the block as a whole.
  bool inside_shared(const std::vector<const Stmt*>& path, std::size_t k) const {
    for (std::size_t j = k + 1; j < path.size(); ++j)
      if (path[j]->is<NestStmt>() && shared(p, *path[j])) return true;
    return false;
  }

  void nest(const Stmt& s, const std::vector<const Stmt*>& path) {
    if (path.size() == 1) return;  // the root of the launch
    const ir::Stage& stage = p.stage(s.get<NestStmt>().stage);
    if (shared(p, s))
      if (const std::string found = divergence(p, path); !found.empty())
        ashlar::refuse("compute_at",
                       "loops around " + stage.name +
                           ", which lies in Scope::shared, that run alike in all threads (reorder it outside of them)",
                       found, s.where);
    for (Id id : stage.buffers) {
      const ir::Buffer& b = p.buffer(id);
      if (b.role != ir::Role::temporary || !(b.scope == Scope::global)) continue;
      if (device.kind == Device::Kind::tile) continue;  // a value, which needs no memory
      const Stmt* alloc = ir::alloc_of(p, id);
      if (alloc && !ir::path_to(p, alloc->id).empty() && ir::path_to(p, alloc->id).size() > 1)
        ashlar::refuse("bind",
                       "memory of the block or the thread for " + b.name +
                           ", which is computed inside a launch: "
                           "store_in(Scope::shared), registers or stack",
                       "Scope::global", s.where);
    }
  }
};

}  // namespace

namespace {
// The axis of the loop's nest that is split with Tail::shift by a factor that may not divide its extent; empty if there is
// none.
std::string overlapping(const Program& p, const Stmt& loop) {
  const analysis::Facts facts = analysis::facts_of_arguments(p);
  std::vector<Id> pending = ir::roots_of(p, loop.get<LoopStmt>().axis);
  while (!pending.empty()) {
    const ir::Axis& a = p.axis(pending.back());
    pending.pop_back();
    pending.insert(pending.end(), a.became.begin(), a.became.end());
    if (a.became.size() != 2 || p.axis(a.became[0]).tail != ir::Tail::shift) continue;
    const Expr rest = ir::mod(a.extent, p.axis(a.became[0]).factor);
    if (!analysis::can_prove(ir::eq(rest, ir::index(0)), facts)) return a.name;
  }
  return "";
}
}  // namespace

void prove_bound(Context& c, const Stmt& loop) {
  const LoopStmt& node = loop.get<LoopStmt>();
  const Program& p = c.p;
  if (!node.combines) {
    const ir::Stage& stage = stage_around(p, loop.id);
    if (p.axis(node.axis).reduce && !ir::is_block(node.bound_to) && !stage.scatters() && !stage.atomic)
      c.unproved(
          Obligation::disjoint,
          "a loop whose iterations are independent (cross_thread_reduce makes threads of a reduction, rfactor a stage, and "
          "atomic combines in memory)",
          name_of(p, loop) + ", a reduction");
    prove_independent(c, loop, true);
    if (const std::string other = overlapping(p, loop); !other.empty())
      c.unproved(Obligation::disjoint, "a loop whose iterations write different elements (Tail::guard leaves iterations out)",
                 name_of(p, loop) + ": the last tile of " + other + " is shifted over the one before it");
  } else {
    if (ir::is_block(node.bound_to))
      c.refuse("threads of a block, which can be combined (rfactor makes blocks of a reduction)", bound_name(p, loop));
    prove_apart(c, loop);
  }
  const auto path = ir::path_to(p, loop.id);
  const Stmt* own_nest = nullptr;
  for (const Stmt* s : path)
    if (s->is<NestStmt>()) own_nest = s;
  bool inside_own = false;
  for (const Stmt* s : path) {
    if (s == own_nest) inside_own = true;
    const LoopStmt* l = s->as<LoopStmt>();
    if (!l || s->id == loop.id) continue;
    if (l->kind == LoopKind::parallel || l->kind == LoopKind::vectorized || l->kind == LoopKind::unrolled)
      c.refuse("blocks and threads outside of parallel, vectorized and unrolled loops",
               bound_name(p, loop) + ", inside " + name_of(p, *s));
    if (ir::is_block(node.bound_to) && !(bound(*s) && ir::is_block(l->bound_to)))
      c.refuse("nothing but blocks around a block (reorder first)", bound_name(p, loop) + ", inside " + name_of(p, *s));
    if (inside_own && bound(*s) && overlap(l->bound_to, node.bound_to))
      c.refuse("one loop on a path for each axis (fuse them)", bound_name(p, loop) + ", inside " + bound_name(p, *s));
  }
  if (ir::is_block(node.bound_to))
    for (std::size_t k = 0; k + 1 < path.size(); ++k)
      for (const Stmt& beside : path[k]->body())
        if (path[k]->is<LoopStmt>() && !beside.is<AllocStmt>() && beside.id != path[k + 1]->id)
          c.refuse("a loop alone in the block around it, since a launch has one grid (bind before the loop is taken apart)",
                   bound_name(p, loop) + ", beside " +
                       (beside.is<LoopStmt>() ? "another " + name_of(p, beside) : "a computation") + " in " +
                       name_of(p, *path[k]));
  if (ir::is_block(node.bound_to) && path.front()->is<NestStmt>() && own_nest != path.front())
    c.refuse("blocks around a nest at the root",
             bound_name(p, loop) + ", computed inside " + p.stage(path.front()->get<NestStmt>().stage).name);
  if (ir::is_block(node.bound_to))
    ir::walk(ir::extent_of(p, node), [&](const Expr& e) {
      if (ir::is(e, ir::Op::load))
        c.refuse("a grid that is known before the launch",
                 bound_name(p, loop) + ", whose extent is read from " + p.buffer(e.node()->id).name);
      return true;
    });
  for (const Stmt& s : loop.body())
    if (const PrefetchStmt* prefetch = s.as<PrefetchStmt>())
      c.refuse(
          "a loop along which nothing is prefetched: its iterations run at once",
          name_of(p, loop) + ", along which " + p.buffer(prefetch->buffer).name + " is prefetched at " + location(s.where));
  if (node.part != ir::Part::all)
    c.refuse("a whole loop", name_of(p, loop) + ", which was peeled or partitioned (a guard does the same for threads)");
}

namespace {
// Is there a loop whose iterations are points, which threads could compute each by itself? There is none in the nest of one
// result, nor in that of a recurrence that runs along all of its dimensions.
bool has_points(const Program& p, const Stmt& root) {
  bool found = false;
  const auto look = [&](const Stmt& s) {
    const NestStmt* nest = s.as<NestStmt>();
    if (!nest) return;
    const auto& along = p.stage(nest->stage).along;
    for (std::size_t d = 0; d < nest->roots.size(); ++d)
      found = found || (!p.axis(nest->roots[d].axis).reduce && std::find(along.begin(), along.end(), d) == along.end());
  };
  look(root);
  ir::walk(root.body(), look);
  return found;
}

// Functions in C run on the host.
void refuse_functions(const Program& p, const Target& target) {
  for (const auto& [id, stage] : p.stages) {
    const auto look = [&, &stage = stage](const Expr& e) {
      if (e.empty()) return;
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, ir::Op::call))
          ashlar::refuse("c_function", "formulas without functions in C for " + std::string(target.text()),
                         ir::function(x.node()->id).symbol + ", which " + stage.name + " calls", x.node()->where);
        return true;
      });
    };
    for (const auto* list : {&stage.values, &stage.inits, &stage.targets, &stage.domain, &stage.reducer.combine})
      for (const Expr& e : *list) look(e);
    look(stage.keep);
    look(stage.fill);
  }
}
}  // namespace

void finish_launches(Context& c) {
  const Program& p = c.p;
  const bool gpu = c.target.is_gpu();
  if (gpu) refuse_functions(p, c.target);
  std::int64_t shared_bytes = 0;
  for (const Stmt& root : p.body) {
    const NestStmt* nest = root.as<NestStmt>();
    if (!nest) continue;
    const ir::Stage& stage = p.stage(nest->stage);
    bool any = false;
    ir::walk(nest->body, [&](const Stmt& s) { any = any || bound(s); });
    if (!gpu) continue;
    // Else one thread computes it, or one block of tiles, which a stage of no dimensions but those of its steps has in any
    // case.
    const bool tiles = c.target.has_tiles(),
               points = std::any_of(stage.iters.begin(), stage.iters.end(), [&](const auto& v) {
                 return v.kind == ir::IterKind::spatial || (!tiles && v.kind == ir::IterKind::ordered);
               });
    if (!any && has_points(p, root) && (points || !tiles))
      ashlar::refuse("schedule",
                     std::string("loops bound to blocks ") + (tiles ? "" : "and threads ") + "for " + stage.name +
                         ", which is computed at the root of a program for " + std::string(c.target.text()),
                     "none (bind its loops, or compute it inside another launch)", root.where);
    LaunchShape launch{p, c.target.device(), {}};
    std::vector<const Stmt*> path;
    launch.visit(root, path);
    ir::walk(nest->body, [&](const Stmt& s) {
      if (const LoopStmt* l = s.as<LoopStmt>(); l && l->combines && !bound(s))
        ashlar::refuse("cross_thread_reduce", name_of(p, s) + " bound to threads (bind after this call)", "a serial loop",
                       s.where);
    });
    if (launch.fragment && launch.grid)
      refuse_at(*launch.grid,
                "warps in a launch with " + p.buffer(launch.fragment->get<AllocStmt>().buffer).name +
                    " in Scope::fragment (bind to gpu::warp)",
                bound_name(p, *launch.grid));
    if (launch.all_threads && launch.extent.empty() && !launch.fragment)
      refuse_at(*launch.all_threads, "a loop bound to thread_x, warp or another axis that says how many threads there are",
                bound_name(p, *launch.all_threads) + ", alone in its launch");
    const std::int64_t threads = launch.threads();
    if (threads > launch.device.max_threads)
      ashlar::refuse("bind",
                     "at most " + std::to_string(launch.device.max_threads) + " threads of a block of " + launch.device.name,
                     std::to_string(threads) + " in the launch of " + stage.name, root.where);
    shared_bytes = 0;
    auto takes = [&](std::int64_t bytes, const std::string& name, Where where, const char* call) {
      shared_bytes += (bytes + shared_unit - 1) / shared_unit * shared_unit;
      if (shared_bytes > launch.device.shared_bytes)
        ashlar::refuse(call,
                       "at most " + std::to_string(launch.device.shared_bytes) + " bytes of shared memory in a block of " +
                           launch.device.name,
                       std::to_string(shared_bytes) + " with " + name, where);
    };
    ir::walk(nest->body, [&](const Stmt& s) {
      const AllocStmt* a = s.as<AllocStmt>();
      if (!a || !(p.buffer(a->buffer).scope == Scope::shared)) return;
      const ir::Buffer& b = p.buffer(a->buffer);
      std::int64_t bytes = b.type.bytes();
      for (const Expr& e : analysis::storage_extents(p, s.id)) {
        const auto n = e.empty() ? std::nullopt : analysis::constant_max(e, analysis::facts_of_arguments(p));
        if (!n)
          ashlar::refuse(analysis::scope_call(p, b),
                         "a constant size for " + b.name + " in Scope::shared (place it inside a tile of constant extent)",
                         e.empty() ? "an extent without bound" : "an extent of " + ir::text(e), b.where);
        bytes *= std::max<std::int64_t>(0, *n);
      }
      const std::int64_t ring = ring_of(p, s);
      takes(bytes * ring, ring > 1 ? std::to_string(ring) + " buffers of " + b.name : b.name, b.where,
            analysis::scope_call(p, b));
    });
    for (const Stmt* loop : launch.combined)
      takes(launch.combining_bytes(*loop), "the parts of " + name_of(p, *loop), loop->where, "cross_thread_reduce");
  }
  for (const auto& [id, b] : p.buffers) {
    const Stmt* alloc = ir::alloc_of(p, id);
    if (!alloc) continue;
    if (gpu && (b.scope == Scope::registers || b.scope == Scope::stack) && ir::path_to(p, alloc->id).size() == 1)
      ashlar::refuse(analysis::scope_call(p, b),
                     b.name + " computed inside a launch, since Scope::" + b.scope.name +
                         " belongs to a thread (compute_at, or Scope::global)",
                     "it is computed in a launch of its own", b.where);
    if (!(b.scope == Scope::shared)) continue;
    bool inside = false;
    for (const Stmt* s : ir::path_to(p, alloc->id)) inside = inside || bound(*s);
    if (!inside)
      ashlar::refuse(analysis::scope_call(p, b),
                     b.name + " computed inside a loop bound to blocks, since Scope::shared belongs to a block",
                     "it is computed outside of any", b.where);
  }
}

}  // namespace ashlar::schedule
