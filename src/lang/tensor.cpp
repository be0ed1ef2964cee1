// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors: what they are, and their elements; boundaries are expanded here.
#include <ashlar/lang/tensor.h>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/boundary.h>
#include <ashlar/lang/compute.h>

#include <ashlar/lang/definition.h>
#include <ashlar/lang/operand_types.h>

namespace ashlar {

using lang::TensorDef;
using lang::ViewDef;

namespace lang {
namespace {

// Index i of a dimension [begin, end) brought inside. Every result is also bounded by the last index in so many words, because
// that is what interval analysis can see.
Expr inside(ViewDef::Kind kind, const Expr& i, const Bounds& b) {
  const Expr last = ir::sub(b.end, ir::index(1));
  if (kind == ViewDef::Kind::repeat) return ir::max(b.begin, ir::min(i, last));
  const Expr n = ir::sub(b.end, b.begin), from_begin = ir::sub(i, b.begin);
  if (kind == ViewDef::Kind::wrap) return ir::add(b.begin, ir::mod(from_begin, n));
  const Expr one = ir::index(1), two = ir::index(2);
  // one period of mirror is 0 .. n-1 n-1 .. 0, of reflect 0 .. n-1 .. 1: 0 alone where there is one element
  const bool mirror = kind == ViewDef::Kind::mirror;
  const Expr period = mirror ? ir::mul(n, two) : ir::max(ir::mul(ir::sub(n, one), two), one);
  const Expr m = ir::mod(from_begin, period);
  const Expr back = mirror ? ir::sub(ir::sub(period, one), m) : ir::sub(period, m);
  return ir::add(b.begin, ir::min(ir::min(m, back), ir::sub(n, one)));
}

}  // namespace

Expr access(Id id, const std::vector<Expr>& indices, Where where) {
  const TensorDef& t = resolve(id, where);
  if (t.kind != TensorDef::Kind::view) return ir::load(t.id, t.name, t.type, indices, where);
  if (t.view.kind == ViewDef::Kind::rearranged) {
    ir::Substitution s;
    for (std::size_t d = 0; d < indices.size(); ++d) s.emplace_back(t.view.vars[d], indices[d]);
    std::vector<Expr> of;
    for (const Expr& e : t.view.at) of.push_back(ir::substitute(e, s));
    return access(t.view.source, of, where);
  }
  std::vector<Expr> at = indices;
  Expr in_bounds = ir::boolean(true);
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (!t.view.extends[d]) continue;
    const Bounds b = bounds_of(resolve(t.view.source, where), static_cast<int>(d), where);
    if (t.view.kind == ViewDef::Kind::constant)
      in_bounds = ir::logic_and(in_bounds, ir::logic_and(ir::le(b.begin, at[d]), ir::lt(at[d], b.end)));
    else
      at[d] = inside(t.view.kind, at[d], b);
  }
  const Expr element = access(t.view.source, at, where);
  return t.view.kind == ViewDef::Kind::constant ? ir::select(in_bounds, element, t.view.value) : element;
}

}  // namespace lang

namespace {

Expr element(ir::Id id, std::initializer_list<const Operand*> indices, Where where) {
  const TensorDef& t = lang::tensor(id, where);
  if (indices.size() != static_cast<std::size_t>(t.rank))
    refuse(t.name, std::to_string(t.rank) + (t.rank == 1 ? " index" : " indices"), std::to_string(indices.size()), where);
  std::vector<Expr> at;
  for (const Operand* o : indices) at.push_back(lang::to_index(*o, "index of " + t.name));
  return lang::access(id, at, where);
}

}  // namespace

Type Tensor::type(Where where) const { return lang::tensor(id_, where).type; }
int Tensor::rank(Where where) const { return lang::tensor(id_, where).rank; }
const char* Tensor::name(Where where) const { return lang::tensor(id_, where).name.c_str(); }

Shape Tensor::shape(Where where) const {
  const TensorDef& t = lang::tensor(id_, where);
  std::vector<Extent> extents;
  for (int d = 0; d < t.rank; ++d) {
    const lang::Bounds b = lang::bounds_of(t, d, where);
    const Extent plain(Range{b.begin, b.end});
    extents.push_back(b.label.empty() ? plain : Extent(ir::intern(b.label), plain));
  }
  return Shape::of(std::move(extents), where);
}
Expr Tensor::extent(int dim, Where where) const {
  const lang::Bounds b = lang::bounds_of(lang::tensor(id_, where), dim, where);
  return ir::sub(b.end, b.begin);
}

