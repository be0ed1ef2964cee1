// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One LLVM module for the launches of a kernel, one kernel function for each: parameters, storage, numbers, the body.
//
//   define ptx_kernel void @sum(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %N) "nvvm.reqntid"="256" { … }
//
// Address spaces: arguments and the workspace are global memory (1), a block's shared memory (3) is one array that the launch
// sizes, in which buffers lie at their offsets. Registers and stack buffers are allocas; SROA makes values of them.
#include <algorithm>
#include <numeric>
#include <set>

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Target/TargetMachine.h>

#include <ashlar/analysis/narrow_indices.h>
#include <ashlar/codegen/ptx.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/backend.h"
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/lines.h"
#include "codegen/llvm/nvptx/nvptx.h"
#include "codegen/promised.h"
#include "codegen/uses.h"

namespace ashlar::codegen {

using llvm::Value;

namespace {

constexpr unsigned kGlobal = 1, kShared = 3;
constexpr std::int64_t kMostParameterBytes = 4096;

class Translator {
 public:
  enum class Indices { narrow, wide };
  Translator(const ir::Kernel& kernel, const Target& target, bool lines, Indices indices)
      : unit_(kernel, target, Unit::Side::device), k_(unit_.kernel) {
    if (lines) unit_.lines = std::make_shared<Lines>(*unit_.module, k_);
    if (indices == Indices::narrow)
      unit_.narrow = std::make_shared<const analysis::NarrowIndices>(analysis::narrow_indices(k_));
  }
  // Under which the indices are right in which the translator computes.
  Expr condition() const { return unit_.narrow ? unit_.narrow->condition : ir::boolean(true); }

  ptx::Code run() {
    ptx::Code code;
    for (const ir::KStmt* s : launches_of(k_)) code.entries.push_back(launch(*s));
    code.lines = unit_.lines != nullptr;
    if (unit_.lines) unit_.lines->finish();
    verify(*unit_.module);
    const auto machine = device_machine(unit_.target);
    if (machine->createDataLayout() != unit_.module->getDataLayout())
      throw InternalError("codegen: two data layouts for one target");
    optimize(*unit_.module, *machine, Passes::device);
    widen_minima(*unit_.module);
    code.text = machine_code(*unit_.module, *machine, true);
    return code;
  }

 private:
  std::string unique_name(const std::string& wanted) {
    const std::string base = c_identifier(wanted.empty() ? k_.name : wanted);
    std::string name = base;
    for (int n = 2; !names_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    return name;
  }

  ptx::Entry launch(const ir::KStmt& s) {
    const ir::KLaunch& l = s.get<ir::KLaunch>();
    ptx::Entry entry;
    entry.launch = l;
    entry.name = unique_name(l.name);
    const Device& device = unit_.target.device();
    if (l.threads < 1 || l.threads > device.max_threads)
      refuse("cuda", "a block of 1 to " + std::to_string(device.max_threads) + " threads",
             std::to_string(l.threads) + " in launch `" + l.name + "`", s.where);
    entry.parameters = parameters_of(k_, l, true);
    entry.maps = maps_of(l.body);
    entry.folded = (l.block[1] && may_be_split(k_, l, 1)) || (l.block[2] && may_be_split(k_, l, 2));
    const std::int64_t bytes =
        static_cast<std::int64_t>(8 * entry.parameters.size() + 128 * entry.maps.size() + (entry.folded ? 8 : 0));
    if (bytes > kMostParameterBytes)
      refuse("cuda", "at most " + std::to_string(kMostParameterBytes) + " bytes of parameters",
             std::to_string(bytes) + " in launch `" + l.name + "`", s.where);
    clusters(l, entry, s.where);

    const Promised promised = promised_to(k_, l);
    llvm::Function* f = function(entry, l, promised);
    Emitter e(unit_, f);
    e.thread_of = &l;
    e.aligned = promised.aligned;
    e.register_budget = starting_registers(l, unit_.target);
    for (unsigned n = 0; n < entry.parameters.size(); ++n) bind(e, entry.parameters[n], f->getArg(n), promised);
    for (unsigned n = 0; n < entry.maps.size(); ++n)
      e.bind_buffer(entry.maps[n].id, f->getArg(static_cast<unsigned>(entry.parameters.size()) + n));
    numbers(e, l, entry.folded ? f->getArg(static_cast<unsigned>(f->arg_size() - 1)) : nullptr);
    entry.shared_bytes = shared_memory(e, l, s.where);
    e.allocate_stack(l.body);
    e.statements(l.body);
    e.b.CreateRetVoid();
    return entry;
  }

  std::vector<ir::TensorMap> maps_of(const std::vector<ir::KStmt>& list) const {
    std::set<ir::Id> ids;
    const std::function<void(const std::vector<ir::KStmt>&)> find = [&](const std::vector<ir::KStmt>& statements) {
      for (const ir::KStmt& s : statements) {
        if (const auto* call = s.as<ir::KCall>())
          for (const ir::Call::Actual& a : call->actuals)
            if (k_.tensor_maps.contains(a.buffer)) ids.insert(a.buffer);
        for (const auto* part : s.bodies()) find(*part);
      }
    };
    find(list);
    std::vector<ir::TensorMap> maps;
    for (ir::Id id : ids) maps.push_back(k_.tensor_maps.at(id));
    return maps;
  }

  void clusters(const ir::KLaunch& l, ptx::Entry& entry, Where where) const {
    std::int64_t blocks = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const Expr& c = l.cluster[d];
      if (!c.empty() && !ir::is_int(c, &entry.cluster[d]))
        throw InternalError("codegen: a cluster of launch " + l.name + " is not a constant");
      blocks *= entry.cluster[d];
    }
    if (blocks > 1) require_chip(unit_.target, "sm_90", "a cluster of " + std::to_string(blocks) + " blocks", where);
  }

