// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products whose rows may end inside of a line of 16 bytes (block.h). Where chips copy lines by instructions of their own, a
// row that may end anywhere is copied element by element. So the loop over terms becomes two. The first one has views whose
// extents are multiples of a line; the second one, of a few terms, has those of the tensors.
//
//   for ko in K / 64                            for ko in whole / 64       whole = (K - 1) / 16 * 16
//     sums = sums + A(i, ko) B(ko, j)     ->      sums = sums + A'(i, ko) B'(ko, j)       A': M x whole
//                                               for t in whole / 16 .. K / 16             B': whole x N rounded up
//                                                 sums = sums + A(i, t) B(t, j)           of tiles of 16 terms
//
// Terms beyond `whole` are zero in the first loop. Columns beyond N are columns of the sums that nobody stores, so their
// elements may be anything; they lie between a row and the next one, if that begins a row's length later at least, which each
// call is checked for. The last row has no next one, and so it belongs to the second loop.
#include <algorithm>

#include <ashlar/analysis/regions.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

// Do copies of tiles, by this chip's unit for them, take rows that end anywhere?
bool copies_any_row(const std::string& chip) { return !chip.empty() && chip != "sm_80"; }

bool is_multiple(const Expr& e, std::int64_t n, const analysis::Facts& facts) {
  const analysis::Congruence c = analysis::congruence(e, facts);
  return c.modulus % n == 0 && c.remainder % n == 0;
}

std::int64_t line_of(const ir::Buffer& b) { return std::max<std::int64_t>(1, line_bytes / b.type.bytes()); }

}  // namespace

// How many terms the loop has, if they are term = 0, 1, ... below a number over Symbols and nothing else decides.
std::optional<Expr> BlockLowering::end_of_terms(const Stmt& loop, const Expr& term) const {
  const Current& c = *nests_.back();
  const Path path = to_block();
  const std::vector<Expr> of_points = analysis::conditions_of(p_, path, true);
  std::vector<Expr> conditions;
  for (const Expr& e : analysis::conditions_of(p_, path))
    if (std::none_of(of_points.begin(), of_points.end(), [&](const Expr& i) { return ir::same(i, e); }))
      conditions.push_back(known(e));
  add_ends(c.terms, conditions);
  std::erase_if(conditions, [](const Expr& e) { return ir::is_int(e, 1); });
  Expr end;
  for (const Expr& e : conditions) {
    const Expr left = margin(e);
    if (left.empty()) return std::nullopt;
    const Expr n = analysis::simplify(ir::add(left, term), facts_);
    if (!end.empty() && !ir::same(n, end)) return std::nullopt;
    end = n;
  }
  if (end.empty()) end = known(ir::mul(ir::range_of(p_, loop).end, ir::index(c.terms.front().width)));
  for (const Id v : ir::free_vars(end))
    if (!p_.symbols.count(v)) return std::nullopt;
  if (ir::has_load(end)) return std::nullopt;
  return end;
}

// The extents of the first loop's view of a tensor. False: the load is no tile of its rows.
bool BlockLowering::add_extents(Ragged& r, const Expr& load, bool& ragged, bool& between) const {
  const Current& c = *nests_.back();
  const TileDimension& terms = c.terms.front();
  const auto of_terms = [&](const Expr& e) { return ir::uses_var(e, r.axis) || ir::uses_var(e, terms.axis); };
  const auto args = ir::args_of(load);
  if (std::none_of(args.begin(), args.end(), of_terms)) return true;
  const ir::Buffer& b = memory(load.node()->id);
  if (stages_.count(b.id) || b.role != ir::Role::input || b.type.is_packed() || b.type.is_bool()) return false;
  const std::vector<Expr> index = in_memory(b.id, args);
  std::optional<std::size_t> along;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (!of_terms(index[d])) continue;
    if (along || !ir::same(index[d], r.term)) return false;
    along = d;
  }
  if (!along) return false;
  Dimensions dims = c.spatial;
  dims.insert(dims.end(), c.terms.begin(), c.terms.end());
  const auto at_tiles = places(index, dims);  // a view with extents of its own has no steps
  if (!at_tiles ||
      std::any_of(at_tiles->begin(), at_tiles->end(), [](const Place& p) { return p.every != ir::tile::View::Every{}; }))
    return false;
  std::vector<Expr> extents;
  for (const Expr& e : b.extents) extents.push_back(known(e));
  const std::size_t last = index.size() - 1;
  const std::int64_t line = line_of(b);
  const Expr length = extents[last];
  const bool whole_rows = is_multiple(length, line, facts_);
  const auto& spatial = c.spatial;
  const bool tile_of_row = *along == last || std::any_of(spatial.begin(), spatial.end(), [&](const TileDimension& d) {
    return d.width > 1 && ir::uses_var(index[last], d.axis);
  });
  if (b.order == ir::Buffer::Order::any || (b.order == ir::Buffer::Order::dense && !whole_rows) || !tile_of_row) return false;
  ragged = ragged || !whole_rows;
  extents[*along] = r.whole;
  if (*along != last && !whole_rows) {
    between = true;
    extents[last] = ir::mul(ir::div(ir::add(length, ir::index(line - 1)), ir::index(line)), ir::index(line));
    r.conditions.push_back({b.id, static_cast<int>(*along), line, length});
  }
  const auto [at, added] = r.extents.emplace(b.id, extents);
  return added || std::equal(extents.begin(), extents.end(), at->second.begin(), at->second.end(), ir::same);
}

