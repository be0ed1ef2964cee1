// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Synchronization inside a launch: one statement, one instruction (docs/parallel.md says what each means; the PTX ISA manual,
// "Parallel Synchronization and Communication Instructions", what the instructions do).
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/nvptx/nvptx.h"
#include "codegen/llvm/nvptx/asm.h"
#include "codegen/llvm/releases.h"

namespace ashlar::codegen {

using llvm::Value;
using Sync = ir::Sync::Kind;

namespace {

std::int64_t number_in(const Expr& e, const char* what) {
  std::int64_t n = 0;
  if (!ir::is_int(e, &n)) throw InternalError(std::string("codegen: ") + what + " is not a constant");
  return n;
}

// The register buffers that products of the launch read and accumulate into.
void product_buffers(const ir::Kernel& k, const std::vector<ir::KStmt>& list, std::set<ir::Id>& found) {
  for (const ir::KStmt& s : list) {
    if (const auto* call = s.as<ir::KCall>()) {
      const ir::Intrinsic& f = k.intrinsics.at(call->intrinsic);
      for (std::size_t n = 0; n < f.operands.size(); ++n)
        if (f.operands[n].completion == ir::Completion::product_group &&
            f.operands[n].place == ir::IntrinsicOperand::Place::registers)
          found.insert(call->actuals[n].buffer);
    }
    for (const auto* part : s.bodies()) product_buffers(k, *part, found);
  }
}

void expect_chip(const Unit& unit, Where where, const char* chip, const char* what) {
  require_chip(unit.target, chip, std::string(what) + " in kernel `" + unit.kernel.name + "`", where);
}

}  // namespace

Value* Emitter::shared_address(ir::Id buffer, const Expr& address, std::int64_t element_bytes) {
  Value* index = this->address(address);
  index = b.CreateMul(index, llvm::ConstantInt::get(index->getType(), static_cast<std::uint64_t>(element_bytes)));
  Value* at = b.CreateGEP(b.getInt8Ty(), base_of(buffer), index);
  return b.CreatePtrToInt(at, b.getInt32Ty());
}

// Products run beside the thread: no computation on their registers may move across the fence before them or the wait after
// them. An empty instruction that reads and writes those registers holds it back.
void Emitter::pin_products() {
  std::set<ir::Id> ids;
  product_buffers(unit.kernel, unit.kernel.body, ids);
  for (ir::Id id : ids) {
    if (!buffers.contains(id)) continue;
    const ir::KBuffer& buffer = unit.kernel.buffers.at(id);
    const bool real = buffer.type.bits == 32;
    llvm::Type* word = real ? b.getFloatTy() : b.getInt32Ty();
    const std::int64_t words = number_in(buffer.elements, "the size of a register buffer") * buffer.type.bytes() / 4;
    PtxAsm held(*this);
    std::vector<Value*> values;
    for (std::int64_t n = 0; n < words; ++n) held.out(real ? "f" : "r", word);
    for (std::int64_t n = 0; n < words; ++n) held.tied(static_cast<std::size_t>(n), register_word(id, n, word));
    values = held.run();
    for (std::int64_t n = 0; n < words; ++n) set_register_word(id, n, values[static_cast<std::size_t>(n)]);
  }
}

// An mbarrier is a word of eight bytes in shared memory.
void Emitter::synchronize_by_mbarrier(const ir::KSync& s, Where where) {
  auto needs = [&](const char* chip, const char* what) { expect_chip(unit, where, chip, what); };
  PtxAsm a(*this);
  auto word = [&](const Expr& e) { return a.in("r", b.CreateTrunc(address(e), b.getInt32Ty())); };
  const std::string at = a.in("r", shared_address(s.buffer, s.index, 8));
  switch (s.kind) {
    case Sync::mbarrier_init:
      a.text("mbarrier.init.shared.b64 [" + at + "], " + word(s.count) + ";");
      break;
    case Sync::mbarrier_arrive:
      if (s.rank.empty()) {
        a.text("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [" + at + "]; }");
      } else {
        needs("sm_90", "an arrival at another block's barrier");
        a.text("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, " + at + ", " + word(s.rank) +
               "; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }");
      }
      break;
    case Sync::mbarrier_expect:
      needs("sm_90", "an mbarrier that counts bytes");
      a.text("mbarrier.arrive.expect_tx.shared::cta.b64 _, [" + at + "], " + word(s.bytes) + ";");
      break;
    case Sync::mbarrier_wait:
      needs("sm_90", "a wait at an mbarrier");
      a.text("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [" + at + "], " + word(s.parity) +
             "; @!done bra again; }");
      break;
    default:
      throw InternalError("codegen: no step of an mbarrier in kernel " + unit.name);
  }
  a.run();
}

void Emitter::synchronize(const ir::KSync& s, Where where) {
  if (!thread_of) throw InternalError("codegen: synchronization outside a launch in kernel " + unit.name);
  auto needs = [&](const char* chip, const char* what) { expect_chip(unit, where, chip, what); };
  auto collective = [&](llvm::Intrinsic::ID id, std::initializer_list<Value*> args) {
    b.CreateIntrinsic(b.getVoidTy(), id, llvm::ArrayRef(args.begin(), args.size()));
  };
  auto instruction = [&](const std::string& text, bool convergent = false) {
    PtxAsm a(*this);
    a.text(text);
    a.run(convergent);
  };
  auto word = [&](const Expr& e) { return b.CreateTrunc(address(e), b.getInt32Ty()); };
  // Hardware barrier 0 is the block's own.
  auto named = [&] {
    std::int64_t n = 0;
    if (ir::is_int(s.index, &n) && n > 14)
      refuse("cuda", "named barriers 0 to 14 (a block's own is the sixteenth)", std::to_string(n), where);
    return b.CreateAdd(word(s.index), b.getInt32(1));
  };
  switch (s.kind) {
    case Sync::block:
      return releases::barrier(b);
    case Sync::named:
    case Sync::named_arrive: {
      Value* id = named();
      Value* count = word(s.count);
      return s.kind == Sync::named ? releases::barrier(b, id, count) : releases::barrier_arrive(b, id, count);
    }
    case Sync::warp:
      return collective(llvm::Intrinsic::nvvm_bar_warp_sync, {b.getInt32(0xFFFFFFFF)});
    case Sync::cluster_arrive:
      needs("sm_90", "a cluster barrier");
      return collective(llvm::Intrinsic::nvvm_barrier_cluster_arrive_aligned, {});
    case Sync::cluster_wait:
      needs("sm_90", "a cluster barrier");
      return collective(llvm::Intrinsic::nvvm_barrier_cluster_wait_aligned, {});
    case Sync::mbarrier_init:
    case Sync::mbarrier_arrive:
    case Sync::mbarrier_expect:
    case Sync::mbarrier_wait:
      return synchronize_by_mbarrier(s, where);
    case Sync::commit:
      if (s.group == ir::Completion::copy_group) return instruction("cp.async.commit_group;");
      if (s.group == ir::Completion::bulk_group) {
        needs("sm_90", "a group of bulk copies");
        return instruction("cp.async.bulk.commit_group;");
      }
      needs("sm_90a", "a group of products");
      return instruction("wgmma.commit_group.sync.aligned;", true);
    case Sync::wait: {
      const std::string pending = std::to_string(number_in(s.count, "the number of pending groups"));
      if (s.group == ir::Completion::copy_group) return instruction("cp.async.wait_group " + pending + ";");
      if (s.group == ir::Completion::bulk_group) {
        needs("sm_90", "a group of bulk copies");
        return instruction("cp.async.bulk.wait_group " + pending + ";");
      }
      needs("sm_90a", "a group of products");
      instruction("wgmma.wait_group.sync.aligned " + pending + ";", true);
      return pin_products();
    }
    case Sync::wait_read:
      needs("sm_90", "a group of bulk copies");
      return instruction("cp.async.bulk.wait_group.read " + std::to_string(number_in(s.count, "the number of pending groups")) +
                         ";");
    case Sync::fence_init:
      needs("sm_90", "a fence of initialized barriers");
      return instruction("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;");
    case Sync::fence_proxy:
      needs("sm_90", "a fence between proxies");
      return instruction("fence.proxy.async;");
    case Sync::fence_product:
      needs("sm_90a", "a fence of products");
      pin_products();
      return instruction("wgmma.fence.sync.aligned;", true);
    case Sync::fence_device:
      return collective(llvm::Intrinsic::nvvm_membar_gl, {});
    case Sync::registers: {
      if (std::string_view(unit.target.device().chip) != "sm_100a") needs("sm_90a", "a change of a thread's registers");
      const std::int64_t count = number_in(s.count, "a register budget"), start = register_budget;
      if (count == start) return;
      return instruction(
          std::string("setmaxnreg.") + (count > start ? "inc" : "dec") + ".sync.aligned.u32 " + std::to_string(count) + ";",
          true);
    }
  }
}

}  // namespace ashlar::codegen
