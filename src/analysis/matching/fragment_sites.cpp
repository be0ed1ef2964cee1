// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/analysis/fragment_sites.h>

#include <algorithm>

#include <ashlar/analysis/dropped.h>
#include <ashlar/analysis/scope_call.h>
#include <ashlar/analysis/simplify.h>
#include <ashlar/analysis/tensorize.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "analysis/nodes.h"

namespace ashlar::analysis {

AllocAround alloc_around(const Program& p, const std::vector<const Stmt*>& path, Id buffer) {
  const auto in = [&](const std::vector<Stmt>& list) -> const Stmt* {
    for (const Stmt& s : list)
      if (const AllocStmt* alloc = s.as<AllocStmt>(); alloc && alloc->buffer == buffer) return &s;
    return nullptr;
  };
  for (std::size_t k = path.size(); k-- > 0;)
    if (const Stmt* s = in(path[k]->body())) return {s, k + 1};
  return {in(p.body), 0};
}

std::vector<std::int64_t> tile_counts(const Program& p, const Stmt& alloc, const Fragment& tile) {
  std::vector<std::int64_t> counts;
  const std::vector<int>& dropped = p.buffer(alloc.get<AllocStmt>().buffer).layout.dropped;
  const std::vector<Expr> extents = dropped.empty() ? storage_extents(p, alloc.id) : logical_box(p, alloc.id).extent;
  const Facts facts = facts_of_arguments(p);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (std::find(dropped.begin(), dropped.end(), static_cast<int>(d)) != dropped.end()) {
      counts.push_back(1);
      continue;
    }
    const auto most = extents[d].empty() ? std::nullopt : constant_max(extents[d], facts);
    if (!most) return {};
    counts.push_back((std::max<std::int64_t>(0, *most) + tile.shape[d] - 1) / tile.shape[d]);
  }
  return counts;
}

namespace {

constexpr Id tile_element = Id{1} << 60;  // variables of a tile's dimensions

struct IndexTerm {  // of an index into a buffer, from the first element of its storage
  const Stmt* loop = nullptr;
  std::int64_t step = 0;
};
struct Index {
  std::vector<IndexTerm> terms;  // outermost loop first
  std::int64_t constant = 0;
};

struct Touch {  // one access of a block to a fragment
  Id buffer = 0;
  std::vector<Index> index;  // by dimension
  std::string text;
};

class Finder {
 public:
  explicit Finder(const Program& p) : p_(p) {}

  FragmentSites run() {
    tensorized(p_.body);
    do {
      found_ = false, held_alone_ = true;
      blocks(p_.body);  // until no buffer is held as another one that it is used beside
    } while (found_);
    held_alone_ = false;
    blocks(p_.body);
    return std::move(sites_);
  }

 private:
  [[noreturn]] static void stop(const char* primitive, std::string expected, std::string found, Where where) {
    throw FragmentProblem{primitive, std::move(expected), std::move(found), where};
  }
  bool is_fragment(Id buffer) const { return p_.buffer(buffer).scope == Scope::fragment; }
  const std::string& axis_name(const Stmt& loop) const { return p_.axis(loop.get<LoopStmt>().axis).name; }

  // ---- who holds what ------------------------------------------------------------------------------------------------------
  void tensorized(const std::vector<Stmt>& list) {
    for (const Stmt& s : list) {
      path_.push_back(&s);
      if (ir::is_loop(s, LoopKind::tensorized))
        hold(s);
      else
        tensorized(s.body());
      path_.pop_back();
    }
  }

  void hold(const Stmt& loop) {
    const ir::Intrinsic& f = *p_.intrinsics.at(loop.get<LoopStmt>().intrinsic);
    const IntrinsicMatch m = match_intrinsic(p_, loop, f);
    if (!m.matches) throw InternalError("a tensorized loop that is not what " + f.name + " means: " + m.found);
    if (f.group > 1) whole_warps("a call of " + f.name);
    for (std::size_t k = 0; k < f.operands.size(); ++k) {
      const ir::IntrinsicOperand& o = f.operands[k];
      if (o.kind != ir::IntrinsicOperand::Kind::tile || !(o.scope == Scope::fragment)) continue;
      const TileSite& site = m.tiles[k];
      HeldBuffer held{site.buffer, of_operand(o, f.group, site, loop), &loop, o.name + " of " + f.name};
      const auto [it, fresh] = sites_.held.emplace(site.buffer, held);
      const Fragment &a = it->second.tile, &b = held.tile;
      if (!fresh && (a.shape != b.shape || a.registers != b.registers || a.element_slot != b.element_slot))
        stop("tensorize",
             p_.buffer(site.buffer).name + " held as " + it->second.operand + ", the call at " +
                 location(it->second.loop->where) + ", holds it",
             held.operand + ", which holds it otherwise: " + difference(a, b), loop.where);
      const std::vector<Index> index = indices(site.buffer, site.base, loop.where);
      for (std::size_t d = 0; d < index.size(); ++d) whole_tiles(site.buffer, held.operand, b, d, index[d], loop.where);
    }
  }

