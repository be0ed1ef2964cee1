// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of an attention as ashlar/ops/attention.h writes them, found in a program:
//
//   scores[b, h, i, j]    sum over d of q[b, h, i, d] k[b, h / g, j, d]       read by maximum and exps
//   maximum[b, h, i]      over j of what is computed of a score               read by exps
//   exps[b, h, i, j]      of a score and the maximum                          read by sum and weighted
//   sum[b, h, i]          over j of exps                                      read by result
//   weighted[b, h, i, e]  sum over j of exps v[b, h / g, j, e]                read by result; terms may be skipped where exps
//   is 0 result[b, h, i, e]    of weighted and sum
#include <algorithm>

#include <ashlar/ir/build.h>
#include <ashlar/lang/math.h>

#include "schedules/src/draft.h"
#include "schedules/src/families/devices/gpu_attention.h"

namespace ashlar::schedules::detail {

namespace {

class AttentionFinder {
 public:
  AttentionFinder(const ir::Program& program, bool rows_by_tables) : p(program), gathered(rows_by_tables) {}

  std::optional<AttentionParts> of(ir::Id result) {
    AttentionParts a;
    a.result = result;
    const ir::Stage& r = p.stage(result);
    if (r.is_reduction() || r.scatters() || r.is_recurrence() || r.values.size() != 1 || r.spatial_rank() != 4) return {};
    for (const Reading& read : readings_of(p, r)) {
      if (!read.producer) continue;
      const int rank = p.stage(read.producer).spatial_rank();
      if (!p.stage(read.producer).is_reduction() || !at_own(read, r, rank)) continue;
      if (rank == 4) a.weighted = read.producer;
      if (rank == 3) a.sum = read.producer;
    }
    if (!a.weighted || !a.sum || !is_product(a.weighted, a.exps, a.v, true)) return {};
    a.skips = ir::is(p.stage(a.weighted).values.front(), ir::Op::select);
    a.rounded = ir::is(ir::args_of(*product_of(p.stage(a.weighted).values.front(), true))[0], ir::Op::cast);
    if (!reads_rows(a.sum, a.exps, ir::ReducerKind::sum)) return {};
    const ir::Stage& exps = p.stage(a.exps);
    if (exps.is_reduction() || exps.spatial_rank() != 4 || exps.values.size() != 1) return {};
    for (const Reading& read : readings_of(p, exps)) {
      if (!read.producer) continue;
      const ir::Stage& from = p.stage(read.producer);
      if (!from.is_reduction() || !at_own(read, exps, from.spatial_rank())) continue;
      (from.spatial_rank() == 4 ? a.scores : a.maximum) = read.producer;
    }
    if (!a.scores || !a.maximum || !is_product(a.scores, a.q, a.k, false)) return {};
    a.groups = groups_of(a.scores, a.k);
    if (a.groups != groups_of(a.weighted, a.v)) return {};
    a.page = page_of(a.scores, a.k);
    if (!reads_rows(a.maximum, a.scores, ir::ReducerKind::maximum)) return {};
    return alone(a) && fits(a) ? std::optional(a) : std::nullopt;
  }

 private:
  static bool at_own(const Reading& r, const ir::Stage& reader, int rank) {
    const auto dims = spatial_of(reader);
    if (static_cast<int>(r.at.size()) != rank || r.of_init) return false;
    for (std::size_t d = 0; d < r.at.size(); ++d)
      if (!r.at[d].plain(dims[d].id)) return false;
    return true;
  }
  static const Expr* load_of(const Expr& e) {
    if (ir::is(e, ir::Op::load)) return &e;
    return ir::is(e, ir::Op::cast) ? load_of(ir::args_of(e)[0]) : nullptr;
  }
  static bool is_var(const Expr& e, ir::Id id) { return ir::is(e, ir::Op::var) && e.node()->id == id; }

  // x y, or the same where x is not 0, for x that is a stage.
  static const Expr* product_of(const Expr& e, bool left_is_stage) {
    if (ir::is(e, ir::Op::mul)) return &e;
    if (!left_is_stage || !ir::is(e, ir::Op::select)) return nullptr;
    const auto parts = ir::args_of(e);
    const Expr &zero = parts[0], &product = parts[2];
    if (!ir::is(zero, ir::Op::eq) || !ir::is(product, ir::Op::mul)) return nullptr;
    const auto is_zero = [](const Expr& x) { return ir::is(x, ir::Op::float_const) && x.node()->f == 0; };
    const bool same = ir::same(ir::args_of(zero)[0], ir::args_of(product)[0]);
    return same && is_zero(ir::args_of(zero)[1]) && is_zero(parts[1]) ? &product : nullptr;
  }

