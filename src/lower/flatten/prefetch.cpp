// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>

#include <ashlar/analysis/prefetch.h>

#include "lower/flatten/flatten.h"
#include "lower/nodes.h"

namespace ashlar::lowering {

// Whether the address of a load moves with an axis of the nest around it.
bool Flattener::moves(const ir::Node& load, const Stmt& nest, Id axis) const {
  const ir::Substitution values = ir::iter_values(p_, nest.get<ir::NestStmt>());
  for (std::uint32_t d = 0; d < load.count; ++d)
    if (ir::uses_var(ir::substitute(load.args[d], values), axis)) return true;
  return false;
}

// The lines that the first reader below the loop will read, `distance` iterations from now: inner loops stand at their begin,
// but unrolled ones everywhere; what begins less than a line behind another is taken to come with it.
std::vector<KStmt> Flattener::prefetch(const Stmt& s, const ir::PrefetchStmt& node) {
  const Stmt* loop = nullptr;
  for (const Stmt* on : path_)
    if (on->is<ir::LoopStmt>() && on->id == node.loop) loop = on;
  if (!loop) throw InternalError("a prefetch outside of the loop along which it runs");
  const auto read = analysis::first_plain_read(p_, *loop, node.buffer);
  if (!read) return {};  // a later step has put a table in the way: there is no address to ask for
  const ir::Node* what = read->load;
  std::vector<const Stmt*> reader{path_.begin(), std::find(path_.begin(), path_.end(), loop)};
  reader.insert(reader.end(), read->path.begin(), read->path.end());
  const Stmt* in = nullptr;
  std::vector<ir::Substitution> places{{}};  // where the loops inside stand; an unrolled one stands everywhere
  constexpr std::int64_t most_places = 16;
  for (const Stmt* on : reader) {
    if (on->is<ir::NestStmt>()) in = on;
    const ir::LoopStmt* l = on->as<ir::LoopStmt>();
    if (!l) continue;
    const bool inside = on != loop && std::find(path_.begin(), path_.end(), on) == path_.end();
    if (on != loop && !inside) continue;
    const ir::LoopRange range = ir::range_of(p_, *on);
    std::int64_t times = 1;
    if (inside && l->kind == LoopKind::unrolled && moves(*what, *in, l->axis))
      if (const Expr extent = known(ir::sub(range.end, range.begin)); ir::is(extent, ir::Op::int_const))
        times = extent.node()->i;
    if (times < 1 || static_cast<std::int64_t>(places.size()) * times > most_places) times = 1;
    std::vector<ir::Substitution> all;
    for (const ir::Substitution& place : places)
      for (std::int64_t k = 0; k < times; ++k) {
        all.push_back(place);
        all.back().emplace_back(l->axis, inside ? ir::add(ir::substitute(range.begin, place), ir::index(k))
                                                : ir::add(ir::axis_var(p_, l->axis), ir::index(node.distance)));
      }
    places = std::move(all);
  }
  Statements out;
  for (const ir::Substitution& place : places) {
    ir::Substitution values = ir::iter_values(p_, in->get<ir::NestStmt>());
    for (auto& [id, value] : values) value = known(ir::substitute(value, place));
    Body expressions(values, facts_, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); });
    std::vector<Expr> index;
    for (std::uint32_t d = 0; d < what->count; ++d) index.push_back(what->args[d]);
    const Id buffer = place_of(node.buffer).kbuffer;
    const Expr address = expressions.address(node.buffer, index);
    const std::int64_t size = p_.buffer(node.buffer).type.bytes();
    const bool comes_along = std::any_of(out.begin(), out.end(), [&](const KStmt& other) {
      std::int64_t apart = 0;
      return ir::is_int(analysis::simplify(ir::sub(address, other.get<ir::KPrefetch>().address), facts_), &apart) &&
             std::abs(apart) * size < options_.cache_line;
    });
    if (!comes_along) out.push_back({s.where, ir::KPrefetch{buffer, address}});
  }
  return out;
}

}  // namespace ashlar::lowering