  static std::string shape_text(const Fragment& f) {
    std::string s;
    for (std::int64_t n : f.shape) s += (s.empty() ? "" : " x ") + std::to_string(n);
    return s;
  }
  static std::string difference(const Fragment& a, const Fragment& b) {
    if (a.shape != b.shape) return "tiles of " + shape_text(b) + ", not " + shape_text(a);
    const FragmentMatch m = fragments_equal(a, b);
    return m.equal ? "the same lanes in other registers" : m.why;
  }

  // The operand's tile, by dimensions of the buffer.
  Fragment of_operand(const ir::IntrinsicOperand& o, int group, const TileSite& site, const Stmt& loop) {
    const std::size_t rank = site.base.size();
    std::vector<Id> vars;
    for (std::size_t d = 0; d < rank; ++d) vars.push_back(tile_element + d);
    std::vector<std::int64_t> shape(rank, 1);
    ir::Substitution own;
    for (std::size_t t = 0; t < o.shape.size(); ++t) {
      std::size_t along = rank, dimensions = 0;
      for (std::size_t d = 0; d < rank; ++d)
        if (site.steps[t][d] != 0) along = d, ++dimensions;
      if (o.shape[t] == 1) {
        own.emplace_back(o.vars[t], ir::index(0));
        continue;
      }
      if (dimensions != 1 || site.steps[t][along] != 1 || shape[along] != 1)
        stop("tensorize", "neighbors of " + o.name + " along a dimension of " + p_.buffer(site.buffer).name,
             "dimension " + std::to_string(t) + " otherwise", loop.where);
      shape[along] = o.shape[t];
      own.emplace_back(o.vars[t], ir::var(tile_element + along, "x" + std::to_string(along)));
    }
    FragmentRead read = held_by_lanes(vars, shape, ir::substitute(o.map.at(0), own), ir::substitute(o.map.at(1), own), group);
    if (!read.fragment) throw InternalError(o.name + ", which is not a fragment: " + read.why);
    return std::move(*read.fragment);
  }

  // ---- indices -------------------------------------------------------------------------------------------------------------
  const std::vector<Expr>& low(const Stmt& alloc) {
    auto [it, fresh] = low_.try_emplace(alloc.id);
    if (fresh) it->second = logical_box(p_, alloc.id).lo;
    return it->second;
  }

  // Indices (over loops on the path) from the first element of the storage on, as sums over the loops inside its alloc.
  std::vector<Index> indices(Id buffer, const std::vector<Expr>& at, Where where) {
    const std::string& name = p_.buffer(buffer).name;
    const AllocAround around = alloc_around(p_, path_, buffer);
    if (!around.alloc) throw InternalError("an access to " + name + " outside of its alloc");
    const Facts facts = facts_at(p_, path_);
    std::vector<Index> result;
    const std::vector<int>& dropped = p_.buffer(buffer).layout.dropped;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (std::find(dropped.begin(), dropped.end(), static_cast<int>(d)) != dropped.end()) {
        result.emplace_back();
        continue;
      }
      const Expr from = simplify(ir::sub(at[d], low(*around.alloc)[d]), facts);
      Index index;
      ir::Substitution zero;
      for (std::size_t k = around.depth; k < path_.size(); ++k) {
        const Stmt& s = *path_[k];
        const LoopStmt* loop = s.as<LoopStmt>();
        if (!loop || !ir::uses_var(from, loop->axis)) continue;
        const Expr next = ir::substitute(from, {{loop->axis, ir::add(ir::axis_var(p_, loop->axis), ir::index(1))}});
        std::int64_t step = 0;
        if (!ir::is_int(simplify(ir::sub(next, from), facts), &step))
          stop("tensorize", "indices into " + name + " that move evenly with loops",
               "dimension " + std::to_string(d) + " at " + ir::text(from) + " behind its first element", where);
        index.terms.push_back({&s, step});
        zero.emplace_back(loop->axis, ir::index(0));
      }
      if (!ir::is_int(simplify(ir::substitute(from, zero), facts), &index.constant))
        stop("tensorize",
             "elements of " + name + " at constant places in a lane's registers (compute_at further in, or unroll)",
             "dimension " + std::to_string(d) + " at " + ir::text(from) + " behind its first element", where);
      result.push_back(std::move(index));
    }
    return result;
  }

