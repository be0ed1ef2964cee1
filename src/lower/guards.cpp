// Conditions are tested at the outermost loop where they are known.
//
//   for i                     if m                        if a  X         if a
//     for j                     for i                     if a  Y           X
//       if m        becomes       for j                            becomes  Y
//         X                         X
//
// A loop whose body is one `if` on a condition that does not move with it changes places with the `if`, the other branch
// included; neighbours under one condition become one. Conditions that read memory stay where they are, since the loop may
// write what they read; so do conditions on the lanes of a vectorized loop, by their nature.
#include "lower/passes.h"

#include <ashlar/ir/build.h>

namespace ashlar::lower_impl {
namespace {

using ir::KStmt;

bool is_if(const KStmt& s) { return s.kind == KStmt::Kind::if_; }

void merge_neighbours(std::vector<KStmt>& list) {
  std::vector<KStmt> out;
  for (KStmt& s : list) {
    if (!out.empty() && is_if(s) && is_if(out.back()) && ir::same(s.value, out.back().value) && !has_load(s.value)) {
      KStmt& first = out.back();
      for (KStmt& k : s.body) first.body.push_back(std::move(k));
      for (KStmt& k : s.otherwise) first.otherwise.push_back(std::move(k));
      merge_neighbours(first.body);
      merge_neighbours(first.otherwise);
    } else {
      out.push_back(std::move(s));
    }
  }
  list = std::move(out);
}

KStmt with_body(const KStmt& loop, std::vector<KStmt> body) {
  KStmt s;
  s.kind = loop.kind;
  s.where = loop.where;
  s.var = loop.var;
  s.name = loop.name;
  s.begin = loop.begin;
  s.extent = loop.extent;
  s.loop_kind = loop.loop_kind;
  s.body = std::move(body);
  return s;
}

void hoist(std::vector<KStmt>& list);

void hoist(KStmt& s) {
  hoist(s.body);
  hoist(s.otherwise);
  if (s.kind != KStmt::Kind::for_ || s.body.size() != 1 || !is_if(s.body.front())) return;
  KStmt& guard = s.body.front();
  if (ir::uses_var(guard.value, s.var) || has_load(guard.value)) return;
  KStmt outer = if_stmt(guard.value, {}, guard.where);
  if (!guard.body.empty()) outer.body.push_back(with_body(s, std::move(guard.body)));
  if (!guard.otherwise.empty()) outer.otherwise.push_back(with_body(s, std::move(guard.otherwise)));
  for (auto* branch : {&outer.body, &outer.otherwise})
    for (KStmt& k : *branch) hoist(k);  // the next condition may be free to move now
  s = std::move(outer);
}

void hoist(std::vector<KStmt>& list) {
  for (KStmt& s : list) hoist(s);
  merge_neighbours(list);
}

}  // namespace

void hoist_guards(Draft& draft) { hoist(draft.kernel.body); }

}  // namespace ashlar::lower_impl
