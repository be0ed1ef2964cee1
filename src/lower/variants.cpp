// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a program's variants as one kernel, which takes one of them at its entry.
//
//   if N <= 8
//     (the first variant)
//   else if N % 16 == 0
//     (the second)
//   else
//     (the general program)
//
// Each was lowered by itself, under what its condition tells; arguments, symbols and scalars have the same ids in all of them,
// all else gets ids of its own. A call needs the workspace of the one that it takes: in the others' places the layout has size
// 0. What only one of them assumes is asked of the calls that take it.
#include <algorithm>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

using ir::Kernel;

// Moves what one kernel calls its own out of the way of another's.
class Renamed {
 public:
  Renamed(Kernel& k, const Kernel& other) : k_(k), other_(other), by_(beyond(other)) {}

  void run() {
    for (ir::StrideArg& s : k_.strides) {
      const auto same = std::find_if(other_.strides.begin(), other_.strides.end(),
                                     [&](const ir::StrideArg& o) { return o.buffer == s.buffer && o.dim == s.dim; });
      strides_[s.id] = same == other_.strides.end() ? s.id + by_ : same->id;
      s.id = strides_.at(s.id);
    }
    for (ir::AlignmentArg& a : k_.alignments) {
      const auto same = std::find_if(other_.alignments.begin(), other_.alignments.end(),
                                     [&](const ir::AlignmentArg& o) { return o.buffer == a.buffer; });
      strides_[a.id] = same == other_.alignments.end() ? a.id + by_ : same->id;
      a.id = strides_.at(a.id);
    }
    std::map<Id, ir::KBuffer> buffers;
    for (auto& [id, b] : k_.buffers) {
      b.id = buffer(id);
      for (Expr* e : {&b.elements, &b.offset}) change(*e);
      for (Id& loop : b.inside) loop = variable(loop);
      buffers.emplace(b.id, b);
    }
    std::map<Id, ir::Intrinsic> intrinsics;
    for (auto& [id, f] : k_.intrinsics) {
      f.id = id + by_;
      intrinsics.emplace(f.id, f);
    }
    std::map<Id, ir::TensorMap> maps;
    for (auto& [id, m] : k_.tensor_maps) {
      m.id = id + by_;
      m.buffer = buffer(m.buffer);
      for (auto* list : {&m.extents, &m.strides})
        for (Expr& e : *list) change(e);
      maps.emplace(m.id, m);
    }
    for (Expr* e : {&k_.workspace_shared, &k_.workspace_per_worker}) change(*e);
    statements(k_.body);
    k_.next_id += by_;
    k_.buffers = std::move(buffers), k_.intrinsics = std::move(intrinsics), k_.tensor_maps = std::move(maps);
  }

 private:
  static Id beyond(const Kernel& k) {
    Id id = k.next_id;
    for (const auto& [own, f] : k.intrinsics) id = std::max(id, own + 1);
    return id;
  }
  Id variable(Id id) const {
    if (!id || id == ir::vscale_id || k_.symbols.count(id) || k_.scalars.count(id)) return id;
    const auto stride = strides_.find(id);
    return stride == strides_.end() ? id + by_ : stride->second;
  }
  Id buffer(Id id) const {
    const ir::KBuffer& b = k_.buffers.at(id);
    const auto there = other_.buffers.find(id);
    const bool same = there != other_.buffers.end() && b.storage == ir::Storage::constant && there->second.data == b.data;
    return b.storage == ir::Storage::argument || same ? id : id + by_;
  }
  void change(Expr& e) {
    if (e.empty()) return;
    e = ir::transform(e, [&](const Expr& x) {
      const ir::Node* n = x.node();
      if (ir::is(x, ir::Op::var)) {
        const Id id = variable(n->id);
        return id == n->id ? x : ir::var(id, n->name, x.type(), n->where);
      }
      if (ir::is(x, ir::Op::load)) {
        const Id id = buffer(n->id);
        return id == n->id ? x : ir::load(id, n->name, x.type(), ir::args_of(x), n->where);
      }
      return x;
    });
  }
  void statements(std::vector<KStmt>& list) {
    for (KStmt& s : list) {
      for_each_expr(s, [&](Expr& e) { change(e); });
      s.visit([&](ir::KFor& n) { n.var = variable(n.var); }, [&](ir::KLet& n) { n.var = variable(n.var); },
              [&](ir::KStore& n) { n.buffer = buffer(n.buffer); }, [&](ir::KPrefetch& n) { n.buffer = buffer(n.buffer); },
              [&](ir::KLaunch& n) {
                for (Id& block : n.block) block = variable(block);
                n.thread = variable(n.thread);
                for (Id& tensor : n.tensors) tensor = buffer(tensor);
              },
              [&](ir::KSync& n) {
                if (n.buffer) n.buffer = buffer(n.buffer);
              },
              [&](ir::KCall& n) {
                if (n.intrinsic) n.intrinsic += by_;
                for (ir::Call::Actual& a : n.actuals)
                  if (a.buffer) a.buffer = k_.tensor_maps.count(a.buffer) ? a.buffer + by_ : buffer(a.buffer);
              },
              [](ir::KIf&) {});
      for (auto* inside : s.bodies()) statements(*inside);
    }
  }

  Kernel& k_;
  const Kernel& other_;
  const Id by_;
  std::map<Id, Id> strides_;  // and what alignments are called
};