  // A loop that chooses among tiles: its iterations become constants.
  void choose_tiles(Id buffer, const Stmt& loop, Where where) {
    const LoopStmt& node = loop.get<LoopStmt>();
    const std::string& name = p_.buffer(buffer).name;
    if (node.kind == LoopKind::bound || node.kind == LoopKind::vthread)
      stop(scope_call(p_, p_.buffer(buffer)),
           "storage of " + name + " inside of the loops over warps and virtual threads (compute_at)",
           "the storage outside of " + axis_name(loop) + ", which chooses among its tiles", p_.buffer(buffer).where);
    if (node.kind != LoopKind::serial && node.kind != LoopKind::unrolled)
      stop("tensorize", "a serial or unrolled loop over tiles of " + name, axis_name(loop) + ", which has another kind", where);
    sites_.unrolled.insert(loop.id);
  }

  void whole_tiles(Id buffer, const std::string& what, const Fragment& tile, std::size_t d, const Index& index, Where where) {
    const std::int64_t n = tile.shape[d];
    const auto refused = [&](const std::string& found) {
      stop("tensorize",
           what + " at a multiple of " + std::to_string(n) + " along dimension " + std::to_string(d) + " of " +
               p_.buffer(buffer).name + ", a whole tile",
           found, where);
    };
    if (index.constant % n != 0) refused("a tile at element " + std::to_string(index.constant));
    for (const IndexTerm& t : index.terms) {
      if (t.step % n != 0) refused("one that moves by " + std::to_string(t.step) + " with " + axis_name(*t.loop));
      choose_tiles(buffer, *t.loop, where);
    }
  }

  // ---- who touches ---------------------------------------------------------------------------------------------------------
  void blocks(const std::vector<Stmt>& list) {
    for (const Stmt& s : list) {
      path_.push_back(&s);
      if (s.is<BlockStmt>())
        block(s);
      else if (!ir::is_loop(s, LoopKind::tensorized))
        blocks(s.body());
      path_.pop_back();
    }
  }

  void whole_warps(const std::string& what) const {
    for (const Stmt* s : path_) {
      const LoopStmt* loop = s->as<LoopStmt>();
      if (!loop) continue;
      if (loop->kind == LoopKind::bound && !ir::is_block(loop->bound_to) && !(loop->bound_to == gpu::warp))
        stop("bind", "whole warps around " + what + " (bind to gpu::warp)",
             axis_name(*s) + ", bound to " + ir::text(loop->bound_to), s->where);
      if (loop->kind == LoopKind::vectorized) stop("vectorize", "no vector around " + what, axis_name(*s), s->where);
    }
  }

