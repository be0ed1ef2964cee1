// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gradient: stages are met from the last to the first, so that all readers of a tensor have said what they add to its adjoint
// before the stage that computes it passes that on.
#include <ashlar/lang/gradient.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/scatter.h>

#include "lang/derivative.h"
#include "lang/transpose.h"

namespace ashlar {
namespace {

using lang::Addition;
using lang::Bounds;
using lang::Id;
using lang::StageDef;
using lang::TensorDef;

class Gradient {
 public:
  Gradient(const Tensor& loss, const Tensor* inputs, std::size_t count, Where where) : where_(where) {
    const TensorDef& l = lang::resolve(loss.id(), where);
    if (l.rank != 0 || !l.type.is_float())
      refuse("gradient", "a loss of rank 0 and a floating type (sum it: compute(\"loss\", [&] { return sum(...); }))",
             l.name + " of rank " + std::to_string(l.rank) + " and type " + ir::text(l.type), where);
    loss_ = l.id;
    for (std::size_t k = 0; k < count; ++k) {
      const TensorDef& t = lang::resolve(inputs[k].id(), where);
      if (!t.type.is_float() || t.kind == TensorDef::Kind::view || t.kind == TensorDef::Kind::constant)
        refuse("gradient", "tensors of floating types, no constants, boundaries or views",
               t.name + (t.kind == TensorDef::Kind::view       ? ", a view"
                         : t.kind == TensorDef::Kind::constant ? ", a constant"
                                                               : " of type " + ir::text(t.type)),
               where);
      inputs_.push_back(t.id);
    }
  }

  void run(Tensor* results) {
    if (depends(loss_)) collect(loss_);
    for (auto s = stages_.rbegin(); s != stages_.rend(); ++s) pass_on(lang::stage(*s, where_));
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const TensorDef& t = lang::tensor(inputs_[k], where_);
      if (inputs_[k] != loss_ && additions_.count(t.id) == 0)
        refuse("gradient", "tensors that the loss depends on, by values that change smoothly", t.name + ", which it does not",
               where_);
      results[k] = adjoint(t.id);
    }
  }

  std::vector<Tensor> made() const { return made_; }

 private:
  static void each_load(const StageDef& s, const std::function<void(Id)>& f) {
    for (const auto* list : {&s.values, &s.inits})
      for (const Expr& e : *list)
        ir::walk(e, [&](const Expr& x) {
          if (ir::is(x, ir::Op::load)) f(x.node()->id);
          return true;
        });
  }

  // Is the tensor one of the inputs, or computed from one?
  bool depends(Id tensor) {
    if (const auto known = depends_.find(tensor); known != depends_.end()) return known->second;
    depends_[tensor] = false;  // a recurrence asks for itself
    bool found = std::find(inputs_.begin(), inputs_.end(), tensor) != inputs_.end();
    const TensorDef& t = lang::tensor(tensor, where_);
    if (t.kind == TensorDef::Kind::stage) each_load(lang::stage(t.stage, where_), [&](Id from) { found |= depends(from); });
    return depends_[tensor] = found;
  }
  void collect(Id tensor) {
    const TensorDef& t = lang::tensor(tensor, where_);
    if (t.kind != TensorDef::Kind::stage || !stages_.insert(t.stage).second) return;
    each_load(lang::stage(t.stage, where_), [&](Id from) {
      if (depends(from)) collect(from);
    });
  }

  // What the adjoint of a tensor is at a point.
  Expr seed(Id tensor, const std::vector<Expr>& at) {
    const TensorDef& t = lang::tensor(tensor, where_);
    if (tensor == loss_) return ir::float_const(t.type, 1);
    const Id id = adjoint(tensor).id();
    return lang::access(id, at, where_);
  }

  static std::vector<Expr> point(const StageDef& s, Where where) {
    std::vector<Expr> at;
    for (Id d : s.dimensions) at.push_back(ir::var(d, lang::variable(d, where).name, ir::index_type));
    return at;
  }

  void add(const StageDef& s, bool reduces, const Expr& value, const Expr& seed) {
    const auto wanted = [&](Id t) { return depends(t); };
    for (const lang::Sensitivity& x : lang::pull_back(value, seed, wanted, s.name, where_))
      additions_[x.load.node()->id].push_back({&s, reduces, x.load, x.adjoint});
  }

