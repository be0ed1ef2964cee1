// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers, groups of asynchronous operations, fences.
#include <algorithm>

#include <ashlar/ir/refusal.h>

#include "interp/device_run.h"

namespace ashlar::interp::device {

using K = Sync::Kind;
using Kind = RunError::Kind;
using State = Thread::State;

// ---- mbarriers -----------------------------------------------------------------------------------------------------------

MBarrier& DeviceRun::mbarrier(Thread& t, Code& c, int* number) {
  const BufferInfo& info = buffer(c.buffer);
  const std::int64_t at = c.index.run_index(), rank = c.rank.empty() ? -1 : c.rank.run_index();
  if (info.info->storage != ir::Storage::barrier)
    throw InternalError("a sync at " + info.info->name + ", which is not a barrier");
  if (at < 0 || at >= info.elements)
    fail(
        Kind::out_of_bounds,
        "names " + info.info->name + "[" + std::to_string(at) + "], outside its " + std::to_string(info.elements) + " barriers",
        {c.number}, {info.info->name});
  if (rank >= static_cast<std::int64_t>(blocks_.size()))
    fail(Kind::out_of_bounds, "names block " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks_.size()),
         {c.number}, {info.info->name});
  const int k = info.index + static_cast<int>(at);
  if (number) *number = k;
  return block(rank < 0 ? t.block : static_cast<int>(rank)).barriers[static_cast<std::size_t>(k)];
}

// Every operation but init: the barrier is initialized, and this thread knows.
void DeviceRun::use(MBarrier& m, Thread& t, const Code& c) {
  const std::string& name = buffer(c.buffer).info->name;
  if (!m.initialized) fail(Kind::synchronization, "uses a barrier of " + name + " that is not initialized", {c.number}, {name});
  if (options_.races && t.clocks.all[m.init.agent - base_] < m.init.clock)
    fail(Kind::race,
         "uses a barrier of " + name + " that " + who(m.init.thread) + " initialized at " + line(m.init.code) +
             ": nothing orders them",
         {c.number, m.init.code}, {name});
}

// Whether a wait for `parity` returns; a phase that only waits for its copies is completed by the first who asks.
bool DeviceRun::passed(int block_number, int number, std::int64_t parity) {
  MBarrier& m = block(block_number).barriers[static_cast<std::size_t>(number)];
  if (!m.initialized || m.phase % 2 != parity) return true;
  if (m.pending > 0 || m.queued < m.bytes) return false;
  complete_phase(block_number, number);
  return true;
}

void DeviceRun::complete_phase(int block_number, int number) {
  MBarrier& m = block(block_number).barriers[static_cast<std::size_t>(number)];
  if (m.queued > m.bytes) {
    std::vector<int> codes;
    for (const OperationPtr& o : m.queue) codes.push_back(o->code->number);
    codes.insert(codes.end(), m.touched_by.begin(), m.touched_by.end());
    fail(Kind::synchronization,
         "copies of " + std::to_string(m.queued) + " bytes count at " + barrier_text(number) + ", whose phase " +
             std::to_string(m.phase) + " expects " + std::to_string(m.bytes),
         codes, {barrier_text(number)});
  }
  for (const OperationPtr& o : m.queue) {
    sample(*o);
    land(*o);
  }
  m.queue.clear();
  m.touched_by.clear();
  m.queued = m.bytes = 0;
  m.pending = m.count;
  ++m.phase;
  if (options_.races) {
    m.done.join_with(m.arriving);
    m.done.all[barrier_agent(block_number, number)] = static_cast<std::uint32_t>(m.phase);
  }
}

void DeviceRun::arrive(int block_number, int number, Thread& t, Code& c) {
  MBarrier& m = block(block_number).barriers[static_cast<std::size_t>(number)];
  if (m.pending == 0)
    fail(Kind::synchronization,
         "arrives once more at a barrier of " + buffer(c.buffer).info->name + ", all of whose " + std::to_string(m.count) +
             " arrivals of phase " + std::to_string(m.phase) + " are in",
         {c.number}, {buffer(c.buffer).info->name});
  if (options_.races) {
    m.arriving.join_with(t.clocks);
    tick(t);
  }
  if (--m.pending == 0 && m.bytes == 0 && m.queued == 0) complete_phase(block_number, number);
}

