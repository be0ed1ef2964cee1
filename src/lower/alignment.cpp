// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies of 4, 8 or 16 bytes need addresses at multiples of their size. Where arguments do not promise that, each
// call shows whether its tensors keep it (Pipeline::any_alignment), and one of two kernels runs:
//
//   if A_begin == 0 && A_stride0 % 8 == 0 && K % 8 == 0        A_begin: bytes past a multiple of 16
//     (the program, whose strides are 8 * (A_stride0 / 8))     asynchronous copies
//   else
//     (the program)                                            ordinary ones; of elements of 4 bytes and more asynchronous ones
//
// That the length of a row is a multiple too makes every copy either whole or none. What is stored from fragments is stored
// in pairs (flatten/fragment.cpp), of which each is one store where the rows of the output begin at multiples of a pair. Where
// their length then is one too, the first kernel asks for that as well: C_begin % 4 == 0 && C_stride0 % 2 == 0.
#include <algorithm>
#include <functional>
#include <numeric>

#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "lower/passes.h"

namespace ashlar::lower_impl {

namespace {

using ir::Id;

constexpr std::int64_t bytes = 16;  // of the longest copy

void for_each_pipeline(std::vector<ir::Stmt>& list, const std::function<void(ir::Pipeline&)>& f) {
  for (ir::Stmt& s : list) {
    if (auto* loop = s.as<ir::LoopStmt>(); loop && loop->pipeline) f(*loop->pipeline);
    if (s.is<ir::LoopStmt>() || s.is<ir::NestStmt>()) for_each_pipeline(s.body(), f);
  }
}

class Aligned {
 public:
  explicit Aligned(const ir::Program& p) : both_{p, p, ir::boolean(true), {}, {}}, facts_(analysis::facts_of_arguments(p)) {}

  std::optional<ByAlignment> run() {
    std::vector<Id> sources;
    for_each_pipeline(both_.otherwise.body, [&](ir::Pipeline& pipeline) {
      if (!pipeline.any_alignment) return;
      both_.where = pipeline.where;
      for (const Id load : pipeline.loads)
        if (const Id from = both_.otherwise.stage(load).origin_of;
            both_.otherwise.buffers.count(from) && std::find(sources.begin(), sources.end(), from) == sources.end())
          sources.push_back(from);
      if (has_narrow_load(pipeline)) pipeline.async_copy = pipeline.any_alignment = false;
    });
    if (sources.empty()) return std::nullopt;
    for (const Id id : sources) source(id);
    for (const Id id : stored_from_fragments()) stored(id);
    both_.condition = analysis::simplify(both_.condition, facts_);
    return std::move(both_);
  }

 private:
  // Of elements that are shorter than the shortest copy.
  bool has_narrow_load(const ir::Pipeline& pipeline) const {
    return std::any_of(pipeline.loads.begin(), pipeline.loads.end(), [&](const Id load) {
      const ir::Program& p = both_.otherwise;
      return p.buffer(p.stage(load).buffers.front()).type.bytes() < 4;
    });
  }
  void require(const Expr& condition) {
    if (!analysis::can_prove(condition, facts_)) both_.condition = ir::logic_and(both_.condition, condition);
  }
  static Expr multiple(const Expr& e, std::int64_t n) { return ir::eq(ir::mod(e, ir::index(n)), ir::index(0)); }

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
    argument(b, 2);
  }

  void source(Id id) {
    const ir::Buffer b = both_.otherwise.buffer(id);
    const std::int64_t n = bytes / b.type.bytes();
    const Expr length = length_of_row(b);
    if (!length.empty() && !analysis::can_prove(multiple(length, n), facts_)) {
      both_.condition = ir::logic_and(both_.condition, multiple(length, n));
      const auto symbol =
          ir::is(length, ir::Op::var) ? both_.aligned.symbols.find(length.node()->id) : both_.aligned.symbols.end();
      if (symbol == both_.aligned.symbols.end())
        both_.aligned.assumptions.push_back(multiple(length, n));
      else
        symbol->second.multiple_of = std::lcm(symbol->second.multiple_of, n);
    }
    argument(b, n);
  }

  // Its rows begin at multiples of n elements.
  void argument(const ir::Buffer& b, std::int64_t n) {
    if (b.role != ir::Role::input && b.role != ir::Role::output) return;  // the workspace is aligned
    const Id id = b.id;
    const std::int64_t together = n * b.type.bytes();
    if (b.align == 0 || b.align % together != 0) {
      const ir::AlignmentArg begin{fresh(), id};
      both_.alignments.push_back(begin);
      const Expr past = ir::var(begin.id, b.name + "_begin");
      require(together == bytes ? ir::eq(past, ir::index(0)) : multiple(past, together));
      both_.aligned.buffers.at(id).align = together;
    }
    if (b.order != ir::Buffer::Order::inner_unit_stride || !b.layout.map.empty() || b.packed_by_caller) return;
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
};

}  // namespace

std::optional<ByAlignment> by_alignment(const ir::Program& p) {
  bool any = false;
  ir::walk(p.body, [&](const ir::Stmt& s) {
    const auto* loop = s.as<ir::LoopStmt>();
    any = any || (loop && loop->pipeline && loop->pipeline->any_alignment);
  });
  return any ? Aligned(p).run() : std::nullopt;
}

}  // namespace ashlar::lower_impl
