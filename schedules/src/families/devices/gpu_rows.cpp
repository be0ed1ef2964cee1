// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/gpu_rows.h>

#include <algorithm>
#include <map>
#include <set>

#include <ashlar/analysis/simplify.h>

#include <ashlar/ir/build.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/schedule/stages.h>
#include <ashlar/schedule/step.h>
#include <ashlar/schedules/gpu.h>
#include <ashlar/schedules/lanes.h>
#include <ashlar/schedules/rows.h>

#include "schedules/src/families/devices/gpu.h"
#include "schedules/src/families/rows.h"

namespace ashlar::schedules {

namespace {

using namespace detail;

// Each thread reduces a part, and all of them get the total. If sums must not be regrouped, every thread does all of it.
void reduce_over_threads(Schedule& s, const Stage& stage, int threads, const std::optional<VectorTerms>& vectors, Where where) {
  if (vectors && !s.attempt([&] { reduce_vectors(s, stage, *vectors, threads, where); })) return;
  (void)s.attempt([&] {
    const Loop terms = fused(stage, stage.reduction_loops(where), where);
    const Loop each = stage.split(terms, threads, Tail::guard, where).inner;
    stage.cross_thread_reduce(each, where).bind(each, gpu::thread_x, where);
  });
}

// `lanes` terms at once, if rows are aligned.
void elements_over_threads(const Stage& stage, const std::vector<Loop>& elements, int threads, int lanes, Where where) {
  Loop each = fused(stage, elements, where);
  if (lanes > 1) {
    const Split vectors = stage.split(each, lanes, Tail::guard, where);
    stage.vectorize(vectors.inner, gpu::any_alignment, where);
    each = vectors.outer;
  }
  stage.bind(stage.split(each, threads, Tail::guard, where).inner, gpu::thread_x, where);
}

// Elements of a 16-byte access along a row of this type; 1 if the device has no such accesses or rows are not a multiple.
int lanes_along(const Schedule& s, Type type, const Loop& row, Where where) {
  const int lanes = bytes_of_access / std::max(1, type.bytes());
  const std::int64_t length = number_or(row.extent(where), 0);
  return s.target().device().kind == Device::Kind::cuda && lanes > 1 && length % lanes == 0 ? lanes : 1;
}

// Whether the stages read only arguments and each other. Vectors give every launch of the program a second form, for calls
// whose rows are not aligned. That does not pay off if a product is computed first: it would also cost registers of its sums.
bool read_arguments(const Schedule& s, const std::vector<Stage>& stages) {
  const ir::Program& p = s.scheduled().program;
  const auto own = [&](ir::Id stage) {
    return std::any_of(stages.begin(), stages.end(), [&](const Stage& one) { return one.id() == stage; });
  };
  bool alone = true;
  for (const Stage& stage : stages)
    for (const Expr& value : definition(s, stage).values)
      ir::walk(value, [&](const Expr& e) {
        if (ir::is(e, ir::Op::load)) alone = alone && (p.buffer(e.node()->id).stage == 0 || own(p.buffer(e.node()->id).stage));
        return alone;
      });
  return alone;
}

// ---- rows in shared memory ---------------------------------------------------------------------------------------------

// Whether this is a load x[rows.., k] of the stage's own row.
bool along_own_row(const Expr& load, const ir::Stage& d, std::size_t dims) {
  const auto at = ir::args_of(load);
  if (at.size() != dims + 1 || d.iters.size() <= dims) return false;
  for (std::size_t k = 0; k < dims; ++k)
    if (!ir::is(at[k], ir::Op::var) || at[k].node()->id != d.iters[k].id) return false;
  return ir::is(at[dims], ir::Op::var) && std::any_of(d.iters.begin() + static_cast<std::ptrdiff_t>(dims), d.iters.end(),
                                                      [&](const ir::IterVar& v) { return v.id == at[dims].node()->id; });
}

// The buffers that the stages read along their own rows and nowhere else, with their readers.
std::map<ir::Id, std::vector<Stage>> read_along(const Schedule& s, const std::vector<Stage>& stages, int dims) {
  std::map<ir::Id, std::vector<Stage>> readers;
  std::set<ir::Id> elsewhere;
  for (const Stage& stage : stages) {
    const ir::Stage& d = definition(s, stage);
    std::set<ir::Id> read;
    for (const auto* list : {&d.values, &d.inits})
      for (const Expr& value : *list)
        ir::walk(value, [&](const Expr& e) {
          if (ir::is(e, ir::Op::load))
            (along_own_row(e, d, static_cast<std::size_t>(dims)) ? read : elsewhere).insert(e.node()->id);
          return true;
        });
    for (const ir::Id b : read) readers[b].push_back(stage);
  }
  for (const ir::Id b : elsewhere) readers.erase(b);
  return readers;
}

Stage shared_copy(Schedule& s, const Tensor& source, const std::vector<Stage>& r, Where where) {
  return r.size() == 2 ? s.cache_read(source, {r[0], r[1]}, Scope::shared, where)
                       : s.cache_read(source, {r[0], r[1], r[2]}, Scope::shared, where);
}

// The buffers whose rows several stages read, if all of them that a block needs fit into shared memory together.
std::map<ir::Id, std::vector<Stage>> read_often(const Schedule& s, const std::vector<Stage>& stages, int dims, int rows) {
  const analysis::Facts facts = analysis::facts_of_arguments(s.scheduled().program);
  std::int64_t left = most_of_rows(s);
  std::map<ir::Id, std::vector<Stage>> found;
  for (auto& [id, readers] : read_along(s, stages, dims)) {
    const ir::Buffer& b = s.scheduled().program.buffer(id);
    if (readers.size() < 2 || readers.size() > 3 || !(b.scope == Scope::global) || b.role == ir::Role::constant) continue;
    Expr length = b.extents.empty() ? Expr() : b.extents.back();
    if (length.empty() && b.stage && b.rank > 0)
      length = s.scheduled().program.stage(b.stage).iters[static_cast<std::size_t>(b.rank) - 1].end;
    const auto most = length.empty() ? std::nullopt : analysis::constant_max(length, facts);
    if (!most || *most * b.type.bytes() * rows > left) continue;
    left -= *most * b.type.bytes() * rows;
    found.emplace(id, std::move(readers));
  }
  return found;
}

// Copies rows into shared memory, so that global memory is read once.
void copy_rows(Schedule& s, const std::map<ir::Id, std::vector<Stage>>& often, const Loop& row, int threads, Where where) {
  for (const auto& [id, readers] : often)
    (void)s.attempt([&] {
      const ir::Buffer b = s.scheduled().program.buffer(id);
      const Stage copy = shared_copy(s, tensor_of(s, id, where), readers, where);
      copy.compute_at(row, where);
      const Loop along = copy.spatial_loops(where).back();
      elements_over_threads(copy, {along}, threads, b.stage == 0 ? lanes_along(s, b.type, along, where) : 1, where);
    });
}

}  // namespace

void gpu_rows(Schedule& s, const std::vector<Stage>& stages, const GpuRowsOptions& o, Where where) {
  detail::expect_device("gpu_rows", s, where);
  if (stages.empty()) refuse("gpu_rows", "at least one stage, the result as the last one", "none", where);
  detail::expect_option("gpu_rows", "dims", o.dims, -1, where);
  detail::expect_option("gpu_rows", "threads", o.threads, 0, where);
  detail::expect_option("gpu_rows", "rows", o.rows, 0, where);
  for (const Stage& stage : stages)
    detail::expect_own_points("gpu_rows", "reductions and stages that compute each element by itself",
                              detail::definition(s, stage), where);
  const Stage result = stages.back();
  const int dims = o.dims >= 0 ? o.dims : detail::rows_of(s, stages, where);
  const auto reduces = [&](const Stage& stage) { return detail::definition(s, stage).is_reduction(); };
  std::vector<Loop> outer = result.spatial_loops(where);
  if (dims > static_cast<int>(outer.size()))
    refuse("gpu_rows", "at most the " + std::to_string(outer.size()) + " dimensions of " + detail::definition(s, result).name,
           std::to_string(dims), where);
  // The loops along a row: over the terms of a reduction, or over the dimensions after those that enumerate rows.
  const auto along = [&](const Stage& stage) {
    std::vector<Loop> loops = reduces(stage) ? stage.reduction_loops(where) : stage.spatial_loops(where);
    if (!reduces(stage)) loops.erase(loops.begin(), loops.begin() + std::min<std::ptrdiff_t>(dims, std::ssize(loops)));
    return loops;
  };
  std::int64_t longest = 1;
  for (const Stage& stage : stages) {
    std::int64_t n = 1;
    for (const Loop& l : along(stage)) n = std::min<std::int64_t>(1024, n * detail::number_or(l.extent(where), 1024));
    longest = std::max(longest, n);
  }
  const int most = detail::threads_or(0, 256, s);
  const int threads = o.threads > 0 ? o.threads : std::clamp(detail::power_of_two_up_to(longest / 4), 32, most);
  const int rows = o.rows > 0 ? o.rows : std::max(1, most / threads);
  detail::expect_threads("gpu_rows", "threads", s, threads, where);
  detail::expect_threads("gpu_rows", "rows * threads", s, std::int64_t{rows} * threads, where);

  std::vector<Stage> kept;  // all stages but the result, in order
  for (std::size_t k = 0; k + 1 < stages.size(); ++k)
    if (reduces(stages[k]) || along(stages[k]).empty() || s.attempt([&] { stages[k].inline_(where); }))
      kept.push_back(stages[k]);

  std::vector<Loop> elements = along(result);
  std::vector<Stage> members = kept;
  members.push_back(result);
  const ir::Program& program = s.scheduled().program;
  const Type stored = program.buffer(detail::definition(s, result).buffers.front()).type;
  outer.resize(static_cast<std::size_t>(dims));
  const bool one_row = outer.empty() && !kept.empty() && !reduces(result) && !elements.empty();
  std::map<ir::Id, std::vector<Stage>> often;
  if (one_row || !outer.empty()) often = read_often(s, members, dims, rows);
  std::set<ir::Id> copied;
  for (const auto& [id, readers] : often) copied.insert(id);
  const bool by_vectors = read_arguments(s, members);
  const auto vectors_of = [&](const Stage& stage) {
    return by_vectors ? vector_terms(s, stage, threads, copied, rows > 1, where) : std::nullopt;
  };
  Loop row;  // where the other stages of a row are computed
  if (!outer.empty()) {
    row = detail::fused(result, outer, where);
    if (rows > 1) {
      const Split of_block = result.split(row, rows, Tail::guard, where);
      result.bind(of_block.outer, gpu::block_x, where).bind(row = of_block.inner, gpu::thread_y, where);
    } else {
      result.bind(row, gpu::block_x, where);
    }
  } else if (one_row) {  // one block
    const Split whole = result.split(detail::fused(result, elements, where), Parts{1}, Tail::guard, where);
    result.bind(row = whole.outer, gpu::block_x, where);
    elements = {whole.inner};
  }
  if (reduces(result))
    reduce_over_threads(s, result, threads, vectors_of(result), where);
  else if (!elements.empty())
    elements_over_threads(result, elements, threads,
                          elements.size() == 1 && by_vectors ? lanes_along(s, stored, elements.front(), where) : 1, where);
  if (row.id() == 0) {  // one result, or several whose terms are not a row: separate launches
    for (const Stage& stage : kept) gpu_rows(s, {stage}, o, where);
    return;
  }
  for (std::size_t k = kept.size(); k-- > 0;) {
    const Stage& stage = kept[k];
    stage.compute_at(row, where);
    if (reduces(stage)) {
      stage.store_in(Scope::registers, where);
      reduce_over_threads(s, stage, threads, vectors_of(stage), where);
    } else {
      const std::vector<Loop> own = along(stage);
      stage.store_in(own.empty() ? Scope::registers : Scope::shared, where);
      if (!own.empty()) elements_over_threads(stage, own, threads, 1, where);
    }
  }
  copy_rows(s, often, row, threads, where);
}

}  // namespace ashlar::schedules
