// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/lang/definition.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::lang {
namespace {

struct Arena {
  std::map<Id, std::unique_ptr<VariableDef>> variables;
  std::map<Id, std::unique_ptr<ReducerDef>> reducers;
  std::map<Id, std::unique_ptr<StageDef>> stages;
  std::map<Id, std::unique_ptr<TensorDef>> tensors;
  Arena* outer = nullptr;
};

// Made when it is first asked for: a Symbol of a file's own may be made before this file's variables are. It outlives them all.
Arena& process_arena() {
  static Arena* const arena = new Arena;
  return *arena;
}
std::mutex process_mutex;
thread_local Arena* innermost = nullptr;

// Runs f on the arenas of this thread from the innermost out, then on that of the process, until it gives an entry.
template <class F>
auto look_up(F f) -> decltype(f(process_arena())) {
  for (Arena* a = innermost; a; a = a->outer)
    if (auto found = f(*a)) return found;
  const std::lock_guard lock(process_mutex);
  return f(process_arena());
}

template <class T>
Id insert(std::map<Id, std::unique_ptr<T>> Arena::* map, Id id, T entry) {
  auto owned = std::make_unique<T>(std::move(entry));
  if (innermost) {
    (innermost->*map)[id] = std::move(owned);
  } else {
    const std::lock_guard lock(process_mutex);
    (process_arena().*map)[id] = std::move(owned);
  }
  return id;
}

template <class T>
T* find(std::map<Id, std::unique_ptr<T>> Arena::* map, Id id) {
  return look_up([&](Arena& a) -> T* {
    const auto it = (a.*map).find(id);
    return it == (a.*map).end() ? nullptr : it->second.get();
  });
}

}  // namespace

Id add(VariableDef d) { return insert(&Arena::variables, ir::fresh_id(), std::move(d)); }
Id add(ReducerDef d) { return insert(&Arena::reducers, ir::fresh_id(), std::move(d)); }
Id add(StageDef d) { return insert(&Arena::stages, ir::fresh_id(), std::move(d)); }
Id add(TensorDef d) {
  d.id = ir::fresh_id();
  const Id id = d.id;
  return insert(&Arena::tensors, id, std::move(d));
}

const VariableDef* find_variable(Id id) { return find(&Arena::variables, id); }

const VariableDef& variable(Id id, Where where) {
  if (const VariableDef* v = find_variable(id)) return *v;
  refuse("variable", "a Var, Axis, Symbol or Scalar", "one whose definitions were forgotten (its DefinitionScope ended)",
         where);
}
const StageDef& stage(Id id, Where where) {
  if (const StageDef* s = find(&Arena::stages, id)) return *s;
  refuse("stage", "a stage", "one whose definitions were forgotten (its DefinitionScope ended)", where);
}
const ReducerDef& reducer(Id id, Where where) {
  if (id == 0) refuse("reducer", "a reducer that was declared: reducer(...)", "an empty Reducer", where);
  if (const ReducerDef* r = find(&Arena::reducers, id)) return *r;
  refuse("reducer", "a reducer", "one whose definitions were forgotten (its DefinitionScope ended)", where);
}
TensorDef& tensor(Id id, Where where) {
  if (id == 0) refuse("tensor", "a tensor that was defined", "an empty Tensor", where);
  if (TensorDef* t = find(&Arena::tensors, id)) return *t;
  refuse("tensor", "a tensor", "one whose definitions were forgotten (its DefinitionScope ended)", where);
}
const TensorDef& resolve(Id id, Where where) {
  const TensorDef& t = tensor(id, where);
  if (t.kind != TensorDef::Kind::output) return t;
  if (!t.bound)
    refuse(t.name, "an output that was defined before it is used: " + t.name + " = compute(...)", "none yet", where);
  return resolve(t.bound, where);
}

bool is_identifier(const std::string& s) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  return !s.empty() && letter(s[0]) &&
         std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)); });
}

std::string shape_text(const std::vector<Bounds>& bounds) {
  std::string s = "[";
  for (std::size_t d = 0; d < bounds.size(); ++d) {
    s += d ? ", " : "";
    if (ir::is_int(bounds[d].begin, std::int64_t{0}))
      s += ir::text(bounds[d].end);
    else
      s += ir::text(bounds[d].begin) + " to " + ir::text(bounds[d].end);
  }
  return s + "]";
}

Bounds bounds_of(const TensorDef& t, int dim, Where where) {
  if (dim < 0 || dim >= t.rank) refuse(t.name, "a dimension below " + std::to_string(t.rank), std::to_string(dim), where);
  const auto d = static_cast<std::size_t>(dim);
  switch (t.kind) {
    case TensorDef::Kind::input:
    case TensorDef::Kind::output:
    case TensorDef::Kind::constant:
      return t.shape[d];
    case TensorDef::Kind::stage: {
      const StageDef& s = stage(t.stage, where);
      if (s.inferred)
        refuse(t.name, "a tensor whose extents are known: write compute(\"" + t.name + "\", {extents...}, ...)",
               "a stage whose domain is what its readers need", where);
      return s.domain[d];
    }
    case TensorDef::Kind::view:
      if (t.view.kind == ViewDef::Kind::rearranged) {
        if (t.view.shape.empty())
          refuse(t.name, "a view of a tensor whose extents are known", "one whose domain is what its readers need", where);
        return t.view.shape[d];
      }
      if (t.view.extends[d])
        refuse(t.name, "the extents of the tensor that the boundary was made of",
               "a view without end in dimension " + std::to_string(dim), where);
      return bounds_of(resolve(t.view.source, where), dim, where);
  }
  return {};
}

DefinitionScope::DefinitionScope() {
  auto* arena = new Arena;
  arena->outer = innermost;
  innermost = arena;
  arena_ = arena;
}
DefinitionScope::~DefinitionScope() {
  auto* arena = static_cast<Arena*>(arena_);
  innermost = arena->outer;
  delete arena;
}

}  // namespace ashlar::lang