  void pass_on(const StageDef& s) {
    for (std::size_t c = 0; c < s.tensors.size(); ++c) {
      if (s.tensors[c] != loss_ && additions_.count(s.tensors[c]) == 0) continue;
      if (s.inferred && !s.dimensions.empty())
        refuse("gradient", "stages whose domain is stated: compute(\"" + s.name + "\", {extents...}, ...)",
               s.name + ", whose domain is what its readers need", where_);
      if (!s.along.empty())
        refuse("gradient", "stages that are plain values, sums, minima and maxima", s.name + ", a recurrence", where_);
      const std::vector<Expr> at = point(s, where_);
      if (!s.targets.empty()) {
        if (s.reducer.kind != ir::ReducerKind::sum)
          refuse("gradient", "scatters that add", s.name + ", which does not", where_);
        add(s, true, s.values[c], seed(s.tensors[c], s.targets));
        add(s, false, s.inits[c], seed(s.tensors[c], at));
        continue;
      }
      Expr own = seed(s.tensors[c], at);
      switch (s.reducer.kind) {
        case ir::ReducerKind::none:
          add(s, false, s.values[c], own);
          break;
        case ir::ReducerKind::sum:
        case ir::ReducerKind::strict_sum:
          add(s, true, s.values[c], own);
          add(s, false, s.inits[c], own);
          break;
        case ir::ReducerKind::minimum:
        case ir::ReducerKind::maximum: {
          const Expr extreme = lang::access(s.tensors[c], at, where_);
          const Tensor sharing = ties(s, s.tensors[c]);
          own = ir::div(own, lang::access(sharing.id(), at, where_));
          const Expr none = ir::float_const(own.type(), 0);
          add(s, true, s.values[c], ir::select(ir::eq(s.values[c], extreme), own, none));
          add(s, false, s.inits[c], ir::select(ir::eq(s.inits[c], extreme), own, none));
          break;
        }
        default:
          refuse("gradient", "stages that are plain values, sums, minima and maxima",
                 s.name + ", a reduction by " + (s.reducer.name.empty() ? "product" : s.reducer.name), where_);
      }
    }
  }

  // How many terms of a minimum or maximum, and starts given by .from, are equal to it.
  Tensor ties(const StageDef& s, Id result) {
    const std::string name = s.name + "_ties";
    const std::vector<Extent> extents = extents_of(lang::tensor(result, where_));
    const Indices at = detail::new_indices(extents.data(), extents.size());
    ir::Substitution own;
    std::vector<Expr> point;
    for (std::size_t d = 0; d < s.dimensions.size(); ++d) {
      point.push_back(at[DimAt(static_cast<int>(d), where_)]);
      own.emplace_back(s.dimensions[d], point.back());
    }
    const Expr extreme = lang::access(result, point, where_);
    const Type type = extreme.type();
    const auto counted = [&](const Expr& e) {
      return ir::select(ir::eq(ir::substitute(e, own), extreme), ir::float_const(type, 1), ir::float_const(type, 0));
    };
    const Expr& init = s.inits.front();
    const bool starts = !(ir::is(init, ir::Op::float_const) && std::isinf(init.node()->f));
    const Expr start = starts ? counted(init) : Expr();
    std::vector<Axis> axes;
    for (Id k : s.axes) {
      const lang::VariableDef& v = lang::variable(k, where_);
      axes.emplace_back(v.name.c_str(), Operand(ir::substitute(v.begin, own), where_),
                        Operand(ir::substitute(v.end, own), where_), where_);
      own.emplace_back(k, axes.back());
    }
    AxisList over(std::move(axes));
    for (const Expr& c : s.conditions) over = over.where(Operand(ir::substitute(c, own), where_));
    Reduction<> count = sum(Operand(counted(s.values.front()), where_), std::move(over), where_);
    if (starts) count = count.from(Operand(start, where_));
    made_.push_back(detail::define(detail::Site{name.c_str(), extents.data(), at, where_}, count));
    return made_.back();
  }

  std::vector<Extent> extents_of(const TensorDef& t) const {
    std::vector<Extent> extents;
    const bool computed = t.kind == TensorDef::Kind::stage;
    for (const Bounds& b : computed ? lang::stage(t.stage, where_).domain : t.shape) {
      const Extent e(Range{b.begin, b.end});
      extents.push_back(b.label.empty() ? e : Extent(b.label.c_str(), e));
    }
    return extents;
  }

