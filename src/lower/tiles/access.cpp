// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses (block.h): a tile of a view where each index is a multiple of the tile's extent and a position in it, or stays the
// same in the tile; addresses under a mask elsewhere.
//
//   A[io*128 + ii, ko*64 + ki]    over (ii: 128, ki: 64)     tile (io, ko) of A in tiles of 128x64
//   x[i + 1]                      over (i: 256)              x at offsets 1, 2, ..., where these are below its extent
#include <algorithm>
#include <cstring>
#include <utility>

#include <ashlar/analysis/promises.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

// c where an index moves by c with each position of a dimension; 0 where it moves otherwise.
std::int64_t BlockLowering::step_of(const Expr& moved, Id axis) const {
  if (ir::is(moved, Op::var) && moved.node()->id == axis) return 1;
  constexpr std::int64_t most = 1 << 10;
  std::int64_t step = 0;
  const Expr once = analysis::simplify(ir::substitute(moved, {{axis, ir::index(1)}}), facts_);
  if (!ir::is_int(once, &step) || step < 1 || step > most) return 0;
  const Expr rest = analysis::simplify(ir::sub(moved, ir::mul(ir::index(step), ir::axis_var(p_, axis))), facts_);
  return ir::is_int(rest, std::int64_t{0}) ? step : 0;
}

std::vector<ir::tile::View::Every> BlockLowering::every(const std::vector<Place>& at) {
  std::vector<ir::tile::View::Every> all;
  for (const Place& p : at) all.push_back(p.every);
  return all;
}

// `data`: a number of a tile may come from data.
std::optional<std::vector<BlockLowering::Place>> BlockLowering::places(const std::vector<Expr>& index, const Dimensions& dims,
                                                                       bool data) const {
  if (index.empty()) return std::nullopt;  // of a single element, which no view cuts
  std::vector<Place> all;
  std::vector<bool> used(dims.size(), false);
  for (const Expr& i : index) {
    if (ir::has_load(i) && !data) return std::nullopt;
    Place place;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!ir::uses_var(i, dims[d].axis)) continue;
      if (place.along || used[d]) return std::nullopt;
      place.along = d;
      used[d] = true;
    }
    if (ir::has_load(i) && place.along) return std::nullopt;
    if (!place.along) {
      place.number = i;
      all.push_back(place);
      continue;
    }
    const TileDimension& d = dims[*place.along];
    const Expr first = analysis::simplify(ir::substitute(i, {{d.axis, ir::index(0)}}), facts_);
    const Expr moved = analysis::simplify(ir::sub(i, first), facts_);
    const std::int64_t step = step_of(moved, d.axis);
    const analysis::Congruence c = analysis::congruence(first, facts_);
    if (step == 0 || c.modulus % (step * d.width)) return std::nullopt;
    const std::int64_t from = ((c.remainder % (step * d.width)) + step * d.width) % (step * d.width);
    if (from >= step) return std::nullopt;
    place.every = {step, from};
    place.number = analysis::simplify(ir::div(first, ir::index(step * d.width)), facts_);
    all.push_back(place);
  }
  return all;
}

Id BlockLowering::spread_out(Id value, const std::vector<Place>& at, const Dimensions& dims) {
  std::vector<std::pair<std::size_t, int>> moving;  // the dimension of the value, and which of those that move it is
  std::vector<std::int64_t> extents, result = ones(dims.size());
  for (const Place& p : at) {
    if (!p.along) continue;
    moving.emplace_back(*p.along, static_cast<int>(extents.size()));
    extents.push_back(dims[*p.along].width);
    result[*p.along] = dims[*p.along].width;
  }
  std::sort(moving.begin(), moving.end());
  std::vector<int> order;
  for (const auto& [along, from] : moving) order.push_back(from);
  return b_.reshape(b_.permute(b_.reshape(value, extents), order), result);
}

