// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walking and rewriting expressions; shared nodes are visited once.
#include <array>
#include <memory_resource>
#include <unordered_map>
#include <unordered_set>

#include <ashlar/ir/build.h>
#include <ashlar/ir/function.h>

#include <ashlar/ir/pairs.h>
#include <ashlar/ir/work.h>

namespace ashlar::ir {

thread_local constinit Work work;

Expr rebuild(const Expr& e, std::span<const Expr> args) {
  const Node* n = e.node();
  bool changed = false;
  for (std::uint32_t k = 0; k < n->count; ++k) changed |= args[k].node() != n->args[k].node();
  if (!changed) return e;
  if (is_comparison(n->op)) return binary(n->op, args[0], args[1]);
  switch (n->op) {
    case Op::load:
      return load(n->id, n->name, n->type, args, n->where);
    case Op::call:
      return function(n->id).region ? call_of_region(n->id, n->type, args, n->where) : call(n->id, args, n->where);
    case Op::cast:
      return cast(n->type, args[0]);
    case Op::select:
      return select(args[0], args[1], args[2]);
    case Op::neg:
    case Op::logic_not:
      return unary(n->op, args[0]);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::mod:
    case Op::min:
    case Op::max:
    case Op::logic_and:
    case Op::logic_or:
      return binary(n->op, args[0], args[1]);
    default:
      return make(n->op, n->type, args, n->where);
  }
}

namespace {

struct Transformer {
  FunctionRef<Expr(const Expr&)> f;
  std::unordered_map<const Node*, Expr> done;
  Expr visit(const Expr& e) {
    const Node* n = e.node();
    ++work.walked;
    if (n->count == 0) return f(e);
    const bool again = is_shared(n);
    if (again)
      if (auto it = done.find(n); it != done.end()) return it->second;
    constexpr std::uint32_t few = 4;
    std::array<Expr, few> fresh;
    std::vector<Expr> many(n->count > few ? n->count : 0);
    Expr* args = n->count > few ? many.data() : fresh.data();
    for (std::uint32_t k = 0; k < n->count; ++k) args[k] = visit(n->args[k]);
    Expr current = f(rebuild(e, {args, n->count}));
    if (again) done.emplace(n, current);
    return current;
  }
};

}  // namespace

Expr transform(const Expr& e, FunctionRef<Expr(const Expr&)> after_children) {
  if (e.empty()) return e;
  return Transformer{after_children, {}}.visit(e);
}

Expr substitute(const Expr& e, const Substitution& variables) {
  if (e.empty() || variables.empty()) return e;
  return transform(e, [&](const Expr& x) {
    if (is(x, Op::var))
      for (const auto& [id, value] : variables)
        if (x.node()->id == id) return value;
    return x;
  });
}

void walk(const Expr& e, FunctionRef<bool(const Expr&)> enter) {
  if (e.empty()) return;
  std::array<std::byte, 1024> space;  // for most expressions
  std::pmr::monotonic_buffer_resource local(space.data(), space.size());
  std::pmr::unordered_set<const Node*> seen(&local);
  std::pmr::vector<const Expr*> pending(&local);
  pending.reserve(16);
  pending.push_back(&e);
  while (!pending.empty()) {
    const Expr& x = *pending.back();
    pending.pop_back();
    ++work.walked;
    if ((is_shared(x.node()) && !seen.insert(x.node()).second) || !enter(x)) continue;
    const auto args = args_of(x);
    for (std::size_t k = args.size(); k-- > 0;) pending.push_back(&args[k]);
  }
}

const char* name_of_var(Id id, std::span<const Expr> in) {
  const char* name = "";
  for (const Expr& e : in)
    walk(e, [&](const Expr& x) {
      if (is(x, Op::var) && x.node()->id == id && x.node()->name) name = x.node()->name;
      return true;
    });
  return name;
}

bool uses_var(const Expr& e, Id id) {
  bool found = false;
  walk(e, [&](const Expr& x) {
    found |= is(x, Op::var) && x.node()->id == id;
    return !found;
  });
  return found;
}

std::vector<Id> free_vars(const Expr& e) {
  std::vector<Id> ids;
  walk(e, [&](const Expr& x) {
    if (is(x, Op::var)) {
      for (Id id : ids)
        if (id == x.node()->id) return true;
      ids.push_back(x.node()->id);
    }
    return true;
  });
  return ids;
}

std::size_t node_count(const Expr& e) {
  std::size_t count = 0;
  walk(e, [&](const Expr&) { return ++count, true; });
  return count;
}

bool has_load(const Expr& e) {
  bool found = false;
  walk(e, [&](const Expr& x) {
    found |= is(x, Op::load);
    return !found;
  });
  return found;
}

}  // namespace ashlar::ir
