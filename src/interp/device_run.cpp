// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch: compiling its body, running its clusters, plain statements.
#include "interp/device_run.h"

#include <algorithm>

#include <ashlar/analysis/fragment.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"

namespace ashlar::interp {

void run_launch(const ir::Kernel& k, const ir::KLaunch& launch, const Slots& host, GlobalMemory& memory, Speaker& speaker,
                const Options& options) {
  struct Quiet {
    Speaker& s;
    ~Quiet() { s.speak(nullptr); }
  } quiet{speaker};
  device::DeviceRun run(k, launch, host, memory, options);
  speaker.speak(&run);
  run.run();
}

namespace device {

using K = Sync::Kind;

DeviceRun::DeviceRun(const ir::Kernel& k, const ir::KLaunch& launch, const Slots& host, GlobalMemory& memory,
                     const Options& options)
    : kernel_(k), launch_(launch), global_(memory), options_(options), slots_(host) {
  for (int d = 0; d < 3; ++d) {
    grid_[d] = host_value(launch_.grid[d], 1);
    cluster_[d] = host_value(launch_.cluster[d], 1);
  }
  warpgroup_ = 4 * launch_.warp;
  for (const auto& [id, b] : k.buffers) {
    BufferInfo i;
    i.info = &b;
    i.size = b.type.bytes();
    switch (b.storage) {
      case ir::Storage::registers:
      case ir::Storage::stack:
        i.elements = host_value(b.elements, 0);
        i.index = static_cast<int>(register_files_.size());
        register_files_.push_back(i.elements);
        break;
      case ir::Storage::shared:
        i.elements = host_value(b.elements, 0);
        i.offset = host_value(b.offset, 0);
        if (i.offset < 0 || i.offset + i.elements * i.size > launch_.shared_bytes) continue;  // of another launch
        break;
      case ir::Storage::barrier:
        i.elements = host_value(b.elements, 0);
        i.index = barriers_;
        for (std::int64_t e = 0; e < i.elements; ++e) barrier_names_.push_back(b.name + "[" + std::to_string(e) + "]");
        barriers_ += static_cast<int>(i.elements);
        break;
      case ir::Storage::argument:
      case ir::Storage::workspace:
      case ir::Storage::constant:
        i.index = memory.global(id);
        i.elements = memory.elements_of(i.index);
        break;
    }
    buffer_of_[id] = static_cast<int>(buffers_.size());
    buffers_.push_back(i);
  }
  for (const auto& [id, m] : k.tensor_maps) {
    MapInfo i;
    i.map = &m;
    i.buffer = resolve(m.buffer, m.name.c_str());
    for (const Expr& e : m.extents) i.extents.push_back(host_value(e, 1));
    for (const Expr& e : m.strides) i.strides.push_back(host_value(e, 1));
    if (i.extents.size() != m.box.size() || i.strides.size() != m.box.size())
      throw InternalError("the tensor map " + m.name + " has extents, strides and a box of different ranks");
    map_of_[id] = static_cast<int>(maps_.size());
    maps_.push_back(std::move(i));
  }
  for (const auto& [id, f] : k.intrinsics) {
    intrinsic_of_[id] = static_cast<int>(intrinsics_.size());
    add_intrinsic(f);
  }
  for (Id id : {launch_.block[0], launch_.block[1], launch_.block[2], launch_.thread})
    if (id != 0) slots_.slot(id);
  code_ = compile(launch.body);
  initial_ = slots_.values();
  n_ = static_cast<int>(launch_.threads * cluster_[0] * cluster_[1] * cluster_[2]);
  const int blocks = n_ / static_cast<int>(launch_.threads);
  product_agents_ = n_ / warpgroup_ + 1;
  agents_ = 4 * n_ + product_agents_ + blocks * barriers_;
}

std::int64_t DeviceRun::host_value(const Expr& e, std::int64_t otherwise) {
  return e.empty() ? otherwise : Tape(e, slots_, *this, Select::strict).run_index();
}

void DeviceRun::add_intrinsic(const ir::Intrinsic& f) {
  IntrinsicInfo info;
  info.f = &f;
  if (f.value.empty() && !Native::find(f.device))
    throw InternalError("the intrinsic " + f.name + " has neither a description nor a native function");
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const ir::IntrinsicOperand& o = f.operands[k];
    TileInfo tile;
    for (std::int64_t e : o.shape) tile.count *= e;
    if (o.kind == ir::IntrinsicOperand::Kind::tile && !o.map.empty()) {
      Slots vars;
      std::vector<Tape> map;
      for (const Expr& e : o.map) map.emplace_back(e, vars, *this, Select::lazy);
      for_each_index(o.shape, [&](std::span<const std::int64_t> at) {
        for (std::size_t d = 0; d < at.size(); ++d) vars.set(o.vars.at(d), ir::int_value(ir::index_type, at[d]));
        Location l{-1, map.back().run_index()};
        if (map.size() == 2) l.thread = static_cast<int>(map[0].run_index());
        if (l.thread >= f.group)
          throw InternalError("the intrinsic " + f.name + " puts an element into a thread outside its group");
        tile.elements.push_back(l);
      });
      if (o.place == ir::IntrinsicOperand::Place::registers && map.size() == 2)
        if (const analysis::FragmentRead held = analysis::fragment(o, f.group); held.fragment)
          tile.copies = held.fragment->copies;
    }
    info.tiles.push_back(std::move(tile));
    if (o.completion != ir::Completion::call) info.asynchronous = true;
    if (o.access != ir::IntrinsicOperand::Access::read &&
        (o.kind == ir::IntrinsicOperand::Kind::tile || o.kind == ir::IntrinsicOperand::Kind::tensor_map)) {
      info.result = static_cast<int>(k);
      info.completion = o.completion;
    }
  }
  if (info.result < 0) throw InternalError("the intrinsic " + f.name + " writes nothing");
  intrinsics_.push_back(std::move(info));
}

std::vector<Code> DeviceRun::compile(const std::vector<KStmt>& body) {
  std::vector<Code> result;
  result.reserve(body.size());
  for (const KStmt& s : body) {
    if (s.is<ir::KPrefetch>()) continue;
    Code& c = result.emplace_back();
    c.stmt = &s;
    s.visit(
        [&](const ir::KFor& n) {
          c.loop = &n;
          c.slot = slots_.slot(n.var, c.lanes);
          c.begin = tape(n.begin);
          c.extent = tape(n.extent);
          c.body = compile(n.body);
        },
        [&](const ir::KIf& n) {
          c.value = tape(n.condition);
          c.body = compile(n.body);
          c.otherwise = compile(n.otherwise);
        },
        [&](const ir::KLet& n) {
          c.lanes = n.value.type().lanes;
          c.slot = slots_.slot(n.var, c.lanes);
          c.value = tape(n.value);
          c.body = compile(n.body);
        },
        [&](const ir::KStore& n) {
          c.value = tape(n.value);
          c.address = tape(n.address);
          c.mask = tape(n.mask);
          c.buffer = resolve(n.buffer, nullptr);
          c.lanes = n.value.type().lanes;
          if (n.address.type().lanes != c.lanes) throw InternalError("kernel: a store of other lanes than its address");
        },
        [&](const Sync& n) { compile_sync(n, c); }, [&](const ir::KCall& n) { compile_call(n, c); },
        [](const ir::KPrefetch&) {}, [](const ir::KLaunch&) { throw InternalError("kernel: a launch inside a launch"); });
  }
  for (Code& c : result) {
    c.number = static_cast<int>(codes_.size());
    codes_.push_back(&c);
  }
  return result;
}

namespace {
// Do all threads of a group take part? A group may be one thread: a block of one has barriers too.
bool is_meeting(ir::Sync::Kind kind) {
  return kind == K::block || kind == K::warp || kind == K::named || kind == K::named_arrive || kind == K::cluster_arrive ||
         kind == K::cluster_wait;
}
}  // namespace

void DeviceRun::compile_sync(const Sync& s, Code& c) {
  c.index = tape(s.index);
  c.count = tape(s.count);
  c.bytes = tape(s.bytes);
  c.parity = tape(s.parity);
  c.rank = tape(s.rank);
  if (s.buffer != 0) c.buffer = resolve(s.buffer, nullptr);
  const bool products = s.group == ir::Completion::product_group;
  switch (s.kind) {
    case K::block:
      c.width = launch_.threads;
      break;
    case K::named:
    case K::named_arrive:
    case K::warp:
    case K::cluster_arrive:
    case K::cluster_wait:
      c.width = launch_.warp;
      break;
    case K::fence_product:
    case K::registers:
      c.width = warpgroup_;
      break;
    case K::commit:
    case K::wait:
    case K::wait_read:
      c.width = products ? warpgroup_ : 1;
      break;
    default:
      c.width = 1;
  }
}

void DeviceRun::compile_call(const ir::KCall& call, Code& c) {
  c.intrinsic = intrinsic_of_.at(call.intrinsic);
  const ir::Intrinsic& f = *intrinsics_[static_cast<std::size_t>(c.intrinsic)].f;
  c.width = f.group;
  if (call.actuals.size() != f.operands.size()) throw InternalError("kernel: a call of " + f.name + " with other operands");
  for (const ir::Call::Actual& a : call.actuals) {
    ActualCode& code = c.actuals.emplace_back();
    if (const auto map = map_of_.find(a.buffer); map != map_of_.end())
      code.tensor_map = map->second;
    else if (a.buffer != 0)
      code.buffer = resolve(a.buffer, nullptr);
    code.address = tape(a.address);
    for (const Expr& p : a.positions) code.positions.push_back(tape(p));
  }
}

// ---- running -------------------------------------------------------------------------------------------------------------

void DeviceRun::run() {
  std::int64_t clusters[3] = {};
  for (int d = 0; d < 3; ++d) {
    if (grid_[d] <= 0) return;
    if (cluster_[d] < 1 || grid_[d] % cluster_[d] != 0)
      fail(RunError::Kind::broken_promise,
           "a grid of " + std::to_string(grid_[d]) + " blocks is not made of clusters of " + std::to_string(cluster_[d]));
    clusters[d] = grid_[d] / cluster_[d];
  }
  if (options_.races)
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const ir::Storage s = buffers_[b].info->storage;
      if (s == ir::Storage::workspace || (s == ir::Storage::argument && buffers_[b].info->written))
        global_shadows_[static_cast<int>(b)].reset(static_cast<std::size_t>(buffers_[b].elements));
    }
  IterationOrder order(options_);
  const std::int64_t total = clusters[0] * clusters[1] * clusters[2];
  std::int64_t number = 0;
  for (std::int64_t c : order.of(0, total)) {
    const std::int64_t first[3] = {c % clusters[0] * cluster_[0], c / clusters[0] % clusters[1] * cluster_[1],
                                   c / (clusters[0] * clusters[1]) * cluster_[2]};
    start_cluster(number++, first);
    run_cluster();
    end_cluster();
  }
}

