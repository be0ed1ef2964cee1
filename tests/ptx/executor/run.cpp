// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which block, which warp, which lanes run next.
#include <algorithm>

#include "tests/ptx/executor/instructions/bulk.h"
#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

constexpr u64 kSlice = 20000;          // instructions of a warp before another runs
constexpr u64 kRounds = 400;           // of a cluster's warps before another cluster runs
constexpr std::size_t kResident = 64;  // clusters at once
constexpr u64 kFair = 4096;            // instructions of a group of lanes before one that waits gets its turn
constexpr u32 kCredit = 512;

void specials(Run& run, const Cluster& c, const Block& b, Warp& w) {
  w.specials.assign(static_cast<std::size_t>(Special::kCount) * 32, 0);
  const auto set = [&](Special s, u64 value) {
    std::fill_n(w.specials.begin() + static_cast<std::ptrdiff_t>(s) * 32, 32, value);
  };
  const auto three = [&](Special first, const std::array<u32, 3>& v) {
    for (u32 d = 0; d < 3; ++d) set(static_cast<Special>(static_cast<u32>(first) + d), v[d]);
  };
  const Grid& g = run.grid;
  three(Special::kNtidX, g.block), three(Special::kCtaX, b.id), three(Special::kNctaX, g.grid);
  std::array<u32, 3> in = {}, of = {}, many = {};
  for (std::size_t d = 0; d < 3; ++d)
    in[d] = b.id[d] % run.cluster[d], of[d] = b.id[d] / run.cluster[d], many[d] = g.grid[d] / run.cluster[d];
  three(Special::kClusterId, of), three(Special::kNcluster, many), three(Special::kClusterCta, in),
      three(Special::kClusterNcta, run.cluster);
  set(Special::kClusterRank, b.rank),
      set(Special::kClusterRanks, c.blocks.size() == 0 ? 1 : u64(run.cluster[0]) * run.cluster[1] * run.cluster[2]);
  set(Special::kWarp, w.number), set(Special::kWarps, 64), set(Special::kSms, 1),
      set(Special::kDynamicShared, g.dynamic_shared);
  set(Special::kTotalShared, b.shared.size());
  set(Special::kExplicitCluster, run.function.kernel.cluster[0] != 0 || g.cluster[0] != 0);
  for (u32 l = 0; l < 32; ++l) {
    const auto lane = [&](Special s, u64 value) { w.specials[static_cast<std::size_t>(s) * 32 + l] = value; };
    const u32 t = w.first_thread + l, bit = 1u << l;
    lane(Special::kTidX, t % g.block[0]), lane(Special::kTidY, t / g.block[0] % g.block[1]),
        lane(Special::kTidZ, t / g.block[0] / g.block[1]);
    lane(Special::kLane, l), lane(Special::kMaskEq, bit), lane(Special::kMaskLt, bit - 1),
        lane(Special::kMaskLe, bit | (bit - 1));
    lane(Special::kMaskGe, ~(bit - 1)), lane(Special::kMaskGt, ~(bit | (bit - 1)));
  }
}

void unknown_bits(Warp& w, const Instr& i, u32 mask, std::array<u64, 32>& to) {
  std::array<std::array<u64, 32>, 4> values;
  for (std::size_t n = 1; n < i.ops.size() && n < 5; ++n) std::copy_n(w.src(i.ops[n]), 32, values[n - 1].begin());
  each(mask, [&](int lane) {
    const std::size_t l = static_cast<std::size_t>(lane);
    u64 a[4] = {}, u[4] = {};
    for (std::size_t n = 1; n < i.ops.size() && n < 5; ++n)
      a[n - 1] = values[n - 1][l], u[n - 1] = unknown_of(w, i.ops[n], lane);
    to[l] = (u[0] | u[1] | u[2] | u[3]) == 0 ? 0 : i.unknown(i, a, u);
  });
}

void frame_locals(Warp& w, u32 end) {
  for (Local& l : w.locals)
    if (l.data.size() < end) l.data.resize(end, 0xA5), l.written.resize(end, 0);
}

}  // namespace

bool Cluster::done() const {
  return std::all_of(blocks.begin(), blocks.end(), [](const auto& b) { return b->live == 0; });
}

const Warp* Cluster::warp(u32 rank) const {
  const std::size_t each_block = blocks[0]->warps.size();
  return blocks[rank / each_block]->warps[rank % each_block].get();
}

