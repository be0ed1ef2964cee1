// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scheduled program, run as its tree stands.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include <ashlar/analysis/dropped.h>
#include <ashlar/analysis/promises.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/analysis/tensorize.h>
#include <ashlar/interp/watcher.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/skew.h>

#include "interp/arguments.h"
#include "interp/order.h"
#include "interp/scheduled_code.h"
#include "interp/scheduled_memory.h"

namespace ashlar::interp {
namespace {

using namespace scheduled;
using ir::AllocStmt;
using ir::BlockStmt;
using ir::LoopStmt;
using ir::NestStmt;
using ir::PrefetchStmt;
using ir::Stmt;

class Scheduled final : public PlacedMemory {
 public:
  Scheduled(const ir::Program& p, Arguments& arguments, const Options& options, Watcher* watcher)
      : PlacedMemory(p, options, watcher),
        order_(options),
        described_(options.intrinsics == Options::Intrinsics::described),
        max_blocks_(options.max_blocks) {
    const auto symbols = solve_symbols(p.arguments, p.buffers, p.symbols, p.assumptions, arguments);
    slots_ = Slots(options.vscale);
    bind_values(p.arguments, p.scalars, symbols, arguments, slots_);
    for (std::size_t k = 0; k < p.arguments.size(); ++k)
      if (p.arguments[k].kind != ir::ArgumentKind::scalar) arrays_[p.arguments[k].id] = &arguments[k].array;
    for (const auto& [id, b] : p.buffers)
      if (b.role == ir::Role::constant) arrays_[id] = &(constants_[id] = constant_array(b.type, b.extents, *b.data));
    for (const auto& [id, stage] : p.stages) compile_stage(stage);
    std::vector<const Stmt*> path;
    code_ = compile(p.body, path);
    scheduled::attach_inits(program_, code_);
    idle_ = nothing_to_do(p.arguments, arguments);
  }

  Counters run() {
    if (!idle_) execute(code_);
    for (const auto& [id, array] : arrays_) {
      const Place& place = places_[static_cast<std::size_t>(resolve(id, nullptr))];
      if (place.info->role == ir::Role::output) scheduled::require_written(place);
    }
    for (const auto& [id, s] : stage_code_) counters_.evaluations[id] = s.evaluations;
    return counters_;
  }

 private:
  bool stores(const Stmt& block, const ir::Stage& stage, std::size_t component) const {
    const BlockStmt& leaf = block.get<BlockStmt>();
    return leaf.stores == ir::Stores::all ||
           (leaf.stores == ir::Stores::dropped) == analysis::drops(program_, stage, component);
  }

  // ---- compiling the tree ----------------------------------------------------------------------------------------------
  Tape tape(const Expr& e) { return Tape(e, slots_, *this, Select::lazy); }
  Tape bound(const Expr& e) { return tape(analysis::without_promises(e)); }  // of boxes and loops: there may be no reader

  void compile_stage(const ir::Stage& stage) {
    StageCode& s = stage_code_[stage.id];
    for (const ir::IterVar& v : stage.iters) {
      s.all.push_back(slots_.slot(v.id));
      s.names.push_back(v.name);
      if (v.kind != ir::IterKind::reduce) s.spatial.push_back(s.all.back());
    }
    for (const Expr& e : stage.inits) s.inits.push_back(tape(e));
    if (stage.has_fill) s.fill = tape(stage.fill);
    if (ir::computed_by(stage.values))
      s.external.emplace(stage, slots_, *this);
    else
      s.combiner = Combiner(stage, slots_, *this);
  }

