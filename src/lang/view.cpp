// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/view.h>

#include <algorithm>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/compute.h>

#include "lang/define.h"
#include <ashlar/lang/definition.h>

namespace ashlar::view {
namespace {

using lang::Bounds;
using lang::TensorDef;
using lang::ViewDef;

// A view that is being made: its variables, and at which element of the source its own stands.
class Rearranged {
 public:
  Rearranged(const Tensor& source, const char* what, Where where)
      : source_(lang::tensor(source.id(), where)), what_(what), where_(where) {
    t_.kind = TensorDef::Kind::view;
    t_.name = source_.name;
    t_.type = source_.type;
    t_.where = where;
    t_.view.kind = ViewDef::Kind::rearranged;
    t_.view.source = source_.id;
  }
  const TensorDef& source() const { return source_; }
  std::size_t rank() const { return static_cast<std::size_t>(source_.rank); }
  Bounds bounds(std::size_t dim) const {
    return lang::bounds_of(lang::resolve(source_.id, where_), static_cast<int>(dim), where_);
  }
  Expr extent(std::size_t dim) const {
    const Bounds b = bounds(dim);
    return ir::sub(b.end, b.begin);
  }
  // Are the extents of the source known?
  bool bounded() const {
    const TensorDef& t = lang::resolve(source_.id, where_);
    if (t.kind == TensorDef::Kind::stage) return !lang::stage(t.stage, where_).inferred;
    if (t.kind != TensorDef::Kind::view) return true;
    if (t.view.kind == ViewDef::Kind::rearranged) return !t.view.shape.empty();
    return std::none_of(t.view.extends.begin(), t.view.extends.end(), [](bool e) { return e; });
  }
  std::size_t dimension(int dim) const {
    if (dim < 0 || dim >= source_.rank)
      refuse(what_, "a dimension of " + source_.name + ", from 0 to " + std::to_string(source_.rank - 1), std::to_string(dim),
             where_);
    return static_cast<std::size_t>(dim);
  }
  // The indices of the view's element, one a dimension.
  const std::vector<Expr>& indices(std::size_t rank) {
    t_.rank = static_cast<int>(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      t_.view.vars.push_back(ir::fresh_id());
      at_.push_back(ir::var(t_.view.vars.back(), "v" + std::to_string(d)));
    }
    return at_;
  }
  Tensor done(std::vector<Expr> at, std::vector<Bounds> shape) {
    t_.view.at = std::move(at);
    t_.view.shape = std::move(shape);
    return detail::Access::tensor(lang::add(std::move(t_)));
  }
  Tensor same_but(std::size_t dim, const std::function<Expr(const Expr&)>& at, const std::function<Bounds(Bounds)>& shape) {
    std::vector<Expr> of = indices(rank());
    of[dim] = at(of[dim]);
    std::vector<Bounds> bounds_of_view;
    for (std::size_t d = 0; d < rank() && bounded(); ++d) bounds_of_view.push_back(d == dim ? shape(bounds(d)) : bounds(d));
    return done(std::move(of), std::move(bounds_of_view));
  }

