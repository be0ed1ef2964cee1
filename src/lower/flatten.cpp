// From the tree of nests, loops and blocks to flat statements. One walk in order of execution that carries what is known at
// each place: the facts of the loops around, the variables that have one value only, the storage of every buffer in sight.
//
//   nest C                               for io in [0, +(M + 31) / 32)
//     for io in (M + 31) / 32              for ii in [0, +32)
//       for ii in 32               becomes   if io * 32 + ii < M
//         block C                              C[(io * 32 + ii) * C_stride0] = ...
//
// Loops keep their kinds; conditions stand directly around the block, those that depend on the outermost loops outside.
// Below a vectorized loop every loop is uniform: where its bounds depend on the lane it runs over their hull and the lane's own
// bounds become conditions. A vectorized loop around another one is unrolled: the inner one takes the lanes.
#include <algorithm>

#include <ashlar/analysis/inits.h>
#include <ashlar/analysis/interval.h>
#include <ashlar/analysis/tensorize.h>
#include <ashlar/analysis/thread_tree.h>
#include <ashlar/ir/refusal.h>

#include "lower/body.h"
#include "lower/passes.h"

namespace ashlar::lower_impl {
namespace {

using analysis::Facts;
using ir::Id;
using ir::KStmt;
using ir::LoopKind;
using ir::Part;
using ir::Stmt;

using Statements = std::vector<KStmt>;

bool contains_vectorized(const std::vector<Stmt>& body) {
  for (const Stmt& s : body)
    if ((s.kind == Stmt::Kind::loop && s.loop_kind == LoopKind::vectorized) || contains_vectorized(s.body)) return true;
  return false;
}

class Flattener {
 public:
  Flattener(ir::Program& p, const LowerOptions& options) : p_(p), options_(options), facts_(analysis::facts_of_arguments(p)) {}

  Draft run() {
    ir::Kernel& k = draft_.kernel;
    k.name = p_.name;
    k.arguments = p_.arguments;
    k.symbols = p_.symbols;
    k.scalars = p_.scalars;
    k.assumptions = p_.assumptions;
    for (const ir::Argument& a : p_.arguments) {
      if (a.kind == ir::ArgumentKind::scalar) continue;
      const ir::Buffer& b = p_.buffer(a.id);
      k.argument_buffers.emplace(b.id, b);
      current_[b.id] = places_.size();
      places_.push_back(place_argument(k, p_, b));
      last_use_.push_back(0);
    }
    k.body = body(p_.body);
    plan_workspace(k, p_, lives_);
    return std::move(draft_);
  }

 private:
  struct Around {  // a loop around the current statement
    Id axis = 0;
    LoopKind kind = LoopKind::serial;
  };

  Statements body(const std::vector<Stmt>& list) {
    Statements out;
    std::vector<std::pair<std::size_t, std::size_t>> allocs;  // place, life
    const auto outside = current_;
    for (const Stmt& s : list) {
      const std::size_t before = position_;
      if (const Stmt* begin = begin_of(s)) begin_parts(s, *begin);
      path_.push_back(&s);
      if (s.kind == Stmt::Kind::alloc) {
        allocs.emplace_back(places_.size(), lives_.size());
        alloc(s);
        if (draft_.kernel.buffers.at(places_.back().kbuffer).storage == ir::Storage::workspace)
          lives_.push_back({places_.back().kbuffer, position_, position_});
        else
          allocs.pop_back();
      } else {
        for (KStmt& k : statement(s)) out.push_back(std::move(k));
        for (const auto& [place, life] : allocs)
          if (last_use_[place] > before) lives_[life].to = position_;
      }
      path_.pop_back();
    }
    if (!allocs.empty() || current_.size() != outside.size()) current_ = outside;
    return out;
  }

  Statements statement(const Stmt& s) {
    switch (s.kind) {
      case Stmt::Kind::nest:
        return body(s.body);
      case Stmt::Kind::loop:
        return loop(s);
      case Stmt::Kind::block:
        ++position_;
        return block(s);
      case Stmt::Kind::prefetch:
        return prefetch(s);
      case Stmt::Kind::alloc:
        break;
    }
    return {};
  }

