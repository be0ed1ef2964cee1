// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums in the steps of a recurrence that keep the order of their terms, over the rows of a matrix that is the same in every
// step: a copy, transposed before the first step, makes neighboring results contiguous.
//
//   A_turned[jo, k, ji] = A[j, k]                 once, in blocks of 4 vectors along j
//   for t                                         the steps
//     Ad: for jo, for k; 4 vectors along j        sum over k of A_turned[jo, k, ji] * d[k]
//
// The copy costs about as much as one step, as long as a private cache holds it. From memory, row by row sums read A as fast as
// lanes do.
#include <algorithm>

#include <ashlar/instructions/shuffles.h>

#include "schedules/src/costs.h"
#include "schedules/src/inside_steps.h"

namespace ashlar::schedules {
namespace {

using namespace costs::steps;

// The matrix: an argument that is only read at [result, term], if no other read moves with the result at a stride.
std::optional<Id> matrix_of(const Draft& d, const ir::Stage& s, Id result, Id term) {
  std::optional<Id> found;
  for (const Reading& r : readings_of(d.program(), s)) {
    const bool moves = std::any_of(r.at.begin(), r.at.end(), [&](const Index& x) {
      return std::find(x.uses.begin(), x.uses.end(), result) != x.uses.end();
    });
    if (!moves) continue;
    const ir::Buffer& b = d.program().buffer(r.buffer);
    const bool rows = !r.of_init && !r.chosen && r.at.size() == 2 && b.role == ir::Role::input && b.type.lanes == 1 &&
                      r.at[0].plain(result) && r.at[1].plain(term);
    if (rows && found.value_or(r.buffer) == r.buffer)
      found = r.buffer;
    else if (rows || !r.at.back().plain(result))
      return std::nullopt;
  }
  return found;
}

// Whether it is known to exceed the second-level cache; never for Symbols.
bool exceeds_cache(const Draft& d, const ir::Buffer& b) {
  double elements = 1;
  for (const Expr& e : b.extents) {
    if (d.options.extent == 0 && !ir::free_vars(e).empty()) return false;
    elements *= std::max(1.0, d.sizes().of(e));
  }
  const auto cache = static_cast<double>(d.s.target().cache_bytes(2));
  return cache > 0 && elements * b.type.bytes() > cache;
}

// The copy, one block of columns of the tiles after the other, each in squares that are transposed in registers.
void copy_turned(Draft& d, Id reader, Id matrix, std::int64_t columns, std::int64_t lanes) {
  const Type type = d.program().buffer(matrix).type;
  const Tensor source = tensor_of(d.s, matrix, d.where);
  const Stage copy = d.s.cache_read(source, {d.handle(reader)}, Scope::global, d.where);
  copy.compute_root(d.where);
  copy.transform_layout([&](Var i, Var k) { return at(i / columns, k, i % columns); }, d.where);
  const Stage square = d.s.cache_write(copy, Scope::registers, d.where);
  lies_last(square, 2, 0, d.where);
  const Stage read = d.s.cache_read(source, {square}, Scope::stack, 0, d.where);
  const auto [i, k] = copy.spatial<2>(d.where);
  const Split blocks = copy.split(i, columns, Tail::pad, d.where), rows = copy.split(blocks.inner, lanes, Tail::exact, d.where),
              terms = copy.split(k, lanes, Tail::guard, d.where);
  reorder(d, copy, {blocks.outer, rows.outer, terms.outer, terms.inner, rows.inner});
  copy.unroll(terms.inner, d.where).vectorize(rows.inner, d.where);
  square.compute_at(terms.outer, d.where);
  read.compute_at(terms.outer, d.where);
  const auto [si, sk] = square.spatial<2>(d.where);
  const Split of_rows = square.split(si, lanes, Tail::pad, d.where), of_terms = square.split(sk, lanes, Tail::pad, d.where);
  reorder(d, square, {of_rows.outer, of_terms.outer, of_terms.inner, of_rows.inner});
  square.tensorize(of_terms.inner, shuffles::transpose(type, static_cast<int>(lanes), static_cast<int>(lanes)), d.where);
  const auto [ri, rk] = read.spatial<2>(d.where);
  read.unroll(ri, d.where).vectorize(rk, d.where);
  if (d.options.parallel) copy.parallel(blocks.outer, d.where);
}

}  // namespace

bool turn_matrix(Draft& d, Id recurrence, Id id, const Tile& tile) {
  const ir::Stage s = d.stage(recurrence), r = d.stage(id);
  const auto terms = reduce_of(r);
  const auto steps = d.sizes().constant_extent(s, spatial_of(s)[s.along.back()].id);
  if (terms.size() != 1 || steps.value_or(INT64_MAX) < worth_turning || d.s.target().is_gpu()) return false;
  const auto matrix = matrix_of(d, r, r.iters[static_cast<std::size_t>(tile.columns)].id, terms.front().id);
  if (!matrix || exceeds_cache(d, d.program().buffer(*matrix))) return false;
  const std::int64_t lanes = d.s.target().lanes(d.program().buffer(*matrix).type);
  if (lanes < 2 || tile.columns_by % lanes != 0) return false;
  return d.attempt(id, d.program().buffer(*matrix).name + " transposed before the steps", [&] {
    copy_turned(d, id, *matrix, tile.columns_by, lanes);
    schedule::finish(d.s.scheduled(), d.s.target());
  });
}

}  // namespace ashlar::schedules