 private:
  const TensorDef& source_;
  const char* what_;
  Where where_;
  TensorDef t_;
  std::vector<Expr> at_;
};

// ---- reshape -----------------------------------------------------------------------------------------------------------
// The factors of a product: one number, and what is not a product.
struct Factors {
  std::int64_t number = 1;
  std::vector<Expr> others;
  void add(const Expr& e) {
    std::int64_t v = 0;
    if (ir::is_int(e, &v)) {
      if (__builtin_mul_overflow(number, v, &number)) others.push_back(e), number = 1;
    } else if (ir::is(e, ir::Op::mul)) {
      for (const Expr& a : ir::args_of(e)) add(a);
    } else {
      others.push_back(e);
    }
  }
};

// N / 8 times 8 is N where N is a Symbol that is a multiple of 8: the N among the factors of the other side is taken apart.
void take_apart(Factors& f, const Factors& like) {
  for (const Expr& e : like.others) {
    std::int64_t by = 0;
    if (!ir::is(e, ir::Op::div) || !ir::is_int(ir::args_of(e)[1], &by) || by < 1) continue;
    const Expr& whole = ir::args_of(e)[0];
    const lang::VariableDef* v = ir::is(whole, ir::Op::var) ? lang::find_variable(whole.node()->id) : nullptr;
    if (!v || v->kind != lang::VariableDef::Kind::symbol || v->facts.multiple_of % by != 0) continue;
    const auto at = std::find_if(f.others.begin(), f.others.end(), [&](const Expr& x) { return ir::same(x, whole); });
    if (at == f.others.end()) continue;
    *at = e;
    f.number *= by;
  }
}

bool equal(Factors a, Factors b) {
  take_apart(a, b);
  take_apart(b, a);
  if (a.number != b.number || a.others.size() != b.others.size()) return false;
  for (const Expr& e : a.others) {
    const auto at = std::find_if(b.others.begin(), b.others.end(), [&](const Expr& x) { return ir::same(x, e); });
    if (at == b.others.end()) return false;
    b.others.erase(at);
  }
  return true;
}

// Digits of a row-major number over extents, the first one unbounded.
std::vector<Expr> digits(Expr number, std::span<const Expr> extents) {
  std::vector<Expr> at(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) {
    at[d] = d ? ir::mod(number, extents[d]) : number;
    if (d) number = ir::div(number, extents[d]);
  }
  return at;
}

}  // namespace

Tensor transpose(const Tensor& x, Where where) {
  Rearranged r(x, "transpose", where);
  const std::vector<Expr>& i = r.indices(r.rank());
  std::vector<Bounds> shape;
  for (std::size_t d = r.rank(); d-- > 0 && r.bounded();) shape.push_back(r.bounds(d));
  return r.done({i.rbegin(), i.rend()}, std::move(shape));
}

Tensor transpose(const Tensor& x, std::initializer_list<int> order, Where where) {
  Rearranged r(x, "transpose", where);
  std::string text;
  for (const int d : order) text += (text.empty() ? "" : ", ") + std::to_string(d);
  std::vector<Expr> at(r.rank());
  std::vector<Bounds> shape;
  const std::vector<Expr>& i = r.indices(r.rank());
  std::size_t k = 0;
  for (const int d : order) {
    if (order.size() != r.rank() || d < 0 || static_cast<std::size_t>(d) >= r.rank() ||
        !at[static_cast<std::size_t>(d)].empty())
      refuse("transpose", "each of the " + std::to_string(r.rank()) + " dimensions of " + r.source().name + " once", text,
             where);
    at[static_cast<std::size_t>(d)] = i[k++];
    if (r.bounded()) shape.push_back(r.bounds(static_cast<std::size_t>(d)));
  }
  if (order.size() != r.rank())
    refuse("transpose", "each of the " + std::to_string(r.rank()) + " dimensions of " + r.source().name + " once",
           text.empty() ? "none" : text, where);
  return r.done(std::move(at), std::move(shape));
}

Tensor slice(const Tensor& x, int dim, const Extent& range, std::int64_t step, Where where) {
  Rearranged r(x, "slice", where);
  const std::size_t d = r.dimension(dim);
  if (step < 1) refuse("slice", "a step of at least 1 (view::reverse turns a dimension round)", std::to_string(step), where);
  const Bounds cut = lang::domain_of(&range, 1, "slice", where).front();
  if (r.bounded()) {
    const Bounds whole = r.bounds(d);
    std::int64_t from = 0, to = 0, begin = 0, end = 0;
    const bool before = ir::is_int(cut.begin, &from) && ir::is_int(whole.begin, &begin) && from < begin;
    const bool behind = ir::is_int(cut.end, &to) && ir::is_int(whole.end, &end) && to > end;
    if (before || behind)
      refuse("slice", "a range inside " + lang::shape_text({whole}) + ", which " + r.source().name + " has",
             lang::shape_text({cut}), where);
  }
  const Expr extent = ir::ceil_div(ir::max(ir::sub(cut.end, cut.begin), ir::index(0)), ir::index(step));
  return r.same_but(
      d, [&](const Expr& i) { return ir::add(cut.begin, ir::mul(i, ir::index(step))); },
      [&](const Bounds&) { return Bounds{ir::index(0), extent, ""}; });
}

Tensor reverse(const Tensor& x, int dim, Where where) {
  Rearranged r(x, "reverse", where);
  const std::size_t d = r.dimension(dim);
  const Bounds b = r.bounds(d);
  const Expr last = ir::sub(ir::add(b.begin, b.end), ir::index(1));
  return r.same_but(d, [&](const Expr& i) { return ir::sub(last, i); }, [](Bounds of) { return of; });
}

Tensor broadcast(const Tensor& x, std::initializer_list<Extent> shape, Where where) {
  Rearranged r(x, "broadcast", where);
  const std::vector<Bounds> to = lang::domain_of(shape.begin(), shape.size(), "broadcast", where);
  if (to.size() < r.rank())
    refuse("broadcast", "at least the " + std::to_string(r.rank()) + " dimensions of " + r.source().name,
           std::to_string(to.size()), where);
  const std::vector<Expr> i = r.indices(to.size());
  const std::size_t fresh = to.size() - r.rank();
  std::vector<Expr> at;
  for (std::size_t d = 0; d < r.rank(); ++d) {
    const Bounds own = r.bounds(d);
    const Bounds& wanted = to[fresh + d];
    const bool equal_extents = ir::same(own.begin, wanted.begin) && ir::same(own.end, wanted.end);
    if (!equal_extents && !ir::is_int(ir::sub(own.end, own.begin), std::int64_t{1}))
      refuse("broadcast",
             "the extent " + lang::shape_text({own}) + " of " + r.source().name + " in dimension " + std::to_string(fresh + d) +
                 ", which is not 1",
             lang::shape_text({wanted}), where);
    at.push_back(equal_extents ? i[fresh + d] : own.begin);
  }
  return r.done(std::move(at), to);
}

Tensor reshape(const Tensor& x, std::initializer_list<Extent> shape, Where where) {
  Rearranged r(x, "reshape", where);
  const std::vector<Bounds> to = lang::domain_of(shape.begin(), shape.size(), "reshape", where);
  std::vector<Bounds> of;
  for (std::size_t d = 0; d < r.rank(); ++d) of.push_back(r.bounds(d));
  for (const std::vector<Bounds>* list : {static_cast<const std::vector<Bounds>*>(&of), &to})
    for (const Bounds& b : *list)
      if (!ir::is_int(b.begin, std::int64_t{0}))
        refuse("reshape", "dimensions that begin at 0", lang::shape_text(*list), where);
  Factors have, want;
  for (const Bounds& b : of) have.add(b.end);
  for (const Bounds& b : to) want.add(b.end);
  if (!equal(have, want))
    refuse("reshape", "a shape of as many elements as " + r.source().name + lang::shape_text(of) + " has", lang::shape_text(to),
           where);
  if (to.size() > static_cast<std::size_t>(max_rank))
    refuse("reshape", "at most 8 dimensions", std::to_string(to.size()), where);
  const std::vector<Expr> i = r.indices(to.size());
  // dimensions that both shapes begin or end with stay what they are
  std::size_t first = 0, last_of = of.size(), last_to = to.size();
  while (first < last_of && first < last_to && ir::same(of[first].end, to[first].end)) ++first;
  while (last_of > first && last_to > first && ir::same(of[last_of - 1].end, to[last_to - 1].end)) --last_of, --last_to;
  std::vector<Expr> at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(first)), extents;
  Expr number = ir::index(0);
  for (std::size_t d = first; d < last_to; ++d) number = ir::add(ir::mul(number, to[d].end), i[d]);
  for (std::size_t d = first; d < last_of; ++d) extents.push_back(of[d].end);
  for (const Expr& e : digits(number, extents)) at.push_back(e);
  at.insert(at.end(), i.begin() + static_cast<std::ptrdiff_t>(last_to), i.end());
  return r.done(std::move(at), to);
}

}  // namespace ashlar::view