  void alloc(const Stmt& s) {
    ++position_;
    std::vector<Lane> lanes;
    bool per_worker = false;
    for (const Around& a : around_) {
      per_worker |= a.kind == LoopKind::parallel;
      if (a.kind == LoopKind::vectorized) lanes.push_back({ir::sub(ir::axis_var(p_, a.axis), lane_begin_), lane_count_});
    }
    const Id id = draft_.kernel.buffers.count(s.buffer) ? s.id : s.buffer;
    Place place = place_alloc(draft_.kernel, p_, s, id, std::move(lanes), per_worker, options_);
    for (auto* list : {&place.lo, &place.logical_lo, &place.logical_extent})
      for (Expr& e : *list) e = known(e);
    for (const Around& a : around_) draft_.kernel.buffers.at(id).inside.push_back(a.axis);
    draft_.alloc_lines.emplace(id, s.where);
    kbuffer_of_[s.id] = id;
    if (!p_.buffer(s.buffer).layout.map.empty()) draft_.mapped.insert(id);
    current_[s.buffer] = places_.size();
    places_.push_back(std::move(place));
    last_use_.push_back(0);
  }

  // With the variables of loops that run once replaced by their value.
  Expr known(const Expr& e) const { return ir::substitute(e, single_); }

  bool lane_varying(const Expr& e) const { return lane_ != 0 && ir::uses_var(e, lane_); }

  Statements loop(const Stmt& s) {
    if (s.loop_kind == LoopKind::tensorized) return call(s);
    const ir::LoopRange range = ir::range_of(p_, s);
    const ir::Axis& axis = p_.axis(s.axis);
    const Facts outside = facts_;
    const auto conditions_outside = conditions_.size();
    Expr begin = known(range.begin), end = known(range.end);
    if (lane_varying(begin) || lane_varying(end)) {
      const Expr v = ir::axis_var(p_, s.axis);
      const analysis::VarRange lanes{lane_, {lane_begin_, ir::add(lane_begin_, ir::index(lane_count_ - 1))}};
      if (lane_varying(begin)) {
        conditions_.push_back(ir::ge(v, begin));
        begin = hull(begin, lanes).lo;
      }
      if (lane_varying(end)) {
        conditions_.push_back(ir::lt(v, end));
        end = hull(end, lanes).hi;
      }
    }
    begin = analysis::simplify(begin, facts_);
    Expr extent = analysis::simplify(ir::sub(end, begin), facts_);
    std::int64_t count = 0;
    Statements out;
    if (ir::is_int(extent, &count) && count <= 0) {
      conditions_.resize(conditions_outside);
      return out;
    }
    const bool one = ir::is_int(extent, 1) && s.loop_kind != LoopKind::bound;  // a launch may have one block, or one thread
    if (one || s.part == Part::first || s.part == Part::last) {
      if (!one)
        begin = analysis::simplify(s.part == Part::first ? ir::index(0) : ir::sub(known(axis.extent), ir::index(1)), facts_);
      const Expr any = one ? ir::boolean(true) : analysis::simplify(ir::gt(extent, ir::index(0)), facts_);
      facts_.range(s.axis, begin, begin);
      if (!ir::is_int(any, 1)) facts_.assume(any);
      single_.emplace_back(s.axis, begin);
      out = body(s.body);
      single_.pop_back();
      if (!ir::is_int(any, 1) && !out.empty()) {
        KStmt guard = if_stmt(any, std::move(out), s.where);
        out.clear();
        out.push_back(std::move(guard));
      }
    } else {
      out = many(s, axis, begin, extent);
    }
    facts_ = outside;
    conditions_.resize(conditions_outside);
    return out;
  }

  // A pipelined loop: what its loads store to becomes a ring.
  void make_ring(const Stmt& s) {
    Ring ring;
    ring.stages = s.pipeline.stages;
    ring.async_copy = s.pipeline.async_copy;
    ring.where = s.pipeline.where;
    for (const Stmt& a : s.body) {
      if (a.kind != Stmt::Kind::alloc) continue;
      const Id stage = p_.buffer(a.buffer).stage;
      if (std::find(s.pipeline.loads.begin(), s.pipeline.loads.end(), stage) == s.pipeline.loads.end()) continue;
      ir::KBuffer& b = draft_.kernel.buffers.at(kbuffer_of_.at(a.id));
      std::int64_t elements = 0;
      if (!ir::is_int(b.elements, &elements)) throw InternalError("shared memory without a constant size");
      const std::int64_t unit = std::max<std::int64_t>(1, 128 / b.type.bytes());  // a copy starts where the buffer may start
      elements = (elements + unit - 1) / unit * unit;
      ring.buffers[b.id] = elements;
      b.elements = ir::index(elements * ring.stages);
    }
    draft_.rings.emplace(s.axis, std::move(ring));
  }

