// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract of Scope::registers. After vectorizing and unrolling every access to such a buffer has a constant address, and
// the values alive fit the register file with room for two operands; otherwise the user is told at the line of the contract.
// Of a device: they fit what one thread can have, and those of all threads of a block, which are given registers in eights, fit
// the file of a multiprocessor.
//
//   refused:  store_in: expected accumulators in at most 30 of 32 vector registers, found 36 for acc (36 x 16 f32)
#include "lower/passes.h"

#include <algorithm>
#include <map>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::lowering {
namespace {

struct Use {
  std::map<std::int64_t, std::int64_t> slots;  // values of the buffer: by the number of the first element, how many elements
  std::size_t first = SIZE_MAX, last = 0;
  bool packed = false;       // by the lanes of a warp
  std::int64_t threads = 0;  // inside a launch: each of so many has its own, one 32-bit word after another
};

// Registers that the values of a buffer lie in. One that is read in parts, half a tile at a time, is one.
std::size_t registers_of(const Use& use) {
  std::size_t count = 0;
  for (const auto& [at, elements] : use.slots)
    count += std::none_of(use.slots.begin(), use.slots.end(), [&, at = at, elements = elements](const auto& other) {
      return other.second > elements && other.first <= at && at + elements <= other.first + other.second;
    });
  return count;
}

class Contract {
 public:
  Contract(const ir::Kernel& kernel, const LowerOptions& options) : kernel_(kernel), options_(options) {}

  void check() {
    bool any = false;
    for (const auto& [id, b] : kernel_.buffers) any |= b.storage == ir::Storage::registers;
    if (!any) return;
    visit(kernel_.body);
    for (const auto& [id, use] : uses_) {
      std::size_t live = 0;
      for (const auto& [other, o] : uses_)
        if (o.first <= use.last && use.first <= o.last)
          live += use.threads ? words(kernel_.buffers.at(other).type, o) : registers_of(o);
      if (use.threads) {
        if (live > static_cast<std::size_t>(options_.thread_registers))
          refuse(
              "store_in",
              "values of " + name(id) + " in at most " + std::to_string(options_.thread_registers) + " registers of a thread",
              std::to_string(live) + " alive at once", where(id));
        const std::int64_t whole = (use.threads + 31) / 32 * 32;
        const std::int64_t each = options_.registers ? options_.registers / whole / 8 * 8 : options_.thread_registers;
        if (static_cast<std::int64_t>(live) > each)
          refuse("store_in",
                 "values of " + name(id) + " in at most " + std::to_string(each) + " registers of each of " +
                     std::to_string(use.threads) + " threads, which share " + std::to_string(options_.registers),
                 std::to_string(live) + " alive at once", where(id));
        continue;
      }
      const int room = options_.vector_registers - 2;
      if (live > static_cast<std::size_t>(room))
        refuse("store_in",
               "values of " + name(id) + " in at most " + std::to_string(room) + " of " +
                   std::to_string(options_.vector_registers) + " vector registers",
               std::to_string(live) + " alive at once", where(id));
    }
  }

 private:
  // Registers of 32 bits; what instructions take is packed.
  static std::size_t words(Type t, const Use& use) {
    const auto bytes = static_cast<std::size_t>(t.bytes());
    return use.packed ? (use.slots.size() * bytes + 3) / 4 : use.slots.size() * std::max<std::size_t>(1, bytes / 4);
  }
  const std::string& name(Id id) const { return kernel_.buffers.at(id).name; }
  Where where(Id id) const { return kernel_.buffers.at(id).facts().placed; }

  void access(Id id, const Expr& address) {
    const ir::KBuffer& b = kernel_.buffers.at(id);
    if (b.storage != ir::Storage::registers) return;
    const Expr base = ir::is(address, ir::Op::ramp) ? ir::args_of(address)[0] : address;
    std::int64_t at = 0, stride = 1;
    if (!ir::is_int(base, &at) || (ir::is(address, ir::Op::ramp) && !ir::is_int(ir::args_of(address)[1], &stride)))
      refuse("store_in", "constant indices into " + b.name + " in Scope::registers (unroll or vectorize the loops over it)",
             "[" + ir::text(address) + "]", where(id));
    Use& use = uses_[id];
    use.threads = threads_;
    use.packed = b.facts().fragment;
    const std::int64_t lanes_a_register = threads_ ? 1 : std::max(1, options_.vector_bits / b.type.bits);
    const std::int64_t lanes = address.type().lanes;
    for (std::int64_t k = 0; k < lanes; k += lanes_a_register)
      holds(use, at + k * stride, stride == 1 ? std::min(lanes - k, lanes_a_register) : 1);
    use.first = std::min(use.first, position_);
    use.last = std::max(use.last, position_);
  }

  static void holds(Use& use, std::int64_t at, std::int64_t elements) {
    std::int64_t& most = use.slots[at];
    most = std::max(most, elements);
  }

  // Of a tile that an intrinsic takes by value: the registers that its elements lie in.
  void tile(const ir::Call& call, const ir::Call::Actual& a) {
    access(a.buffer, a.address);
    std::int64_t first = 0;
    const ir::KBuffer& b = kernel_.buffers.at(a.buffer);
    if (b.storage != ir::Storage::registers || a.strides.empty() || !ir::is_int(a.address, &first)) return;
    const auto& operands = kernel_.intrinsics.at(call.intrinsic).operands;
    const auto& shape = operands.at(static_cast<std::size_t>(&a - call.actuals.data())).shape;
    const std::int64_t lanes = std::max(1, options_.vector_bits / b.type.bits);
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    std::vector<std::int64_t> elements;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t at = first, rest = k;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
        std::int64_t stride = 0;
        ir::is_int(a.strides.at(d), &stride);
        at += rest % shape[d] * stride;
      }
      elements.push_back(at);
    }
    std::sort(elements.begin(), elements.end());
    std::int64_t begin = elements.front();
    for (const std::int64_t at : elements) {
      if (at >= begin + lanes) begin = at;
      holds(uses_[a.buffer], begin, at - begin + 1);
    }
  }

  void visit(const std::vector<KStmt>& list) {
    for (const KStmt& s : list) {
      ++position_;
      for_each_expr(s, [&](const Expr& e) {
        ir::walk(e, [&](const Expr& x) {
          if (ir::is(x, ir::Op::load)) access(x.node()->id, ir::args_of(x)[0]);
          return true;
        });
      });
      if (const auto* store = s.as<ir::KStore>()) access(store->buffer, store->address);
      if (const auto* call = s.as<ir::KCall>())
        for (const ir::Call::Actual& a : call->actuals)
          if (kernel_.buffers.count(a.buffer)) tile(*call, a);
      const std::int64_t outside = threads_;
      if (const auto* launch = s.as<ir::KLaunch>()) threads_ = launch->threads;
      for (const auto* inside : s.bodies()) visit(*inside);
      threads_ = outside;
    }
  }

  const ir::Kernel& kernel_;
  const LowerOptions& options_;
  std::map<Id, Use> uses_;
  std::size_t position_ = 0;
  std::int64_t threads_ = 0;  // of the launch; 0: outside of one
};

}  // namespace

void check_registers(const ir::Kernel& kernel, const LowerOptions& options) { Contract(kernel, options).check(); }

}  // namespace ashlar::lowering
