// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, and barriers of a block.
#include <algorithm>
#include <cstring>

#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/device.h"

namespace ashlar::ptx {

void Run::branch(Warp& w, std::size_t group, u32 taken, u32 target) {
  Group& g = w.groups[group];
  if (taken == g.mask) {
    g.pc = target;
  } else if (taken == 0) {
    ++g.pc;
  } else {
    Group other = g;
    other.mask = taken, other.pc = target;
    g.mask &= ~taken, ++g.pc;
    w.groups.push_back(other);
  }
}

void Run::branch_indexed(Warp& w, std::size_t group, const Instr& i, u32 mask) {
  w.need_known(i, i.ops[0], mask, "where it goes");
  const u64* index = w.src(i.ops[0]);
  const std::vector<Operand>& targets = i.ops[1].parts;
  const Group g = w.groups[group];
  std::map<u32, u32> lanes;
  each(mask, [&](int l) {
    const u64 n = static_cast<u32>(index[l]);
    if (n >= targets.size())
      w.fault(FaultKind::kInvalid, i, l, "index " + std::to_string(n) + " of " + std::to_string(targets.size()) + " targets");
    lanes[targets[n].index] |= 1u << l;
  });
  if (g.mask != mask) lanes[g.pc + 1] |= g.mask & ~mask;
  bool first = true;
  for (const auto& [target, m] : lanes) {
    Group next = g;
    next.pc = target, next.mask = m;
    if (first)
      w.groups[group] = next;
    else
      w.groups.push_back(next);
    first = false;
  }
}

namespace {

void copy_argument(Warp& w, const Instr& i, u32 mask, const Operand& from, const Frame& of, const Operand& to,
                   const Frame& in) {
  if (from.kind == Operand::kLocal && to.kind == Operand::kLocal) {
    if (from.index > to.index) w.fault(FaultKind::kInvalid, i, first_lane(mask), "an argument is larger than its parameter");
    each(mask, [&](int l) {
      Local& m = w.locals[static_cast<std::size_t>(l)];
      std::memmove(m.data.data() + in.local + to.offset, m.data.data() + of.local + from.offset, from.index);
      std::memmove(m.written.data() + in.local + to.offset, m.written.data() + of.local + from.offset, from.index);
    });
    return;
  }
  if (to.kind == Operand::kReg && (from.kind == Operand::kReg || from.kind == Operand::kImm)) {
    const u64* a = from.kind == Operand::kReg ? w.registers.data() + std::size_t(of.slots + from.index) * 32
                                              : w.run->loaded.pool[from.index].data();
    u64* d = w.registers.data() + std::size_t(in.slots + to.index) * 32;
    each(mask, [&](int l) { d[l] = a[l]; });
    const u32 known = from.kind == Operand::kReg ? w.known[of.slots + from.index] : ~0u;
    w.known[in.slots + to.index] = (w.known[in.slots + to.index] & ~mask) | (known & mask);
    return;
  }
  w.fault(FaultKind::kInvalid, i, first_lane(mask), "an argument does not fit its parameter");
}

const std::vector<Operand>& call_list(const Instr& i, std::size_t k) {
  static const std::vector<Operand> none;
  return k < i.ops.size() && i.ops[k].kind == Operand::kList ? i.ops[k].parts : none;
}

// Which operands of "call (results), target, (arguments), prototype" there are: results and arguments may be left out.
struct CallParts {
  std::size_t target = 0;
  const std::vector<Operand>*results, *arguments;
};
CallParts parts_of(const Instr& i) {
  CallParts c{};
  c.target = i.ops[0].kind == Operand::kList ? 1 : 0;
  c.results = c.target == 1 ? &call_list(i, 0) : &call_list(i, 99);
  c.arguments = &call_list(i, c.target + 1);
  return c;
}

void call_builtin(Warp& w, const Instr& i, const Function& f, u32 mask) {
  const CallParts c = parts_of(i);
  const auto argument = [&](std::size_t n, int lane) {
    u64 value = 0;
    if (n < c.arguments->size() && (*c.arguments)[n].kind == Operand::kLocal)
      std::memcpy(&value, w.locals[static_cast<std::size_t>(lane)].data.data() + w.frame->local + (*c.arguments)[n].offset,
                  std::min<u32>(8, (*c.arguments)[n].index));
    return value;
  };
  if (f.builtin == Function::kPrintf) {
    each(mask, [&](int l) {
      print(w, i, l, argument(0, l), argument(1, l));
      if (c.results->size() == 1 && (*c.results)[0].kind == Operand::kLocal) {
        Local& m = w.locals[static_cast<std::size_t>(l)];
        std::memset(m.data.data() + w.frame->local + (*c.results)[0].offset, 0, 4);
        std::memset(m.written.data() + w.frame->local + (*c.results)[0].offset, 1, 4);
      }
    });
    return;
  }
  const int l = first_lane(mask);
  std::string text;
  for (u64 at = argument(0, l); at != 0; ++at) {
    const u8 c8 = *locate(w, i, l, Space::kGeneric, at, 1, false, 1).data;
    if (c8 == 0) break;
    text += static_cast<char>(c8);
  }
  w.fault(FaultKind::kTrap, i, l, "assertion failed: " + text);
}

}  // namespace

void Run::enter(Warp& w, std::size_t group, const Instr& i, const Function& f, u32 mask) {
  Group& g = w.groups[group];
  const Frame& from = *g.frame;
  if (from.depth > 10000) w.fault(FaultKind::kInvalid, i, first_lane(mask), "calls are nested deeper than 10000");
  const u32 number = static_cast<u32>(&f - image.functions.data());
  const Frame*& to = w.calls[{&from, {g.pc, number}}];
  if (to == nullptr) {
    Frame n;
    n.parent = &from, n.return_to = g.pc + 1, n.call = g.pc, n.function = &f, n.depth = from.depth + 1;
    n.slots = from.slots + from.function->slots, n.predicates = from.predicates + from.function->predicates;
    n.local = from.local + from.function->frame_bytes;
    w.frames.push_back(n);
    to = &w.frames.back();
  }
  const Frame& t = *to;
  if (w.known.size() < t.slots + f.slots)
    w.registers.resize(std::size_t(t.slots + f.slots) * 32), w.known.resize(t.slots + f.slots);
  if (w.predicates.size() < t.predicates + f.predicates)
    w.predicates.resize(t.predicates + f.predicates), w.predicates_known.resize(t.predicates + f.predicates);
  for (u32 n = 0; n < f.slots; ++n) w.known[t.slots + n] &= ~mask;
  for (u32 n = 0; n < f.predicates; ++n) w.predicates_known[t.predicates + n] &= ~mask;
  if (f.frame_bytes > 0)
    each(mask, [&](int l) {
      Local& m = w.locals[static_cast<std::size_t>(l)];
      m.data.resize(std::max<std::size_t>(m.data.size(), t.local + f.frame_bytes), 0xA5);
      m.written.resize(m.data.size(), 0);
      std::memset(m.written.data() + t.local, 0, f.frame_bytes);
    });
  const CallParts c = parts_of(i);
  if (c.arguments->size() != f.parameters.size())
    w.fault(FaultKind::kInvalid, i, first_lane(mask),
            std::to_string(c.arguments->size()) + " arguments for " + f.name + ", which has " +
                std::to_string(f.parameters.size()) + " parameters");
  for (std::size_t n = 0; n < f.parameters.size(); ++n) copy_argument(w, i, mask, (*c.arguments)[n], from, f.parameters[n], t);
  Group inside = g;
  inside.pc = f.code, inside.mask = mask, inside.frame = &t;
  if (g.mask == mask) {
    g = inside;
  } else {
    g.mask &= ~mask, ++g.pc;
    w.groups.push_back(inside);
  }
}

void Run::call(Warp& w, std::size_t group, const Instr& i, u32 mask) {
  const Operand& target = i.ops[parts_of(i).target];
  std::map<u32, u32> lanes;  // by function
  if (target.kind == Operand::kFunction) {
    lanes[target.index] = mask;
  } else {
    w.need_known(i, target, mask, "what it calls");
    const u64* address = w.src(target);
    each(mask, [&](int l) {
      if ((address[l] & kCodeWindow) == 0 || (address[l] & ~kCodeWindow) >= image.functions.size())
        w.fault(FaultKind::kInvalid, i, l, "calls what is no function", address[l]);
      lanes[static_cast<u32>(address[l] & ~kCodeWindow)] |= 1u << l;
    });
  }
  bool one = lanes.size() == 1;
  for (const auto& [number, m] : lanes) {
    const Function* f = &image.functions[number];
    if (f->alias >= 0) f = &image.functions[static_cast<std::size_t>(f->alias)];
    if (f->builtin != Function::kNo && !f->defined) {
      call_builtin(w, i, *f, m);
      if (one) {
        ++w.groups[group].pc;
      } else {
        Group next = w.groups[group];
        next.mask = m, ++next.pc;
        w.groups[group].mask &= ~m;
        w.groups.push_back(next);
      }
      continue;
    }
    if (!f->defined) w.fault(FaultKind::kInvalid, i, first_lane(m), "calls " + f->name + ", which has no body");
    if (one) {
      enter(w, group, i, *f, m);
    } else {  // each of its own
      Group part = w.groups[group];
      part.mask = m;
      w.groups[group].mask &= ~m;
      w.groups.push_back(part);
      enter(w, w.groups.size() - 1, i, *f, m);
    }
  }
  if (w.groups[group].mask == 0)
    w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(group));
  else if (!one)
    ++w.groups[group].pc;  // lanes that the guard left out
}