  // sum over t of x[b, h, i, t] y[b, h or h / g, ..]: y at [.., t, j] of weighted, at [.., j, t] of scores. `left` becomes the
  // stage that x is, or its buffer, `right` the buffer that y is.
  bool is_product(ir::Id id, ir::Id& left, ir::Id& right, bool left_is_stage) const {
    const ir::Stage& s = p.stage(id);
    const auto dims = spatial_of(s), terms = reduce_of(s);
    if (s.reducer.kind != ir::ReducerKind::sum || s.values.size() != 1 || dims.size() != 4 || terms.size() != 1 ||
        !product_of(s.values.front(), left_is_stage) || !ir::is(s.inits.front(), ir::Op::float_const) ||
        s.inits.front().node()->f != 0 || !(s.values.front().type() == f32))
      return false;
    const auto factors = ir::args_of(*product_of(s.values.front(), left_is_stage));
    const Expr *x = load_of(factors[0]), *y = load_of(factors[1]);
    if (!x || !y) return false;
    const auto at_x = ir::args_of(*x), at_y = ir::args_of(*y);
    if (at_x.size() != 4 || at_y.size() != 4) return false;
    const bool head =
        is_var(at_y[1], dims[1].id) || (ir::is(at_y[1], ir::Op::div) && is_var(ir::args_of(at_y[1])[0], dims[1].id));
    const ir::Id j = dims[3].id, t = terms[0].id;
    if (!head || !is_var(at_x[0], dims[0].id) || !is_var(at_x[1], dims[1].id) || !is_var(at_x[2], dims[2].id) ||
        !is_var(at_x[3], t) || !is_var(at_y[3], left_is_stage ? j : t))
      return false;
    // Rows that a table names, of what all queries share.
    const bool rows = is_var(at_y[0], dims[0].id) && is_var(at_y[2], left_is_stage ? t : j);
    const bool named = gathered && !ir::uses_var(*y, dims[2].id) && ir::uses_var(*y, left_is_stage ? t : j);
    if (!rows && !named) return false;
    left = left_is_stage ? p.buffer(x->node()->id).stage : x->node()->id, right = y->node()->id;
    return left != 0;
  }

  // g of an element that is read at head h / g.
  std::int64_t groups_of(ir::Id id, ir::Id buffer) const {
    std::int64_t groups = 1;
    ir::walk(p.stage(id).values.front(), [&](const Expr& e) {
      if (ir::is(e, ir::Op::load) && e.node()->id == buffer && ir::is(ir::args_of(e)[1], ir::Op::div))
        if (!ir::is_int(ir::args_of(ir::args_of(e)[1])[1], &groups)) groups = 0;
      return true;
    });
    return groups;
  }

  // S of an element that is read in row j % S.
  std::int64_t page_of(ir::Id id, ir::Id buffer) const {
    std::int64_t rows = 0;
    ir::walk(p.stage(id).values.front(), [&](const Expr& e) {
      if (ir::is(e, ir::Op::load) && e.node()->id == buffer && ir::is(ir::args_of(e)[2], ir::Op::mod))
        ir::is_int(ir::args_of(ir::args_of(e)[2])[1], &rows);
      return true;
    });
    return rows;
  }

  // A reduction over the last dimension of `of`, of what is computed of its elements.
  bool reads_rows(ir::Id id, ir::Id of, ir::ReducerKind kind) const {
    const ir::Stage& s = p.stage(id);
    const auto dims = spatial_of(s), terms = reduce_of(s);
    if (s.reducer.kind != kind || s.values.size() != 1 || dims.size() != 3 || terms.size() != 1) return false;
    bool found = false;
    for (const Reading& r : readings_of(p, s)) {
      if (r.producer != of) continue;
      found = r.at.size() == 4 && !r.of_init && r.at[3].plain(terms[0].id);
      for (std::size_t d = 0; found && d < 3; ++d) found = r.at[d].plain(dims[d].id);
      if (!found) return false;
    }
    return found;
  }

  bool alone(const AttentionParts& a) const {
    const auto read_by = [&](ir::Id id, std::vector<ir::Id> readers) {
      std::vector<ir::Id> found = readers_of(p, p.stage(id));
      std::sort(found.begin(), found.end()), std::sort(readers.begin(), readers.end());
      return found == readers && !is_output(p, p.stage(id)) && is_untouched(p, p.stage(id));
    };
    return read_by(a.scores, {a.maximum, a.exps}) && read_by(a.maximum, {a.exps}) && read_by(a.exps, {a.sum, a.weighted}) &&
           read_by(a.sum, {a.result}) && read_by(a.weighted, {a.result}) && is_untouched(p, p.stage(a.result));
  }

  bool fits(const AttentionParts& a) const {
    const Type type = p.buffer(a.q).type;
    if (!(type == f16) && !(type == bf16)) return false;
    if (!(p.buffer(a.k).type == type) || !(p.buffer(a.v).type == type)) return false;
    const Sizes sizes(p, 1);
    const auto numbers = sizes.constant_extent(p.stage(a.scores), reduce_of(p.stage(a.scores))[0].id),
               values = sizes.constant_extent(p.stage(a.weighted), spatial_of(p.stage(a.weighted))[3].id);
    return numbers && values && *numbers >= 1 && *values >= 1 && *numbers <= most_of_attention && *values <= most_of_attention;
  }

  const ir::Program& p;
  const bool gathered;
};

}  // namespace

std::optional<AttentionParts> attention_parts(const ir::Program& p, ir::Id result, bool gathered) {
  return AttentionFinder(p, gathered).of(result);
}

std::function<Expr(Expr, Expr)> rescale_of_attention(const ir::Stage& exps) {
  double factor = 0;
  ir::walk(exps.values.front(), [&](const Expr& e) {
    if (!ir::is(e, ir::Op::approximate_exp2)) return true;
    const Expr& of = ir::args_of(e)[0];
    const bool scales = ir::is(of, ir::Op::fma) || ir::is(of, ir::Op::mul);
    const Expr by = scales ? ir::args_of(of)[1] : Expr();
    factor = scales && ir::is(by, ir::Op::float_const) ? by.node()->f : 1;
    return false;
  });
  return [factor](const Expr& old, const Expr& now) {
    const Expr change = old - select(now == lowest(f32), f32(0), now);
    if (factor == 0) return exp(change);
    return approximate(exp2(factor == 1 ? change : change * factor));
  };
}

}  // namespace ashlar::schedules::detail