  void block(const Stmt& s) {
    const ir::Stage& stage = p_.stage(s.get<BlockStmt>().stage);
    const NestStmt* nest = nullptr;
    for (const Stmt* on : path_)
      if (const NestStmt* here = on->as<NestStmt>()) nest = here;
    std::vector<std::pair<Id, std::vector<Expr>>> accesses;  // what is written first
    const ir::Substitution values = ir::iter_values(p_, *nest);
    std::vector<Expr> own;
    for (const ir::IterVar& v : stage.iters)
      if (v.kind != ir::IterKind::reduce) own.push_back(ir::substitute(ir::var(v.id, v.name), values));
    const ir::Stores stores = s.get<BlockStmt>().stores;
    for (std::size_t k = 0; k < stage.buffers.size(); ++k)  // what is stored whole is combined with what is not, too
      if (is_fragment(stage.buffers[k]) && (stores != ir::Stores::dropped || drops(p_, stage, k)))
        accesses.emplace_back(stage.buffers[k], own);
    for (const Read& r : reads_of(stage)) {
      const Id b = r.load.node()->id;
      if (!happens_in(r, s) || !is_fragment(b) || (stores == ir::Stores::dropped && only_whole(stage, r.load))) continue;
      std::vector<Expr> at;
      for (const Expr& e : ir::args_of(r.load)) at.push_back(ir::substitute(e, values));
      accesses.emplace_back(b, std::move(at));
    }
    if (accesses.empty()) return;
    if (held_alone_) return hold_beside(stage, accesses);
    const std::string what = stage.name + ", which touches " + p_.buffer(accesses.front().first).name;
    whole_warps(what);
    for (const Stmt* on : path_)
      if (const LoopStmt* loop = on->as<LoopStmt>(); loop && loop->combines)
        stop("cross_thread_reduce", "a reduction that touches no fragment", what, on->where);
    for (Id b : stage.buffers)
      if (const Scope& scope = p_.buffer(b).scope; scope == Scope::registers || scope == Scope::stack)
        stop(scope_call(p_, p_.buffer(b)),
             "memory that other lanes see for " + stage.name + ", which reads a fragment, or Scope::fragment",
             std::string("Scope::") + scope.name, p_.buffer(b).where);
    std::vector<Touch> touches;
    for (const auto& [b, at] : accesses) {
      const ir::Buffer& buffer = p_.buffer(b);
      if (!sites_.held.count(b))
        stop(scope_call(p_, buffer), "an intrinsic that says which lane holds which element of " + buffer.name + " (tensorize)",
             "none", buffer.where);
      touches.push_back({b, indices(b, at, stage.where), buffer.name});
    }
    sites_.distributed.emplace(s.id, distributed(stage, touches));
  }

  // By the elements of one of the buffers, the first that all others can follow: a row has fewer elements than what its lanes
  // hold of it.
  Distribution distributed(const ir::Stage& stage, const std::vector<Touch>& touches) {
    std::optional<FragmentProblem> problem;
    for (const Touch& driver : touches) {
      const std::set<Id> unrolled = sites_.unrolled;
      try {
        return distribute(stage, touches, driver);
      } catch (FragmentProblem& found) {
        if (!problem) problem = std::move(found);
        sites_.unrolled = unrolled;
      }
    }
    throw *problem;
  }

  // Is the load used by values that components without dropped dimensions have alone?
  bool only_whole(const ir::Stage& stage, const Expr& load) const {
    bool used = false;
    for (std::size_t k = 0; k < stage.values.size(); ++k)
      if (drops(p_, stage, k))
        ir::walk(stage.values[k], [&](const Expr& e) { return used = used || ir::same(e, load), !used; });
    return !used;
  }

  // Buffers that no instruction says who holds, beside one that is held: each element lies with all lanes that use it. Of
  // several the one that has the most elements of a tile: beside a row there is a number for all of it.
  void hold_beside(const ir::Stage& stage, const std::vector<std::pair<Id, std::vector<Expr>>>& accesses) {
    for (const auto& [b, at] : accesses) {
      if (sites_.held.count(b)) continue;
      std::optional<HeldBuffer> best;
      for (const auto& [other, at_other] : accesses) {
        const auto known = sites_.held.find(other);
        if (known == sites_.held.end()) continue;
        const std::set<Id> unrolled = sites_.unrolled;
        try {
          const Touch touch{b, indices(b, at, stage.where), p_.buffer(b).name};
          const Touch driver{other, indices(other, at_other, stage.where), p_.buffer(other).name};
          Distribution by;
          for (std::size_t d = 0; d < driver.index.size(); ++d) digits(driver, known->second.tile, d, stage, by);
          auto tile = part_beside(touch, known->second.tile, by);
          if (tile && (!best || tile->element_slot.size() > best->tile.element_slot.size()))
            best = HeldBuffer{b, std::move(*tile), known->second.loop, known->second.operand};
        } catch (const FragmentProblem&) {  // it is said where the buffers are used
        }
        sites_.unrolled = unrolled;
      }
      found_ = found_ || best;
      if (best) sites_.held.emplace(b, std::move(*best));
    }
  }