  llvm::Function* function(const ptx::Entry& entry, const ir::KLaunch& l, const Promised& promised) {
    llvm::LLVMContext& c = *unit_.context;
    std::vector<llvm::Type*> types;
    for (const LaunchParameter& p : entry.parameters)
      types.push_back(p.kind == LaunchParameter::Kind::address ? static_cast<llvm::Type*>(llvm::PointerType::get(c, kGlobal))
                                                               : static_cast<llvm::Type*>(llvm::Type::getInt64Ty(c)));
    for (std::size_t n = 0; n < entry.maps.size(); ++n) types.push_back(llvm::PointerType::get(c, 0));
    const auto maps_end = static_cast<unsigned>(types.size());
    if (entry.folded) types.push_back(llvm::Type::getInt64Ty(c));
    auto* f = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(c), types, false),
                                     llvm::GlobalValue::ExternalLinkage, entry.name, unit_.module.get());
    f->setCallingConv(llvm::CallingConv::PTX_Kernel);
    f->addFnAttr(llvm::Attribute::NoUnwind);
    f->addFnAttr(llvm::Attribute::Convergent);
    f->addFnAttr("no-trapping-math", "true");
    f->addFnAttr("nvvm.reqntid", std::to_string(l.threads));
    if (const std::int64_t n = starting_registers(l, unit_.target)) f->addFnAttr("nvvm.maxnreg", std::to_string(n));
    if (entry.cluster[0] * entry.cluster[1] * entry.cluster[2] > 1)
      f->addFnAttr("nvvm.cluster_dim", std::to_string(entry.cluster[0]) + "," + std::to_string(entry.cluster[1]) + "," +
                                           std::to_string(entry.cluster[2]));
    for (unsigned n = 0; n < entry.parameters.size(); ++n) {
      const LaunchParameter& p = entry.parameters[n];
      if (p.kind != LaunchParameter::Kind::address) {
        f->getArg(n)->setName("v" + std::to_string(n));
        continue;
      }
      const ir::KBuffer& buffer = k_.buffers.at(p.id);
      f->getArg(n)->setName(buffer.name);
      std::int64_t align = std::max<std::int64_t>(buffer.align, buffer.type.bytes());
      if (const auto known = promised.aligned.find(p.id); known != promised.aligned.end())
        align = std::max(align, known->second);
      f->addParamAttr(n, llvm::Attribute::getWithAlignment(c, llvm::Align(static_cast<std::uint64_t>(align & -align))));
    }
    if (entry.folded) f->getArg(maps_end)->setName("begin");
    for (unsigned n = static_cast<unsigned>(entry.parameters.size()); n < maps_end; ++n) {
      f->addParamAttr(n, llvm::Attribute::getWithByValType(c, llvm::ArrayType::get(llvm::Type::getInt8Ty(c), 128)));
      f->addParamAttr(n, llvm::Attribute::getWithAlignment(c, llvm::Align(128)));
      f->addParamAttr(n, llvm::Attribute::get(c, "nvvm.grid_constant"));
    }
    return f;
  }

  void bind(Emitter& e, const LaunchParameter& p, Value* v, const Promised& promised) {
    if (p.kind == LaunchParameter::Kind::address) {
      e.bind_buffer(p.id, v);
      return;
    }
    llvm::Type* held = e.math.memory_type(p.type);
    auto* bits = e.b.getIntNTy(held->getScalarSizeInBits());
    v = e.b.CreateBitCast(e.b.CreateTrunc(v, bits), held);
    const auto symbol = k_.symbols.find(p.id);
    const std::int64_t declared = symbol == k_.symbols.end() ? 1 : symbol->second.multiple_of;
    const auto tested = promised.multiples.find(p.id);
    e.bind(p.id, e.math.from_memory(p.type, v),
           tested == promised.multiples.end() ? declared : std::lcm(declared, tested->second));
  }

