// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments with small rows of which a vector covers whole ones, rgb[y, x, 3]. The caller chooses the distance between rows,
// which is nearly always their length. If the elements of a vector are then neighbors, the nest gets a version for that case:
//
//   if rgb_stride1 == 3
//     out[ramp48(..)] = rgb[ramp48(..)]                                       neighbors
//   else
//     out[ramp48(..)] = rgb[x48(..) + rgb_stride1 * (ramp48(0, 1) / 3) + ..]  lanes that lie anywhere
//
// So does a vector along the rows, rgb[y, x, c] along x, whose elements are then a few elements apart. Longer rows are
// gathered in any case. Not with launches.
#include <algorithm>
#include <map>

#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/build.h>

#include "lower/passes.h"

namespace ashlar::lowering {
namespace {

constexpr std::int64_t longest_row = 8;  // elements

// The elements of a row of the argument's last dimensions behind `dim`: the stride of `dim`, where rows lie without gaps.
std::int64_t closed_stride(const ir::Buffer& b, int dim) {
  if (!b.layout.map.empty() || !b.layout.strides.empty()) return 0;
  std::int64_t n = 1, extent = 0;
  for (std::size_t d = b.extents.size(); d-- > static_cast<std::size_t>(dim) + 1;) {
    if (!ir::is_int(b.extents[d], &extent) || extent < 1 || extent > longest_row) return 0;
    n *= extent;
  }
  return n <= longest_row ? n : 0;
}

class Rows {
 public:
  explicit Rows(const ir::Kernel& k) : k_(k) {
    for (const ir::StrideArg& s : k.strides)
      if (const auto b = k.argument_buffers.find(s.buffer); b != k.argument_buffers.end())
        if (const std::int64_t n = closed_stride(b->second, s.dim)) closed_[s.id] = {n, s.buffer};
  }
  bool none() const { return closed_.empty(); }

  // Strides by which what moves with a lane is multiplied, of the arguments that the statement's vectors access.
  std::map<Id, std::int64_t> of_lanes(const KStmt& s) const {
    std::map<Id, std::int64_t> found;
    std::vector<Id> lanes;
    visit(s, lanes, found);
    return found;
  }

 private:
  struct Stride {
    std::int64_t closed = 0;
    Id buffer = 0;
  };
  void visit(const KStmt& s, std::vector<Id>& lanes, std::map<Id, std::int64_t>& found) const {
    const KFor* const vector = ir::as_loop(s, ir::LoopKind::vectorized);
    if (vector) lanes.push_back(vector->var);
    if (!lanes.empty()) {
      if (const auto* store = s.as<ir::KStore>()) address(store->address, lanes, found);
      for_each_expr(s, [&](const Expr& e) {
        ir::walk(e, [&](const Expr& x) {
          if (ir::is(x, Op::load)) address(ir::args_of(x)[0], lanes, found);
          return true;
        });
      });
    }
    for (const auto* list : s.bodies())
      for (const KStmt& inner : *list) visit(inner, lanes, found);
    if (vector) lanes.pop_back();
  }
  void address(const Expr& e, const std::vector<Id>& lanes, std::map<Id, std::int64_t>& found) const {
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, Op::load)) return false;  // an index from data
      if (!ir::is(x, Op::mul) || has_load(x)) return true;
      if (std::none_of(lanes.begin(), lanes.end(), [&](Id v) { return ir::uses_var(x, v); })) return true;
      for (const auto& [id, stride] : closed_)
        if (ir::uses_var(x, id)) found[id] = stride.closed;
      return true;
    });
  }

  const ir::Kernel& k_;
  std::map<Id, Stride> closed_;
};

// The statements where the strides are numbers, with addresses that say so.
void put_numbers(std::vector<KStmt>& list, const ir::Substitution& numbers, const Facts& facts) {
  for (KStmt& s : list) {
    for_each_expr(s, [&](Expr& e) {
      const Expr put = ir::substitute(e, numbers);
      if (put.node() == e.node()) return;
      e = ir::transform(put, [&](const Expr& x) {
        if (!ir::is(x, Op::load) || !ir::args_of(x)[0].type().is_index()) return x;
        std::vector<Expr> args(ir::args_of(x).begin(), ir::args_of(x).end());
        args[0] = analysis::simplify(args[0], facts);
        return ir::load(x.node()->id, x.node()->name, x.type(), args, x.node()->where);
      });
      if (e.type().is_index()) e = analysis::simplify(e, facts);
    });
    const auto* const loop = s.as<KFor>();
    const Facts inner = loop ? inside(facts, *loop) : facts;
    for (auto* part : s.bodies()) put_numbers(*part, numbers, inner);
  }
}

// Where rows have gaps, a vector that moves elements one by one and computes little is a loop: it would be taken apart into as
// many loads and stores anyway.
void move_one_by_one(KStmt& s, const std::map<Id, std::int64_t>& strides) {
  constexpr std::size_t little = 24;  // nodes
  KFor* const vector = ir::as_loop(s, ir::LoopKind::vectorized);
  const auto* const store = vector && vector->body.size() == 1 ? vector->body.front().as<ir::KStore>() : nullptr;
  if (store && !store->atomic) {
    const bool scatters = std::any_of(strides.begin(), strides.end(),
                                      [&](const auto& stride) { return ir::uses_var(store->address, stride.first); });
    if (scatters && ir::node_count(store->value) <= little) vector->kind = ir::LoopKind::serial;
  }
  for (auto* list : s.bodies())
    for (KStmt& inner : *list) move_one_by_one(inner, strides);
}

}  // namespace

void know_strides(ir::Kernel& kernel) {
  ir::Kernel& k = kernel;
  const Rows rows(k);
  if (rows.none()) return;
  const Facts facts = facts_of(k);
  for (KStmt& s : k.body) {
    const std::map<Id, std::int64_t> strides = rows.of_lanes(s);
    if (strides.empty()) continue;
    Expr closed;
    ir::Substitution numbers;
    for (const ir::StrideArg& a : k.strides) {
      const auto at = strides.find(a.id);
      if (at == strides.end()) continue;
      const Expr stride = ir::var(a.id, k.argument_buffers.at(a.buffer).name + "_stride" + std::to_string(a.dim));
      const Expr same = ir::eq(stride, ir::index(at->second));
      closed = closed.empty() ? same : ir::logic_and(closed, same);
      numbers.emplace_back(a.id, ir::index(at->second));
    }
    std::vector<KStmt> known{s};
    put_numbers(known, numbers, facts);
    ir::KIf choice{closed, std::move(known)};
    const Where where = s.where;
    move_one_by_one(s, strides);
    choice.otherwise.push_back(std::move(s));
    s = {where, std::move(choice)};
  }
}

}  // namespace ashlar::lowering