  // How a buffer is held whose elements are used by the loops over the tile of another one.
  std::optional<Fragment> part_beside(const Touch& touch, const Fragment& whole, const Distribution& by) const {
    const auto count_of = [&](const TileDigit& t) { return t.modulus ? t.modulus : whole.shape[t.dim] / t.divisor; };
    std::vector<Id> vars;
    std::vector<std::int64_t> shape;
    std::vector<Expr> position(by.digits.size());  // of each digit, over the part's variables
    for (std::size_t d = 0; d < touch.index.size(); ++d) {
      const Expr own = ir::var(tile_element + d, "x" + std::to_string(d));
      vars.push_back(tile_element + d);
      std::vector<std::pair<std::int64_t, std::size_t>> steps;
      for (const IndexTerm& t : touch.index[d].terms)
        for (std::size_t k = 0; k < by.digits.size(); ++k)
          if (by.digits[k].loop == t.loop->id) steps.emplace_back(t.step, k);
      std::sort(steps.begin(), steps.end());
      std::int64_t below = 1;
      for (const auto& [step, k] : steps) {
        if (step != below) return std::nullopt;
        position[k] = ir::mod(ir::div(own, ir::index(step)), ir::index(count_of(by.digits[k])));
        below *= count_of(by.digits[k]);
      }
      shape.push_back(below);
    }
    const Facts facts = [&] {
      Facts f;
      for (std::size_t d = 0; d < vars.size(); ++d) f.bound(vars[d], 0, shape[d] - 1);
      return f;
    }();
    std::vector<Expr> at(whole.shape.size(), ir::index(0));
    for (std::size_t k = 0; k < by.digits.size(); ++k)
      if (!position[k].empty())
        at[by.digits[k].dim] =
            simplify(ir::add(at[by.digits[k].dim], ir::mul(position[k], ir::index(by.digits[k].divisor))), facts);
    std::vector<std::vector<std::int64_t>> groups;
    std::vector<std::int64_t> o(whole.shape.size(), 0);
    for (std::size_t e = 0; e < whole.element_slot.size(); ++e) {
      std::vector<std::int64_t> own(touch.index.size(), 0);
      for (std::size_t d = 0; d < touch.index.size(); ++d)
        for (const IndexTerm& t : touch.index[d].terms)
          for (const TileDigit& digit : by.digits)
            if (digit.loop == t.loop->id) own[d] += t.step * (o[digit.dim] / digit.divisor % count_of(digit));
      groups.push_back(std::move(own));
      for (std::size_t d = o.size(); d-- > 0;) {
        if (++o[d] < whole.shape[d]) break;
        o[d] = 0;
      }
    }
    FragmentRead read = part_of_fragment(whole, vars, shape, at, groups);
    return std::move(read.fragment);
  }

