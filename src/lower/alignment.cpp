// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies of 4, 8 or 16 bytes, and accesses of vectors, need addresses at multiples of their size. Where arguments
// do not promise that, each call shows whether its tensors keep it (Pipeline::any_alignment, LoopStmt::any_alignment), and one
// of two kernels runs:
//
//   if A_begin == 0 && A_stride0 % 8 == 0 && K % 8 == 0        A_begin: bytes past a multiple of 16
//     (the program, whose strides are 8 * (A_stride0 / 8))     asynchronous copies, vectors
//   else
//     (the program)                                            ordinary copies of elements of fewer than 4 bytes, elements
//
// That the length of a row is a multiple too makes every copy and every vector either whole or none.
//
// A thread that accesses a vector has neighbors in memory, so in the other kernel the threads beside each other would access
// elements that lie a vector apart. There the lanes and the threads change places:
//
//   for j in 32   thread_x, for v in 4    at j * 4 + v   ->   for j in 32   thread_x, for v in 4    at v * 32 + j
// Elements of fragments are stored in pairs (flatten/fragment.cpp). A pair is one store if the rows of the output begin at
// multiples of a pair. If the length of the rows is such a multiple too, the first kernel also requires that: C_begin % 4
// == 0 && C_stride0 % 2 == 0.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"

namespace ashlar::lowering {

namespace {

using ir::Axis;

constexpr std::int64_t most_bytes = 16;  // of a copy, and of a vector that is accessed at once

void for_each_loop(std::vector<ir::Stmt>& list, ir::Stmt* nest, const std::function<void(ir::LoopStmt&, ir::Stmt* nest)>& f) {
  for (ir::Stmt& s : list) {
    if (auto* loop = s.as<ir::LoopStmt>()) f(*loop, nest);
    if (s.has_body()) for_each_loop(s.body(), s.is<ir::NestStmt>() ? &s : nest, f);
  }
}

bool is_split(const Axis& a, Axis::Origin part, std::int64_t& factor) {
  return a.origin == part && a.parts == 0 && ir::is_int(a.factor, &factor);
}

// The iteration variable whose neighbors are those of the axis; 0 where other variables have a part in it.
Id iter_of(const ir::Program& p, const Axis& a) {
  if (a.origin == Axis::Origin::root) return a.iter;
  const bool split = a.origin == Axis::Origin::split_outer || a.origin == Axis::Origin::split_inner;
  return split ? iter_of(p, p.axis(a.parent)) : 0;
}

// The lanes of a loop and the threads along x change places in what they are parts of; false: they cannot.
class Exchange {
 public:
  Exchange(ir::Program& p, Id lanes) : p_(p), lanes_(p.axes.at(lanes)) {}

  bool with_threads_of(std::vector<ir::Stmt>& body) {
    Id threads = 0;
    ir::walk(body, [&](ir::Stmt& s) {
      const auto* loop = s.as<ir::LoopStmt>();
      if (loop && ir::is_loop(s, ir::LoopKind::bound) && loop->bound_to == gpu::thread_x && loop->part == ir::Part::all &&
          holds_lanes_alone(loop->body))
        threads = loop->axis;
    });
    return threads && with(p_.axes.at(threads));
  }

 private:
  // The loop over the lanes, and nothing that is computed for another stage.
  bool holds_lanes_alone(const std::vector<ir::Stmt>& body) const {
    bool found = false, alone = true;
    ir::walk(body, [&](const ir::Stmt& s) {
      const auto* block = s.as<ir::BlockStmt>();
      alone = alone && (s.is<ir::LoopStmt>() || (block && block->when.empty()));
      found = found || ir::runs_over(s, lanes_.id);
    });
    return found && alone;
  }