  std::vector<Code> compile(const std::vector<Stmt>& body, std::vector<const Stmt*>& path) {
    std::vector<Code> result;
    for (const Stmt& s : body) {
      path.push_back(&s);
      Code c;
      c.stmt = &s;
      if (const NestStmt* nest = s.as<NestStmt>(); nest && stage_code_.at(nest->stage).external) {
        for (const ir::Root& r : nest->roots) c.box_begin.push_back(bound(r.begin)), c.box_extent.push_back(bound(r.extent));
        path.pop_back(), result.push_back(std::move(c));
        continue;
      }
      if (const LoopStmt* loop = s.as<LoopStmt>()) {
        const ir::LoopRange range = ir::range_of(program_, s);
        c.begin = bound(range.begin);
        c.end = bound(range.end);
        c.slot = slots_.slot(loop->axis);
        c.reduce = program_.axis(loop->axis).reduce;
        if (described_ && loop->kind == ir::LoopKind::tensorized && !scheduled::never_runs(program_, s)) {
          c.call = static_cast<int>(calls_.size());
          calls_.push_back(compile_call(s));
        }
      } else if (s.is<AllocStmt>()) {
        const analysis::Box logical = analysis::logical_box(program_, s.id), physical = analysis::physical_box(program_, s.id);
        for (const Expr& e : logical.lo) c.logical_begin.push_back(bound(e));
        for (const Expr& e : logical.extent) c.logical_extent.push_back(bound(e));
        for (const Expr& e : physical.lo) c.physical_begin.push_back(bound(e));
        for (const Expr& e : physical.extent) c.physical_extent.push_back(bound(e));
      } else if (s.is<BlockStmt>()) {
        c.block = static_cast<int>(blocks_.size());
        blocks_.push_back(compile_block(s, path));
      }
      c.body = compile(s.body(), path);
      if (c.call >= 0) calls_[static_cast<std::size_t>(c.call)].block = static_cast<int>(blocks_.size()) - 1;
      path.pop_back();
      result.push_back(std::move(c));
    }
    return result;
  }

  CallCode compile_call(const Stmt& loop) {
    const ir::Intrinsic& f = *program_.intrinsics.at(loop.get<LoopStmt>().intrinsic);
    CallCode c;
    c.match = analysis::match_intrinsic(program_, loop, f);
    if (!c.match.matches) throw InternalError("a tensorized loop that is not what " + f.name + " means: " + c.match.found);
    c.f = std::make_unique<Described>(f);
    for (Id axis : c.match.axes) c.loops.push_back(slots_.slot(axis));
    for (std::size_t k = 0; k < f.operands.size(); ++k) {
      CallCode::Tile t;
      Tape value;
      if (f.operands[k].kind == ir::IntrinsicOperand::Kind::tile) {
        t.place = resolve(c.match.tiles[k].buffer, nullptr);
        for (const Expr& e : c.match.tiles[k].base) t.base.push_back(tape(e));
      } else {
        value = tape(c.match.values[k]);
      }
      c.tiles.push_back(std::move(t));
      c.values.push_back(std::move(value));
    }
    return c;
  }