void Run::leave(Warp& w, std::size_t group, const Instr& i, u32 mask) {
  Group& g = w.groups[group];
  const Frame& from = *g.frame;
  if (from.parent == nullptr) {
    const u32 rest = g.mask & ~mask;
    g.mask = rest;
    if (rest == 0)
      w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(group));
    else
      ++g.pc;
    return finish(w, mask);
  }
  const Instr& call = image.code[from.call];
  const CallParts c = parts_of(call);
  const std::vector<Operand>& results = from.function->results;
  if (c.results->size() > results.size()) w.fault(FaultKind::kInvalid, i, first_lane(mask), "the call expects results");
  for (std::size_t n = 0; n < c.results->size(); ++n)
    copy_argument(w, i, mask, results[n], from, (*c.results)[n], *from.parent);
  Group outside = g;
  outside.pc = from.return_to, outside.mask = mask, outside.frame = from.parent;
  if (g.mask == mask) {
    g = outside;
  } else {
    g.mask &= ~mask, ++g.pc;
    w.groups.push_back(outside);
  }
}

// ---- barriers -------------------------------------------------------------------------------------------------------------
// bar.sync a, b: mode 0; bar.red: 1 popc, 2 and, 3 or; bar.arrive: 4. mode2: aligned. The lanes stay at the instruction until
// enough threads have come. An aligned one waits for all lanes of the warp first.