void DeviceRun::start_cluster(std::int64_t number, const std::int64_t (&first)[3]) {
  base_ = static_cast<std::uint32_t>(number * agents_);
  const auto blocks = static_cast<std::size_t>(n_ / launch_.threads);
  const Clocks none{Clock(static_cast<std::size_t>(options_.races ? agents_ : 0)),
                    Clock(static_cast<std::size_t>(options_.races ? n_ : 0))};
  blocks_.clear();
  blocks_.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    Block& k = blocks_[b];
    const auto rank = static_cast<std::int64_t>(b);
    k.number[0] = first[0] + rank % cluster_[0];
    k.number[1] = first[1] + rank / cluster_[0] % cluster_[1];
    k.number[2] = first[2] + rank / (cluster_[0] * cluster_[1]);
    k.bytes.resize(static_cast<std::size_t>(launch_.shared_bytes));
    k.owner.resize(k.bytes.size());
    if (options_.races) k.shadow.reset(k.bytes.size());
    k.barriers.resize(static_cast<std::size_t>(barriers_));
    for (MBarrier& m : k.barriers) m.arriving = m.done = none;
  }
  cluster_barrier_ = {};
  cluster_barrier_.arriving = cluster_barrier_.done = none;
  products_.assign(static_cast<std::size_t>(product_agents_), {});
  operations_.clear();
  unwritten_.clear();
  threads_.clear();
  threads_.resize(static_cast<std::size_t>(n_));
  for (int t = 0; t < n_; ++t) {
    Thread& x = thread(t);
    x.number = t;
    x.block = static_cast<int>(t / launch_.threads);
    x.in_block = t % launch_.threads;
    x.slots = initial_;
    for (int d = 0; d < 3; ++d)
      if (launch_.block[d] != 0)
        x.slots[static_cast<std::size_t>(slots_.slot(launch_.block[d]))] =
            ir::int_value(ir::index_type, block(x.block).number[d]);
    if (launch_.thread != 0)
      x.slots[static_cast<std::size_t>(slots_.slot(launch_.thread))] = ir::int_value(ir::index_type, x.in_block);
    for (std::int64_t n : register_files_) x.registers.emplace_back(static_cast<std::size_t>(n));
    x.clocks = none;
    if (options_.races) tick(x);
    x.stack.push_back({&code_});
  }
}

