// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// widen(copy, type): a copy that cache_read made is stored as a type that holds every value of its own, the one that its
// readers convert to or one on the way there. Each element is converted once, where it is copied, and not at every read.
//
//   C[i, j] = sum i32(A_cache[i, k]) * …     A_cache: u8          widen(A_cache, i16):    A_cache[i, k] = i16(A[i, k])
//
// Legality: each value is held exactly, and every read is converted to a type that holds every value of the new one. So
// T(wide(x)) is T(x), NaN included.
#include <algorithm>

#include "schedule/legality/legality.h"
#include "schedule/calls.h"
#include "schedule/primitives/primitives.h"
#include "schedule/primitives/storage/storage.h"

namespace ashlar::schedule {

namespace {

// The bits of an exact integer, and the least exponent, of a float with subnormals.
struct FloatRange {
  int significand, least, most;
};
FloatRange range_of(Type t) {
  if (t == bf16) return {8, -133, 127};
  if (t == f16) return {11, -24, 15};
  if (t == f32) return {24, -149, 127};
  if (t == f64) return {53, -1074, 1023};
  if (t == e4m3) return {4, -9, 8};
  return {3, -16, 15};  // e5m2
}

// Is every value of `from` one of `to`?
bool holds(Type to, Type from) {
  if (to == from) return true;
  if (to.is_float() && from.is_float()) {
    const FloatRange a = range_of(to), b = range_of(from);
    return a.significand >= b.significand && a.least <= b.least && a.most >= b.most;
  }
  if (!from.is_data_integer()) return false;
  if (to.is_float()) return range_of(to).significand >= from.bits && range_of(to).most >= from.bits;
  if (!to.is_data_integer()) return false;
  if (to.is_signed() == from.is_signed()) return to.bits >= from.bits;
  return to.is_signed() && to.bits > from.bits;
}

Type type_of(const std::string& word) {
  for (const Type t : {i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64})
    if (ir::text(t) == word) return t;
  throw InternalError("a type that no storage has: " + word);
}

// The reads of a buffer in an expression, as reads of its wider successor.
class Wider {
 public:
  Wider(const Context& c, const ir::Stage& reader, const ir::Buffer& b, Type wide)
      : c_(c), reader_(reader), b_(b), wide_(wide) {}

  Expr rewritten(const Expr& e) const {
    return ir::transform(e, [&](const Expr& x) {
      if (is_read(x)) return widened(x);
      if (!ir::is(x, ir::Op::cast) || !is_read(ir::args_of(x).front())) return x;
      if (!holds(x.type(), wide_)) refuse(x);
      return x.type() == wide_ ? ir::args_of(x).front() : x;
    });
  }
  // Whether there are any; refused where one is not converted.
  bool any(const Expr& e) const {
    bool found = is_read(e);
    if (found) refuse(e);
    ir::walk(e, [&](const Expr& x) {
      for (const Expr& operand : ir::args_of(x)) {
        if (!is_read(operand)) continue;
        found = true;
        if (!ir::is(x, ir::Op::cast)) refuse(x);
      }
      return true;
    });
    return found;
  }