  // The adjoint of a tensor all of whose readers have passed on: what each of them adds, summed.
  Tensor adjoint(Id tensor) {
    if (const auto known = adjoints_.find(tensor); known != adjoints_.end()) return known->second;
    const TensorDef t = lang::tensor(tensor, where_);
    const std::string name = "d_" + t.name;
    const bool inferred = t.kind == TensorDef::Kind::stage && lang::stage(t.stage, where_).inferred;
    const std::vector<Extent> extents = inferred ? std::vector<Extent>() : extents_of(t);
    const auto site = [&](const std::string& of, const Indices& at) {
      return detail::Site{of.c_str(), inferred ? nullptr : extents.data(), at, where_};
    };
    const auto indices = [&] {
      return detail::new_indices(inferred ? nullptr : extents.data(), static_cast<std::size_t>(t.rank));
    };
    const auto list = [&](const Indices& at) {
      std::vector<Expr> e;
      for (int d = 0; d < t.rank; ++d) e.push_back(at[DimAt(d, where_)]);
      return e;
    };
    const auto& additions = additions_[tensor];
    std::vector<Tensor> sums;
    const Indices at = indices();
    Expr total = tensor == loss_ ? ir::float_const(t.type, 1) : Expr();
    for (std::size_t k = 0; k < additions.size(); ++k) {
      const Indices own = indices();
      const auto r = lang::received(additions[k], t, list(own), where_);
      const bool alone = additions.size() == 1 && total.empty();
      Expr part;
      if (!r) {
        made_.push_back(scattered(additions[k], t, alone ? name : name + "_" + std::to_string(k)));
        if (alone) return adjoints_[tensor] = made_.back();
        part = lang::access(made_.back().id(), list(at), where_);
      } else if (!r->axes.empty()) {
        const Reduction<> all = sum(Operand(r->value, where_), AxisList(r->axes), where_);
        made_.push_back(detail::define(site(alone ? name : name + "_" + std::to_string(k), own), all));
        if (alone) return adjoints_[tensor] = made_.back();
        part = lang::access(made_.back().id(), list(at), where_);
      } else {
        part = lang::received(additions[k], t, list(at), where_)->value;
      }
      total = total.empty() ? part : ir::add(total, part);
    }
    made_.push_back(detail::define(site(name, at), Operand(total, where_)));
    return adjoints_[tensor] = made_.back();
  }

  // A read whose place data or a division choose: the points go over the stage again, and each adds to the element that it
  // read.
  Tensor scattered(const Addition& a, const TensorDef& t, const std::string& name) const {
    const auto cannot = [&](const std::string& why) {
      refuse("gradient", "reads at sums of variables times numbers, or in boxes of at most 8 dimensions",
             ir::text(a.load) + " in " + a.stage->name + why, where_);
    };
    if (t.kind == TensorDef::Kind::stage && lang::stage(t.stage, where_).inferred)
      cannot(" of " + t.name + ", whose domain is inferred");
    const std::vector<lang::Free> variables = lang::variables_of(a, where_);
    if (variables.size() > static_cast<std::size_t>(max_rank))
      cannot(", over " + std::to_string(variables.size()) + " variables");
    std::vector<Extent> over;
    for (const lang::Free& v : variables) {
      for (const lang::Free& w : variables)
        if (ir::uses_var(v.begin, w.id) || ir::uses_var(v.end, w.id)) cannot(", whose " + v.name + " is bounded by " + w.name);
      over.emplace_back(v.name.c_str(), Extent(Range{v.begin, v.end}));
    }
    const Indices points = detail::new_points(over.data(), over.size(), name.c_str(), where_);
    ir::Substitution own;
    for (std::size_t k = 0; k < variables.size(); ++k)
      own.emplace_back(variables[k].id, points[DimAt(static_cast<int>(k), where_)]);
    std::vector<Expr> at;
    for (const Expr& e : ir::args_of(a.load)) at.push_back(ir::substitute(e, own));
    const Expr condition = lang::condition_of(a);
    const detail::PutAt put{condition.empty() ? Expr() : ir::substitute(condition, own), ir::substitute(a.value, own),
                            at.data(), where_};
    const std::vector<Extent> extents = extents_of(t);
    const detail::ScatterSite site{name.c_str(), extents.data(), extents.size(), over.data(), points, where_};
    return detail::define_scatter(site, Combine::add, Operand(ir::float_const(t.type, 0), where_), &put, 1);
  }

  Where where_;
  Id loss_ = 0;
  std::vector<Id> inputs_;
  std::map<Id, bool> depends_;
  std::set<Id> stages_;  // between the inputs and the loss; ids ascend in the order of definition
  std::map<Id, std::vector<Addition>> additions_;
  std::map<Id, Tensor> adjoints_;
  std::vector<Tensor> made_;
};

}  // namespace

void detail::gradient(const Tensor& loss, const Tensor* inputs, std::size_t count, Tensor* results, std::vector<Tensor>* made,
                      Where where) {
  Gradient g(loss, inputs, count, where);
  g.run(results);
  if (made) *made = g.made();
}

}  // namespace ashlar