void DeviceRun::enter(Thread& t) {
  if (current_ == &t) return;
  leave();
  slots_.swap_values(t.slots);
  current_ = &t;
}

void DeviceRun::leave() {
  if (current_) slots_.swap_values(current_->slots);
  current_ = nullptr;
}

void DeviceRun::run_cluster() {
  for (;;) {
    bool ran = false, alive = false;
    for (Thread& t : threads_) {
      if (t.state == Thread::State::done) continue;
      alive = true;
      if (!runnable(t)) continue;
      ran = true;
      advance(t);
    }
    if (!alive) break;
    if (!ran) report_deadlock();
  }
  leave();
}

bool DeviceRun::runnable(Thread& t) {
  switch (t.state) {
    case Thread::State::ready:
      return true;
    case Thread::State::mbarrier:
      enter(t);  // what it finds is reported as this thread's
      code_now_ = t.at;
      return passed(t.block, t.barrier, t.parity);
    case Thread::State::cluster:
      return cluster_barrier_.generation > t.cluster_phase;
    default:
      return false;
  }
}

void DeviceRun::advance(Thread& t) {
  enter(t);
  t.state = Thread::State::ready;
  while (t.state == Thread::State::ready) {
    if (t.stack.empty()) {
      end_thread(t);
      return;
    }
    Frame& f = t.stack.back();
    if (f.at == f.list->size()) {
      if (f.loop && ++f.x < f.end) {
        slots_.set_index(f.loop->slot, f.x);
        f.at = 0;
      } else {
        t.stack.pop_back();
      }
      continue;
    }
    Code& c = (*f.list)[f.at];
    code_now_ = &c;
    try {
      if (!next_statement(t, c)) return;
    } catch (RunError& e) {
      if (e.lines.empty()) add_lines(e, {c.number});
      throw;
    }
  }
}

