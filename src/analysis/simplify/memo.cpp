// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/simplify/memo.h"

#include "analysis/simplify/engine.h"
#include <ashlar/ir/pairs.h>

namespace ashlar::analysis {
namespace {

constexpr std::size_t most_tables = 1'024, most_answers = 16'384;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 29); }

std::uint64_t fingerprint(const Facts::Part& f) {
  std::uint64_t h = f.vars.size();
  for (const VarFacts* v : f.vars) {
    h = mix(h, v->id);
    h = mix(h, v->min ? static_cast<std::uint64_t>(*v->min) : 0x51u);
    h = mix(h, v->max ? static_cast<std::uint64_t>(*v->max) : 0x52u);
    h = mix(h, ir::hash_of(v->lo));
    h = mix(h, ir::hash_of(v->hi));
    h = mix(h, static_cast<std::uint64_t>(v->multiple_of));
  }
  for (const Expr* c : f.conditions) h = mix(h, ir::hash_of(*c));
  return h;
}

bool same_named(const Expr& a, const Expr& b) { return SameWithNames()(a, b); }

bool equal(const Facts& a, const Facts::Part& b) {
  if (a.vars().size() != b.vars.size() || a.conditions().size() != b.conditions.size()) return false;
  for (std::size_t k = 0; k < a.vars().size(); ++k) {
    const VarFacts &x = a.vars()[k], &y = *b.vars[k];
    if (x.id != y.id || x.min != y.min || x.max != y.max || x.multiple_of != y.multiple_of || !same_named(x.lo, y.lo) ||
        !same_named(x.hi, y.hi))
      return false;
  }
  for (std::size_t k = 0; k < a.conditions().size(); ++k)
    if (!same_named(a.conditions()[k], *b.conditions[k])) return false;
  return true;
}

struct Memo {
  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<MemoTable>>> tables;
  std::size_t count = 0;
};

}  // namespace

namespace {
bool same_with_names(const Expr& a, const Expr& b, ir::Pairs& met) {
  const ir::Node *x = a.node(), *y = b.node();
  if (x == y) return true;
  if (!x || !y || x->hash != y->hash || x->name != y->name || x->op != y->op || !(x->type == y->type) || x->count != y->count)
    return false;  // names are interned
  if (x->count == 0) return ir::same(a, b);
  if (x->op == ir::Op::load && x->id != y->id) return false;
  if (met.again(x, y)) return true;
  for (std::uint32_t k = 0; k < x->count; ++k)
    if (!same_with_names(x->args[k], y->args[k], met)) return false;
  return true;
}
}  // namespace

bool SameWithNames::operator()(const Expr& a, const Expr& b) const {
  if (a.node() == b.node()) return true;
  if (!a.node() || !b.node() || a.node()->hash != b.node()->hash) return false;
  ir::Pairs met;
  return same_with_names(a, b, met);
}

MemoTable::MemoTable(Facts f) : facts(std::move(f)) {}
MemoTable::~MemoTable() = default;

Engine& MemoTable::ready() {
  if (!engine || engine->size() > most_answers) engine = std::make_unique<Engine>(*this);
  engine->begin();
  return *engine;
}

namespace {
std::shared_ptr<MemoTable> table_of(const Facts::Part& facts) {
  thread_local Memo memo;
  if (memo.count >= most_tables) memo = {};
  auto& bucket = memo.tables[fingerprint(facts)];
  for (const auto& t : bucket)
    if (equal(t->facts, facts)) {
      if (t->simplified.size() > most_answers) t->simplified.clear();
      if (t->decided.size() > most_answers) t->decided.clear();
      if (t->bounds.size() > most_answers) t->bounds.clear();
      if (t->nonneg.size() > most_answers) t->nonneg.clear();
      return t;
    }
  bucket.push_back(std::make_shared<MemoTable>(Facts(facts)));
  ++memo.count;
  return bucket.back();
}
}  // namespace

std::shared_ptr<MemoTable> memo_for(const Facts& facts) {
  Facts::Part all;
  for (const VarFacts& v : facts.vars()) all.vars.push_back(&v);
  for (const Expr& c : facts.conditions()) all.conditions.push_back(&c);
  return table_of(all);
}

std::shared_ptr<MemoTable> memo_for(const Expr& e, const Facts& facts) {
  std::vector<ir::Id> vars;
  add_variables(e, vars);
  return table_of(facts.about(std::move(vars)));
}

bool memorable(const Expr& e) {
  return (e.type().is_index() || e.type().is_bool()) && e.type().lanes == 1 && !ir::args_of(e).empty();
}

}  // namespace ashlar::analysis
