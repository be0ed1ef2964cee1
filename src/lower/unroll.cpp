// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An unrolled loop becomes its iterations, each with the loop variable replaced by its value; builders fold what becomes
// constant.
//
//   for i in [0, +2) unrolled        acc[j] = ...
//     acc[i * 16 + j] = ...          acc[16 + j] = ...
//
// Nested unrolled loops are expanded together: every expression is rewritten once for each copy it ends in.
//
// An unrolled loop that holds other loops, and whose variable picks elements of a constant that are indices, is expanded before
// tiles are told apart into those inside and those at a border: the indices are numbers by then.
//
//   for d in [0, +9) unrolled
//     for x in [0, +W): y[..] = f[(x - index(cx[d])) % W]
#include "lower/passes.h"

#include <algorithm>
#include <functional>

#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::lowering {
namespace {

using Chosen = std::function<bool(const KFor&)>;  // of unrolled loops

const KFor* to_unroll(const KStmt& s, const Chosen& which) {
  const KFor* loop = ir::as_loop(s, ir::LoopKind::unrolled);
  return loop && which(*loop) ? loop : nullptr;
}

// Does anything below still have to change: an unrolled loop?
bool has_unrolled(const std::vector<KStmt>& list, const Chosen& which) {
  return std::any_of(list.begin(), list.end(), [&](const KStmt& s) {
    if (to_unroll(s, which)) return true;
    const auto lists = s.bodies();
    return std::any_of(lists.begin(), lists.end(), [&](const auto* inside) { return has_unrolled(*inside, which); });
  });
}

// A value of an index vector or sum: constants are gathered to the right, so that copies differ in one number only.
Expr tidy_sum(const Expr& e) {
  if (!e.type().is_index() || e.type().lanes != 1) return e;
  if (!ir::is(e, ir::Op::add)) return e;
  const auto args = ir::args_of(e);
  std::int64_t a = 0, b = 0;
  const bool left_const = ir::is_int(args[0], &a);
  if (left_const && !ir::is_int(args[1])) return tidy_sum(ir::add(args[1], args[0]));
  auto ends_in = [](const Expr& x, std::int64_t* c) { return ir::is(x, ir::Op::add) && ir::is_int(ir::args_of(x)[1], c); };
  if (ir::is_int(args[1], &b) && ends_in(args[0], &a)) return ir::add(ir::args_of(args[0])[0], ir::index(a + b));
  if (!ir::is_int(args[1]) && ends_in(args[0], &a)) return ir::add(ir::add(ir::args_of(args[0])[0], args[1]), ir::index(a));
  if (!ir::is_int(args[0]) && ends_in(args[1], &b))
    return tidy_sum(ir::add(ir::add(args[0], ir::args_of(args[1])[0]), ir::index(b)));
  return e;
}

Expr put_in(const Expr& e, const ir::Substitution& values) {
  bool uses = false;
  ir::walk(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::var))
      for (const auto& entry : values) uses |= entry.first == x.node()->id;
    return !uses;
  });
  if (!uses) return e;
  return ir::transform(e, [&](const Expr& x) {
    if (ir::is(x, ir::Op::var)) {
      for (const auto& [id, value] : values)
        if (x.node()->id == id) return value;
      return x;
    }
    return tidy_sum(x);
  });
}

void expand(std::vector<KStmt>& out, const std::vector<KStmt>& list, ir::Substitution& values, const Chosen& which);

// A statement without what stands inside.
KStmt without_bodies(const KStmt& s) {
  return s.visit(
      [&](const KFor& n) -> KStmt { return {s.where, KFor{n.var, n.name, n.begin, n.extent, n.kind}}; },
      [&](const ir::KIf& n) -> KStmt { return {s.where, ir::KIf{n.condition}}; },
      [&](const ir::KLet& n) -> KStmt { return {s.where, ir::KLet{n.var, n.name, n.value}}; },
      [&](const ir::KLaunch& n) -> KStmt { return {s.where, ir::KLaunch{static_cast<const ir::Launch&>(n), {}, {}, {}, {}}}; },
      [&](const ir::KStore&) { return s; }, [&](const ir::KPrefetch&) { return s; }, [&](const ir::KSync&) { return s; },
      [&](const ir::KCall&) { return s; });
}

void expand(std::vector<KStmt>& out, const KStmt& s, ir::Substitution& values, const Chosen& which) {
  if (const KFor* loop = to_unroll(s, which)) {
    std::int64_t begin = 0, extent = 0;
    const Expr first = put_in(loop->begin, values);
    if (!ir::is_int(put_in(loop->extent, values), &extent)) throw InternalError("an unrolled loop without a constant extent");
    const bool constant = ir::is_int(first, &begin);
    for (std::int64_t k = 0; k < extent; ++k) {
      values.emplace_back(loop->var, constant ? ir::index(begin + k) : ir::add(first, ir::index(k)));
      expand(out, loop->body, values, which);
      values.pop_back();
    }
    return;
  }
  KStmt copy = without_bodies(s);
  for_each_expr(copy, [&](Expr& e) { e = put_in(e, values); });
  std::int64_t known = 0;
  if (const auto* branch = s.as<ir::KIf>(); branch && ir::is_int(copy.get<ir::KIf>().condition, &known))
    return expand(out, known ? branch->body : branch->otherwise, values, which);
  const auto to = copy.bodies();
  const auto from = s.bodies();
  for (std::size_t k = 0; k < from.count; ++k) expand(*to.lists[k], *from.lists[k], values, which);
  out.push_back(std::move(copy));
}

void expand(std::vector<KStmt>& out, const std::vector<KStmt>& list, ir::Substitution& values, const Chosen& which) {
  for (const KStmt& s : list) expand(out, s, values, which);
}

bool expand(ir::Kernel& kernel, const Chosen& which) {
  if (!has_unrolled(kernel.body, which)) return false;
  std::vector<KStmt> body;
  ir::Substitution values;
  expand(body, kernel.body, values, which);
  kernel.body = std::move(body);
  return true;
}

// Does an index read an element of a constant at the variable?
bool picks_indices(const ir::Kernel& k, const std::vector<KStmt>& list, ir::Id variable) {
  return std::any_of(list.begin(), list.end(), [&](const KStmt& s) {
    bool found = false;
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        found =
            found || (ir::is(x, ir::Op::cast) && x.type().is_index() && ir::is(ir::args_of(x)[0], ir::Op::load) &&
                      ir::uses_var(x, variable) && k.buffers.at(ir::args_of(x)[0].node()->id).storage == ir::Storage::constant);
        return !found;
      });
    });
    const auto lists = s.bodies();
    return found ||
           std::any_of(lists.begin(), lists.end(), [&](const auto* inside) { return picks_indices(k, *inside, variable); });
  });
}

}  // namespace

void unroll(ir::Kernel& kernel) {
  expand(kernel, [](const KFor&) { return true; });
}

void unroll_tables(ir::Kernel& kernel) {
  const ir::Kernel& k = kernel;
  if (std::none_of(k.buffers.begin(), k.buffers.end(), [](const auto& b) { return b.second.storage == ir::Storage::constant; }))
    return;
  const auto holds_loops = [](const KFor& loop) {
    return std::any_of(loop.body.begin(), loop.body.end(), [](const KStmt& x) { return x.is<KFor>(); });
  };
  if (expand(kernel, [&](const KFor& loop) { return holds_loops(loop) && picks_indices(k, loop.body, loop.var); }))
    fold_constants(kernel);
}

}  // namespace ashlar::lowering