bool DeviceRun::next_statement(Thread& t, Code& c) {
  const auto collective_one = [&] {
    if (!collective(t, c)) return false;
    enter(t);
    return true;
  };
  const auto none = []() -> bool { throw InternalError("kernel: a statement that no thread runs"); };
  return c.stmt->visit(
      [&](const ir::KStore& s) {
        store(s, c);
        ++t.stack.back().at;
        return true;
      },
      [&](const ir::KLet&) {
        for (int lane = 0; lane < c.lanes; ++lane) slots_.set_slot(c.slot + lane, c.value.run(lane));
        ++t.stack.back().at;
        t.stack.push_back({&c.body});
        return true;
      },
      [&](const ir::KIf&) {
        std::vector<Code>* taken = c.value.run().i ? &c.body : &c.otherwise;
        ++t.stack.back().at;
        t.stack.push_back({taken});
        return true;
      },
      [&](const ir::KFor&) {
        const std::int64_t begin = c.begin.run_index(), end = begin + c.extent.run_index();
        ++t.stack.back().at;
        if (begin < end) {
          slots_.set_index(c.slot, begin);
          t.stack.push_back({&c.body, 0, &c, begin, end});
        }
        return true;
      },
      [&](const Sync&) { return collective_one(); }, [&](const ir::KCall&) { return collective_one(); },
      [&](const ir::KPrefetch&) { return none(); }, [&](const ir::KLaunch&) { return none(); });
}

