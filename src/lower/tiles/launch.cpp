// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the caller of a tile kernel passes (block.h): tensors with their facts, parameters, and the grid.
#include <algorithm>
#include <cctype>
#include <set>

#include <ashlar/analysis/regions.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "lower/nodes.h"
#include "lower/tiles/block.h"

namespace ashlar::lowering {

namespace {

// The largest power of two, up to 128, that divides every value of an expression.
std::int64_t divisor_of(const Expr& e, const analysis::Facts& facts) {
  const analysis::Congruence c = analysis::congruence(e, facts);
  std::int64_t n = 128;
  while (n > 1 && (c.modulus % n || c.remainder % n)) n /= 2;
  return n;
}

// 8 if a loop carries more than the registers of 4 warps hold beside all other values; 0: any number.
int warps_for(const ir::tile::Body& body) {
  constexpr std::int64_t registers = 4 * 32 * 160;  // of 32 bits
  for (const ir::tile::Stmt& s : body) {
    const auto* loop = s.as<ir::tile::For>();
    if (!loop) continue;
    std::int64_t carried = 0;
    for (const ir::tile::Carried& c : loop->carried)
      carried += c.parameter.type.elements() * c.parameter.type.element.bytes() / 4;
    if (carried > registers || warps_for(loop->body)) return 8;
  }
  return 0;
}

}  // namespace

Id BlockLowering::parameter(const std::string& name, const Expr& value) {
  for (std::size_t i = 0; i < launch_.parameters.size(); ++i)
    if (!launch_.parameters[i].value.empty() && ir::same(launch_.parameters[i].value, value)) return parameters_[i];
  const bool not_negative = analysis::can_prove(ir::ge(value, ir::index(0)), facts_);
  const Id id = b_.parameter(name, {.type = i32, .divisor = divisor_of(value, facts_), .not_negative = not_negative});
  parameters_.push_back(id);
  launch_.parameters.push_back({value, 0, 0});
  return id;
}

ir::tile::Extent BlockLowering::extent(const std::string& name, const Expr& e) {
  std::int64_t n = 0;
  if (ir::is_int(e, &n) && n > 0) return {0, n};
  return {parameter(ir::is(e, Op::var) ? e.node()->name : name, e), 0};
}

// The stride of a dimension, as a scalar; 0 where it is 1.
Id BlockLowering::stride(const ir::Buffer& b, int dim) {
  tensor_of(b, b.where);
  const ir::tile::Extent& e = strides_.at(b.id)[static_cast<std::size_t>(dim)];
  if (e.parameter) return e.parameter;
  return e.constant == 1 ? Id{0} : b_.integer(i32, e.constant);
}

Id BlockLowering::constant_tensor(const ir::Buffer& b) {
  std::vector<std::int64_t> extents;
  for (const Expr& e : b.extents) {
    extents.push_back(0);
    ir::is_int(e, &extents.back());
  }
  const Id id = b_.constant_tensor(b.name, b.type.is_bool() ? u8 : b.type, extents, b.data);
  std::int64_t dense = 1;
  std::vector<ir::tile::Extent> strides(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) strides[d] = {0, dense}, dense *= extents[d];
  strides_[b.id] = strides;
  return tensors_[b.id] = id;
}

Id BlockLowering::tensor_of(const ir::Buffer& b, Where where) {
  if (const auto it = tensors_.find(b.id); it != tensors_.end()) return it->second;
  if (!b.layout.map.empty() || !b.layout.strides.empty() || b.packed_by_caller)
    refuse("tiles", "arguments without a layout of their own", b.name, where);
  if (b.type.is_packed()) refuse("tiles", "elements of at least a byte", b.name + " of " + ir::text(b.type), where);
  if ((b.type == e4m3 || b.type == e5m2) && options_.chip == "sm_80")
    refuse("tiles", "elements of a type that sm_80 has",
           b.name + " of " + ir::text(b.type) + ", which chips have from sm_89 on", where);
  if (b.role == ir::Role::constant) return constant_tensor(b);
  const std::size_t rank = b.extents.size();
  const std::int64_t bytes = b.type.bytes(), unit = options_.aligned ? std::max<std::int64_t>(1, line_bytes / bytes) : 1;
  std::vector<ir::tile::Extent> extents, strides;
  std::vector<Expr> lengths;  // of an empty box of a stage an extent may be negative, of a tensor none
  for (std::size_t d = 0; d < rank; ++d) {
    const Expr e = analysis::simplify(b.extents[d], facts_);
    const bool sure = analysis::can_prove(ir::ge(e, ir::index(0)), facts_);
    lengths.push_back(sure ? e : analysis::simplify(ir::max(e, ir::index(0)), facts_));
    extents.push_back(extent(b.name + "_extent" + std::to_string(d), lengths[d]));
  }
  Expr dense = ir::index(1);
  strides.assign(rank, {0, 1});
  for (std::size_t d = rank; d-- > 0;) {
    const std::string name = b.name + "_stride" + std::to_string(d);
    const bool last = d + 1 == rank;
    if (b.order == ir::Buffer::Order::dense) {
      strides[d] = extent(name, dense);
      dense = analysis::simplify(ir::mul(dense, lengths[d]), facts_);
    } else if (!last || b.order == ir::Buffer::Order::any) {
      const Id id = b_.parameter(name, {.type = i32, .divisor = last ? 1 : unit, .not_negative = true});
      parameters_.push_back(id);
      launch_.parameters.push_back({Expr(), b.id, static_cast<int>(d)});
      strides[d] = {id, 0};
      if (!last && unit > 1) launch_.conditions.push_back({b.id, static_cast<int>(d), unit});
    }
  }
  for (const std::vector<ir::tile::Extent>& all : {extents, strides})
    for (const ir::tile::Extent& e : all)
      if (e.constant > ir::tile::largest_extent)
        refuse("tiles", "extents and strides of at most 2^31 - 2^24", b.name + " with " + std::to_string(e.constant), where);
  const std::int64_t align = options_.aligned ? std::max(line_bytes, b.align) : std::max<std::int64_t>(1, b.align);
  if (options_.aligned && b.align < line_bytes) launch_.conditions.push_back({b.id, -1, line_bytes});
  strides_[b.id] = strides;
  launch_.tensors.push_back(b.id);
  const Type element = b.type.is_bool() ? u8 : b.type;
  return tensors_[b.id] = b_.tensor(b.name, element, extents, strides, align, b.role == ir::Role::output);
}

void BlockLowering::bind(const Stmt& s) {
  const LoopStmt& l = s.get<LoopStmt>();
  const std::size_t axis = l.bound_to.dim;
  if (l.part != ir::Part::all) refuse("bind", "a whole loop over blocks", p_.axis(l.axis).name + ", a part of one", s.where);
  const ir::LoopRange range = ir::range_of(p_, s);
  const Expr extent = known(ir::sub(range.end, range.begin));
  const std::vector<Id> vars = ir::free_vars(extent);
  if (std::any_of(vars.begin(), vars.end(), [&](Id v) { return !p_.symbols.count(v); }))
    refuse("bind", "a number of blocks that is known before the launch", p_.axis(l.axis).name + " in " + ir::text(extent),
           s.where);
  if (!launch_.grid[axis].empty())
    refuse("bind", "one loop for each axis of the grid", p_.axis(l.axis).name + ", the second over this one", s.where);
  launch_.grid[axis] = extent;
  scalars_[l.axis] = b_.block(static_cast<int>(axis));
  blocks_.insert(l.axis);
}

// Buffers whose elements are parts of indices or conditions, of stages in a block by way of others.
void BlockLowering::find_indices() {
  const auto add = [&](const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, Op::load)) indices_.insert(x.node()->id);
      return true;
    });
  };
  for (const auto& [id, stage] : p_.stages) {
    for (const Expr& e : stage.values)
      ir::walk(e, [&](const Expr& x) {
        if (ir::is(x, Op::load))
          for (const Expr& i : ir::args_of(x)) add(i);
        return true;
      });
  }
  for (std::size_t before = 0; before != indices_.size();) {
    before = indices_.size();
    for (const auto& [id, stage] : p_.stages)
      if (std::any_of(stage.buffers.begin(), stage.buffers.end(), [&](Id b) { return indices_.count(b) != 0; }))
        for (const Expr& e : stage.values) add(e);
  }
}