  // lanes: P = outer * f + lane. threads: X = rest * t + thread, where X is a part of `outer`, innermost among its parts.
  bool with(Axis& threads) {
    std::int64_t f = 0, t = 0, factor = 0;
    if (threads.origin == Axis::Origin::split_outer && threads.parent == lanes_.parent) return with_outer(threads);
    if (!is_split(lanes_, Axis::Origin::split_inner, f) || !is_split(threads, Axis::Origin::split_inner, t)) return false;
    Axis &whole = p_.axes.at(lanes_.parent), &outer = p_.axes.at(whole.became[0]);
    Axis &part = p_.axes.at(threads.parent), &rest = p_.axes.at(part.became[0]);
    std::vector<Axis*> between;  // parts of `outer` that `part` is an inner one of
    for (Axis* a = &part; a->id != outer.id; a = &p_.axes.at(a->parent)) {
      if (!is_split(*a, Axis::Origin::split_inner, factor) || factor % t != 0) return false;
      between.push_back(a);
    }
    whole.became[1] = threads.id, part.became[1] = lanes_.id;
    std::swap(threads.parent, lanes_.parent), std::swap(threads.tail, lanes_.tail);
    outer.factor = ir::index(t), rest.factor = ir::index(f);
    for (Axis* a : between) {
      (void)ir::is_int(a->factor, &factor);
      a->factor = p_.axes.at(p_.axes.at(a->parent).became[0]).factor = ir::index(factor / t * f);
    }
    return true;
  }

  // P = thread * f + lane, of t * f iterations.
  bool with_outer(Axis& threads) {
    Axis& whole = p_.axes.at(lanes_.parent);
    std::int64_t f = 0, t = 0, all = 0;
    if (!is_split(lanes_, Axis::Origin::split_inner, f) || !ir::is_int(threads.extent, &t) || !ir::is_int(whole.extent, &all) ||
        all != t * f)
      return false;
    whole.became = {lanes_.id, threads.id};
    std::swap(threads.origin, lanes_.origin);
    threads.factor = lanes_.factor = ir::index(t);
    return true;
  }

  ir::Program& p_;
  Axis& lanes_;
};

class Aligned {
 public:
  explicit Aligned(const ir::Program& p) : both_{p, p, ir::boolean(true), {}, {}}, facts_(analysis::facts_of_arguments(p)) {}

  std::optional<ByAlignment> run() {
    for_each_loop(both_.otherwise.body, nullptr, [&](ir::LoopStmt& loop, ir::Stmt*) {
      if (loop.pipeline) copies(*loop.pipeline);
    });
    for_each_loop(both_.aligned.body, nullptr, [&](ir::LoopStmt& loop, ir::Stmt* nest) {
      if (loop.any_alignment && nest) vectors(loop, nest->get<ir::NestStmt>());
    });
    if (sources_.empty()) return std::nullopt;
    for (const auto& [id, bytes] : sources_) source(id, bytes);
    for (const Id id : stored_from_fragments())
      if (!sources_.count(id)) stored(id);
    elements();
    both_.condition = analysis::simplify(both_.condition, facts_);
    return std::move(both_);
  }

 private:
  void copies(ir::Pipeline& pipeline) {
    if (!pipeline.any_alignment) return;
    both_.where = pipeline.where;
    for (const Id load : pipeline.loads)
      if (const Id from = both_.otherwise.stage(load).origin_of; both_.otherwise.buffers.count(from))
        sources_[from] = most_bytes;
    if (has_narrow_load(pipeline)) pipeline.async_copy = pipeline.any_alignment = false;
  }

  // Of elements that are shorter than the shortest copy.
  bool has_narrow_load(const ir::Pipeline& pipeline) const {
    return std::any_of(pipeline.loads.begin(), pipeline.loads.end(), [&](const Id load) {
      const ir::Program& p = both_.otherwise;
      return p.buffer(p.stage(load).buffers.front()).type.bytes() < 4;
    });
  }