Id BlockLowering::gathered_in(Id value, const std::vector<Place>& at, const Dimensions& dims) {
  std::vector<std::size_t> moving;  // dimensions of the value, in their order
  std::vector<std::int64_t> extents, result;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (std::any_of(at.begin(), at.end(), [&](const Place& p) { return p.along == d; }))
      moving.push_back(d), extents.push_back(dims[d].width);
  std::vector<int> order;
  for (const Place& p : at) {
    result.push_back(p.along ? dims[*p.along].width : 1);
    if (p.along) order.push_back(static_cast<int>(std::find(moving.begin(), moving.end(), *p.along) - moving.begin()));
  }
  return b_.reshape(b_.permute(b_.reshape(value, extents), order), result);
}

const ir::Buffer& BlockLowering::memory(Id buffer) const {
  const auto it = stored_.find(buffer);
  return it == stored_.end() ? p_.buffer(buffer) : it->second.as;
}

std::vector<Expr> BlockLowering::in_memory(Id buffer, std::span<const Expr> index) const {
  const auto it = stored_.find(buffer);
  std::vector<Expr> from_first;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const Expr i = analysis::without_promises(index[d]);  // which points beyond the domain break
    if (it == stored_.end()) {
      from_first.push_back(known(i));
      continue;
    }
    const std::vector<int>& lacks = it->second.lacks;
    if (std::find(lacks.begin(), lacks.end(), static_cast<int>(d)) == lacks.end())
      from_first.push_back(known(ir::sub(i, it->second.begin[from_first.size()])));
  }
  return from_first;
}

// Are the indices that come from data known to lie in the tensor?
bool BlockLowering::data_stay_inside(const ir::Buffer& b, const std::vector<Expr>& index) const {
  for (std::size_t d = 0; d < index.size(); ++d)
    if (ir::has_load(index[d]) && (!analysis::can_prove(ir::ge(index[d], ir::index(0)), facts_) ||
                                   !analysis::can_prove(ir::lt(index[d], b.extents[d]), facts_)))
      return false;
  return true;
}

// A number of the block that data say.
Id BlockLowering::of_data(const Expr& e) {
  const bool around = std::exchange(defined_, true);
  const Id value = scalar_by_64(e);
  defined_ = around;
  return b_.reshape(value, {});
}

Id BlockLowering::load(const Expr& e, const Dimensions& dims, Outside outside) {
  if (const std::optional<Id> before = step_before(e)) return *before;
  if (defined_) outside = Outside::zero;
  const ir::Buffer& b = memory(e.node()->id);
  if (const auto it = stages_.find(b.id); it != stages_.end()) return read_stage(e, it->second, dims);
  const Where where = e.node()->where;
  if (b.role == ir::Role::temporary || b.role == ir::Role::output)
    refuse("tiles", "a stage that is computed in the block, as a tile, before it is read (compute_at)",
           b.name + ", which is computed elsewhere, or piece by piece in a serial loop", where);
  const std::vector<Expr> index = in_memory(b.id, ir::args_of(e));
  if (b.role == ir::Role::constant && elements_of(b) <= most_chosen) return chosen_of(b, index, dims, where);
  auto at = index.empty() ? std::nullopt : places(index, dims, data_stay_inside(b, index));  // of one element there is no view
  if (at && chosen_ && !in_grid(b, index, *at, dims)) at.reset();
  Id value = at ? load_tile(b, *at, dims, outside, where) : gather(e, dims);
  if (!b.type.is_bool()) return value;
  return b_.apply(Op::ne, {value, b_.integer(u8, 0, b_.type(value).extents)});
}

// Of a constant that the kernel holds: 0 where an extent is.
std::int64_t BlockLowering::elements_of(const ir::Buffer& b) {
  std::int64_t count = 1;
  for (const Expr& e : b.extents) {
    std::int64_t n = 0;
    ir::is_int(e, &n), count *= n;
  }
  return count;
}