  BlockCode compile_block(const Stmt& block, const std::vector<const Stmt*>& path) {
    const BlockStmt& node = block.get<BlockStmt>();
    BlockCode b;
    b.stage = &program_.stage(node.stage);
    const NestStmt* nest = nullptr;
    for (const Stmt* s : path) {
      if (const NestStmt* here = s->as<NestStmt>()) {
        nest = here;
        b.in_reduce_loop = false;
      }
      if (const LoopStmt* loop = s->as<LoopStmt>(); loop && program_.axis(loop->axis).reduce) b.in_reduce_loop = true;
    }
    if (!nest || nest->stage != node.stage) throw InternalError("a block of " + b.stage->name + " outside its nest");
    const ir::Substitution values = ir::iter_values(program_, *nest);
    const bool puts = b.stage->scatters() && node.piece == ir::Piece::update;
    const auto place = [&](const Expr& e) { return b.stage->has_fill ? bound(e) : tape(e); };  // there may be no reader
    for (const auto& [id, value] : values)
      b.iters.emplace_back(slots_.slot(id), puts && b.stage->scattered(id) ? Tape() : place(value));
    if (puts) b.scatter.emplace(program_, *nest, slots_, *this);
    auto add = [&](const Expr& condition, bool uses_reduce, bool promise) {
      b.guards.push_back({place(condition), promise});
      if (!uses_reduce) b.spatial_guards.push_back({place(condition), promise});
    };
    for (const ir::Root& root : nest->roots) {
      if (puts && b.stage->scattered(root.iter)) continue;
      add_axis_guards(root.axis, add);
      if (program_.axis(root.axis).reduce) b.reduces.push_back({slots_.slot(root.iter), tape(root.begin), tape(root.extent)});
    }
    for (const Expr& atom : b.stage->domain) {
      bool uses_reduce = false;
      for (const ir::IterVar& v : b.stage->iters) uses_reduce |= v.kind == ir::IterKind::reduce && ir::uses_var(atom, v.id);
      add(ir::substitute(atom, values), uses_reduce, false);
    }
    for (const Expr& e : node.when) {
      bool uses_reduce = false;
      for (Id v : ir::free_vars(e)) uses_reduce |= program_.axes.count(v) && program_.axis(v).reduce;
      add(e, uses_reduce, false);
    }
    return b;
  }

  // One condition for each split below an axis, and two for each skew: a guard where the tail says so; where it says exact, a
  // promise.
  template <class Add>
  void add_axis_guards(Id id, Add& add) {
    const ir::Axis& a = program_.axis(id);
    for (Id next : a.became) add_axis_guards(next, add);
    for (const Expr& e : ir::skew_conditions(program_, id)) add(e, a.reduce, false);
    if (a.became.size() != 2 || program_.axis(a.became[0]).tail == ir::Tail::pad) return;
    const ir::Tail tail = program_.axis(a.became[0]).tail;
    const bool promise = tail == ir::Tail::exact || tail == ir::Tail::shift;
    add(ir::lt(ir::axis_value(program_, id), promise ? analysis::covered_extent(program_, id) : a.extent), a.reduce, promise);
  }

  // ---- running ---------------------------------------------------------------------------------------------------------
  void execute(std::vector<Code>& body) {
    std::vector<std::pair<int, Storage*>> alive;  // places to give back, with what they held before
    std::vector<std::unique_ptr<Storage>> storages;
    for (Code& c : body) {
      ir::match(
          *c.stmt,
          [&](const NestStmt& nest) {
            if (stage_code_.at(nest.stage).external)
              execute_external(c);
            else
              execute(c.body);
          },
          [](const PrefetchStmt&) {},
          [&](const AllocStmt& alloc) {
            storages.push_back(allocate(c));
            const int place = resolve(alloc.buffer, nullptr);
            alive.emplace_back(place, places_[static_cast<std::size_t>(place)].storage);
            places_[static_cast<std::size_t>(place)].storage = storages.back().get();
          },
          [&](const LoopStmt&) { execute_loop(c); }, [&](const BlockStmt&) { execute_block(c); });
    }
    for (auto it = alive.rbegin(); it != alive.rend(); ++it) {
      Place& place = places_[static_cast<std::size_t>(it->first)];
      live_bytes_ -= place.storage->bytes;
      if (watcher_) watcher_->frees(place.info->id);
      place.storage = it->second;
    }
  }

  std::unique_ptr<Storage> allocate(Code& c) {
    auto s = std::make_unique<Storage>();
    auto fill = [](std::vector<Tape>& tapes, std::vector<std::int64_t>& out) {
      for (Tape& t : tapes) out.push_back(t.run_index());
    };
    fill(c.logical_begin, s->logical.begin);
    fill(c.logical_extent, s->logical.extent);
    fill(c.physical_begin, s->physical.begin);
    fill(c.physical_extent, s->physical.extent);
    const std::int64_t n = s->physical.elements();
    s->elements.resize(static_cast<std::size_t>(n));
    s->tags.resize(static_cast<std::size_t>(n));
    const Id buffer = c.stmt->get<AllocStmt>().buffer;
    s->bytes = n * program_.buffer(buffer).type.bytes();
    live_bytes_ += s->bytes;
    counters_.peak_bytes = std::max(counters_.peak_bytes, live_bytes_);
    ++counters_.allocations;
    std::int64_t& largest = counters_.bytes_of[buffer];
    largest = std::max(largest, s->bytes);
    if (watcher_) watcher_->allocates(buffer, s->physical.begin, s->physical.extent, s->bytes);
    return s;
  }