std::optional<BlockLowering::Ragged> BlockLowering::ragged_of(const Stmt& loop) {
  const Current& c = now();
  const ir::Stage& stage = *c.stage;
  if (!options_.aligned || running_ || c.terms.size() != 1 || stage.values.size() != 1 ||
      stage.reducer.kind != ir::ReducerKind::sum || !ir::is(stage.values[0], Op::mul))
    return std::nullopt;
  const std::vector<Stmt>* inside = &loop.body();
  while (inside->size() == 1 && ir::is_loop(inside->front(), LoopKind::tile)) inside = &inside->front().body();
  if (inside->size() != 1 || !inside->front().is<BlockStmt>()) return std::nullopt;
  Ragged r{.axis = loop.get<LoopStmt>().axis};
  const TileDimension& terms = c.terms.front();
  for (std::size_t v = 0; v < stage.iters.size(); ++v)
    if (stage.iters[v].kind == ir::IterKind::reduce) {
      const Expr value = known(ir::substitute(ir::var(stage.iters[v].id, stage.iters[v].name), c.values));
      if (ir::uses_var(value, terms.axis)) r.term = value;
    }
  const Expr tiled = known(ir::add(ir::mul(ir::axis_var(p_, r.axis), ir::index(terms.width)), ir::axis_var(p_, terms.axis)));
  if (r.term.empty() || !ir::same(r.term, tiled) || !ir::is_int(known(ir::range_of(p_, loop).begin), std::int64_t{0}))
    return std::nullopt;
  const std::optional<Expr> end = end_of_terms(loop, r.term);
  if (!end) return std::nullopt;
  r.end = *end;
  std::int64_t smallest = 4;
  ir::walk(stage.values[0], [&](const Expr& e) {
    if (ir::is(e, Op::load)) smallest = std::min<std::int64_t>(smallest, std::max(1, e.type().bits / 8));
    return true;
  });
  r.rest = smallest == 1 ? 32 : 16;
  if (terms.width % r.rest) return std::nullopt;
  const auto rounded = [&](bool between) {  // down; the last row apart
    const Expr n = ir::max(between ? ir::sub(r.end, ir::index(1)) : r.end, ir::index(0));
    return ir::mul(ir::div(n, ir::index(r.rest)), ir::index(r.rest));
  };
  bool ragged = false, between = false, fits = true;
  const Expr value = known(ir::substitute(stage.values[0], c.values));
  for (int pass = 0; pass < 2 && fits; ++pass) {  // whether a row's end is read decides what the extents are
    r.whole = rounded(between), r.extents.clear(), r.conditions.clear();
    ir::walk(value, [&](const Expr& e) {
      if (ir::is(e, Op::load)) fits = fits && add_extents(r, e, ragged, between);
      return fits;
    });
  }
  // The views of the first loop are of tensors, so each load of one moves with the terms.
  ir::walk(value, [&](const Expr& e) {
    if (!ir::is(e, Op::load) || !r.extents.count(memory(e.node()->id).id)) return true;
    const auto args = ir::args_of(e);
    fits = fits && std::any_of(args.begin(), args.end(),
                               [&](const Expr& a) { return ir::uses_var(a, r.axis) || ir::uses_var(a, terms.axis); });
    return true;
  });
  if (!fits || !ragged || ir::is_int(known(r.whole), std::int64_t{0})) return std::nullopt;
  launch_.ragged = true;
  return copies_any_row(options_.chip) ? std::nullopt : std::optional(r);
}