  // ---- reductions over threads -------------------------------------------------------------------------------------------
  struct Parts {  // of a nest: each thread's part of every value, and the result for all threads
    Id part = 0, all = 0;
    std::string name;
    Type type;
    std::vector<std::pair<Id, std::int64_t>> digits;  // the axes that tell values apart, and their strides
    bool open = true;                                 // more pieces may begin with these
  };

  // The block of a chain of loops that holds nothing but the begin of parts.
  static const Stmt* begin_of(const Stmt& s) {
    const Stmt* at = &s;
    while (at->kind == Stmt::Kind::loop && at->body.size() == 1) at = &at->body.front();
    return at->kind == Stmt::Kind::block && at->piece == Stmt::Piece::begin ? at : nullptr;
  }

  void begin_parts(const Stmt& chain, const Stmt& block) {
    const Id key = nest().id;
    if (const auto it = parts_.find(key); it != parts_.end() && it->second.open) return;
    const ir::Stage& stage = p_.stage(block.stage);
    Parts parts;
    parts.name = stage.name;
    parts.type = p_.buffer(stage.buffers.front()).type;
    std::int64_t count = 1;
    bool constant = true;  // are all indices constants after unrolling?
    for (const Stmt* at = &chain; at->kind == Stmt::Kind::loop; at = &at->body.front()) {
      if (at->loop_kind == LoopKind::bound) continue;
      const auto most = analysis::constant_max(p_.axis(at->axis).extent, facts_);
      if (!most) throw InternalError("parts without a constant number");
      parts.digits.emplace_back(at->axis, count);
      count *= *most;
      constant = constant && (at->loop_kind == LoopKind::unrolled || *most <= 1);
    }
    ir::KBuffer b;
    b.type = parts.type;
    b.storage = constant ? ir::Storage::registers : ir::Storage::stack;
    b.elements = ir::index(count);
    for (const Around& a : around_) b.inside.push_back(a.axis);
    for (Id* id : {&parts.part, &parts.all}) {
      *id = b.id = p_.fresh();
      b.name = parts.name + (id == &parts.part ? "_part" : "_all");
      draft_.kernel.buffers.emplace(b.id, b);
      draft_.alloc_lines.emplace(b.id, block.where);
    }
    Combining combining{stage, {}};
    combining.stage.reducer.fused = false;
    ir::walk(nest().body, [&](const Stmt& s) {
      if (s.kind == Stmt::Kind::loop && s.combines && s.loop_kind == LoopKind::bound &&
          std::find(combining.axes.begin(), combining.axes.end(), s.bound_to) == combining.axes.end())
        combining.axes.push_back(s.bound_to);
    });
    draft_.combining.emplace(parts.all, std::move(combining));
    parts_[key] = std::move(parts);
  }

  // The parts that the reduction of the current nest accumulates into; null if it accumulates into memory.
  const Parts* parts_here(const Stmt& block) {
    if (block.piece == Stmt::Piece::init) return nullptr;
    const auto it = parts_.find(nest().id);
    if (it == parts_.end()) return nullptr;
    bool over_threads = block.piece != Stmt::Piece::update;
    for (std::size_t k = path_.size(); k-- > 0 && path_[k]->kind != Stmt::Kind::nest;)
      over_threads = over_threads || (path_[k]->kind == Stmt::Kind::loop && path_[k]->combines);
    if (!over_threads) return nullptr;
    it->second.open = block.piece == Stmt::Piece::begin;
    return &it->second;
  }
  Expr place_of_part(const Parts& parts) const {
    Expr at = ir::index(0);
    for (const auto& [axis, stride] : parts.digits) at = ir::add(at, ir::mul(known(ir::axis_var(p_, axis)), ir::index(stride)));
    return analysis::simplify(at, facts_);
  }
  static Expr load_part(const Parts& parts, Id buffer, const Expr& at, Where where) {
    const std::vector<Expr> index{at};
    return ir::load(buffer, parts.name + (buffer == parts.part ? "_part" : "_all"), parts.type, index, where);
  }