Expr Tensor::operator()(Where where) const { return element(id_, {}, where); }
Expr Tensor::operator()(Operand a) const { return element(id_, {&a}, a.where()); }
Expr Tensor::operator()(Operand a, Operand b) const { return element(id_, {&a, &b}, a.where()); }
Expr Tensor::operator()(Operand a, Operand b, Operand c) const { return element(id_, {&a, &b, &c}, a.where()); }
Expr Tensor::operator()(Operand a, Operand b, Operand c, Operand d) const { return element(id_, {&a, &b, &c, &d}, a.where()); }
Expr Tensor::operator()(Operand a, Operand b, Operand c, Operand d, Operand e) const {
  return element(id_, {&a, &b, &c, &d, &e}, a.where());
}
Expr Tensor::operator()(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f) const {
  return element(id_, {&a, &b, &c, &d, &e, &f}, a.where());
}
Expr Tensor::operator()(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f, Operand g) const {
  return element(id_, {&a, &b, &c, &d, &e, &f, &g}, a.where());
}
Expr Tensor::operator()(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f, Operand g, Operand h) const {
  return element(id_, {&a, &b, &c, &d, &e, &f, &g, &h}, a.where());
}
Expr Tensor::operator()(const Indices& at, Where where) const {
  const TensorDef& t = lang::tensor(id_, where);
  if (at.rank() != t.rank)
    refuse(t.name, std::to_string(t.rank) + (t.rank == 1 ? " index" : " indices"), std::to_string(at.rank()), where);
  std::vector<Expr> list;
  for (int d = 0; d < at.rank(); ++d) list.push_back(at[d]);
  return lang::access(id_, list, where);
}

namespace boundary {
namespace {

Tensor view(ViewDef::Kind kind, const char* what, const Tensor& source, const int* dims, std::size_t count,
            const Operand* value, Where where) {
  const TensorDef& s = lang::tensor(source.id(), where);
  TensorDef t;
  t.kind = TensorDef::Kind::view;
  t.name = s.name;
  t.type = s.type;
  t.rank = s.rank;
  t.where = where;
  t.view.kind = kind;
  t.view.source = s.id;
  t.view.extends.assign(static_cast<std::size_t>(s.rank), dims == nullptr);
  for (std::size_t k = 0; k < count; ++k) {
    if (dims[k] < 0 || dims[k] >= s.rank)
      refuse(what, "dimensions of " + s.name + ", from 0 to " + std::to_string(s.rank - 1), std::to_string(dims[k]), where);
    t.view.extends[static_cast<std::size_t>(dims[k])] = true;
  }
  for (int d = 0; d < s.rank; ++d)
    if (t.view.extends[static_cast<std::size_t>(d)]) lang::bounds_of(lang::resolve(s.id, where), d, where);
  if (value) t.view.value = lang::to_type(s.type, *value, what);
  return detail::Access::tensor(lang::add(std::move(t)));
}

}  // namespace

Tensor repeat(const Tensor& t, Where w) { return view(ViewDef::Kind::repeat, "repeat", t, nullptr, 0, nullptr, w); }
Tensor mirror(const Tensor& t, Where w) { return view(ViewDef::Kind::mirror, "mirror", t, nullptr, 0, nullptr, w); }
Tensor reflect(const Tensor& t, Where w) { return view(ViewDef::Kind::reflect, "reflect", t, nullptr, 0, nullptr, w); }
Tensor wrap(const Tensor& t, Where w) { return view(ViewDef::Kind::wrap, "wrap", t, nullptr, 0, nullptr, w); }
Tensor constant(const Tensor& t, Operand v) { return view(ViewDef::Kind::constant, "constant", t, nullptr, 0, &v, v.where()); }
Tensor repeat(const Tensor& t, std::initializer_list<int> d, Where w) {
  return view(ViewDef::Kind::repeat, "repeat", t, d.begin(), d.size(), nullptr, w);
}
Tensor mirror(const Tensor& t, std::initializer_list<int> d, Where w) {
  return view(ViewDef::Kind::mirror, "mirror", t, d.begin(), d.size(), nullptr, w);
}
Tensor reflect(const Tensor& t, std::initializer_list<int> d, Where w) {
  return view(ViewDef::Kind::reflect, "reflect", t, d.begin(), d.size(), nullptr, w);
}
Tensor wrap(const Tensor& t, std::initializer_list<int> d, Where w) {
  return view(ViewDef::Kind::wrap, "wrap", t, d.begin(), d.size(), nullptr, w);
}
Tensor constant(const Tensor& t, Operand v, std::initializer_list<int> d) {
  return view(ViewDef::Kind::constant, "constant", t, d.begin(), d.size(), &v, v.where());
}

}  // namespace boundary
}  // namespace ashlar