void number_launches(std::vector<KStmt>& list, const std::string& name, int& count) {
  for (KStmt& s : list) {
    if (auto* launch = s.as<ir::KLaunch>(); launch && !launch->tile)  // tiles have entries of their own names
      launch->name = name + (count++ == 0 ? "" : "_" + std::to_string(count));
    for (auto* inside : s.bodies()) number_launches(*inside, name, count);
  }
}

class Merged {
 public:
  explicit Merged(Kernel general) : k_(std::move(general)) {}

  // In front of what is there: taken where the condition holds.
  void add(const Expr& condition, Kernel v, Where where) {
    Renamed(v, k_).run();
    for (auto& [id, b] : k_.buffers) place(b, ir::logic_not(condition));
    for (auto& [id, b] : v.buffers) {
      place(b, condition);
      const auto [there, fresh] = k_.buffers.emplace(id, b);
      if (!fresh && there->second.align != b.align) throw InternalError("variants that ask other alignments of " + b.name);
    }
    k_.workspace_align = std::max(v.workspace_align, k_.workspace_align);
    k_.workspace_shared = ir::select(condition, bytes(v.workspace_shared), bytes(k_.workspace_shared));
    k_.workspace_per_worker = ir::select(condition, bytes(v.workspace_per_worker), bytes(k_.workspace_per_worker));
    for (const ir::StrideArg& s : v.strides)
      if (std::none_of(k_.strides.begin(), k_.strides.end(), [&](const ir::StrideArg& o) { return o.id == s.id; }))
        k_.strides.push_back(s);
    for (const ir::AlignmentArg& a : v.alignments)
      if (std::none_of(k_.alignments.begin(), k_.alignments.end(), [&](const ir::AlignmentArg& o) { return o.id == a.id; }))
        k_.alignments.push_back(a);
    k_.intrinsics.merge(v.intrinsics);
    k_.tensor_maps.merge(v.tensor_maps);
    k_.next_id = std::max(k_.next_id, v.next_id);
    if (v.body.empty() && k_.body.empty()) return;  // outputs without elements
    ir::KIf choice{condition, std::move(v.body), std::move(k_.body)};
    k_.body.clear();
    k_.body.push_back({where, std::move(choice)});
  }

  Kernel take() {
    const analysis::Facts facts = facts_of(k_);
    for (Expr* e : {&k_.workspace_shared, &k_.workspace_per_worker}) *e = analysis::simplify(*e, facts);
    for (auto& [id, b] : k_.buffers)
      if (b.storage == ir::Storage::workspace)
        for (Expr* e : {&b.elements, &b.offset}) *e = analysis::simplify(*e, facts);
    int count = 0;
    number_launches(k_.body, k_.name, count);
    return std::move(k_);
  }

 private:
  static Expr bytes(const Expr& e) { return e.empty() ? ir::index(0) : e; }
  // Elsewhere it holds nothing, and lies at the begin.
  static void place(ir::KBuffer& b, const Expr& condition) {
    if (b.storage != ir::Storage::workspace) return;
    for (Expr* e : {&b.elements, &b.offset}) *e = ir::select(condition, *e, ir::index(0));
  }
  Kernel k_;
};

}  // namespace

ir::Kernel one_of(const ir::Program& p, ir::Kernel general, std::vector<ir::Kernel> kernels) {
  const std::size_t first = p.variants.front().assumed;
  std::vector<Expr> assumptions(p.assumptions.begin(), p.assumptions.begin() + static_cast<std::ptrdiff_t>(first));
  general.assumptions.clear();
  const analysis::Facts symbols = facts_of(general);
  // What is assumed behind the first variant, except for the conditions themselves: of the calls that come so far.
  const auto ask = [&](const std::vector<Expr>& all, std::size_t count, const Expr& elsewhere) {
    for (std::size_t n = first; n < all.size(); ++n) {
      const bool condition = std::any_of(p.variants.begin(), p.variants.begin() + static_cast<std::ptrdiff_t>(count),
                                         [&](const ir::Variant& v) { return v.assumed == n; });
      if (!condition) assumptions.push_back(analysis::simplify(ir::logic_or(elsewhere, all[n]), symbols));
    }
  };
  Expr earlier = ir::boolean(false);  // one of the variants so far is taken
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Expr& condition = p.variants[k].condition;
    ask(kernels[k].assumptions, k + 1, ir::logic_or(earlier, ir::logic_not(condition)));
    earlier = ir::logic_or(earlier, condition);
  }
  ask(p.assumptions, p.variants.size(), earlier);
  general.assumptions = std::move(assumptions);

  Merged merged(std::move(general));
  for (std::size_t k = kernels.size(); k-- > 0;)
    merged.add(p.variants[k].condition, std::move(kernels[k]), p.variants[k].where);
  return merged.take();
}

ir::Kernel either(const Expr& condition, ir::Kernel kernel, ir::Kernel otherwise, Where where) {
  // What the entry checks is what the callers of both keep.
  for (auto& [id, b] : kernel.buffers)
    if (b.storage == ir::Storage::argument) b.align = otherwise.buffers.at(id).align;
  Merged merged(std::move(otherwise));
  merged.add(condition, std::move(kernel), where);
  return merged.take();
}

}  // namespace ashlar::lowering
