// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of pointers: gathers, scatters, atomics; memory of a block and of a module.
#include "tests/tileir/executor/run.h"

namespace ashlar::tileir {

namespace {

constexpr const char* kUnwritten = "memory that nobody wrote";
constexpr const char* kMasked = "a masked element without padding";

// f(element, address) for those that the mask lets through; g(element) for others.
template <class F, class G>
void through(const Run& r, const Op& op, F f, G g) {
  const Tile& pointers = r.tile(op, 0);
  const Tile* mask = r.optional(op, op.info->operand("mask"));
  for (std::size_t n = 0; n < pointers.size(); ++n) {
    if (mask != nullptr && mask->is_vague(n)) r.undefined(*mask, "a mask");
    if (mask != nullptr && mask->bits[n] == 0) {
      g(n);
      continue;
    }
    if (pointers.is_vague(n)) r.undefined(pointers, "an address");
    f(n, pointers.bits[n]);
  }
}

}  // namespace

u64 modified(u64 mode, u64 old, u64 value, Kind k) {
  const int bits = bits_of(k);
  const bool less = signed_of(value, bits) < signed_of(old, bits);
  switch (mode) {
    case 0:
      return old & value;
    case 1:
      return old | value;
    case 2:
      return old ^ value;
    case 3:
      return (old + value) & mask_of(bits);
    case 4:
      return rounded(number_of(old, k) + number_of(value, k), k, Rounding::kNearestEven);
    case 5:
      return less ? old : value;
    case 6:
      return less ? value : old;
    case 7:
      return value < old ? old : value;
    case 8:
      return value < old ? value : old;
    default:
      return value;  // xchg
  }
}

void load_pointers(Run& r, const Op& op) {
  const Tile* padding = r.optional(op, op.info->operand("padding"));
  Access access(r, op, op.results[0]->element(), true, false);
  Tile out = make(*op.results[0], r.tile(op, 0).size());
  through(
      r, op,
      [&](std::size_t n, u64 address) {
        bool written = true;
        access.element(address);
        out.bits[n] = access.load(written);
        if (!written) out.make_vague(n, kUnwritten, &op);
      },
      [&](std::size_t n) {
        if (padding == nullptr) return out.make_vague(n, kMasked, &op);
        out.bits[n] = padding->bits[n];
        out.inherit(n, *padding, n);
      });
  r.set(op, std::move(out));
  r.set_token(op, access.node());
}

void store_pointers(Run& r, const Op& op) {
  const Tile& value = r.tile(op, 1);
  Access access(r, op, value.type->element(), false, true);
  through(
      r, op,
      [&](std::size_t n, u64 address) {
        if (value.is_vague(n)) r.undefined(value, "a result in memory");
        access.element(address);
        access.store(value.bits[n]);
      },
      [](std::size_t) {});
  r.set_token(op, access.node());
}

void atomic_rmw(Run& r, const Op& op) {
  const Tile& value = r.tile(op, 1);
  const Kind kind = value.type->element();
  const u64 mode = op.number(op.info->attribute("mode"));
  Access access(r, op, kind, true, true);
  Tile out = make(*op.results[0], value.size());
  through(
      r, op,
      [&](std::size_t n, u64 address) {
        if (value.is_vague(n)) r.undefined(value, "a result in memory");
        bool written = true;
        access.element(address);
        const u64 old = access.load(written);
        out.bits[n] = old;
        if (!written && mode != 9) r.fault(FaultKind::kUndefined, "an atomic operation on memory that nobody wrote", address);
        if (!written) out.make_vague(n, kUnwritten, &op);
        access.store(modified(mode, old, value.bits[n], kind));
      },
      [&](std::size_t n) { out.make_vague(n, kMasked, &op); });
  r.set(op, std::move(out));
  r.set_token(op, access.node());
}

void atomic_cas(Run& r, const Op& op) {  // floats are compared by their bits
  const Tile &compare = r.tile(op, 1), &value = r.tile(op, 2);
  Access access(r, op, value.type->element(), true, true);
  Tile out = make(*op.results[0], value.size());
  through(
      r, op,
      [&](std::size_t n, u64 address) {
        if (value.is_vague(n) || compare.is_vague(n)) r.undefined(value.is_vague(n) ? value : compare, "a result in memory");
        bool written = true;
        access.element(address);
        const u64 old = access.load(written);
        if (!written) r.fault(FaultKind::kUndefined, "an atomic operation on memory that nobody wrote", address);
        out.bits[n] = old;
        if (old == compare.bits[n]) access.store(value.bits[n]);
      },
      [&](std::size_t n) {
        out.bits[n] = compare.bits[n];
        out.inherit(n, compare, n);
      });
  r.set(op, std::move(out));
  r.set_token(op, access.node());
}

void offset(Run& r, const Op& op) {
  const Tile &pointers = r.tile(op, 0), &by = r.tile(op, 1);
  const int bits = bits_of(by.type->element());
  const i64 bytes = storage_bytes(pointers.type->of->of->kind);
  if (bytes == 0) throw Error("offset: pointers to " + pointers.type->of->of->text + " are not executed", op.offset);
  lanes(r, op, {&pointers, &by}, [&](Tile& out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      i64 step = 0;
      if (__builtin_mul_overflow(signed_of(by.at(k), bits), bytes, &step) && !out.is_vague(k))
        out.make_vague(k, "an offset that overflows", &op);
      out.bits[k] = pointers.at(k) + static_cast<u64>(step);
    }
  });
}

void allocate(Run& r, const Op& op) {
  const std::size_t bytes = static_cast<std::size_t>(storage_bytes(op.results[0]->of->of->kind)),
                    align = op.number(1) == 0 ? 16 : op.number(1);
  if (bytes == 0) throw Error("alloca: elements of type " + op.results[0]->of->of->text + " are not executed", op.offset);
  if (op.number(0) > 1u << 20) throw Error("alloca: more than 2^20 elements are not executed", op.offset);
  const Allocation& a = r.device.memory.alloc(bytes * op.number(0), align);
  r.block_memory.push_back(a.base);
  Tile out = make(*op.results[0], 1);
  out.bits[0] = a.base;
  r.set(op, std::move(out));
}

void get_global(Run& r, const Op& op) {
  Tile out = make(*op.results[0], 1);
  out.bits[0] = r.globals.at(op.attributes[0].text);
  r.set(op, std::move(out));
}

}  // namespace ashlar::tileir
