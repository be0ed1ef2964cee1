// Steps about arguments and storage as a whole: what calls promise, layouts, what copies hold, one pass instead of two; and
// calls of intrinsics.
#include <algorithm>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/print.h>

#include "described.h"
#include "steps.h"

namespace fuzz {
namespace {

using namespace ashlar;

template <class T>
const T& any(Source& s, const std::vector<T>& all) {
  return all[s.pick(static_cast<std::uint32_t>(all.size()))];
}

// Inputs whose elements, as they are, say where a scatter stores.
bool chooses(const ir::Stage& stage, Id buffer) {
  return std::any_of(stage.targets.begin(), stage.targets.end(), [&](const Expr& e) {
    bool found = false;
    ir::walk(e, [&](const Expr& y) { return found |= ir::is(y, ir::Op::load) && y.node()->id == buffer, !found; });
    return found;
  });
}
bool chooses(const Program& p, Id buffer) {
  return std::any_of(p.stages.begin(), p.stages.end(), [&](const auto& x) { return chooses(x.second, buffer); });
}

std::optional<Drawn> draw_assumption(Source& s, const Program& p) {
  std::vector<Expr> symbols;
  for (const auto& [id, symbol] : p.symbols) symbols.push_back(ir::var(id, symbol.name));
  if (symbols.empty() || p.assumptions.size() > 3) return std::nullopt;
  static constexpr int factors[] = {2, 4, 3, 8};
  const Expr n = any(s, symbols), m = any(s, symbols), c = ir::index(s.between(1, 9));
  const Expr conditions[] = {ir::eq(ir::mod(n, ir::index(factors[s.pick(4)])), ir::index(0)),
                             ir::ge(n, c),
                             ir::le(n, c),
                             ir::le(n, m),
                             ir::lt(ir::add(n, m), ir::mul(c, ir::index(2))),
                             ir::logic_or(ir::eq(n, c), ir::le(n, ir::index(2)))};
  return made("assume", {Arg::map({}, {conditions[s.pick(6)]})});
}

}  // namespace

Arg draw_layout(Source& s, int rank) {
  static constexpr int factors[] = {2, 4, 3, 8};
  std::vector<Id> vars;
  std::vector<Expr> logical, map;
  for (int k = 0; k < rank; ++k)
    vars.push_back(static_cast<Id>(k + 1)), logical.push_back(ir::var(vars.back(), "d" + std::to_string(k)));
  const std::size_t which = s.pick(static_cast<std::uint32_t>(rank));
  const Expr f = ir::index(factors[s.pick(4)]);
  switch (s.pick(4)) {
    case 0:  // panels
      map = logical;
      map.insert(map.begin(), ir::div(logical[which], f));
      map.erase(map.begin() + static_cast<std::ptrdiff_t>(which) + 1);
      map.push_back(ir::mod(logical[which], f));
      break;
    case 1:
      map.assign(logical.rbegin(), logical.rend());
      break;
    case 2:
      map = logical;
      map[which] = ir::add(map[which], logical[s.pick(static_cast<std::uint32_t>(rank))]);
      break;
    default:
      map = logical;
      map[which] = ir::mod(map[which], f);
  }
  return Arg::map(vars, map);
}

std::optional<Drawn> draw_argument_step(Source& s, const Program& p, const std::string& name) {
  if (name == "assume") return draw_assumption(s, p);
  std::vector<Id> inputs, tables;
  for (const auto& [id, b] : p.buffers) {
    const bool constant = b.role == ir::Role::constant && name == "pack_argument";
    if (b.role != ir::Role::input && !constant && !s.one_in(16)) continue;
    inputs.push_back(id);
    if (chooses(p, id)) tables.push_back(id);
  }
  if (inputs.empty()) return std::nullopt;
  if (name == "injective") {  // and often what it is good for: steps of a scatter at once
    const Id table = any(s, tables.empty() || s.one_in(4) ? inputs : tables);
    Drawn d = made("injective", {Arg::buffer(table)});
    std::vector<const Stmt*> steps;
    for (const auto& [id, stage] : p.stages)
      if (chooses(stage, table))
        for (const Stmt* nest : ir::nests_of(p, id))
          ir::walk(nest->body, [&](const Stmt& x) {
            if (x.kind == Stmt::Kind::loop && p.axis(x.axis).reduce) steps.push_back(&x);
          });
    if (!steps.empty() && !s.one_in(4)) d.then.push_back(made("parallel", {Arg::loop(any(s, steps)->id)}).step);
    return d;
  }
  const Id buffer = any(s, inputs);
  const int rank = p.buffer(buffer).rank;
  if (rank == 0) return std::nullopt;
  return made("pack_argument", {Arg::buffer(buffer), draw_layout(s, rank)});
}

// A permutation of the elements in the box that they have: columns or rows turned around, moved on by row, or exclusive-ored.
std::optional<Drawn> draw_swizzle(Source& s, const Program& p) {
  std::vector<Id> stored;
  for (const auto& [id, b] : p.buffers)
    if (b.stage && b.rank > 0 && ir::alloc_of(p, id)) stored.push_back(id);
  if (stored.empty()) return std::nullopt;
  const ir::Buffer& b = p.buffer(any(s, stored));
  const std::vector<Expr> extents = analysis::storage_extents(p, b.id);
  std::vector<Id> vars;
  std::vector<Expr> map;
  for (int d = 0; d < b.rank; ++d)
    vars.push_back(static_cast<Id>(d + 1)), map.push_back(ir::var(vars.back(), "d" + std::to_string(d)));
  const std::size_t which = s.pick(static_cast<std::uint32_t>(b.rank)), other = s.pick(static_cast<std::uint32_t>(b.rank));
  std::int64_t n = s.between(1, 8);
  if (which < extents.size() && !s.one_in(10)) ir::is_int(extents[which], &n);
  const Expr size = ir::index(n), row = map[other], column = map[which];
  switch (s.pick(4)) {
    case 0:
      map[which] = ir::sub(ir::index(n - 1), column);
      break;
    case 1:
      map[which] =
          which == other ? ir::mod(ir::add(column, ir::index(s.between(1, 3))), size) : ir::mod(ir::add(column, row), size);
      break;
    case 2: {
      const int granule = 1 << s.pick(3);
      map[which] = ir::binary(ir::Op::bit_xor, column, ir::mul(ir::mod(row, ir::index(1 << s.pick(3))), ir::index(granule)));
      break;
    }
    default:
      map[which] = ir::binary(ir::Op::bit_xor, column, ir::index(s.between(1, 3)));
  }
  return made("swizzle", {Arg::stage(b.stage), Arg::map(vars, map)});
}

namespace {

// The types that a stage converts a buffer's elements to; nothing where it reads some as they are, or none.
std::vector<Type> conversions(const ir::Stage& stage, Id buffer) {
  std::vector<Type> types;
  bool whole = true;
  const auto is_read = [&](const Expr& e) { return ir::is(e, ir::Op::load) && e.node()->id == buffer; };
  const auto look = [&](const Expr& e) {
    whole = whole && !is_read(e);
    ir::walk(e, [&](const Expr& x) {
      for (const Expr& operand : ir::args_of(x))
        if (is_read(operand)) ir::is(x, ir::Op::cast) ? types.push_back(x.type()) : void(whole = false);
      return whole;
    });
  };
  for (const auto* list : {&stage.values, &stage.inits, &stage.targets})
    for (const Expr& e : *list) look(e);
  if (!stage.keep.empty()) look(stage.keep);
  return whole ? types : std::vector<Type>();
}

// One that readers convert to, and now and then any: most of those are refused.
Type wider(Source& s, const std::vector<Type>& converted) {
  static const std::vector<Type> all{i16, f32, i32, u16, f64, i64, f16, u32, bf16, i8, u8, u64};
  return converted.empty() || s.one_in(3) ? any(s, all) : any(s, converted);
}

}  // namespace

// Of a copy as it stands, or of one that is made for it: of a buffer, for a stage that converts all that it reads of it.
std::optional<Drawn> draw_widen(Source& s, const Program& p) {
  std::vector<Id> copies;
  std::vector<std::pair<Id, Id>> converters;  // {buffer, reader}
  for (const auto& [id, stage] : p.stages) {
    if (stage.origin == ir::Stage::Origin::cache_read || s.one_in(24)) copies.push_back(id);
    if (ir::nests_of(p, id).empty()) continue;
    for (const auto& [buffer, b] : p.buffers)
      if (!conversions(stage, buffer).empty()) converters.emplace_back(buffer, id);
  }
  if (converters.empty() || (!copies.empty() && s.one_in(2))) {
    if (copies.empty()) return std::nullopt;
    const Id copy = any(s, copies), stored = p.stage(copy).buffers.front();
    std::vector<Type> converted;
    for (const auto& [id, stage] : p.stages)
      for (const Type t : conversions(stage, stored)) converted.push_back(t);
    return made("widen", {Arg::stage(copy), Arg::text(ir::text(wider(s, converted)))});
  }
  const auto [buffer, reader] = any(s, converters);
  const Type t = wider(s, conversions(p.stage(reader), buffer));
  Drawn d = made("cache_read", {Arg::buffer(buffer), Arg::place(s.one_in(2) ? Scope::global : Scope::stack), Arg::integer(0),
                                Arg::stage(reader)});
  // The copy takes the next two ids, for its buffer and its stage.
  d.then.push_back(made("widen", {Arg::stage(p.next_id + 1), Arg::text(ir::text(t))}).step);
  return d;
}

namespace {

// {follower, leader}: sums and the maxima or minima that they read.
std::vector<std::pair<Id, Id>> pairs_to_roll(const Program& p) {
  std::vector<std::pair<Id, Id>> pairs;
  for (const auto& [leader, a] : p.stages) {
    const bool leads = a.reducer.kind == ir::ReducerKind::maximum || a.reducer.kind == ir::ReducerKind::minimum ||
                       (a.reducer.kind == ir::ReducerKind::custom && a.buffers.size() > 1);
    if (!a.is_reduction() || !leads) continue;
    for (const auto& [follower, b] : p.stages)
      if (follower != leader && b.is_reduction() && b.reducer.kind == ir::ReducerKind::sum && reads(b, a.buffers.front()))
        pairs.emplace_back(follower, leader);
  }
  return pairs;
}

bool uses(const Expr& e, ir::Op op) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { return found |= ir::is(x, op), !found; });
  return found;
}

}  // namespace