  void execute_external(Code& c) {
    const ir::Stage& stage = program_.stage(c.stmt->get<NestStmt>().stage);
    current_ = &stage;
    IndexBox box;
    for (Tape& t : c.box_begin) box.begin.push_back(t.run_index());
    for (Tape& t : c.box_extent) box.extent.push_back(t.run_index());
    if (box.elements() > 0) {
      if (watcher_) watcher_->computes(stage.id, box.begin);
      StageCode& s = stage_code_.at(stage.id);
      ++s.evaluations;
      s.external->run(box, slots_, *this, [&](std::size_t component, std::span<const std::int64_t> at, const Value& v) {
        write(places_[static_cast<std::size_t>(resolve(stage.buffers[component], nullptr))], at, v);
      });
    }
    current_ = nullptr;
  }

  void execute_call(Code& code) {
    CallCode& c = calls_[static_cast<std::size_t>(code.call)];
    BlockCode& b = blocks_[static_cast<std::size_t>(c.block)];
    for (int slot : c.loops) slots_.set_index(slot, 0);
    const bool init = c.match.block->get<BlockStmt>().piece == ir::Piece::init;
    const bool runs = enter(b, init ? b.spatial_guards : b.guards, init);
    for (int slot : c.loops) slots_.set_slot(slot, {});
    if (runs) {
      report(b);
      for (std::size_t k = 0; k < c.values.size(); ++k)
        if (!c.values[k].empty()) c.f->set(k, c.values[k].run());
      std::vector<std::vector<std::int64_t>> bases(c.tiles.size());
      for (std::size_t k = 0; k < c.tiles.size(); ++k)
        for (Tape& t : c.tiles[k].base) bases[k].push_back(t.run_index());
      std::vector<std::int64_t> at;
      const auto place = [&](std::size_t k, std::span<const std::int64_t> index) {
        at = bases[k];
        for (std::size_t d = 0; d < index.size(); ++d)
          for (std::size_t x = 0; x < at.size(); ++x) at[x] += index[d] * c.match.tiles[k].steps[d][x];
      };
      for (std::size_t k = 0; k < c.tiles.size(); ++k) {
        if (c.tiles[k].place < 0 || (k == c.f->result() && !c.f->intrinsic().accumulates)) continue;
        c.f->fill(k, [&](std::span<const std::int64_t> index) {
          place(k, index);
          return read(c.tiles[k].place, at.data(), static_cast<int>(at.size()));
        });
      }
      c.f->run();
      const std::size_t result = c.f->result();
      c.f->take([&](std::span<const std::int64_t> index, const Value& v) {
        place(result, index);
        write(places_[static_cast<std::size_t>(c.tiles[result].place)], at, v);
      });
      if (!init) stage_code_.at(b.stage->id).evaluations += c.f->evaluations();
    }
    current_ = nullptr;
  }

  // A sum that starts inside is started by the call itself.
  void execute_loop(Code& c) {
    if (c.call >= 0) return execute_call(c);
    for (const Code* block : c.inits) initialize(c, *block);
    const std::int64_t begin = c.begin.run_index(), end = c.end.run_index();
    iterate(c, begin, end, [&] { execute(c.body); });
  }