  // Outputs of stages that read a fragment.
  std::vector<Id> stored_from_fragments() const {
    std::vector<Id> outputs;
    const ir::Program& p = both_.otherwise;
    for (const auto& [id, stage] : p.stages) {
      const auto reads = analysis::reads_of(stage);
      const bool fragments = std::any_of(reads.begin(), reads.end(), [&](const analysis::Read& r) {
        return p.buffer(r.load.node()->id).scope == Scope::fragment;
      });
      if (!fragments) continue;
      for (const Id b : stage.buffers)
        if (p.buffer(b).role == ir::Role::output) outputs.push_back(b);
    }
    return outputs;
  }

  void stored(Id id) {
    const ir::Buffer b = both_.otherwise.buffer(id);
    const Expr length = length_of_row(b);
    const analysis::Facts aligned = analysis::facts_of_arguments(both_.aligned);
    if (b.type.is_packed() || length.empty() || !analysis::can_prove(multiple(length, 2), aligned)) return;
    argument(b, 2, 2 * b.type.bytes());
  }

  Expr length_of_row(const ir::Buffer& b) const {
    Expr length;
    if (!b.extents.empty()) {
      length = b.extents.back();
    } else if (b.stage) {
      for (const ir::IterVar& v : both_.otherwise.stage(b.stage).iters)
        if (v.kind != ir::IterKind::reduce) length = v.end;
    }
    return length;
  }

  // What the lanes of the loop access as neighbors, in global memory.
  void vectors(ir::LoopStmt& loop, const ir::NestStmt& nest) {
    loop.any_alignment = false;
    ir::Program& p = both_.aligned;
    const Axis& lanes = p.axis(loop.axis);
    const ir::Stage& stage = p.stage(nest.stage);
    const Id iter = iter_of(p, lanes);
    std::int64_t count = 0;
    if (!iter || !ir::is_int(lanes.extent, &count) || count < 2 || (count & (count - 1)) != 0) return;
    const std::size_t before = sources_.size();
    const auto access = [&](Id buffer) {
      const ir::Buffer& b = p.buffer(buffer);
      if (!(b.scope == Scope::global) || b.role == ir::Role::constant || b.type.is_packed()) return;
      std::int64_t& bytes = sources_[buffer];
      bytes = std::max(bytes, std::min(most_bytes, count * b.type.bytes()));
    };
    const ir::IterVar* last = nullptr;
    for (const ir::IterVar& v : stage.iters)
      if (v.kind != ir::IterKind::reduce) last = &v;
    if (last && last->id == iter)
      for (const Id b : stage.buffers) access(b);
    for (const auto* list : {&stage.values, &stage.inits})
      for (const Expr& value : *list) ir::walk(value, [&](const Expr& e) { return load(e, iter, access), true; });
    if (sources_.size() == before) return;
    // The domain ends between vectors as the rows do.
    std::int64_t factor = 0;
    if (!is_split(lanes, Axis::Origin::split_inner, factor)) return;
    Axis& whole = p.axes.at(lanes.parent);
    const Expr extent = whole.extent;
    bool of_symbols = true;
    for (const Id v : ir::free_vars(extent)) of_symbols = of_symbols && p.symbols.count(v);
    if (!of_symbols) return;
    row(extent, factor);
    for (const Id part : whole.became)
      if (Axis& a = p.axes.at(part); a.tail == ir::Tail::guard) a.tail = ir::Tail::exact;
  }

  static void load(const Expr& e, Id iter, const std::function<void(Id)>& access) {
    if (!ir::is(e, ir::Op::load)) return;
    const auto at = ir::args_of(e);
    for (std::size_t k = 0; k < at.size(); ++k) {
      const bool plain = ir::is(at[k], ir::Op::var) && at[k].node()->id == iter;
      if (k + 1 == at.size() ? !plain : ir::uses_var(at[k], iter)) return;
    }
    if (!at.empty()) access(e.node()->id);
  }