bool may_roll(const Program& p) { return !pairs_to_roll(p).empty(); }

std::optional<Drawn> draw_roll(Source& s, const Program& p) {
  std::vector<std::pair<Id, Id>> pairs = pairs_to_roll(p);
  if (pairs.empty() || s.one_in(20)) {
    std::vector<Id> all;
    for (const auto& [id, stage] : p.stages) all.push_back(id);
    if (all.empty() || !s.one_in(4)) return std::nullopt;
    pairs = {{any(s, all), any(s, all)}};
  }
  const auto [follower, leader] = any(s, pairs);
  const Type t = p.buffer(p.stage(leader).buffers.front()).type;
  if (!t.is_float()) return std::nullopt;
  const Expr old = ir::var(1, "old", t), now = ir::var(2, "now", t);
  const ir::Reducer& by = p.stage(leader).reducer;
  bool powers = uses(p.stage(follower).values.front(), ir::Op::exp);
  bool rises =
      by.kind == ir::ReducerKind::custom ? ir::is(by.combine.front(), ir::Op::max) : by.kind == ir::ReducerKind::maximum;
  if (s.one_in(10)) powers = !powers;
  if (s.one_in(10)) rises = !rises;
  const Expr rescale = powers ? ir::unary(ir::Op::exp, rises ? ir::sub(old, now) : ir::sub(now, old))
                              : ir::select(ir::eq(old, now), ir::float_const(t, 1), ir::float_const(t, 0));
  Drawn d = made("roll", {Arg::stage(follower), Arg::stage(leader), Arg::map({1, 2}, {rescale})});
  d.reassociates = true;
  return d;
}

std::optional<Drawn> draw_tensorize(Source& s, const Program& p, const Stmt& loop) {
  const std::optional<Intrinsic> f = describe(s, p, loop);
  if (!f) return std::nullopt;
  return made("tensorize", {Arg::loop(loop.id), Arg::call_of(f->node())});
}

}  // namespace fuzz