 private:
  bool is_read(const Expr& x) const { return ir::is(x, ir::Op::load) && x.node()->id == b_.id; }
  Expr widened(const Expr& x) const { return ir::load(b_.id, b_.name, wide_, ir::args_of(x), x.node()->where); }
  [[noreturn]] void refuse(const Expr& found) const {
    c_.refuse("readers of " + b_.name + " that convert it to " + ir::text(wide_) + " or wider",
              ir::text(found) + " in " + reader_.name);
  }
  const Context& c_;
  const ir::Stage& reader_;
  const ir::Buffer& b_;
  Type wide_;
};

void require_no_instruction(const Context& c, const ir::Stage& stage) {
  for (const Stmt* block : ir::blocks_of(c.p, stage.id))
    for (const Stmt* s : ir::path_to(c.p, block->id))
      if (ir::is_loop(*s, ir::LoopKind::tensorized))
        c.refuse("loops that were not tensorized yet (move this call before it)", name_of(c.p, *s) + " of " + stage.name);
}

// The value of a copy, the source's element or the fill, in the wider type.
Expr copied(const Expr& value, Type wide) {
  if (!ir::is(value, ir::Op::select)) return ir::cast(wide, value);
  const auto args = ir::args_of(value);
  return ir::select(args[0], ir::cast(wide, args[1]), ir::cast(wide, args[2]));
}

// Everything in a stage that may read: its values, where they begin and go, its conditions and the bounds of its variables.
template <class F>
void for_each_formula(ir::Stage& stage, F&& f) {
  for (auto* list : {&stage.values, &stage.inits, &stage.targets, &stage.domain})
    for (Expr& e : *list) f(e);
  for (ir::IterVar& v : stage.iters)
    for (Expr* bound : {&v.begin, &v.end})
      if (!bound->empty()) f(*bound);
  if (!stage.keep.empty()) f(stage.keep);
}

void apply_widen(Context& c) {
  // match
  const ir::Stage& found = c.stage(0);
  const Type wide = type_of(c.word(1));
  if (found.origin != ir::Stage::Origin::cache_read || found.values.size() != 1)
    c.refuse("a copy that cache_read made", found.name);
  const ir::Buffer old = storage_of(c, found, 0);
  // prove
  if (!holds(wide, old.type)) c.refuse("a type that holds every " + ir::text(old.type) + " of " + old.name, ir::text(wide));
  for (auto& [id, stage] : c.p.stages) {
    const Wider reads(c, stage, old, wide);
    bool any = id == found.id;
    for_each_formula(stage, [&](const Expr& e) { any = reads.any(e) || any; });
    if (any) require_no_instruction(c, stage);
  }
  // rewrite
  for (auto& [id, stage] : c.p.stages) {
    const Wider reads(c, stage, old, wide);
    for_each_formula(stage, [&](Expr& e) { e = reads.rewritten(e); });
  }
  ir::Stage& copy = c.p.stages[found.id];
  copy.values[0] = copied(copy.values[0], wide);
  if (copy.has_fill) copy.fill = ir::cast(wide, copy.fill);
  ir::Buffer& b = c.p.buffers[old.id];
  b.type = wide;
  b.where = c.step.where;
}

// The types that a stage converts a buffer's elements to; nothing where it reads some as they are, or none.
std::vector<Type> conversions(ir::Stage stage, Id buffer) {
  std::vector<Type> types;
  bool whole = true;
  const auto is_read = [&](const Expr& e) { return ir::is(e, ir::Op::load) && e.node()->id == buffer; };
  for_each_formula(stage, [&](const Expr& e) {
    whole = whole && !is_read(e);
    ir::walk(e, [&](const Expr& x) {
      for (const Expr& operand : ir::args_of(x))
        if (is_read(operand)) ir::is(x, ir::Op::cast) ? types.push_back(x.type()) : void(whole = false);
      return whole;
    });
  });
  return whole ? types : std::vector<Type>();
}

// One that readers convert to, and now and then any: most of those are refused.
Arg wider(Draw& d, const std::vector<Type>& converted) {
  static constexpr const char* all[] = {"i16", "f32", "i32", "u16", "f64", "i64", "f16", "u32", "bf16", "i8", "u8", "u64"};
  return Arg::text(converted.empty() || d.one_in(3) ? std::string(d.any(all)) : ir::text(d.any(converted)));
}

// Of a copy as it stands, or of one that is made for it: of a buffer, for a stage that converts all that it reads of it.
bool draw_widen(Draw& d) {
  const Program& p = d.p;
  std::vector<Id> copies;
  std::vector<std::pair<Id, Id>> converters;  // {buffer, reader}
  for (const auto& [id, stage] : p.stages) {
    if (stage.origin == ir::Stage::Origin::cache_read || d.one_in(24)) copies.push_back(id);
    if (ir::nests_of(p, id).empty()) continue;
    for (const auto& [buffer, b] : p.buffers)
      if (!conversions(stage, buffer).empty()) converters.emplace_back(buffer, id);
  }
  if (converters.empty() || (!copies.empty() && d.one_in(2))) {
    if (copies.empty()) return false;
    const Id copy = d.any(copies), stored = p.stage(copy).buffers.front();
    std::vector<Type> converted;
    for (const auto& [id, stage] : p.stages)
      for (const Type t : conversions(stage, stored)) converted.push_back(t);
    return d.step("widen", {Arg::stage(copy), wider(d, converted)});
  }
  const auto [buffer, reader] = d.any(converters);
  const Arg type = wider(d, conversions(p.stage(reader), buffer));
  const Scope& scope = d.one_in(2) ? Scope::global : Scope::stack;
  d.step("cache_read", {Arg::buffer(buffer), Arg::place(scope), Arg::integer(0), Arg::stage(reader)});
  return d.step("widen", {Arg::stage(p.next_id + 1), type});  // the copy takes two ids, for its buffer and its stage
}

}  // namespace

extern constexpr Primitive widen_primitive{
    .name = "widen",
    .spelling = "widen",
    .parameters = {takes::stage(), takes::word("type", "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64").as("")},
    .traits = Traits{Reads::moved, Places::moved, Boxes::derived, Layouts::proved, Callers::kept, Gives::nothing},
    .apply = apply_widen,
    .cpp = of_stage,
    .draw = Drawing{.often = 2, .draw = draw_widen},
};

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

Stage Stage::widen(Type t, Where w) const {
  return done(schedule::widen_primitive, {Arg::stage(id_), Arg::text(ir::text(t))}, w);
}

}  // namespace ashlar