  analysis::Interval hull(const Expr& e, const analysis::VarRange& over) const {
    const analysis::Interval i = analysis::bounds_over(e, std::span(&over, 1), facts_);
    if (!i.bounded()) throw InternalError("the bounds of a loop inside a vectorized one have no hull");
    return i;
  }

  Statements many(const Stmt& s, const ir::Axis& axis, const Expr& begin, Expr extent) {
    LoopKind kind = s.loop_kind;
    if (kind == LoopKind::vectorized && contains_vectorized(s.body)) kind = LoopKind::unrolled;
    if (kind == LoopKind::vectorized || kind == LoopKind::unrolled || kind == LoopKind::vthread) {
      std::int64_t count = 0;
      if (!ir::is_int(extent, &count)) {
        const auto most = analysis::constant_max(extent, facts_);
        if (!most) throw InternalError("loop " + axis.name + " has no constant extent to be vectorized or unrolled by");
        conditions_.push_back(ir::lt(ir::axis_var(p_, s.axis), ir::add(begin, extent)));
        extent = ir::index(*most);
      }
    }
    facts_.range(s.axis, begin, ir::sub(ir::add(begin, extent), ir::index(1)));
    const Id lane = lane_;
    const Expr lane_begin = lane_begin_;
    const std::int64_t lane_count = lane_count_;
    if (kind == LoopKind::vectorized) {
      lane_ = s.axis;
      lane_begin_ = begin;
      ir::is_int(extent, &lane_count_);
    }
    around_.push_back({s.axis, kind});
    KStmt k;
    k.kind = KStmt::Kind::for_;
    k.where = s.where;
    k.var = s.axis;
    k.name = axis.name;
    k.begin = begin;
    k.extent = extent;
    k.loop_kind = kind;
    k.bound_to = s.bound_to;
    k.body = body(s.body);
    around_.pop_back();
    if (s.pipeline.stages > 0) make_ring(s);
    lane_ = lane;
    lane_begin_ = lane_begin;
    lane_count_ = lane_count;
    Statements out;
    if (!k.body.empty()) out.push_back(std::move(k));
    return out;
  }

  // The number of loops around that decide a condition: 0 for none.
  std::size_t depth_of(const Expr& condition) const {
    if (has_load(condition)) return around_.size() + 1;
    std::size_t depth = 0;
    for (Id v : ir::free_vars(condition))
      for (std::size_t k = 0; k < around_.size(); ++k)
        if (around_[k].axis == v) depth = std::max(depth, k + 1);
    return depth;
  }

  const Place& place_of(Id buffer) {
    const auto it = current_.find(buffer);
    if (it == current_.end())
      throw InternalError("an access to " + p_.buffer(buffer).name + " outside of the life of its storage");
    last_use_[it->second] = position_;
    return places_[it->second];
  }

  const Stmt& nest() const {
    for (std::size_t k = path_.size(); k-- > 0;)
      if (path_[k]->kind == Stmt::Kind::nest) return *path_[k];
    throw InternalError("a block outside of any nest");
  }

  ir::Substitution values_at(const Stmt& nest) const {
    ir::Substitution values = ir::iter_values(p_, nest);
    for (auto& [id, value] : values) value = known(value);
    return values;
  }