// Those about an access to the buffer by the launch.
std::vector<ir::Hint> BlockLowering::hints(Id buffer, bool view) {
  std::vector<ir::Hint> list;
  for (const ir::TileHint& h : p_.hints) {
    if (h.stage != launched_ || h.buffer != buffer || (h.hint.kind == ir::HintKind::tma && !view)) continue;
    taken_.insert(&h);
    list.push_back(h.hint);
  }
  return list;
}

// Those about the launch; 8 warps for many sums, where the schedule says nothing.
void BlockLowering::hints_of_launch() {
  bool warps = false;
  for (const ir::TileHint& h : p_.hints) {
    if (h.stage != launched_ || h.buffer) continue;
    launch_.kernel.hints.push_back(h.hint);
    warps = warps || (h.hint.kind == ir::HintKind::worker_warps && h.hint.chip.empty());
  }
  if (const int n = warps_for(launch_.kernel.body); n && !warps)
    launch_.kernel.hints.push_back({ir::HintKind::worker_warps, n, ""});
}

TileLaunch BlockLowering::run(const Stmt& root, TakenHints& taken) {
  launched_ = root.get<NestStmt>().stage;
  find_indices();
  path_.push_back(&root);
  nest(root);
  launch_.kernel = std::move(b_).kernel();
  hints_of_launch();
  taken.insert(taken_.begin(), taken_.end());
  for (Expr& e : launch_.grid)
    if (e.empty()) e = ir::index(1);
  launch_.where = root.where;
  ir::tile::verify(launch_.kernel);
  return std::move(launch_);
}

}  // namespace ashlar::lowering

