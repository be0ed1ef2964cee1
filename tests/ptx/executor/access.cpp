// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an access lands.
#include <algorithm>

#include "tests/ptx/executor/device.h"

namespace ashlar::ptx {
namespace {

[[noreturn]] void outside(Warp& w, const Instr& i, int lane, const char* space, u64 address, u32 bytes, bool store,
                          const std::string& more) {
  char at[32];
  std::snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(address));
  w.fault(FaultKind::kOutOfBounds, i, lane,
          std::string(store ? "writes " : "reads ") + std::to_string(bytes) + " bytes of " + space + " memory at " + at + more,
          address);
}

Place in_shared(Warp& w, const Instr& i, int lane, u64 address, u32 bytes, bool store, bool cluster) {
  const u32 rank = static_cast<u32>(address >> 24) & 0xff, offset = static_cast<u32>(address) & 0xffffff;
  Block* b = w.block;
  if (rank != 0) {
    if (rank > w.run->current->blocks.size())
      outside(w, i, lane, "shared", address, bytes, store, ", in a block that the cluster does not have");
    b = w.run->current->blocks[rank - 1].get();
    if (!cluster && b != w.block) outside(w, i, lane, "shared", address, bytes, store, ", in another block");
  }
  if (address >> 32 != 0 || offset < kFirstShared || offset - kFirstShared + u64(bytes) > b->shared.size())
    outside(w, i, lane, "shared", address, bytes, store,
            ", of which the block has " + std::to_string(b->shared.size()) + " bytes from " + std::to_string(kFirstShared));
  Place p;
  p.data = b->shared.data() + (offset - kFirstShared), p.written = b->written.data() + (offset - kFirstShared);
  p.block = b, p.offset = offset;
  return p;
}

Place in_local(Warp& w, const Instr& i, int lane, u64 address, u32 bytes, bool store) {
  Local& l = w.locals[static_cast<std::size_t>(lane)];
  if (address < kFirstLocal || address + bytes > l.data.size())
    outside(w, i, lane, "local", address, bytes, store,
            ", of which the thread has " + std::to_string(l.data.size() > kFirstLocal ? l.data.size() - kFirstLocal : 0) +
                " bytes from " + std::to_string(kFirstLocal));
  Place p;
  p.data = l.data.data() + address, p.written = l.written.data() + address;
  return p;
}

}  // namespace

Place locate(Warp& w, const Instr& i, int lane, Space space, u64 address, u32 bytes, bool store, u32 align) {
  if (align > 1 && (address & (align - 1)) != 0 && w.run->state.checks.alignment) {
    char at[32];
    std::snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(address));
    w.fault(FaultKind::kMisaligned, i, lane,
            std::string(store ? "writes" : "reads") + " at " + at + ", expected a multiple of " + std::to_string(align),
            address);
  }
  if (space == Space::kGeneric || space == Space::kParam) {
    if ((address & kSharedWindow) != 0) return in_shared(w, i, lane, address & ~kSharedWindow, bytes, store, true);
    if ((address & kLocalWindow) != 0) return in_local(w, i, lane, address & ~kLocalWindow, bytes, store);
  } else if (space == Space::kShared || space == Space::kSharedCluster) {
    return in_shared(w, i, lane, address & 0xffffffffu, bytes, store, space == Space::kSharedCluster);
  } else if (space == Space::kLocal) {
    return in_local(w, i, lane, address, bytes, store);
  }
  Allocation* a = w.last;
  if (a == nullptr || address - a->begin >= a->size) a = w.run->state.find(address);
  if (a == nullptr || bytes > a->size - (address - a->begin)) {
    std::string more = ", in no allocation";
    const auto& all = w.run->state.allocations;
    auto next = all.upper_bound(address);
    if (next != all.begin()) {
      const Allocation& near = *std::prev(next)->second;
      if (address - near.begin < near.size + (1u << 20))
        more = ", " + std::to_string(address - near.begin) + " bytes from the begin of one of " + std::to_string(near.size) +
               (near.name.empty() ? "" : " (" + near.name + ")");
    }
    outside(w, i, lane, name_of(space), address, bytes, store, more);
  }
  if (store && a->readonly) w.fault(FaultKind::kReadOnly, i, lane, "writes to " + a->name, address);
  if (space != Space::kGeneric && space != a->space && !(space == Space::kGlobal && a->space == Space::kConst))
    outside(w, i, lane, name_of(space), address, bytes, store, std::string(", which is ") + name_of(a->space) + " memory");
  w.last = a;
  Place p;
  p.data = a->data + (address - a->begin), p.written = a->written.data() + (address - a->begin), p.allocation = a;
  return p;
}

void print(Warp& w, const Instr& i, int lane, u64 format, u64 arguments) {
  std::string text;
  u64 at = arguments;
  const auto byte = [&](u64 address) { return *locate(w, i, lane, Space::kGeneric, address, 1, false, 1).data; };
  const auto fetch = [&](u32 bytes) {
    at = (at + bytes - 1) / bytes * bytes;
    u64 value = 0;
    for (u32 n = 0; n < bytes; ++n) value |= u64(byte(at + n)) << (8 * n);
    at += bytes;
    return value;
  };
  for (u64 f = format; byte(f) != 0; ++f) {
    char c = static_cast<char>(byte(f));
    if (c != '%') {
      text += c;
      continue;
    }
    std::string spec = "%";
    bool wide = false;
    for (c = static_cast<char>(byte(++f)); std::string_view("-+ #0123456789.lhzjt").find(c) != std::string_view::npos;
         c = static_cast<char>(byte(++f))) {
      if (c == 'l' || c == 'z' || c == 'j' || c == 't') wide = true;
      if (std::string_view("lhzjt").find(c) == std::string_view::npos) spec += c;
    }
    char out[512] = "";
    if (c == '%') {
      text += '%';
    } else if (c == 's') {
      std::string s;
      for (u64 p = fetch(8); byte(p) != 0; ++p) s += static_cast<char>(byte(p));
      std::snprintf(out, sizeof out, (spec + "s").c_str(), s.c_str());
    } else if (c == 'c') {
      std::snprintf(out, sizeof out, (spec + "c").c_str(), static_cast<int>(fetch(4)));
    } else if (c == 'p') {
      std::snprintf(out, sizeof out, "0x%llx", static_cast<unsigned long long>(fetch(8)));
    } else if (std::string_view("fFeEgGaA").find(c) != std::string_view::npos) {
      std::snprintf(out, sizeof out, (spec + c).c_str(), std::bit_cast<double>(fetch(8)));
    } else if (c == 'd' || c == 'i') {
      const i64 v = wide ? static_cast<i64>(fetch(8)) : static_cast<i32>(fetch(4));
      std::snprintf(out, sizeof out, (spec + "ll" + c).c_str(), static_cast<long long>(v));
    } else if (std::string_view("uxXo").find(c) != std::string_view::npos) {
      std::snprintf(out, sizeof out, (spec + "ll" + c).c_str(), static_cast<unsigned long long>(fetch(wide ? 8 : 4)));
    } else {
      w.fault(FaultKind::kInvalid, i, lane, std::string("prints with %") + c);
    }
    text += out;
  }
  w.run->report.printed += text;
}

}  // namespace ashlar::ptx