  Distribution distribute(const ir::Stage& stage, const std::vector<Touch>& touches, const Touch& first) {
    Distribution result;
    result.buffer = first.buffer;
    const Fragment& tile = sites_.held.at(first.buffer).tile;
    for (std::size_t d = 0; d < first.index.size(); ++d) digits(first, tile, d, stage, result);
    // the loops from the outermost distributed one on hold the block and nothing else
    const auto of = [&](const Stmt& loop) {
      return std::find_if(result.digits.begin(), result.digits.end(), [&](const TileDigit& t) { return t.loop == loop.id; });
    };
    std::vector<TileDigit> ordered;
    for (const Stmt* on : path_) {
      const LoopStmt* l = on->as<LoopStmt>();
      if (!l) continue;
      const auto digit = of(*on);
      if (digit != result.digits.end()) {
        ordered.push_back(*digit);
        if (l->part != ir::Part::all)
          stop("peel", "whole loops over " + first.text, axis_name(*on) + ", which was peeled or partitioned", on->where);
        if (l->kind != LoopKind::serial && l->kind != LoopKind::unrolled)
          stop("tensorize", "loops over elements of " + first.text + " without a kind, since its lanes share them",
               axis_name(*on) + " of " + stage.name + ", which has one", on->where);
      } else if (!ordered.empty()) {
        const ir::LoopRange range = ir::range_of(p_, *on);
        for (const TileDigit& t : ordered)
          if (ir::uses_var(range.begin, t.axis) || ir::uses_var(range.end, t.axis))
            stop("tensorize", "loops inside the tile of " + first.text + " that are as long in every lane",
                 axis_name(*on) + " of " + stage.name, on->where);
      }
      if (!ordered.empty() && l->body.size() != 1)
        stop("tensorize", "one block inside the loops over elements of " + first.text,
             "several statements in " + axis_name(*on) + " of " + stage.name, on->where);
    }
    result.digits = std::move(ordered);
    in_one_lane(first, tile, stage, result);
    if (tile.copies != 0 && std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return !is_fragment(b); }))
      stop("tensorize", "results of " + stage.name + " that one lane has",
           first.text + ", each element of which several lanes hold", stage.where);
    for (const Touch& t : touches) same_lanes(t, tile, stage, result);
    return result;
  }

  // Of a reduction over elements of a tile: those that go into one result are held by one lane, and its registers are in the
  // order of the terms.
  void in_one_lane(const Touch& driver, const Fragment& tile, const ir::Stage& stage, const Distribution& by) const {
    const auto reduces = [&](const TileDigit& t) { return p_.axis(t.axis).reduce; };
    const auto reduced = std::find_if(by.digits.begin(), by.digits.end(), reduces);
    if (reduced == by.digits.end()) return;
    const auto refused = [&](const std::string& found) {
      stop("tensorize",
           "spatial loops over elements of " + driver.text +
               ", whose lanes do an iteration each (shared memory brings them together)",
           p_.axis(reduced->axis).name + " of " + stage.name + ", a reduction" + found, stage.where);
    };
    std::map<std::vector<std::int64_t>, std::pair<std::int64_t, std::vector<std::int64_t>>> last;  // by result: lane, terms
    for (int r = 0; r < tile.registers; ++r)
      for (int lane = 0; lane < tile.threads; ++lane) {
        const auto o = (lane & tile.copies) == 0 ? element_of(tile, lane, r) : std::nullopt;
        if (!o) continue;
        std::vector<std::int64_t> result, terms;
        for (const TileDigit& t : by.digits) {
          std::int64_t at = (*o)[t.dim] / t.divisor;
          if (t.modulus) at %= t.modulus;
          (reduces(t) ? terms : result).push_back(at);
        }
        const auto [it, fresh] = last.try_emplace(result, std::pair{std::int64_t{lane}, terms});
        if (fresh) continue;
        if (it->second.first != lane) refused(" over elements of several lanes");
        if (!(it->second.second < terms)) refused(" in another order than that of a lane's registers");
        it->second.second = terms;
      }
  }

  // The loops that run over the elements of a tile along one dimension, as digits of the position in it.
  void digits(const Touch& touch, const Fragment& tile, std::size_t d, const ir::Stage& stage, Distribution& result) {
    const Index& index = touch.index[d];
    const std::int64_t n = tile.shape[d];
    const std::string at = "dimension " + std::to_string(d) + " of " + touch.text;
    const auto refused = [&](const std::string& found) {
      stop("tensorize", "whole tiles of " + std::to_string(n) + " along " + at + " in " + stage.name, found, stage.where);
    };
    if (index.constant % n != 0) refused("elements from " + std::to_string(index.constant) + " on");
    std::vector<IndexTerm> terms = index.terms;
    std::stable_sort(terms.begin(), terms.end(), [](const IndexTerm& a, const IndexTerm& b) { return a.step < b.step; });
    std::int64_t below = 1;
    for (const IndexTerm& t : terms) {
      if (below == n) {
        if (t.step % n != 0) refused(axis_name(*t.loop) + ", which moves by " + std::to_string(t.step));
        choose_tiles(touch.buffer, *t.loop, stage.where);
        continue;
      }
      if (t.step != below) refused(axis_name(*t.loop) + ", which moves by " + std::to_string(t.step));
      const LoopStmt& over = t.loop->get<LoopStmt>();
      const Facts facts = facts_at(p_, path_);
      const Expr extent = simplify(ir::extent_of(p_, over), facts);
      std::int64_t count = 0;
      TileDigit digit{t.loop->id, over.axis, d, below, 0, 1};
      if (ir::is_int(extent, &count) && below * count < n && n % (below * count) == 0) {
        digit.modulus = count;
        below *= count;
      } else {
        digit.whole = n / below;
        const Congruence c = congruence(extent, facts);
        const bool multiple = c.modulus % digit.whole == 0 && c.remainder % digit.whole == 0;
        if (n % below != 0 || !multiple)
          refused(axis_name(*t.loop) + " of " + ir::text(extent) + " iterations, no multiple of " +
                  std::to_string(digit.whole));
        if (!constant_max(extent, facts))
          refused(axis_name(*t.loop) + " of " + ir::text(extent) + " iterations, without a bound");
        below = n;
      }
      result.digits.push_back(digit);
    }
    if (below != n) refused("loops over " + std::to_string(below) + " of them");
  }

  // The lane that does an iteration holds all the elements that it touches; in which registers.
  void same_lanes(const Touch& touch, const Fragment& driver, const ir::Stage& stage, Distribution& result) {
    const Fragment& tile = sites_.held.at(touch.buffer).tile;
    const std::string& by = p_.buffer(result.buffer).name;
    const auto crosses = [&](const std::string& found) {
      stop("tensorize",
           "elements of " + touch.text + " and " + by + " that one lane holds, in " + stage.name +
               " (an instruction, or shared memory, moves them between lanes)",
           found, stage.where);
    };
    const auto digit_of = [&](const Stmt& loop) -> const TileDigit* {
      for (const TileDigit& t : result.digits)
        if (t.loop == loop.id) return &t;
      return nullptr;
    };
    for (std::size_t d = 0; d < touch.index.size(); ++d) {
      const std::int64_t n = tile.shape[d];
      if (touch.index[d].constant % n != 0)
        crosses(touch.text + " from element " + std::to_string(touch.index[d].constant) + " on");
      for (const IndexTerm& t : touch.index[d].terms) {
        const TileDigit* digit = digit_of(*t.loop);
        const std::int64_t step = digit ? (digit->modulus ? 0 : t.step * digit->whole) : t.step;
        if (step % n != 0)
          crosses(axis_name(*t.loop) + ", which moves by " + std::to_string(step) + " in a tile of " + std::to_string(n));
      }
    }
    std::vector<int> registers(static_cast<std::size_t>(driver.registers), -1);
    for (int lane = 0; lane < driver.threads; ++lane)
      for (int r = 0; r < driver.registers; ++r) {
        const auto o = element_of(driver, lane, r);
        if (!o) continue;
        std::vector<std::int64_t> x;
        for (std::size_t d = 0; d < touch.index.size(); ++d) {
          std::int64_t sum = 0;
          for (const IndexTerm& t : touch.index[d].terms)
            if (const TileDigit* digit = digit_of(*t.loop)) {
              const std::int64_t q = (*o)[digit->dim] / digit->divisor;
              sum += t.step * (digit->modulus ? q % digit->modulus : q);
            }
          if (sum < 0 || sum >= tile.shape[d]) crosses("an iteration that leaves the tile of " + touch.text);
          x.push_back(sum);
        }
        const std::vector<std::int64_t> at = *tile.map.at(x);
        if (((at[0] ^ lane) & ~tile.copies) != 0)
          crosses("one that lane " + std::to_string(lane) + " holds of " + by + " and lane " + std::to_string(at[0]) + " of " +
                  touch.text);
        int& known = registers[static_cast<std::size_t>(r)];
        if (known >= 0 && known != at[1]) crosses("elements in other registers in other lanes");
        known = static_cast<int>(at[1]);
      }
    for (const Index& index : touch.index)
      for (const IndexTerm& t : index.terms)
        if (!digit_of(*t.loop)) choose_tiles(touch.buffer, *t.loop, stage.where);
    const auto [it, fresh] = result.registers.emplace(touch.buffer, registers);
    if (!fresh && it->second != registers) crosses("two elements of " + touch.text);
  }

  const Program& p_;
  FragmentSites sites_;
  bool held_alone_ = false, found_ = false;  // it is only looked who holds what; one more was found
  std::vector<const Stmt*> path_;
  std::map<Id, std::vector<Expr>> low_;  // by alloc
};

}  // namespace

FragmentSites fragment_sites(const Program& p, std::optional<FragmentProblem>& problem) {
  const bool any =
      std::any_of(p.buffers.begin(), p.buffers.end(), [](const auto& b) { return b.second.scope == Scope::fragment; });
  if (!any) return {};
  try {
    return Finder(p).run();
  } catch (FragmentProblem& found) {
    problem = std::move(found);
    return {};
  }
}

}  // namespace ashlar::analysis