  // The numbers of the block and the thread, with what is known of their ranges. `begin`, if it is there: from which number on
  // the blocks of this launch count, along y in the low 32 bits and along z in the high ones.
  void numbers(Emitter& e, const ir::Launch& l, Value* begin) {
    auto read = [&](llvm::Intrinsic::ID id, std::uint64_t end) -> Value* {
      llvm::CallInst* v = e.b.CreateIntrinsic(e.b.getInt32Ty(), id, {});
      v->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, end)));
      return v;
    };
    auto bind = [&](ir::Id id, Value* n) { e.bind(id, e.b.CreateZExt(n, e.b.getInt64Ty(), "", /*IsNonNeg=*/true)); };
    constexpr llvm::Intrinsic::ID blocks[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                              llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                              llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
    for (std::size_t d = 0; d < 3; ++d) {
      if (!l.block[d]) continue;
      Value* n = read(blocks[d], static_cast<std::uint64_t>(unit_.target.device().max_grid[d]));
      if (begin && d > 0) {  // both below 2^31, as the runtime checks
        Value* first = d == 1 ? begin : e.b.CreateLShr(begin, e.b.getInt64(32));
        n = e.b.CreateAdd(n, e.b.CreateTrunc(first, e.b.getInt32Ty()), "", /*HasNUW=*/true, /*HasNSW=*/true);
      }
      bind(l.block[d], n);
    }
    if (l.thread) bind(l.thread, read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, static_cast<std::uint64_t>(l.threads)));
  }

  // Binds the shared buffers and barriers that the launch uses; the bytes that a block needs.
  std::int64_t shared_memory(Emitter& e, const ir::KLaunch& l, Where where) {
    std::int64_t bytes = l.shared_bytes;
    bool any = false;
    const Uses uses = uses_of(l.body);
    for (const auto& [id, buffer] : k_.buffers) {
      if (buffer.storage != ir::Storage::shared && buffer.storage != ir::Storage::barrier) continue;
      std::int64_t elements = 0, offset = 0;
      if (!ir::is_int(buffer.elements, &elements) || !ir::is_int(buffer.offset, &offset))
        throw InternalError("codegen: the place of shared buffer " + buffer.name + " is not a constant");
      const std::int64_t end = offset + elements * (buffer.storage == ir::Storage::barrier ? 8 : buffer.type.bytes());
      if (!uses.buffers.contains(id)) continue;
      bytes = std::max(bytes, end);
      any = true;
      e.bind_buffer(id,
                    e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), shared(), static_cast<std::uint64_t>(offset), buffer.name));
    }
    const Device& device = unit_.target.device();
    if (bytes > device.shared_bytes)
      refuse("cuda",
             "at most " + std::to_string(device.shared_bytes) + " bytes of shared memory in a block, which " +
                 std::string(device.chip) + " has",
             std::to_string(bytes) + " in launch `" + l.name + "`", where);
    return any ? bytes : 0;
  }

  // All of a block's shared memory: sized by the launch; tiles of the widest swizzle begin at multiples of 1024 bytes.
  llvm::GlobalVariable* shared() {
    if (shared_) return shared_;
    llvm::LLVMContext& c = *unit_.context;
    auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(c), 0);
    std::string name = "shared_memory";
    while (!names_.insert(name).second) name += "_";
    shared_ = new llvm::GlobalVariable(*unit_.module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                       llvm::GlobalValue::NotThreadLocal, kShared);
    shared_->setAlignment(llvm::Align(1024));
    return shared_;
  }

  Unit unit_;
  const ir::Kernel& k_;
  std::set<std::string> names_;
  llvm::GlobalVariable* shared_ = nullptr;
};

}  // namespace

void require_chip(const Target& target, std::string_view needs, const std::string& what, Where where) {
  if (needs.empty() || target.has(std::string(needs).c_str())) return;
  const bool alone = needs.back() == 'a' || needs.back() == 'f';
  refuse("cuda", "a target of " + std::string(needs) + (alone ? "" : " or later"), what + " for " + std::string(target.text()),
         where);
}

namespace {

bool sets_registers(const std::vector<ir::KStmt>& list) {
  for (const ir::KStmt& s : list) {
    if (const auto* sync = s.as<ir::KSync>(); sync && sync->kind == ir::Sync::Kind::registers) return true;
    for (const auto* part : s.bodies())
      if (sets_registers(*part)) return true;
  }
  return false;
}

}  // namespace

std::int64_t starting_registers(const ir::KLaunch& l, const Target& target) {
  if (l.registers > 0 || !sets_registers(l.body)) return l.registers;
  const Device& d = target.device();
  return std::min<std::int64_t>(d.registers / l.threads / 8 * 8, d.max_registers / 8 * 8);
}

namespace ptx {

Code translate(const ir::Kernel& kernel, const Target& target, bool lines, bool wide) {
  if (!target.is_gpu() || target.device().kind != Device::Kind::cuda)
    refuse("ptx", "a target that is a CUDA device", std::string(target.text()), Where{});
  using Indices = Translator::Indices;
  if (wide) return Translator(kernel, target, lines, Indices::wide).run();
  Translator narrow(kernel, target, lines, Indices::narrow);
  const Expr condition = narrow.condition();
  if (ir::is_int(condition, std::int64_t{0})) return Translator(kernel, target, lines, Indices::wide).run();
  Code code = narrow.run();
  if (ir::is_int(condition, 1)) return code;
  code.wide = Translator(kernel, target, lines, Indices::wide).run().text;
  code.narrow_if = condition;
  return code;
}

}  // namespace ptx

}  // namespace ashlar::codegen