// An element of a small constant: a choice among all of them, by its number. Along loops that are not dimensions it is a
// scalar's.
Id BlockLowering::chosen_of(const ir::Buffer& b, const std::vector<Expr>& index, const Dimensions& dims, Where where) {
  Expr number = ir::index(0);
  for (std::size_t d = 0; d < index.size(); ++d) number = ir::add(ir::mul(number, b.extents[d]), index[d]);
  const std::int64_t count = elements_of(b);
  if (b.type.is_packed() || !b.layout.map.empty())
    refuse("tiles", "constants as they were defined, with elements of at least a byte", b.name, where);
  const auto element = [&](std::int64_t n) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, b.data->data() + n * b.type.bytes(), static_cast<std::size_t>(b.type.bytes()));
    return b_.constant(ir::from_bits(b.type, bits), ones(dims.size()));
  };
  const Id at = tile(spelled(analysis::simplify(number, facts_)), dims);
  Id result = element(0);
  for (std::int64_t n = 1; n < count; ++n) {
    const std::vector<std::int64_t> extents = b_.type(at).extents;
    const Id same = b_.apply(Op::eq, {at, b_.integer(b_.type(at).element, n, extents)});
    result = b_.apply(Op::select, {same, b_.broadcast(element(n), extents), b_.broadcast(result, extents)});
  }
  return result;
}

// Do the tiles lie in the grid of the view, whatever condition stands around the load?
bool BlockLowering::in_grid(const ir::Buffer& b, const std::vector<Expr>& index, const std::vector<Place>& at,
                            const Dimensions& dims) const {
  for (std::size_t d = 0; d < index.size(); ++d) {
    Expr first = index[d];
    if (at[d].along) first = analysis::simplify(ir::substitute(first, {{dims[*at[d].along].axis, ir::index(0)}}), facts_);
    for (const Expr& c : {ir::ge(first, ir::index(0)), ir::lt(first, b.extents[d])})
      if (!ir::is_int(c, 1) && !analysis::can_prove(c, facts_)) return false;
  }
  return true;
}

// Nobody writes what a kernel reads, so a tile is loaded once, if it is no larger than what registers may keep.
Id BlockLowering::load_tile(const ir::Buffer& b, const std::vector<Place>& at, const Dimensions& dims, Outside outside,
                            Where where) {
  LoadedTile tile{b.id, outside, ragged_ && ragged_->first, {}, at};
  for (const Place& p : at) tile.extents.push_back(p.along ? dims[*p.along].width : 1);
  const auto same_place = [](const Place& p, const Place& q) { return ir::same(p.number, q.number) && p.every == q.every; };
  for (const LoadedTile& l : loaded_)
    if (l.buffer == b.id && l.outside == outside && l.lines == tile.lines && l.extents == tile.extents &&
        std::equal(at.begin(), at.end(), l.at.begin(), same_place))
      return spread_out(l.value, at, dims);
  std::vector<Id> numbers;
  for (const Place& p : at) numbers.push_back(ir::has_load(p.number) ? of_data(p.number) : scalar(p.number));
  const Id tensor = tensor_of(b, where);
  const Id view = b_.view(tensor, tile.extents, outside, every(at), extents_of_views(b));
  tile.value = b_.load(view, numbers, hints(b.id, true));
  if (const ir::tile::TileType& type = b_.type(tile.value); type.elements() * type.element.bytes() <= most_kept)
    loaded_.push_back(tile);
  return spread_out(tile.value, at, dims);
}

Id BlockLowering::read_stage(const Expr& e, const StageTile& stage, const Dimensions& dims) {
  const ir::Buffer& b = p_.buffer(e.node()->id);
  std::vector<Place> at;
  for (std::size_t d = 0; d < stage.begin.size(); ++d) {
    if (stage.begin[d].empty()) {
      at.push_back({});
      continue;
    }
    const Expr position = analysis::simplify(ir::sub(known(ir::args_of(e)[d]), stage.begin[d]), facts_);
    Place place;
    if (stage.width[d] > 1)
      for (std::size_t k = 0; k < dims.size(); ++k)
        if (ir::is(position, Op::var) && position.node()->id == dims[k].axis && dims[k].width == stage.width[d])
          place.along = k;
    const bool twice = std::any_of(at.begin(), at.end(), [&](const Place& p) { return p.along && p.along == place.along; });
    if ((stage.width[d] > 1 && !place.along) || (stage.width[d] == 1 && !ir::is_int(position, std::int64_t{0})) || twice)
      refuse("tiles",
             "a read of " + b.name + " at the points of its tile, each in its place (inline it, or compute it elsewhere)",
             "position " + ir::text(position) + " of " + std::to_string(stage.width[d]) + " in dimension " + std::to_string(d),
             e.node()->where);
    at.push_back(place);
  }
  return spread_out(stage.value, at, dims);
}