bool DeviceRun::sync(Thread& t, Code& c) {
  const Sync& s = c.stmt->get<Sync>();
  int number = 0;
  switch (s.kind) {
    case K::mbarrier_init: {
      MBarrier& m = mbarrier(t, c, &number);
      const std::int64_t count = c.count.run_index();
      if (count < 1)
        fail(Kind::synchronization, "initializes a barrier for " + std::to_string(count) + " arrivals", {c.number});
      if (m.initialized)
        fail(Kind::synchronization, "initializes " + barrier_text(number) + " once more", {c.number}, {barrier_text(number)});
      m.initialized = true;
      m.count = m.pending = count;
      m.init = {base_ + static_cast<std::uint32_t>(t.number),
                options_.races ? t.clocks.all[static_cast<std::size_t>(t.number)] : 1, c.number, t.number};
      break;
    }
    case K::mbarrier_arrive:
    case K::mbarrier_expect: {
      MBarrier& m = mbarrier(t, c, &number);
      use(m, t, c);
      if (s.kind == K::mbarrier_expect) {
        const std::int64_t bytes = c.bytes.run_index();
        if (bytes < 0) fail(Kind::synchronization, "expects " + std::to_string(bytes) + " bytes", {c.number});
        m.bytes += bytes;
        m.touched_by.push_back(c.number);
      }
      arrive(c.rank.empty() ? t.block : static_cast<int>(c.rank.run_index()), number, t, c);
      break;
    }
    case K::mbarrier_wait: {
      MBarrier& m = mbarrier(t, c, &number);
      use(m, t, c);
      const std::int64_t parity = c.parity.run_index();
      if (parity != 0 && parity != 1) fail(Kind::synchronization, "waits for parity " + std::to_string(parity), {c.number});
      if (!passed(t.block, number, parity)) {
        t.state = State::mbarrier;
        t.at = &c;
        t.barrier = number;
        t.parity = parity;
        return false;
      }
      if (options_.races) t.clocks.join_with(m.done);
      break;
    }
    case K::commit:
      commit(s.group == ir::Completion::copy_group ? t.copies : t.bulk);
      break;
    case K::wait:
    case K::wait_read: {
      const std::int64_t pending = c.count.run_index();
      if (s.group == ir::Completion::copy_group)
        wait_groups(t.copies, pending, false, copy_agent(t), 0, t.number, 1);
      else
        wait_groups(t.bulk, pending, s.kind == K::wait_read, bulk_write_agent(t), bulk_read_agent(t), t.number, 1);
      break;
    }
    case K::fence_init:
      for (Block& b : blocks_)
        for (MBarrier& m : b.barriers)
          if (m.initialized && m.init.thread == t.number) m.fenced = true;
      break;
    case K::fence_proxy:
      if (options_.races) {
        const auto own = static_cast<std::size_t>(t.number);
        t.clocks.proxy[own] = t.clocks.all[own];
        tick(t);
      }
      break;
    case K::fence_device:
      break;
    default:
      throw InternalError("an unknown sync of one thread");
  }
  next(t);
  return true;
}

// ---- groups ----------------------------------------------------------------------------------------------------------------

void DeviceRun::commit(Groups& g) {
  ++g.commits;
  g.closed.push_back(std::move(g.open));
  g.open.clear();
}

void DeviceRun::wait_groups(Groups& g, std::int64_t pending, bool reads_only, std::uint32_t agent, std::uint32_t read_agent,
                            int first, int n) {
  if (pending < 0) fail(Kind::synchronization, "waits until " + std::to_string(pending) + " groups are pending", {});
  const std::int64_t over = static_cast<std::int64_t>(g.closed.size()) - pending;
  for (std::int64_t k = 0; k < over; ++k)
    for (const OperationPtr& o : g.closed[static_cast<std::size_t>(k)]) {
      if (!o->sampled) sample(*o);
      if (!reads_only) land(*o);
    }
  if (!reads_only && over > 0) g.closed.erase(g.closed.begin(), g.closed.begin() + over);
  if (!options_.races) return;
  const std::uint32_t done = g.commits - static_cast<std::uint32_t>(std::min<std::int64_t>(pending, g.commits));
  for (int t = first; t < first + n; ++t) {
    Clock& all = thread(t).clocks.all;
    if (!reads_only) all[agent] = std::max(all[agent], done);
    if (read_agent != 0) all[read_agent] = std::max(all[read_agent], done);
  }
}

// ---- collectives -----------------------------------------------------------------------------------------------------------