namespace {

// The operands of bar.red lie behind its result.
std::size_t barrier_operand(const Instr& i) { return i.mode >= 1 && i.mode <= 3 ? 1 : 0; }

u32 uniform(Warp& w, const Instr& i, std::size_t k, u32 mask, const char* what) {
  w.need_known(i, i.ops[k], mask, what);
  const u64* v = w.src(i.ops[k]);
  const u32 value = static_cast<u32>(v[first_lane(mask)]);
  each(mask, [&](int l) {
    if (static_cast<u32>(v[l]) != value) w.fault(FaultKind::kInvalid, i, l, std::string(what) + " differs between lanes");
  });
  return value;
}

}  // namespace

void Run::arrive(Warp& w, std::size_t group, const Instr& i, u32 mask) {
  Group& g = w.groups[group];
  Block& b = *w.block;
  if (i.mode2 != 0) {  // aligned
    if (mask != g.mask && state.checks.barriers)
      w.fault(FaultKind::kDivergentBarrier, i, first_lane(g.mask & ~mask), "some lanes of the warp skip it");
    if (mask != w.live && state.checks.barriers) {
      g.state = Group::kAwaiting;
      return;
    }
    if (w.live != w.all && state.checks.barriers)
      w.fault(FaultKind::kDivergentBarrier, i, first_lane(mask), "some lanes of the warp have ended before it");
  }
  if (mask != g.mask) {  // those that skip it go on
    Group rest = g;
    rest.mask = g.mask & ~mask, ++rest.pc;
    g.mask = mask;
    w.groups.push_back(rest);
    return arrive(w, group, i, mask);
  }
  const std::size_t first = barrier_operand(i);
  const u32 number = uniform(w, i, first, mask, "the barrier's number");
  if (number > 15) w.fault(FaultKind::kInvalid, i, first_lane(mask), "barrier " + std::to_string(number) + " of 16");
  const std::size_t behind = first + 1, source = i.mode >= 1 && i.mode <= 3 ? i.ops.size() - 1 : i.ops.size();
  u32 expected = behind < source ? uniform(w, i, behind, mask, "the number of threads") : 0;
  if (behind < source && (expected == 0 || expected % 32 != 0))
    w.fault(FaultKind::kInvalid, i, first_lane(mask),
            std::to_string(expected) + " threads at a barrier, expected a multiple of 32");
  Barrier& r = b.barriers[number];
  const u32 arriving =
      static_cast<u32>(std::popcount(mask)) + (i.mode2 != 0 && expected != 0 ? static_cast<u32>(std::popcount(~w.live)) : 0);
  if (r.arrived != 0 && r.expected != expected)
    w.fault(FaultKind::kInvalid, i, first_lane(mask),
            "barrier " + std::to_string(number) + " is used for different numbers of threads at once");
  if (expected != 0 && r.arrived + arriving > expected)
    w.fault(FaultKind::kInvalid, i, first_lane(mask),
            "more threads come to barrier " + std::to_string(number) + " than it is for");
  r.expected = expected, r.arrived += arriving;
  join(r.clock, w.clock);
  r.clock[w.rank] = std::max(r.clock[w.rank], time);
  if (i.mode >= 1 && i.mode <= 3) {
    w.need_known(i, i.ops[source], mask, "what it combines");
    const u32 p = w.pred(i.ops[source]) & mask;
    r.count += static_cast<u32>(std::popcount(p));
    r.all = r.all && p == mask, r.any = r.any || p != 0;
  }
  ++loaded.counts[g.pc], ++report.warp_instructions, report.lane_instructions += static_cast<u64>(std::popcount(mask));
  if (i.mode == 4) {
    ++g.pc;
  } else {
    g.state = Group::kAtBarrier, g.barrier = number;
  }
  check_barriers(b);
}

