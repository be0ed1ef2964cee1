// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over the threads of a block that load their terms 16 bytes at a time.
#include <algorithm>
#include <map>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/lanes.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/reading.h"

namespace ashlar::schedules::detail {

std::optional<VectorTerms> vector_terms(const Schedule& s, const Stage& reduction, int threads,
                                        const std::set<ir::Id>& elsewhere, bool own_rows, Where where) {
  const ir::Program& p = s.scheduled().program;
  const ir::Stage& d = definition(s, reduction);
  const std::vector<Loop> loops = reduction.reduction_loops(where);
  if (s.target().device().kind != Device::Kind::cuda || loops.size() != 1) return std::nullopt;
  const ir::Id term = d.iters.at(static_cast<std::size_t>(d.spatial_rank())).id;
  std::map<ir::Id, Expr> along;  // buffers, each with its only load
  std::set<ir::Id> others;
  for (const Expr& value : d.values)
    ir::walk(value, [&](const Expr& e) {
      if (!ir::is(e, ir::Op::load)) return true;
      const ir::Id id = e.node()->id;
      const auto at = ir::args_of(e);
      const auto moves = [&](std::size_t k) {
        const Index i = index_of(at[k], d);
        const auto by = i.coefficients.find(term);
        return k + 1 < at.size() ? !i.moves_with(term) && !i.from_data
               : own_rows        ? i.plain(term)
                                 : !i.bent && !i.from_data && by != i.coefficients.end() && by->second == 1;
      };
      bool fits = !at.empty() && p.buffer(id).stage == 0 && p.buffer(id).role != ir::Role::constant && elsewhere.count(id) == 0;
      for (std::size_t k = 0; k < at.size() && fits; ++k) fits = moves(k);
      const auto known = along.try_emplace(id, e).first;
      if (!fits || !ir::same(known->second, e)) others.insert(id);
      return true;
    });
  VectorTerms found;
  int widest = 1;
  for (const auto& [id, load] : along)
    if (others.count(id) == 0) found.buffers.push_back(id), widest = std::max(widest, p.buffer(id).type.bytes());
  found.lanes = bytes_of_access / widest;
  const std::int64_t length = number_or(loops.front().extent(where), 0);
  const bool short_rows = length > 0 && length < std::int64_t{threads} * found.lanes;
  if (found.buffers.empty() || found.lanes < 2 || length % found.lanes != 0 || short_rows) return std::nullopt;
  return found;
}

void reduce_vectors(Schedule& s, const Stage& reduction, const VectorTerms& terms, int threads, Where where) {
  const Split vectors = reduction.split(reduction.reduction_loops(where).front(), terms.lanes, Tail::guard, where);
  const Loop each = reduction.split(vectors.outer, threads, Tail::guard, where).inner;
  reduction.cross_thread_reduce(each, where).bind(each, gpu::thread_x, where);
  reduction.unroll(vectors.inner, where);
  for (const ir::Id id : terms.buffers) {
    const Stage copy = s.cache_read(tensor_of(s, id, where), {reduction}, Scope::registers, where);
    copy.compute_at(each, where);
    copy.vectorize(copy.split(copy.spatial_loops(where).back(), terms.lanes, Tail::guard, where).inner, gpu::any_alignment,
                   where);
  }
}

}  // namespace ashlar::schedules::detail