// The last thread of a group to come runs the collective for all of them.
bool DeviceRun::collective(Thread& t, Code& c) {
  const auto* const synchronizes = c.stmt->as<Sync>();
  const bool meets = synchronizes && is_meeting(synchronizes->kind);
  if (c.width == 1 && !meets) {
    if (synchronizes) return sync(t, c);
    call(t.number, c);
    next(t);
    return true;
  }
  const std::int64_t in_group = t.in_block % c.width;
  const int first = t.number - static_cast<int>(in_group);
  if (t.in_block - in_group + c.width > launch_.threads)
    fail(RunError::Kind::divergence,
         "a collective of " + std::to_string(c.width) + " threads, and the block has not so many left", {c.number});
  t.state = Thread::State::collective;
  t.at = &c;
  for (int k = first; k < first + static_cast<int>(c.width); ++k)
    if (thread(k).state != Thread::State::collective || thread(k).at != &c) return false;
  for (int k = first; k < first + static_cast<int>(c.width); ++k)
    for (std::size_t d = 0; d < t.stack.size(); ++d)
      if (thread(k).stack[d].loop && thread(k).stack[d].x != t.stack[d].x)
        fail(RunError::Kind::divergence,
             who(k) + " and " + who(t.number) + " meet in iterations " + std::to_string(thread(k).stack[d].x) + " and " +
                 std::to_string(t.stack[d].x) + " of " + t.stack[d].loop->loop->name,
             {c.number});
  if (!synchronizes) {
    call(first, c);
  } else {
    const K kind = synchronizes->kind;
    if (kind == K::named || kind == K::named_arrive || kind == K::cluster_wait) {
      if (!named(first, c)) return false;
      return t.state == Thread::State::ready;
    }
    group_sync(first, c);
  }
  for (int k = first; k < first + static_cast<int>(c.width); ++k) next(thread(k));
  return true;
}

void DeviceRun::store(const ir::KStore& s, Code& c) {
  pending_.clear();
  for (int lane = 0; lane < c.lanes; ++lane) {
    const bool on = c.mask.empty() || c.mask.run(c.mask.lanes() == 1 ? 0 : lane).i != 0;
    const std::int64_t at = c.address.run(lane).i;
    lane_idle_ = !on;
    const Value v = c.value.run(lane);
    lane_idle_ = false;
    if (!on) continue;
    for (const auto& [other, value] : pending_)
      if (other == at)
        fail(RunError::Kind::broken_promise,
             "two lanes are stored into " + buffer(c.buffer).info->name + "[" + std::to_string(at) + "]", {c.number});
    pending_.emplace_back(at, v);
  }
  for (const auto& [at, v] : pending_)
    if (s.atomic)
      update(c.buffer, at, *s.atomic, v);
    else
      write(c.buffer, at, v);
}

void DeviceRun::end_thread(Thread& t) {
  t.state = Thread::State::done;
  code_now_ = nullptr;
  const auto complain = [&](const Operation& o, const std::string& what) {
    std::vector<std::string> names;
    for (const ActualCode& a : o.code->actuals) {
      if (a.buffer >= 0) names.push_back(buffer(a.buffer).info->name);
      if (a.tensor_map >= 0) names.push_back(buffer(maps_[static_cast<std::size_t>(a.tensor_map)].buffer).info->name);
    }
    fail(RunError::Kind::synchronization, "ends with " + what + ", issued at " + line(o.code->number), {o.code->number},
         std::move(names));
  };
  const auto left = [&](const Groups& g, const std::string& what, bool reads) {
    if (!g.open.empty()) complain(*g.open.front(), what + " that were not committed");
    for (const auto& group : g.closed)
      for (const OperationPtr& o : group)
        if (!reads || !o->sampled) complain(*o, what + " that were not waited for");
  };
  left(t.copies, "copies", false);
  left(t.bulk, "bulk copies", true);
  left(products_[static_cast<std::size_t>(t.number / warpgroup_)], "products", false);
  for (const auto& group : t.bulk.closed)
    for (const OperationPtr& o : group) unwritten_.push_back(o);
}

void DeviceRun::end_cluster() {
  for (Block& b : blocks_)
    for (std::size_t m = 0; m < b.barriers.size(); ++m)
      if (!b.barriers[m].queue.empty()) {
        const int copy = b.barriers[m].queue.front()->code->number;
        const std::string name = barrier_text(static_cast<int>(m));
        fail(RunError::Kind::synchronization,
             block_text(b) + " ends before the copy that " + name + " counts, issued at " + line(copy), {copy}, {name});
      }
  for (const OperationPtr& o : unwritten_) land(*o);
}

}  // namespace device
}  // namespace ashlar::interp