void Run::check_barriers(Block& b) {
  for (u32 n = 0; n < b.barriers.size(); ++n) {
    const Barrier& r = b.barriers[n];
    if (r.arrived != 0 && r.arrived >= (r.expected != 0 ? r.expected : b.live)) release(b, n);
  }
}

void Run::release(Block& b, u32 barrier) {
  Barrier& r = b.barriers[barrier];
  ++current->progress;
  ++time;
  const Instr* shared = nullptr;
  for (auto& w : b.warps)
    for (Group& g : w->groups) {
      if (g.state != Group::kAtBarrier || g.barrier != barrier) continue;
      const Instr& i = image.code[g.pc];
      if (shared != nullptr && shared->mode != i.mode && state.checks.barriers)
        w->fault(FaultKind::kDivergentBarrier, i, first_lane(g.mask),
                 "others come to line " + std::to_string(shared->line) + ", another operation");
      shared = &i;
      if (i.mode >= 1 && i.mode <= 3) {
        select(*w, g);
        if (i.mode == 1) {
          u64* d = w->dst(i.ops[0]);
          each(g.mask, [&](int l) { d[l] = r.count; });
        } else {
          w->set_pred(i.ops[0], g.mask, (i.mode == 2 ? r.all : r.any) ? ~0u : 0);
        }
        w->know(i.ops[0], g.mask, ~0u);
      }
      join(w->clock, r.clock);
      each(g.mask, [&](int l) { w->synced[static_cast<std::size_t>(l)] = time; });
      ++g.pc;
      g.state = Group::kReady;
    }
  const std::size_t clocks = r.clock.size();
  r = Barrier();
  r.clock.assign(clocks, 0);
}

void add_control(Table& t) {
  t["bra"] = [](Decode& d) {
    d.take("uni");
    d.operands(1, 1);
    if (d.op(0).kind != Operand::kLabel) d.fail("expected a label");
    d.in.flow = Flow::kBranch;
  };
  t["brx"] = [](Decode& d) {
    if (!d.take("idx")) d.fail("expected .idx");
    d.take("uni");
    d.operands(2, 2);
    d.value(0, T::u32);
    if (d.op(1).kind != Operand::kList) d.fail("expected the name of .branchtargets");
    d.in.flow = Flow::kBranchIndexed;
  };
  t["call"] = [](Decode& d) {
    d.take("uni");
    d.operands(1, 4);
    d.in.flow = Flow::kCall;
  };
  t["ret"] = [](Decode& d) {
    d.take("uni");
    d.operands(0, 0);
    d.in.flow = Flow::kReturn;
  };
  t["exit"] = [](Decode& d) {
    d.operands(0, 0);
    d.in.flow = Flow::kExit;
  };
  const Decoder trap = [](Decode& d) {
    d.operands(0, 0);
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      w.fault(FaultKind::kTrap, i, first_lane(mask), "the program stops itself");
    };
  };
  t["trap"] = trap, t["brkpt"] = trap;
}

}  // namespace ashlar::ptx
