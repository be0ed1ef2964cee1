// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of fragments from shared memory (flatten.h). Where the lanes of a warp read the rows of 8 x 8 elements of 16 bits, they
// read them together (ldmatrix), up to four such matrices at a time:
//
//   for lane in 32                                              for lane in 32
//     a[0] = s[64 (lane / 4) + 2 (lane % 4)]           ->         call ldmatrix_x1 a[0], s[64 (lane % 8)]
//     a[1] = s[64 (lane / 4) + 2 (lane % 4) + 1]
//
// Registers 2 m and 2 m + 1 of lane 4 q + t hold elements 2 t and 2 t + 1 of row q of matrix m, or of its column q
// (ldmatrix.trans). Lane 8 m + r gives the address of row r of matrix m, which is that of what some lane reads first of it.
#include <ashlar/analysis/simplify.h>
#include <ashlar/ir/intrinsics.h>
#include <ashlar/ir/print.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

namespace {

constexpr int row = 8;  // elements of a row, and rows of a matrix

struct Loaded {
  std::vector<Expr> conditions;
  const ir::KStore* store = nullptr;
  const ir::Node* load = nullptr;
};

std::optional<Loaded> loaded(const std::vector<KStmt>& list) {
  Loaded found;
  const std::vector<KStmt>* inside = &list;
  while (inside->size() == 1) {
    const KStmt& s = inside->front();
    if (const auto* branch = s.as<ir::KIf>(); branch && branch->otherwise.empty()) {
      found.conditions.push_back(branch->condition);
      inside = &branch->body;
      continue;
    }
    found.store = s.as<ir::KStore>();
    if (!found.store || !found.store->mask.empty() || found.store->atomic || !ir::is(found.store->value, ir::Op::load)) break;
    if (ir::args_of(found.store->value).size() != 1) break;
    found.load = found.store->value.node();
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<KStmt> Flattener::by_matrices(const std::vector<Statements>& registers, const ir::KFor& lanes,
                                            const std::function<Statements(const Expr& lane, const Expr& reg)>& held_at,
                                            Where where) {
  const int matrices = static_cast<int>(registers.size()) / 2;
  if (!options_.matrix_loads || registers.size() % 2 != 0 || (matrices != 1 && matrices != 2 && matrices != 4)) return {};
  std::vector<Loaded> all;
  for (const Statements& one : registers) {
    auto found = loaded(one);
    if (!found) return {};
    const Loaded& first = all.empty() ? *found : all.front();
    if (found->load->id != first.load->id || found->conditions.size() != first.conditions.size()) return {};
    for (std::size_t c = 0; c < first.conditions.size(); ++c)
      if (!ir::same(found->conditions[c], first.conditions[c]) || ir::uses_var(first.conditions[c], lanes.var)) return {};
    const Expr after = ir::add(first.store->address, ir::index(static_cast<std::int64_t>(all.size())));
    if (!ir::same(analysis::simplify(after, facts_), analysis::simplify(found->store->address, facts_))) return {};
    all.push_back(std::move(*found));
  }
  const ir::KBuffer &from = kernel_.buffers.at(all.front().load->id), &to = kernel_.buffers.at(all.front().store->buffer);
  if (from.type.bits != 16 || from.storage != ir::Storage::shared || from.align % (row * 2) != 0 ||
      to.storage != ir::Storage::registers || !(to.type == from.type))
    return {};

  // The addresses that lanes 4 q + t read at.
  const Id q = p_.fresh(), t = p_.fresh();
  const Expr of_row = ir::var(q, "q"), of_column = ir::var(t, "t");
  Facts facts = facts_;
  facts.range(q, ir::index(0), ir::index(row - 1)), facts.range(t, ir::index(0), ir::index(3));
  const Expr lane = ir::add(ir::mul(of_row, ir::index(4)), of_column);
  const auto address = [&](int reg) {
    const Expr a = ir::args_of(all[static_cast<std::size_t>(reg)].store->value)[0];
    return analysis::simplify(ir::substitute(a, {{lanes.var, lane}}), facts);
  };
  const auto at = [&](const Expr& a, Id var) { return analysis::simplify(ir::substitute(a, {{var, ir::index(0)}}), facts); };
  const auto apart = [&](const Expr& a, const Expr& b, const Expr& by) {
    return analysis::can_prove(ir::eq(ir::sub(a, b), by), facts);
  };
  const auto lies = [&](bool turned) {
    for (int m = 0; m < matrices; ++m)
      for (int e = 0; e < 2; ++e) {
        const Expr a = address(2 * m + e);
        const Expr first = turned ? at(a, q) : at(address(2 * m), t);  // of the row
        const Expr past = turned ? of_row : ir::add(ir::mul(of_column, ir::index(2)), ir::index(e));
        if (!apart(a, first, past) || !analysis::can_prove(ir::eq(ir::mod(first, ir::index(row)), ir::index(0)), facts))
          return false;
      }
    return true;
  };
  const bool rows = lies(false), turned = !rows && lies(true);
  if (!rows && !turned) return {};

  const Expr own = ir::var(lanes.var, lanes.name), r = ir::mod(own, ir::index(row));
  const Expr matrix = ir::mod(ir::div(own, ir::index(row)), ir::index(matrices));
  const Expr reg = ir::mul(matrix, ir::index(2));
  const Statements source =
      rows ? held_at(ir::mul(r, ir::index(4)), reg) : held_at(ir::div(r, ir::index(2)), ir::add(reg, ir::mod(r, ir::index(2))));
  const auto given = loaded(source);
  if (!given || given->load->id != from.id) return {};

  ir::Intrinsic f = ir::ldmatrix(from.type, matrices, turned);
  Id& id = matrix_loads_[f.name + ir::text(from.type)];
  if (id == 0) {
    id = f.id = p_.fresh();
    kernel_.intrinsics.emplace(id, f);
  }
  ir::KCall call;
  call.intrinsic = id;
  call.actuals.resize(2);
  call.actuals[0].buffer = to.id, call.actuals[0].address = all.front().store->address;
  call.actuals[1].buffer = from.id;
  call.actuals[1].address = analysis::simplify(ir::args_of(given->store->value)[0], facts_);
  KStmt made{where, std::move(call)};
  for (std::size_t c = all.front().conditions.size(); c-- > 0;) {
    std::vector<KStmt> inside;
    inside.push_back(std::move(made));
    made = if_stmt(all.front().conditions[c], std::move(inside), where);
  }
  return made;
}

}  // namespace ashlar::lowering