Id BlockLowering::offsets(const ir::Buffer& b, const std::vector<Expr>& index, const Dimensions& dims) {
  done_.clear();
  Id sum = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    Id term = full(spelled(index[d]), dims);
    if (const Id by = stride(b, static_cast<int>(d))) {
      const Id factor = full(b_.reshape(b_.cast(i64, by), ones(dims.size())), dims);
      term = b_.apply(Op::mul, {term, factor});
    }
    sum = sum ? b_.apply(Op::add, {sum, term}) : term;
  }
  done_.clear();
  if (!sum) sum = b_.integer(i64, 0, ones(dims.size()));
  return full(sum, dims);
}

Id BlockLowering::gather(const Expr& e, const Dimensions& dims) {
  const ir::Buffer& b = memory(e.node()->id);
  const Id tensor = tensor_of(b, e.node()->where);
  std::map<const ir::Node*, Id> around;
  std::swap(around, done_);
  std::vector<Expr> inside;
  const std::vector<Expr> index = in_memory(b.id, ir::args_of(e));
  for (std::size_t d = 0; d < index.size(); ++d) {
    for (const Expr& c : {ir::ge(index[d], ir::index(0)), ir::lt(index[d], b.extents[d])})
      if (!ir::is_int(c, 1) && !analysis::can_prove(c, facts_)) inside.push_back(c);
  }
  const Type element = b.type.is_bool() ? u8 : b.type;
  const bool defined = std::exchange(defined_, true);
  const Id where = full(mask(inside, dims), dims), at = offsets(b, index, dims);
  defined_ = defined;
  std::vector<std::int64_t> extents;
  for (const TileDimension& d : dims) extents.push_back(d.width);
  const ir::Value zero = element.is_float() ? ir::float_value(element, 0) : ir::int_value(element, 0);
  std::swap(around, done_);
  return b_.gather(tensor, at, where, b_.constant(zero, extents), hints(b.id, false));
}

// Does the condition say no more than that the index lies below the extent of one of its dimensions?
bool BlockLowering::says_end(const Expr& condition, const ir::Buffer& b, const std::vector<Expr>& index) const {
  const Expr left = margin(condition);
  if (left.empty() || !left.type().is_index()) return false;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const Expr difference = analysis::simplify(ir::sub(left, ir::sub(b.extents[d], index[d])), facts_);
    if (ir::is_int(difference, std::int64_t{0})) return true;
  }
  return false;
}

void BlockLowering::store(const ir::Buffer& b, const std::vector<Expr>& index, Id value, const std::vector<Expr>& conditions,
                          const Dimensions& dims) {
  const Id tensor = tensor_of(b, now().stage->where);
  if (b.type.is_bool()) value = b_.cast(u8, value);
  const auto at = index.empty() ? std::nullopt : places(index, dims);
  const bool whole = std::all_of(conditions.begin(), conditions.end(), [&](const Expr& c) { return says_end(c, b, index); });
  if (at && whole) {
    std::vector<std::int64_t> extents;
    std::vector<Id> numbers;
    for (const Place& p : *at) {
      extents.push_back(p.along ? dims[*p.along].width : 1);
      numbers.push_back(scalar(p.number));
    }
    value = gathered_in(value, *at, dims);
    if (store_in_lines(b, *at, numbers, extents, value)) return;
    const Id view = b_.view(tensor, extents, Outside::unspecified, every(*at));
    return b_.store(view, numbers, value, hints(b.id, true));
  }
  const Id where = full(mask(conditions, dims), dims), offset = offsets(b, index, dims);
  b_.scatter(tensor, offset, value, where, hints(b.id, false));
}

}  // namespace ashlar::lowering