  template <class F>
  void iterate(Code& c, std::int64_t begin, std::int64_t end, F&& body) {
    const std::uint64_t run = at_once_ ? at_once_->start(*c.stmt, begin, end) : 0;
    const auto one = [&](std::int64_t x) {
      slots_.set_index(c.slot, x);
      if (watcher_) watcher_->iterates(*c.stmt, x);
      if (at_once_) at_once_->enter(*c.stmt, run, x);
      body();
      if (!at_once_) return;
      if (const std::string other = at_once_->leave(); !other.empty()) throw RunError(RunError::Kind::divergence, other);
    };
    if (ir::is_loop(*c.stmt, ir::LoopKind::parallel))
      for (std::int64_t x : order_.of(begin, end)) one(x);
    else
      for (std::int64_t x = begin; x < end; ++x) one(x);
    if (watcher_) watcher_->leaves(*c.stmt);
    slots_.set_slot(c.slot, {});
  }

  // Stores the init of every spatial point that `block` reaches below the reduction loop `loop`; for a block whose first step
  // starts from the init itself, only where there is no first step.
  void initialize(Code& loop, const Code& block) {
    for (Code& c : loop.body) {
      if (&c == &block) {
        BlockCode& b = blocks_[static_cast<std::size_t>(block.block)];
        if (enter(b, b.spatial_guards, true) && (!block.stmt->get<BlockStmt>().first_stores || empty_domain(b)))
          store_inits(b, *block.stmt);
        current_ = nullptr;
      } else if (c.stmt->is<LoopStmt>() && contains(c, block)) {
        if (c.reduce) {
          initialize(c, block);
          continue;
        }
        const std::int64_t begin = c.begin.run_index(), end = c.end.run_index();
        iterate(c, begin, end, [&] { initialize(c, block); });
      }
    }
  }

  // Gives the iteration variables their values; false where a guard says that the block does not execute.
  bool enter(BlockCode& b, std::vector<Guard>& guards, bool spatial_only) {
    current_ = b.stage;
    for (int slot : stage_code_.at(b.stage->id).all) slots_.set_slot(slot, {});
    for (std::size_t k = 0; k < b.iters.size(); ++k) {
      if ((spatial_only && b.stage->iters[k].kind == ir::IterKind::reduce) || b.iters[k].second.empty()) continue;
      slots_.set_slot(b.iters[k].first, b.iters[k].second.run());
    }
    for (Guard& g : guards) {
      if (g.condition.run().i) continue;
      if (g.promise) throw RunError(RunError::Kind::broken_promise, where() + " leaves a split that was proved exact");
      return false;
    }
    return true;
  }

  std::span<const std::int64_t> point_of(const StageCode& s) {
    for (std::size_t d = 0; d < s.spatial.size(); ++d) point_[d] = slots_.value(s.spatial[d]).i;
    return {point_.data(), s.spatial.size()};
  }

  void report(const BlockCode& b) {
    if (!watcher_) return;
    std::vector<std::int64_t> point;
    for (int slot : stage_code_.at(b.stage->id).all) {
      const Value& v = slots_.value(slot);
      point.push_back(v.type.code == Type::Code::handle ? 0 : v.i);  // an initialization has no reduced ones
    }
    watcher_->computes(b.stage->id, point);
  }

  void store_inits(BlockCode& b, const Stmt& block) {
    StageCode& s = stage_code_.at(b.stage->id);
    for (std::size_t c = 0; c < s.inits.size(); ++c) {
      if (!stores(block, *b.stage, c)) continue;
      const Value v = s.inits[c].run();
      write(places_[static_cast<std::size_t>(resolve(b.stage->buffers[c], nullptr))], point_of(s), v);
    }
  }