std::unique_ptr<Cluster> Run::start(u64 number) {
  auto c = std::make_unique<Cluster>();
  std::array<u64, 3> many = {};
  for (std::size_t d = 0; d < 3; ++d) many[d] = grid.grid[d] / cluster[d];
  const std::array<u64, 3> at = {number % many[0], number / many[0] % many[1], number / many[0] / many[1]};
  const u32 blocks = cluster[0] * cluster[1] * cluster[2], threads = grid.block[0] * grid.block[1] * grid.block[2];
  const u32 warps = (threads + 31) / 32;
  c->warps = blocks * warps;
  const std::size_t bytes =
      grid.dynamic_shared != 0 ? image.dynamic_shared - kFirstShared + grid.dynamic_shared : function.kernel.shared_bytes;
  for (u32 rank = 0; rank < blocks; ++rank) {
    auto b = std::make_unique<Block>();
    b->run = this, b->rank = rank, b->begin = time, b->live = threads;
    const std::array<u32, 3> in = {rank % cluster[0], rank / cluster[0] % cluster[1], rank / cluster[0] / cluster[1]};
    for (std::size_t d = 0; d < 3; ++d) b->id[d] = static_cast<u32>(at[d]) * cluster[d] + in[d];
    b->shared.assign(bytes, 0xA5), b->written.assign(bytes, 0), b->pending.assign(bytes, 0);
    if (bytes > 0) {
      std::unique_ptr<Races> races;
      if (state.races.empty())
        races = std::make_unique<Races>();
      else
        races = std::move(state.races.back()), state.races.pop_back();
      races->fit(bytes, c->warps);
      b->races = races.release();
    }
    for (Barrier& barrier : b->barriers) barrier.clock.assign(c->warps, 0);
    for (u32 n = 0; n < warps; ++n) {
      auto w = std::make_unique<Warp>();
      w->run = this, w->block = b.get(), w->number = n, w->first_thread = n * 32, w->rank = rank * warps + n;
      const u32 lanes = std::min(32u, threads - n * 32);
      w->all = w->live = lanes == 32 ? ~0u : (1u << lanes) - 1;
      w->registers.assign(std::size_t(function.slots) * 32, 0xA5A5A5A5A5A5A5A5u), w->known.assign(function.slots, 0);
      w->predicates.assign(function.predicates, 0), w->predicates_known.assign(function.predicates, 0);
      w->clock.assign(c->warps, time), w->synced.fill(time);
      Frame f;
      f.function = &function, f.local = kFirstLocal;
      w->frames.push_back(f);
      if (function.frame_bytes > 0) frame_locals(*w, kFirstLocal + function.frame_bytes);
      Group g;
      g.pc = function.code, g.mask = w->live, g.frame = &w->frames.back();
      w->groups.push_back(g);
      specials(*this, *c, *b, *w);
      b->warps.push_back(std::move(w));
    }
    c->blocks.push_back(std::move(b));
  }
  c->barrier.clock.assign(c->warps, 0);
  ++time;
  return c;
}

void Run::go() {
  const u64 clusters = u64(grid.grid[0] / cluster[0]) * (grid.grid[1] / cluster[1]) * (grid.grid[2] / cluster[2]);
  std::deque<std::unique_ptr<Cluster>> resident;
  u64 next = 0;
  const auto keep = [&](Cluster& c) {
    for (auto& b : c.blocks)
      if (b->races != nullptr) state.races.emplace_back(b->races), b->races = nullptr;
  };
  try {
    while (next < clusters || !resident.empty()) {
      if (next < clusters && resident.size() < kResident) resident.push_front(start(next++));
      current = resident.front().get();
      const bool alone = resident.size() == 1 && next == clusters;
      if (step(*current, alone ? ~u64(0) : kRounds)) {
        keep(*current);
        resident.pop_front();
      } else {  // it may wait for another
        resident.push_back(std::move(resident.front()));
        resident.pop_front();
      }
    }
  } catch (...) {
    for (auto& c : resident)
      if (c) keep(*c);
    throw;
  }
}

bool Run::step(Cluster& c, u64 rounds) {
  u64 still = 0, seen = c.progress;
  for (u64 round = 0; round < rounds; ++round) {
    bulk_arrivals(c);
    u64 done = 0;
    bool spinning = false;
    for (auto& b : c.blocks)
      for (auto& w : b->warps) {
        if (w->live == 0) continue;
        done += run_warp(*w, kSlice);
        spinning = spinning || w->yield;
      }
    if (c.done()) return true;
    if (done == 0) deadlock(c);
    const bool moved = c.progress != seen || !spinning;
    seen = c.progress;
    still = moved ? 0 : still + 1;
    if (still > 2000) deadlock(c);
  }
  return false;
}

