// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>

#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

std::string hex(u64 address) {
  char s[24];
  std::snprintf(s, sizeof s, "0x%llx", static_cast<unsigned long long>(address));
  return s;
}

std::string at_offset(const Allocation& a, u64 address) {
  return "offset " + std::to_string(address - a.base) + " of an allocation of " + std::to_string(a.size) + " bytes";
}

}  // namespace

Access::Access(Run& r, const Op& op, Kind element, bool reads, bool writes)
    : run_(r),
      op_(op),
      kind_(element),
      reads_(reads),
      writes_(writes),
      bytes_(static_cast<std::size_t>(storage_bytes(element))) {
  order_ = op.number(op.info->attribute("order"));
  const Attribute& scope = op.attributes[static_cast<std::size_t>(op.info->attribute("scope"))];
  atomic_ = reads && writes;
  if (order_ != 0) strength_ = scope.value == 0 ? Races::kInBlock : Races::kOnDevice;
  const u32 token = r.token(op, op.info->operand("token"));
  node_ = r.races.node(&op, strength_, token == 0 ? std::vector<u32>{} : std::vector<u32>{token});
}

void Access::element(u64 address) {
  at_ = run_.device.memory.find(address, bytes_);
  address_ = address;
  if (at_ == nullptr) {
    std::string near = "in no allocation";
    if (const Allocation* a = run_.device.memory.find(address, 0)) near = at_offset(*a, address);
    run_.fault(FaultKind::kOutOfBounds, std::to_string(bytes_) + " bytes at " + hex(address) + ", " + near, address);
  }
  const Checks& checks = run_.device.checks;
  if (checks.alignment && address % bytes_ != 0)
    run_.fault(
        FaultKind::kMisaligned,
        std::to_string(bytes_) + " bytes at " + hex(address) + ", which is no multiple of them, " + at_offset(*at_, address),
        address);
  if (writes_ && at_->read_only) run_.fault(FaultKind::kReadOnly, "a store to a constant", address);
  if (strength_ == Races::kOnDevice) {
    if (reads_ && (order_ == 2 || order_ == 4)) run_.races.acquire(address, node_);
    if (writes_ && (order_ == 3 || order_ == 4))
      run_.races.release(address, node_, atomic_);
    else if (writes_ && !atomic_)
      run_.races.overwrite(address);
  }
  if (!checks.block_races && !checks.token_races) return;
  if (at_->touched.empty()) at_->touched.resize(at_->size);
  const u64 first = address - at_->base;
  again_ = writes_ && !reads_ && at_->touched[first].write == node_;
  for (std::size_t b = 0; b < bytes_; ++b) {
    const auto c = run_.races.touch(at_->touched[first + b], node_, reads_, writes_, checks.block_races, checks.token_races);
    if (!c) continue;
    const Races::Node& other = run_.races[c->node];
    std::string text = std::string(writes_ ? "writes" : "reads") + " what " + other.op->info->name;
    const Location& l = run_.image.locations[other.op->location];
    if (l.line > 0) text += " (" + l.file + ":" + std::to_string(l.line) + ")";
    if (c->between_blocks) text += " of block " + std::to_string(other.block) + " (counted along x, y, z)";
    text += std::string(c->other_wrote ? " writes" : " reads") + ", and ";
    text += c->between_blocks ? "nothing orders the two blocks" : "no token orders the two";
    run_.fault(c->between_blocks ? FaultKind::kBlockRace : FaultKind::kTokenRace, text + ", " + at_offset(*at_, address),
               address);
  }
}

u64 Access::load(bool& written) const {
  const u64 first = address_ - at_->base;
  u64 v = 0;
  written = true;
  for (std::size_t b = 0; b < bytes_; ++b) {
    v |= static_cast<u64>(at_->bytes()[first + b]) << (8 * b);
    written = written && at_->written[first + b] != 0;
  }
  if (kind_ == Kind::kI1) return v != 0 ? 1 : 0;
  return kind_ == Kind::kTf32 ? v >> 13 : v;
}

void Access::store(u64 value) const {
  const u64 first = address_ - at_->base;
  const u64 v = kind_ == Kind::kTf32 ? value << 13 : value;
  if (again_ && run_.device.checks.token_races) {
    for (std::size_t b = 0; b < bytes_; ++b)
      if (at_->bytes()[first + b] != static_cast<u8>(v >> (8 * b)))
        run_.fault(FaultKind::kTokenRace,
                   "two elements of one store write different values to one place, " + at_offset(*at_, address_), address_);
  }
  for (std::size_t b = 0; b < bytes_; ++b) {
    at_->bytes()[first + b] = static_cast<u8>(v >> (8 * b));
    at_->written[first + b] = 1;
  }
}

}  // namespace ashlar::tileir
