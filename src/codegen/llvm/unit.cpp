// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/unit.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <ashlar/ir/vscale.h>
#include <ashlar/ir/build.h>

#include "codegen/llvm/arithmetic/offers.h"
#include "codegen/llvm/backend.h"
#include "codegen/llvm/releases.h"

namespace ashlar::codegen {

Unit::Unit(const ir::Kernel& k, const Target& t, Side side)
    : Unit(k, t, side, std::make_shared<llvm::LLVMContext>(), nullptr, c_identifier(k.name)) {}

Unit::Unit(const ir::Kernel& k, const Target& t, const Unit& library)
    : Unit(k, t, Side::host, library.context, library.module, library.name + "__" + c_identifier(t.text())) {
  variant_ = true;
}

Unit::Unit(const ir::Kernel& k, const Target& t, Side side, std::shared_ptr<llvm::LLVMContext> c,
           std::shared_ptr<llvm::Module> m, std::string symbol)
    : context(std::move(c)),
      module(m ? std::move(m) : std::make_shared<llvm::Module>(k.name, *context)),
      offers(offers_of(t, side == Side::device, k)),
      kernel(legalize(k, offers)),
      target(t),
      layout(abi_layout(k, t.pointer_bytes())),
      name(std::move(symbol)),
      gathers_fast(side == Side::host && codegen::gathers_fast(t)),
      side_(side) {
  const llvm::Triple triple{side == Side::host ? std::string(t.triple()) : "nvptx64-nvidia-cuda"};
  releases::set_triple(*module, triple);
  module->setDataLayout(releases::data_layout(triple, data_layout_of));
  if (side == Side::host) module->setModuleFlag(llvm::Module::Max, "PIC Level", 2u);
  if (side == Side::host && t.architecture() == Architecture::riscv64)  // floats travel in registers
    module->setModuleFlag(llvm::Module::Error, "target-abi", llvm::MDString::get(*context, "lp64d"));
  llvm::MDBuilder metadata(*context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(name);
  for (const auto& [id, buffer] : k.buffers) scope_of_[id] = metadata.createAnonymousAliasScope(domain, buffer.name);
  for (const auto& [id, buffer] : k.buffers) {
    std::vector<llvm::Metadata*> apart;
    for (const auto& [other, b] : k.buffers)
      if (other != id && !may_overlap(buffer, b)) apart.push_back(scope_of_[other]);
    apart_from_[id] = llvm::MDNode::get(*context, apart);
  }
}

llvm::IntegerType* Unit::word() const { return llvm::IntegerType::get(*context, static_cast<unsigned>(8 * pointer_bytes())); }

bool Unit::may_overlap(const ir::KBuffer& a, const ir::KBuffer& b) const {
  using ir::Storage;
  if (a.storage != b.storage) return false;
  if (a.storage == Storage::argument) {
    if (!a.written && !b.written) return true;  // two inputs may be the same memory
    auto aliasing = [&](const ir::KBuffer& x) {
      const auto it = kernel.argument_buffers.find(x.id);
      return it != kernel.argument_buffers.end() && it->second.may_alias_inputs;
    };
    return a.written != b.written && aliasing(a.written ? a : b);
  }
  if (a.storage == Storage::shared) {
    auto end = [](const ir::KBuffer& x, std::int64_t from) {
      std::int64_t elements = 0;
      return ir::is_int(x.elements, &elements) ? from + elements * x.type.bytes() : INT64_MAX;
    };
    std::int64_t from_a = 0, from_b = 0;
    if (!ir::is_int(a.offset, &from_a) || !ir::is_int(b.offset, &from_b)) return true;
    return from_a < end(b, from_b) && from_b < end(a, from_a);
  }
  return a.storage == Storage::workspace && a.per_worker == b.per_worker && ir::same(a.offset, b.offset);
}

// Neither this kernel nor anything it may overlap writes it while the kernel runs.
bool Unit::never_written(const ir::KBuffer& buffer) const {
  if (buffer.storage == ir::Storage::constant) return true;
  if (buffer.storage != ir::Storage::argument || buffer.written) return false;
  for (const auto& [id, other] : kernel.buffers)
    if (other.storage == ir::Storage::argument && other.written && may_overlap(buffer, other)) return false;
  return true;
}

void Unit::tag_access(llvm::Instruction* access, ir::Id buffer) const {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(*context, {scope_of_.at(buffer)}));
  if (apart_from_.at(buffer)->getNumOperands() > 0) access->setMetadata(llvm::LLVMContext::MD_noalias, apart_from_.at(buffer));
  if (side_ == Side::device && llvm::isa<llvm::LoadInst>(access) && never_written(kernel.buffers.at(buffer)))
    access->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(*context, {}));  // the read-only cache
}

llvm::Function* Unit::function(const std::string& suffix, llvm::FunctionType* type, Visibility visibility) {
  const auto linkage =
      visibility == Visibility::internal ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage;
  llvm::Function* f = llvm::Function::Create(type, linkage, name + suffix, module.get());
  if (visibility == Visibility::hidden || (variant_ && visibility == Visibility::exported))
    f->setVisibility(llvm::GlobalValue::HiddenVisibility);
  f->addFnAttr("target-cpu", std::string(target.cpu()));
  f->addFnAttr("target-features", target.compiler_features());
  if (target.is_host())
    f->addFnAttr("tune-cpu", llvm::sys::getHostCPUName());
  else if (!target.tune().empty())
    f->addFnAttr("tune-cpu", std::string(target.tune()));
  f->addFnAttr("prefer-vector-width", std::to_string(target.vector_bits()));
  f->addFnAttr("no-trapping-math", "true");
  if (target.has("sve"))
    f->addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(*context, 1, static_cast<unsigned>(ir::max_vscale)));
  f->addFnAttr("frame-pointer", "none");
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->setDSOLocal(true);
  return f;
}

llvm::Constant* Unit::data_of(const ir::KBuffer& buffer) {
  llvm::Constant*& known = data_[buffer.id];
  if (known) return known;
  const auto* first = reinterpret_cast<const std::uint8_t*>(buffer.data->data());
  llvm::Constant* bytes = llvm::ConstantDataArray::get(*context, llvm::ArrayRef(first, buffer.data->size()));
  constexpr unsigned global_memory = 1;  // of a CUDA device
  auto* global = new llvm::GlobalVariable(*module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes,
                                          name + "." + c_identifier(buffer.name), nullptr, llvm::GlobalValue::NotThreadLocal,
                                          is_device() ? global_memory : 0);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(static_cast<std::uint64_t>(buffer.align)));
  return known = global;
}

llvm::Constant* Unit::text(const std::string& s) {
  llvm::Constant*& known = texts_[s];
  if (known) return known;
  llvm::Constant* bytes = llvm::ConstantDataArray::getString(*context, s);
  auto* global =
      new llvm::GlobalVariable(*module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes, name + ".text");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(1));
  return known = global;
}

}  // namespace ashlar::codegen