Group* Run::choose(Warp& w) {
  Group* best = nullptr;
  for (Group& g : w.groups) {
    if (g.state != Group::kReady) continue;
    if (best == nullptr || g.frame->depth > best->frame->depth || (g.frame->depth == best->frame->depth && g.pc < best->pc))
      best = &g;
  }
  if (best == nullptr || w.groups.size() == 1) return best;
  for (Group& g : w.groups)
    if (g.state == Group::kReady && g.credit > 0) {
      --g.credit;
      return &g;
    }
  for (Group& g : w.groups)
    if (g.state == Group::kReady && g.last_run + kFair < best->last_run) {
      g.credit = kCredit;
      return &g;
    }
  return best;
}

void Run::select(Warp& w, const Group& g) {
  const Frame& f = *g.frame;
  w.frame = &f;
  w.r = w.registers.data() + std::size_t(f.slots) * 32, w.k = w.known.data() + f.slots;
  w.p = w.predicates.data() + f.predicates, w.pk = w.predicates_known.data() + f.predicates;
}

void Run::merge(Warp& w) {
  for (std::size_t a = 0; a < w.groups.size(); ++a)
    for (std::size_t b = a + 1; b < w.groups.size();) {
      Group &x = w.groups[a], &y = w.groups[b];
      if (x.pc != y.pc || x.frame != y.frame || x.state == Group::kAtBarrier || y.state == Group::kAtBarrier) {
        ++b;
        continue;
      }
      x.mask |= y.mask, x.state = Group::kReady, x.last_run = std::max(x.last_run, y.last_run);
      w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(b));
    }
}

// Lanes that wait for others of the warp, where no other can run: they try again, since those may have ended.
bool Run::retry(Warp& w) {
  bool any = false;
  for (Group& g : w.groups)
    if (g.state == Group::kAwaiting) g.state = Group::kReady, any = true;
  return any;
}

u64 Run::run_warp(Warp& w, u64 most) {
  w.yield = false;
  u64 done = 0;
  bool retried = false;
  while (done < most && !w.groups.empty() && !w.yield) {
    Group* g = choose(w);
    if (g == nullptr) {
      if (retried || !retry(w)) break;
      retried = true;
      continue;
    }
    const std::size_t before = w.groups.size();
    const u64 executed = report.warp_instructions;
    select(w, *g);
    if (before == 1) {
      while (done < most && w.groups.size() == 1 && w.groups[0].state == Group::kReady && !w.yield) {
        const u64 at = report.warp_instructions;
        execute(w, w.groups[0]);
        done += report.warp_instructions - at;
        if (w.groups.size() == 1 && w.groups[0].frame != w.frame) select(w, w.groups[0]);
        if (w.groups.empty()) break;
      }
    } else {
      g->last_run = ++spin;
      execute(w, *g);
      done += report.warp_instructions - executed;
    }
    if (report.warp_instructions != executed) retried = false;
    if (w.groups.size() > 1) merge(w);
  }
  return done;
}