  Statements block(const Stmt& s) {
    const Stmt& in = nest();
    const ir::Stage& stage = p_.stage(s.stage);
    const Parts* parts = parts_here(s);
    Statements first;  // what threads do together stands under no condition
    if (parts && s.piece == Stmt::Piece::begin) {
      first.push_back(
          store_stmt(parts->part, place_of_part(*parts), analysis::identity_of(stage.reducer.kind, parts->type), s.where));
      return first;
    }
    if (parts && s.piece == Stmt::Piece::combine) {
      const Expr at = place_of_part(*parts);
      first.push_back(store_stmt(parts->all, at, load_part(*parts, parts->part, at, s.where), s.where));
    }
    // what must hold: uniform conditions from the outermost loop inwards, then those of lanes
    std::vector<std::pair<std::size_t, Expr>> uniform;
    Expr lanes;
    Facts facts = facts_;
    std::vector<Expr> all = analysis::conditions_of(p_, path_, s.piece != Stmt::Piece::whole && s.piece != Stmt::Piece::update);
    all.insert(all.end(), conditions_.begin(), conditions_.end());
    for (const Expr& c : all) {
      const Expr condition = single_.empty() ? c : analysis::simplify(known(c), facts_);
      if (ir::is_int(condition, 1)) continue;
      if (ir::is_int(condition, std::int64_t{0})) return first;
      if (lane_varying(condition)) {
        lanes = lanes.empty() ? condition : ir::logic_and(lanes, condition);
      } else {
        if (!has_load(condition)) facts.assume(condition);
        uniform.emplace_back(depth_of(condition), condition);
      }
    }
    std::stable_sort(uniform.begin(), uniform.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

    auto find = [this](Id buffer) -> const Place& { return place_of(buffer); };
    Body expressions(values_at(in), facts, lanes, find);
    Body guards(ir::Substitution{}, facts, Expr(), find);
    Statements out = stores(s, in, stage, parts, expressions, facts);
    if (!lanes.empty()) out = guarded(guards.lower(lanes), std::move(out), s.where);
    for (std::size_t k = uniform.size(); k-- > 0;) out = guarded(guards.lower(uniform[k].second), std::move(out), s.where);
    for (KStmt& k : out) first.push_back(std::move(k));
    return first;
  }

  Statements call(const Stmt& s);

  static Statements guarded(Expr condition, Statements body, Where where) {
    Statements out;
    out.push_back(if_stmt(std::move(condition), std::move(body), where));
    return out;
  }

  Statements stores(const Stmt& s, const Stmt& in, const ir::Stage& stage, const Parts* parts, Body& expressions,
                    const Facts& facts) {
    std::vector<Expr> index;  // the stage's own point
    for (const ir::IterVar& v : stage.iters)
      if (v.kind != ir::IterKind::reduce) index.push_back(ir::var(v.id, v.name));
    auto lowered_all = [&](const std::vector<Expr>& list) {
      std::vector<Expr> result;
      for (const Expr& e : list) result.push_back(expressions.lower(e));
      return result;
    };
    auto accumulators = [&] {
      std::vector<Expr> loads;
      for (Id b : stage.buffers) loads.push_back(ir::load(b, p_.buffer(b).name, p_.buffer(b).type, index, stage.where));
      return lowered_all(loads);
    };
    if (!stage.is_reduction()) return store_all(s, stage, index, lowered_all(stage.values), expressions);
    if (s.piece == Stmt::Piece::init) return store_all(s, stage, index, lowered_all(stage.inits), expressions);
    if (parts && s.piece == Stmt::Piece::combine) {
      const Combining& all = draft_.combining.at(parts->all);
      return store_all(s, stage, index,
                       combine(all.stage, s.first_stores ? lowered_all(stage.inits) : accumulators(),
                               {load_part(*parts, parts->all, place_of_part(*parts), s.where)}),
                       expressions);
    }
    const std::vector<Expr> terms = lowered_all(stage.values);
    if (parts) {
      const Expr at = place_of_part(*parts);
      Statements out;
      out.push_back(
          store_stmt(parts->part, at, combine(stage, {load_part(*parts, parts->part, at, s.where)}, terms)[0], s.where));
      return out;
    }
    if (!s.first_stores) return store_all(s, stage, index, combine(stage, accumulators(), terms), expressions);
    Expr first = ir::boolean(true);
    for (const ir::Root& r : in.roots) {
      if (!p_.axis(r.axis).reduce) continue;
      for (Id leaf : ir::leaves_of(p_, r.axis))
        first = ir::logic_and(first, analysis::simplify(ir::eq(known(ir::axis_var(p_, leaf)), ir::index(0)), facts));
    }
    std::int64_t decided = 0;
    const bool is_decided = ir::is_int(first, &decided);
    Statements start, go_on;
    if (!is_decided || decided)
      start = store_all(s, stage, index, combine(stage, lowered_all(stage.inits), terms), expressions);
    if (is_decided && decided) return start;
    go_on = store_all(s, stage, index, combine(stage, accumulators(), terms), expressions);
    if (is_decided) return go_on;
    Statements out = guarded(first, std::move(start), s.where);
    out.front().otherwise = std::move(go_on);
    return out;
  }

  // Stores one value for each component; several are all computed before the first is stored.
  Statements store_all(const Stmt& s, const ir::Stage& stage, const std::vector<Expr>& index, std::vector<Expr> values,
                       Body& expressions) {
    std::vector<Expr> at;
    for (const Expr& i : index) at.push_back(expressions.lower(i));
    std::vector<std::pair<Id, Expr>> lets;
    if (values.size() > 1)
      for (Expr& v : values) {
        lets.emplace_back(p_.fresh(), v);
        v = ir::var(lets.back().first, stage.name + "_new", v.type(), v.node()->where);
      }
    Statements out;
    for (std::size_t c = 0; c < values.size(); ++c)
      out.push_back(
          store_stmt(place_of(stage.buffers[c]).kbuffer, expressions.address(stage.buffers[c], at), values[c], s.where));
    for (std::size_t c = lets.size(); c-- > 0;) {
      KStmt let = let_stmt(lets[c].first, stage.name + "_new", lets[c].second, std::move(out), s.where);
      out.clear();
      out.push_back(std::move(let));
    }
    return out;
  }

  // Whether the address of a load moves with an axis of the nest around it.
  bool moves(const ir::Node& load, const Stmt& nest, Id axis) const {
    const ir::Substitution values = ir::iter_values(p_, nest);
    for (std::uint32_t d = 0; d < load.count; ++d)
      if (ir::uses_var(ir::substitute(load.args[d], values), axis)) return true;
    return false;
  }
  Statements prefetch(const Stmt& s);

  ir::Program& p_;
  const LowerOptions& options_;
  Draft draft_;
  Facts facts_;
  std::vector<const Stmt*> path_;
  std::vector<Around> around_;
  ir::Substitution single_;
  std::vector<Expr> conditions_;  // that loops around have left to their blocks
  Id lane_ = 0;                   // the variable of the vectorized loop around
  Expr lane_begin_;
  std::int64_t lane_count_ = 0;
  std::vector<Place> places_;
  std::vector<std::size_t> last_use_;  // position, a place
  std::map<Id, std::size_t> current_;  // buffer -> place
  std::map<Id, Id> kbuffer_of_;        // alloc -> its buffer
  std::map<Id, Parts> parts_;          // nest -> those of its reduction over threads
  std::vector<Life> lives_;
  std::size_t position_ = 0;
};

// A tensorized loop: one call of its intrinsic, over the tiles that the loop touches.
//
//   for ai in 16   by npu_gemm       becomes       call npu_gemm A=a[0] by (16, 1), B=b[0] by (16, 1), C=acc[0] by (16, 1),
//   zero=zero
Statements Flattener::call(const Stmt& s) {
  ++position_;
  const ir::Intrinsic& f = *p_.intrinsics.at(s.intrinsic);
  const analysis::IntrinsicMatch m = analysis::match_intrinsic(p_, s, f);
  if (!m.matches) throw InternalError("a tensorized loop that is not what " + f.name + " means: " + m.found);
  // What must hold for the block to run holds for the whole tile, with its loops at their begin.
  std::vector<const Stmt*> path = path_;
  for (const Stmt* inner = &s; inner->kind != Stmt::Kind::block; path.push_back(inner)) inner = &inner->body.front();
  ir::Substitution begin = single_;
  for (Id axis : m.axes) begin.emplace_back(axis, ir::index(0));
  Facts facts = facts_;
  std::vector<std::pair<std::size_t, Expr>> uniform;
  std::vector<Expr> all = analysis::conditions_of(p_, path, m.block->piece == Stmt::Piece::init);
  all.insert(all.end(), conditions_.begin(), conditions_.end());
  for (const Expr& c : all) {
    const Expr condition = analysis::simplify(ir::substitute(c, begin), facts_);
    if (ir::is_int(condition, 1)) continue;
    if (ir::is_int(condition, std::int64_t{0})) return {};
    if (!has_load(condition)) facts.assume(condition);
    uniform.emplace_back(depth_of(condition), condition);
  }
  std::stable_sort(uniform.begin(), uniform.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Body expressions(ir::Substitution{}, facts, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); });
  auto made = std::make_shared<ir::Call>();
  made->intrinsic = s.intrinsic;
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    ir::Call::Actual a;
    if (f.operands[k].kind == ir::IntrinsicOperand::Kind::tile) {
      const analysis::TileSite& tile = m.tiles[k];
      a.buffer = place_of(tile.buffer).kbuffer;
      const auto address = [&](std::size_t along) {  // of the first element, or of its neighbour along a dimension
        std::vector<Expr> index;
        for (std::size_t d = 0; d < tile.base.size(); ++d) {
          const std::int64_t step = along < tile.steps.size() ? tile.steps[along][d] : 0;
          index.push_back(expressions.lower(known(ir::add(tile.base[d], ir::index(step)))));
        }
        return expressions.address(tile.buffer, index);
      };
      a.address = address(tile.steps.size());
      for (std::size_t d = 0; d < tile.steps.size(); ++d)
        a.strides.push_back(analysis::simplify(ir::sub(address(d), a.address), facts));
    } else {
      a.address = expressions.lower(known(m.values[k]));
    }
    made->actuals.push_back(std::move(a));
  }
  draft_.kernel.intrinsics.emplace(s.intrinsic, f);
  KStmt k;
  k.kind = KStmt::Kind::call;
  k.where = s.where;
  k.call = std::move(made);
  Statements out;
  out.push_back(std::move(k));
  for (std::size_t n = uniform.size(); n-- > 0;) out = guarded(expressions.lower(uniform[n].second), std::move(out), s.where);
  return out;
}

// The line that the first reader below the loop will read, `ahead` iterations from now: inner loops stand at their begin.
Statements Flattener::prefetch(const Stmt& s) {
  const Stmt* loop = nullptr;
  for (const Stmt* on : path_)
    if (on->kind == Stmt::Kind::loop && on->id == s.loop) loop = on;
  if (!loop) throw InternalError("a prefetch outside of the loop along which it runs");
  std::vector<const Stmt*> reader;
  std::vector<const Stmt*> here{path_.begin(), std::find(path_.begin(), path_.end(), loop)};
  const ir::Node* what = nullptr;
  auto search = [&](auto&& self, const Stmt& at) -> bool {
    here.push_back(&at);
    if (at.kind == Stmt::Kind::block && at.piece != Stmt::Piece::init)
      for (const analysis::Read& r : analysis::reads_of(p_.stage(at.stage)))
        if (r.load.node()->id == s.buffer && std::none_of(ir::args_of(r.load).begin(), ir::args_of(r.load).end(), has_load)) {
          what = r.load.node();
          reader = here;
          return true;
        }
    for (const Stmt& inner : at.body)
      if (self(self, inner)) return true;
    here.pop_back();
    return false;
  };
  if (!search(search, *loop)) throw InternalError("a prefetch of what nothing reads");
  const Stmt* in = nullptr;
  std::vector<ir::Substitution> places{{}};  // where the loops inside stand; an unrolled one stands everywhere
  constexpr std::int64_t most_places = 16;
  for (const Stmt* on : reader) {
    if (on->kind == Stmt::Kind::nest) in = on;
    if (on->kind != Stmt::Kind::loop) continue;
    const bool inside = on != loop && std::find(path_.begin(), path_.end(), on) == path_.end();
    if (on != loop && !inside) continue;
    const ir::LoopRange range = ir::range_of(p_, *on);
    std::int64_t times = 1;
    if (inside && on->loop_kind == LoopKind::unrolled && moves(*what, *in, on->axis))
      if (const Expr extent = known(ir::sub(range.end, range.begin)); ir::is(extent, ir::Op::int_const))
        times = extent.node()->i;
    if (times < 1 || static_cast<std::int64_t>(places.size()) * times > most_places) times = 1;
    std::vector<ir::Substitution> all;
    for (const ir::Substitution& place : places)
      for (std::int64_t k = 0; k < times; ++k) {
        all.push_back(place);
        all.back().emplace_back(on->axis, inside ? ir::add(ir::substitute(range.begin, place), ir::index(k))
                                                 : ir::add(ir::axis_var(p_, on->axis), ir::index(s.ahead)));
      }
    places = std::move(all);
  }
  Statements out;
  for (const ir::Substitution& place : places) {
    ir::Substitution values = ir::iter_values(p_, *in);
    for (auto& [id, value] : values) value = known(ir::substitute(value, place));
    Body expressions(values, facts_, Expr(), [this](Id buffer) -> const Place& { return place_of(buffer); });
    std::vector<Expr> index;
    for (std::uint32_t d = 0; d < what->count; ++d) index.push_back(expressions.lower(what->args[d]));
    KStmt k;
    k.kind = KStmt::Kind::prefetch;
    k.where = s.where;
    k.buffer = place_of(s.buffer).kbuffer;
    k.address = expressions.address(s.buffer, index);
    out.push_back(std::move(k));
  }
  return out;
}

}  // namespace

Draft flatten(ir::Program p, const LowerOptions& options) { return Flattener(p, options).run(); }

}  // namespace ashlar::lower_impl