// The sums of the loop, and what follows them. False: it is one loop, as others are.
bool BlockLowering::in_two_loops(const Stmt& s) {
  std::optional<Ragged> found = ragged_of(s);
  if (!found) return false;
  Current& c = now();
  const Expr width = ir::index(c.terms.front().width), rest = ir::index(found->rest);
  const auto tiles = [&](const Expr& n, const Expr& by) { return known(ir::div(ir::add(n, ir::sub(by, ir::index(1))), by)); };
  launch_.conditions.insert(launch_.conditions.end(), found->conditions.begin(), found->conditions.end());
  const auto run = [&](Id from, Id to, Id axis) {
    c.sums = iterations(from, to, c.sums, [&](Id var, const std::vector<Id>& carried) {
      scalars_[axis] = var;
      c.sums = carried;
      body(s.body());
      return c.sums;
    });
    scalars_.erase(axis);
  };
  ragged_ = std::move(found);
  ragged_->first = true;
  run(b_.integer(i32, 0), scalar(tiles(ragged_->whole, width)), ragged_->axis);
  ragged_->first = false;

  const Dimensions around = c.terms;
  const ir::Substitution values = c.values;
  const Id variable = ir::fresh_id();
  const Expr t = ir::var(variable, "rest"), begin = known(ir::div(ragged_->whole, rest)), end = tiles(ragged_->end, rest);
  facts_.range(variable, begin, known(ir::sub(end, ir::index(1))));
  c.terms.front().width = ragged_->rest;
  ragged_->term = ir::add(ir::mul(t, rest), ir::axis_var(p_, c.terms.front().axis));
  for (auto& [iteration, value] : c.values)
    if (ir::uses_var(value, c.terms.front().axis)) value = ragged_->term;
  // A number of the host's: an assembler that knows that the loop runs once makes more instructions of it, not fewer.
  run(parameter("rest", begin), scalar(end), variable);
  c.terms = around, c.values = values;
  ragged_.reset();
  finish(c.sums);
  c.sums.clear();
  return true;
}

// The result of a ragged product, in lines where the tile ends in front of the last line that is not whole, or every line is.
// False: rows are known to be whole, or there are none.
bool BlockLowering::store_in_lines(const ir::Buffer& b, const std::vector<Place>& at, const std::vector<Id>& numbers,
                                   const std::vector<std::int64_t>& extents, Id value) {
  const std::int64_t line = line_of(b), width = extents.back();
  if (!launch_.ragged || !options_.aligned || extents.size() < 2 || !at.back().along || width % line) return false;
  const Expr length = known(ir::max(b.extents.back(), ir::index(0)));
  if (b.order != ir::Buffer::Order::inner_unit_stride || is_multiple(length, line, facts_)) return false;
  const Expr lines = ir::mul(ir::div(length, ir::index(line)), ir::index(line));
  const Expr tiles = ir::div(ir::add(length, ir::index(width - 1)), ir::index(width));
  const Id whole = parameter("whole", known(ir::select(ir::eq(lines, length), tiles, ir::div(lines, ir::index(width)))));
  std::vector<ir::tile::Extent> of_lines;
  for (std::size_t d = 0; d + 1 < extents.size(); ++d)
    of_lines.push_back(extent(b.name + "_extent" + std::to_string(d), known(ir::max(b.extents[d], ir::index(0)))));
  of_lines.push_back(extent(b.name + "_lines", lines));
  const Id in_lines = b_.apply(Op::lt, {numbers.back(), whole}), none = b_.integer(i32, 0), one = b_.integer(i32, 1);
  for (const bool fast : {true, false}) {
    const Id times = b_.apply(Op::select, {in_lines, fast ? one : none, fast ? none : one});
    iterations(none, times, {}, [&](Id, const std::vector<Id>&) {
      const Id view = b_.view(tensors_.at(b.id), extents, Outside::unspecified, every(at),
                              fast ? of_lines : std::vector<ir::tile::Extent>{});
      b_.store(view, numbers, value, hints(b.id, true));
      return std::vector<Id>{};
    });
  }
  return true;
}

std::vector<ir::tile::Extent> BlockLowering::extents_of_views(const ir::Buffer& b) {
  if (!ragged_ || !ragged_->first || !ragged_->extents.count(b.id)) return {};
  std::vector<ir::tile::Extent> list;
  const std::vector<Expr>& extents = ragged_->extents.at(b.id);
  for (std::size_t d = 0; d < extents.size(); ++d) list.push_back(extent(b.name + "_lines" + std::to_string(d), extents[d]));
  return list;
}

}  // namespace ashlar::lowering