  void execute_block(Code& c) {
    if (max_blocks_ && ++executed_ > max_blocks_)
      throw RunError(RunError::Kind::limit, "more than " + std::to_string(max_blocks_) + " executions of blocks");
    BlockCode& b = blocks_[static_cast<std::size_t>(c.block)];
    StageCode& s = stage_code_.at(b.stage->id);
    const BlockStmt& leaf = c.stmt->get<BlockStmt>();
    const bool init_only = leaf.piece == ir::Piece::init;
    if (enter(b, init_only ? b.spatial_guards : b.guards, init_only)) {
      const bool reduces = b.stage->is_reduction();
      const bool first = reduces && leaf.first_stores && at_first_step(b, slots_);
      if (init_only || (reduces && leaf.piece == ir::Piece::whole && !b.in_reduce_loop && !leaf.first_stores))
        store_inits(b, *c.stmt);
      const auto at = init_only ? std::nullopt : b.scatter ? b.scatter->target() : std::optional(point_of(s));
      if (at) {
        report(b);
        std::vector<Value> result;
        combines_ = b.stage->atomic && !init_only;
        if (reduces) {
          for (std::size_t k = 0; k < b.stage->buffers.size(); ++k) {
            result.push_back(first ? s.inits[k].run()
                                   : read(resolve(b.stage->buffers[k], nullptr), at->data(), static_cast<int>(at->size())));
          }
          s.evaluations += leaf.stores != ir::Stores::dropped;
          combines_ = false;
          s.combiner.step(result);
          combines_ = b.stage->atomic;
        } else if (s.fill && outside_source(b)) {
          result.push_back(s.fill->run());
        } else {
          ++s.evaluations;
          s.combiner.values(result);
        }
        for (std::size_t k = 0; k < result.size(); ++k)
          if (stores(*c.stmt, *b.stage, k))
            write(places_[static_cast<std::size_t>(resolve(b.stage->buffers[k], nullptr))], *at, result[k]);
        combines_ = false;
      }
    }
    current_ = nullptr;
  }

  // A cache with a fill value: does this point lie outside the box of what it copies?
  bool outside_source(BlockCode& b) {
    Place& source = places_[static_cast<std::size_t>(resolve(b.stage->origin_of, nullptr))];
    const auto at = point_of(stage_code_.at(b.stage->id));
    if (source.array) {
      for (std::size_t d = 0; d < at.size(); ++d)
        if (at[d] < 0 || at[d] >= source.array->shape[d]) return true;
      return false;
    }
    if (!source.storage) throw InternalError("a cache of " + source.info->name + " outside the life of its alloc");
    const ir::Stage& from = program_.stage(source.info->stage);
    if (source.domain_begin.empty() && !from.iters.empty() && !from.iters.front().begin.empty())
      for (const ir::IterVar& v : from.iters)
        if (v.kind != ir::IterKind::reduce) {
          source.domain_begin.push_back(tape(v.begin));
          source.domain_end.push_back(tape(v.end));
        }
    if (source.domain_begin.empty()) return !source.storage->logical.contains(at);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < source.domain_begin[d].run_index() || at[d] >= source.domain_end[d].run_index()) return true;
    return false;
  }

  IterationOrder order_;
  const bool described_;
  std::int64_t max_blocks_, executed_ = 0;
  std::map<Id, Array> constants_;
  std::deque<BlockCode> blocks_;
  std::deque<CallCode> calls_;
  std::vector<Code> code_;
  std::array<std::int64_t, 8> point_{};
  std::int64_t live_bytes_ = 0;
  bool idle_ = false;
  Counters counters_;
};

}  // namespace

static Counters run(const ir::Program& all, Arguments& arguments, const Options& options, Watcher* watcher) {
  ir::Program apart = analysis::take_dropped_apart(taken(all, arguments));
  if (!analysis::regions_are_known(apart)) analysis::derive_regions(apart);
  return Scheduled(apart, arguments, options, watcher).run();
}
Counters run(const ir::Program& p, Arguments& arguments, const Options& options) { return run(p, arguments, options, nullptr); }
Counters run(const ir::Program& p, Arguments& arguments, const Options& options, Watcher& watcher) {
  return run(p, arguments, options, &watcher);
}

}  // namespace ashlar::interp