namespace ashlar::lowering {

// Are the dimensions in their order, but for those that it lacks (drop_dim)?
static bool lacks_dimensions_alone(const ir::Layout& l) {
  std::size_t next = 0;
  for (std::size_t d = 0; d < l.vars.size(); ++d) {
    if (std::find(l.dropped.begin(), l.dropped.end(), static_cast<int>(d)) != l.dropped.end()) continue;
    if (next >= l.map.size() || !ir::is(l.map[next], Op::var) || l.map[next].node()->id != l.vars[d]) return false;
    ++next;
  }
  return !l.dropped.empty() && next == l.map.size() && l.align_dim < 0;
}

}  // namespace ashlar::lowering

namespace ashlar {

std::vector<TileTemporary> tile_temporaries(const ir::Program& p) {
  std::vector<TileTemporary> all;
  for (const ir::Stmt& s : p.body) {
    const auto* a = s.as<ir::AllocStmt>();
    if (!a || p.buffer(a->buffer).role != ir::Role::temporary) continue;
    const ir::Buffer& b = p.buffer(a->buffer);
    const bool at_root = std::any_of(p.body.begin(), p.body.end(), [&](const ir::Stmt& n) {
      const auto* nest = n.as<ir::NestStmt>();
      return nest && nest->stage == b.stage;
    });
    if (!at_root)
      refuse("tiles", "stages that are stored where they are computed: at the root, or in a block",
             b.name + ", stored further out", b.where);
    if (!(b.scope == Scope::global))
      refuse("tiles", "storage in Scope::global between launches", b.name + " in Scope::" + b.scope.name, b.where);
    analysis::Box box = analysis::logical_box(p, s.id);
    for (const Expr& e : box.extent)
      for (const ir::Id v : ir::free_vars(e))
        if (!p.symbols.count(v)) refuse("tiles", "storage with a bound over the symbols", b.name, b.where);
    std::vector<int> lacks = b.layout.dropped;
    std::sort(lacks.rbegin(), lacks.rend());
    for (const int d : lacks) box.lo.erase(box.lo.begin() + d), box.extent.erase(box.extent.begin() + d);
    all.push_back({b.id, std::move(box.lo), std::move(box.extent)});
  }
  return all;
}

namespace {

// Hints about accesses that no launch of the stage makes.
void refuse_the_rest(const ir::Program& p, ir::Id stage, const lowering::TakenHints& taken) {
  const std::string of = p.stage(stage).name;
  for (const ir::TileHint& h : p.hints) {
    if (h.stage != stage || !h.buffer || taken.count(&h)) continue;  // or a step removed it
    const bool tma = h.hint.kind == ir::HintKind::tma;
    ashlar::refuse("hint_access",
                   tma ? "a tensor that the launch of " + of + " loads or stores by tiles of a view"
                       : "a tensor that the launch of " + of + " loads or stores",
                   (p.buffers.count(h.buffer) ? p.buffer(h.buffer).name : "one that is gone") +
                       (tma ? ", whose elements are accessed one by one" : ""),
                   h.where);
  }
}

// A name that a linker takes, and no other entry has.
std::string entry_name(std::string name, std::set<std::string>& names) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  std::string unique = name;
  for (int n = 2; !names.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
  return unique;
}

}  // namespace

std::vector<TileLaunch> lower_to_tiles(const ir::Program& p, const TileOptions& options) {
  if (!p.variants.empty())
    ashlar::refuse("tiles", "a program without variants (lower_tiles takes those)", "one that was specialized",
                   p.variants[0].where);
  for (const ir::TileHint& h : p.hints)
    if (std::none_of(p.body.begin(), p.body.end(), [&](const ir::Stmt& s) { return ir::is_nest_of(s, h.stage); })) {
      const auto stage = p.stages.find(h.stage);
      ashlar::refuse(h.buffer ? "hint_access" : "hint_launch", "a stage with a launch of its own",
                     stage == p.stages.end() ? "one that is no longer computed"
                                             : stage->second.name + ", which is computed inside of another one",
                     h.where);
    }
  std::vector<TileLaunch> launches;
  std::set<std::string> names;
  lowering::StoredStages stored;
  for (const TileTemporary& t : tile_temporaries(p)) {
    const ir::Layout layout = p.buffer(t.buffer).layout;
    lowering::StoredStage& s =
        stored.emplace(t.buffer, lowering::StoredStage{p.buffer(t.buffer), t.begin, layout.dropped}).first->second;
    if (lowering::lacks_dimensions_alone(layout)) s.as.layout = {}, s.as.rank = static_cast<int>(t.extents.size());
    s.as.extents = t.extents, s.as.role = ir::Role::output, s.as.order = ir::Buffer::Order::dense;
    s.as.align = std::max<std::int64_t>(64, s.as.align);  // as the workspace places it
  }
  const auto nests = std::count_if(p.body.begin(), p.body.end(), [](const ir::Stmt& s) { return s.is<ir::NestStmt>(); });
  for (const ir::Stmt& s : p.body) {
    const ir::NestStmt* nest = s.as<ir::NestStmt>();
    if (!nest) continue;
    const std::string base = nests == 1 ? p.name : p.name + "_" + p.stage(nest->stage).name;
    const std::vector<ir::Stmt> pieces = lowering::pieces_of(p, s);
    lowering::TakenHints taken;
    for (const ir::Stmt& piece : pieces) {
      const bool init = pieces.size() == 2 && &piece == pieces.data();
      launches.push_back(
          lowering::BlockLowering(p, options, stored, entry_name(init ? base + "_init" : base, names)).run(piece, taken));
    }
    refuse_the_rest(p, nest->stage, taken);
    for (const ir::Id id : p.stage(nest->stage).buffers) {  // what later launches read
      ir::Buffer b = p.buffer(id);
      const std::vector<Expr> begin(b.extents.size(), ir::index(0));
      lowering::StoredStage& done = stored.emplace(id, lowering::StoredStage{std::move(b), begin, {}}).first->second;
      done.as.role = ir::Role::input;
    }
  }
  return launches;
}

}  // namespace ashlar