void DeviceRun::group_sync(int first, Code& c) {
  const Sync& s = c.stmt->get<Sync>();
  const int n = static_cast<int>(c.width);
  const auto uniform = [&](Tape& tape) {
    enter(thread(first));
    const std::int64_t v = tape.run_index();
    for (int t = first + 1; t < first + n; ++t) {
      enter(thread(t));
      if (tape.run_index() != v) fail(Kind::divergence, "an operand differs from that of the thread before", {c.number});
    }
    return v;
  };
  Groups& products = products_[static_cast<std::size_t>(first / warpgroup_)];
  switch (s.kind) {
    case K::block:
    case K::warp:
      if (options_.races) {
        Clocks all = thread(first).clocks;
        for (int t = first + 1; t < first + n; ++t) all.join_with(thread(t).clocks);
        for (int t = first; t < first + n; ++t) {
          thread(t).clocks = all;
          tick(thread(t));
        }
      }
      break;
    case K::cluster_arrive:
      for (int t = first; t < first + n; ++t) {
        Thread& x = thread(t);
        if (x.cluster_arrived) fail(Kind::synchronization, who(t) + " arrives at the cluster's barrier twice", {c.number});
        x.cluster_arrived = true;
        x.cluster_phase = cluster_barrier_.generation;
        if (options_.races) {
          cluster_barrier_.arriving.join_with(x.clocks);
          tick(x);
        }
      }
      if ((cluster_barrier_.arrived += n) == n_) {
        cluster_barrier_.arrived = 0;
        ++cluster_barrier_.generation;
        if (options_.races) cluster_barrier_.done.join_with(cluster_barrier_.arriving);
      }
      break;
    case K::commit:
      commit(products);
      break;
    case K::wait:
      wait_groups(products, uniform(c.count), false, product_agent(first), 0, first, n);
      break;
    case K::fence_product:
      for (int t = first; t < first + n; ++t)
        for (auto& file : thread(t).registers)
          for (Register& r : file) {
            r.touched = false;
            r.product = -1;
          }
      break;
    case K::registers:
      uniform(c.count);
      break;
    default:
      throw InternalError("an unknown collective");
  }
}

// Operations of a warp after which its threads may wait. Every thread's state is set.
bool DeviceRun::named(int first, Code& c) {
  const Sync& s = c.stmt->get<Sync>();
  const int n = static_cast<int>(c.width);
  if (s.kind == K::cluster_wait) {
    for (int t = first; t < first + n; ++t) {
      Thread& x = thread(t);
      if (!x.cluster_arrived) fail(Kind::synchronization, who(t) + " waits for the cluster before it arrived", {c.number});
      x.at = &c;
      x.state = State::cluster;
    }
    if (cluster_barrier_.generation <= thread(first).cluster_phase) return true;
    for (int t = first; t < first + n; ++t) {
      thread(t).cluster_arrived = false;
      if (options_.races) thread(t).clocks.join_with(cluster_barrier_.done);
      next(thread(t));
    }
    return true;
  }
  Block& k = block(thread(first).block);
  enter(thread(first));
  const std::int64_t index = c.index.run_index(), count = c.count.run_index();
  for (int t = first + 1; t < first + n; ++t) {
    enter(thread(t));
    if (c.index.run_index() != index || c.count.run_index() != count)
      fail(Kind::divergence, "the barrier differs from that of the thread before", {c.number});
  }
  Named& b = k.named[index];
  const std::string name = "barrier " + std::to_string(index);
  if (b.arrived == 0) {
    b.count = count;
    b.clocks = {Clock(thread(first).clocks.all.size()), Clock(thread(first).clocks.proxy.size())};
  }
  if (b.count != count || count % launch_.warp != 0)
    fail(Kind::synchronization,
         "arrives at " + name + " of " + std::to_string(count) + " threads, where others arrived at one of " +
             std::to_string(b.count) + ", and warps are of " + std::to_string(launch_.warp),
         {c.number, b.code}, {name});
  if (!b.warps.insert(thread(first).in_block / launch_.warp).second)
    fail(Kind::synchronization, "a warp arrives at " + name + " twice in one round", {c.number, b.code}, {name});
  b.code = c.number;
  for (int t = first; t < first + n; ++t) {
    if (options_.races) {
      b.clocks.join_with(thread(t).clocks);
      tick(thread(t));
    }
    if (s.kind == K::named) {
      thread(t).state = State::named;
      thread(t).at = &c;
      thread(t).named = index;
      b.waiting.push_back(t);
    } else {
      next(thread(t));
    }
  }
  b.arrived += n;
  if (b.arrived >= b.count) {
    for (int t : b.waiting) {
      if (options_.races) thread(t).clocks.join_with(b.clocks);
      next(thread(t));
    }
    b.arrived = 0;
    b.waiting.clear();
    b.warps.clear();
  }
  return true;
}

}  // namespace ashlar::interp::device