void Run::execute(Warp& w, Group& g) {
  const Instr& i = image.code[g.pc];
  u32 mask = g.mask;
  if (i.guarded) {
    if ((mask & ~w.pk[i.guard]) != 0) {
      Operand o;
      o.kind = Operand::kPred, o.index = i.guard;
      w.need_known(i, o, mask, "whether it is executed");
    }
    mask &= i.guard_negated ? ~w.p[i.guard] : w.p[i.guard];
  }
  ++time;
  const std::size_t number = static_cast<std::size_t>(&g - w.groups.data());
  if (state.checks.most_instructions != 0 && report.warp_instructions > state.checks.most_instructions)
    w.fault(FaultKind::kTooLong, i, first_lane(g.mask),
            "more than " + std::to_string(state.checks.most_instructions) + " instructions of warps");
  if (i.flow == Flow::kBranch) {
    ++loaded.counts[g.pc], ++report.warp_instructions, report.lane_instructions += static_cast<u64>(std::popcount(mask));
    return branch(w, number, mask, i.ops[0].index);
  }
  if (mask == 0) {
    ++g.pc;
    return;
  }
  if (i.flow != Flow::kNext) {
    if (i.flow != Flow::kBarrier) ++loaded.counts[g.pc];
    switch (i.flow) {
      case Flow::kBranchIndexed:
        branch_indexed(w, number, i, mask);
        break;
      case Flow::kCall:
        call(w, number, i, mask);
        break;
      case Flow::kReturn:
        leave(w, number, i, mask);
        break;
      case Flow::kExit: {
        const u32 rest = g.mask & ~mask;
        g.mask = rest;
        if (rest == 0)
          w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(number));
        else
          ++g.pc;
        finish(w, mask);
        break;
      }
      default:
        arrive(w, number, i, mask);
        return;
    }
    ++report.warp_instructions, report.lane_instructions += static_cast<u64>(std::popcount(mask));
  } else {
    w.stalled = 0;
    u32 known = ~0u;
    if (i.propagate)
      for (std::size_t n = i.results; n < i.ops.size(); ++n) known &= w.known_of(i.ops[n]);
    const bool precise = i.unknown != nullptr && (mask & ~known) != 0;
    std::array<u64, 32> unknown;
    if (precise) unknown_bits(w, i, mask, unknown);
    i.run(w, i, mask);
    if (precise)
      set_unknown(w, i.ops[0], mask, unknown);
    else if (i.propagate)
      for (std::size_t n = 0; n < i.results; ++n) w.know(i.ops[n], mask & ~w.stalled, known);
    if (w.stalled == 0) {
      ++g.pc;
    } else if (w.stalled == mask && mask == g.mask) {
      g.state = Group::kAwaiting;
      return;
    } else {
      Group rest = g;
      rest.mask = w.stalled, rest.state = Group::kAwaiting;
      g.mask &= ~w.stalled, ++g.pc;
      mask &= ~w.stalled;
      const u32 pc = g.pc;
      (void)pc;
      if (g.mask == 0)
        g = rest;
      else
        w.groups.push_back(rest);
      if (mask == 0) return;
    }
    ++loaded.counts[static_cast<std::size_t>(&i - image.code.data())];
    ++report.warp_instructions, report.lane_instructions += static_cast<u64>(std::popcount(mask));
  }
}

void Run::finish(Warp& w, u32 mask) {
  finish_bulk(w, mask);
  w.live &= ~mask;
  Block& b = *w.block;
  b.live -= static_cast<u32>(std::popcount(mask));
  ++current->progress;
  each(mask, [&](int l) {
    LaneCopies& c = w.copies[static_cast<std::size_t>(l)];
    c.groups.clear(), c.open.clear();
  });
  for (Group& g : w.groups)
    if (g.state == Group::kAwaiting) g.state = Group::kReady;  // for lanes that have ended
  check_barriers(b);
}

void Run::deadlock(Cluster& c) {
  std::string text;
  Warp* first = nullptr;
  u32 pc = 0;
  int lane = 0;
  FaultKind kind = FaultKind::kDeadlock;
  int shown = 0;
  for (auto& b : c.blocks)
    for (auto& w : b->warps) {
      u32 aligned = 0;
      for (const Group& g : w->groups) {
        const Instr& i = image.code[g.pc];
        if (first == nullptr) first = w.get(), pc = g.pc, lane = first_lane(g.mask);
        if (g.state == Group::kAwaiting) {
          first = w.get(), pc = g.pc, lane = first_lane(g.mask);
          kind = i.flow == Flow::kBarrier ? FaultKind::kDivergentBarrier : FaultKind::kMissingLanes;
          ++aligned;
        }
        if (++shown <= 12) {
          char lanes[16];
          std::snprintf(lanes, sizeof lanes, "%08x", g.mask);
          text += "\n    lanes " + std::string(lanes) + " of warp " + std::to_string(w->number) + " of block " +
                  std::to_string(b->id[0]) + " wait at line " + std::to_string(i.line) + ": " + image.instruction(i);
        }
      }
      (void)aligned;
    }
  if (first == nullptr) throw Error("nothing can run, and nothing waits", 0);
  const char* what = kind == FaultKind::kDeadlock           ? "what it waits for never comes"
                     : kind == FaultKind::kDivergentBarrier ? "lanes of a warp do not come to one barrier together"
                                                            : "lanes that the instruction is for do not come to it";
  first->fault(kind, image.code[pc], lane, what + text);
}

}  // namespace ashlar::ptx