  // The program without vectors in global memory.
  void elements() {
    ir::Program& p = both_.otherwise;
    bool changed = false;
    for_each_loop(p.body, nullptr, [&](ir::LoopStmt& loop, ir::Stmt* nest) {
      if (!loop.any_alignment) return;
      loop.any_alignment = false;
      if (!nest || !Exchange(p, loop.axis).with_threads_of(nest->body())) return;
      loop.kind = ir::LoopKind::unrolled, changed = true;
    });
    if (changed) analysis::derive_regions(p);
  }

  void require(const Expr& condition) {
    if (!analysis::can_prove(condition, facts_)) both_.condition = ir::logic_and(both_.condition, condition);
  }
  static Expr multiple(const Expr& e, std::int64_t n) { return ir::eq(ir::mod(e, ir::index(n)), ir::index(0)); }

  // The length of a row, which is to be a multiple.
  void row(const Expr& length, std::int64_t n) {
    if (length.empty() || analysis::can_prove(multiple(length, n), facts_)) return;
    both_.condition = ir::logic_and(both_.condition, multiple(length, n));
    const auto symbol =
        ir::is(length, ir::Op::var) ? both_.aligned.symbols.find(length.node()->id) : both_.aligned.symbols.end();
    if (symbol == both_.aligned.symbols.end())
      both_.aligned.assumptions.push_back(multiple(length, n));
    else
      symbol->second.multiple_of = std::lcm(symbol->second.multiple_of, n);
  }

  void source(Id id, std::int64_t bytes) {
    const ir::Buffer b = both_.otherwise.buffer(id);
    const std::int64_t n = std::max<std::int64_t>(1, bytes / b.type.bytes());
    row(length_of_row(b), n);
    argument(b, n, most_bytes);
  }

  // Its rows begin at multiples of n elements, and it at one of `together` bytes.
  void argument(const ir::Buffer& b, std::int64_t n, std::int64_t together) {
    if (b.role != ir::Role::input && b.role != ir::Role::output) return;  // the workspace is aligned
    const Id id = b.id;
    if (b.align == 0 || b.align % together != 0) {
      const ir::AlignmentArg begin{fresh(), id};
      both_.alignments.push_back(begin);
      const Expr past = ir::var(begin.id, b.name + "_begin");
      require(together == most_bytes ? ir::eq(past, ir::index(0)) : multiple(past, together));
      both_.aligned.buffers.at(id).align = together;
    }
    if (b.rank == 0 || b.order != ir::Buffer::Order::inner_unit_stride || !b.layout.map.empty() || b.packed_by_caller) return;
    std::vector<Expr> given, rounded;
    for (int d = 0; d + 1 < b.rank; ++d) {
      const Expr stride = ir::var(fresh(), b.name + "_stride" + std::to_string(d));
      require(multiple(stride, n));
      given.push_back(stride), rounded.push_back(ir::mul(ir::div(stride, ir::index(n)), ir::index(n)));
    }
    given.push_back(ir::index(1)), rounded.push_back(ir::index(1));
    both_.otherwise.buffers.at(id).layout.strides = std::move(given);
    both_.aligned.buffers.at(id).layout.strides = std::move(rounded);
  }

  Id fresh() {
    const Id id = both_.aligned.fresh();
    if (both_.otherwise.fresh() != id) throw InternalError("two copies of a program with different counters");
    return id;
  }

  ByAlignment both_;
  analysis::Facts facts_;
  std::map<Id, std::int64_t> sources_;  // buffers, and the bytes that are accessed at once
};

}  // namespace

std::optional<ByAlignment> by_alignment(const ir::Program& p) {
  bool any = false;
  ir::walk(p.body, [&](const ir::Stmt& s) {
    const auto* loop = s.as<ir::LoopStmt>();
    any = any || (loop && (loop->any_alignment || (loop->pipeline && loop->pipeline->any_alignment)));
  });
  return any ? Aligned(p).run() : std::nullopt;
}

}  // namespace ashlar::lowering
