// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/backend.h"

#include <mutex>

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <ashlar/ir/refusal.h>

#include "codegen/llvm/releases.h"

namespace ashlar::codegen {

namespace {

// Scalars of memory first; then what is loop-invariant leaves its loop, what was computed twice is computed once, and of
// several stores to one element, the terms of an unrolled sum, the last one stays. No loop vectorizer, no SLP, and no unroller
// of loops with vectors that run as often as sizes say: a schedule says these things, and a register tile that was counted must
// stay as it is.
constexpr const char* kPasses =
    "always-inline,"  // the texts of intrinsics
    "function("
    "sroa<modify-cfg>,early-cse,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(licm<allowspeculation>),loop-load-elim,"
    "early-cse<memssa>,dse,simplifycfg"
    "),globaldce";

// A loop of few iterations, as many as a number says, becomes its iterations where these are short (a row of 56 elements), and
// others run a few at once: iterations.cpp marks which.
constexpr const char* kIterations =
    "function(loop-simplify,lcssa,loop-unroll<O3;no-partial;no-runtime;no-upperbound;no-peeling;no-profile-peeling>,"
    "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

// Once lanes_alike has made numbers of vectors.
constexpr const char* kPassesOnNumbers =
    "function(early-cse,loop-simplify,lcssa,loop-mssa(licm<allowspeculation>),simplifycfg)";

// For a device: barriers, copies and products stay as many, and where, the kernel has them. What does not change in a loop
// leaves it: quotients by extents, the row of a tile that a thread copies.
constexpr const char* kDevicePasses =
    "function(sroa<modify-cfg>,early-cse,instcombine<no-verify-fixpoint>,"
    "loop-simplify,lcssa,loop-mssa(licm<allowspeculation>),"
    "early-cse<memssa>,simplifycfg),globaldce";

}  // namespace

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeARMTargetInfo();
    LLVMInitializeARMTarget();
    LLVMInitializeARMTargetMC();
    LLVMInitializeARMAsmPrinter();
    LLVMInitializeARMAsmParser();
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeRISCVAsmParser();
    LLVMInitializeWebAssemblyTargetInfo();
    LLVMInitializeWebAssemblyTarget();
    LLVMInitializeWebAssemblyTargetMC();
    LLVMInitializeWebAssemblyAsmPrinter();
    LLVMInitializeWebAssemblyAsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

namespace {

const llvm::Target& registered(const llvm::Triple& triple) {
  initialize_targets();
  std::string error;
  const llvm::Target* target = releases::lookup(triple, error);
  if (!target) throw InternalError("codegen: " + error);
  return *target;
}

std::unique_ptr<llvm::TargetMachine> machine_for(const std::string& name, const std::string& cpu, const std::string& features,
                                                 llvm::Reloc::Model relocations) {
  const llvm::Triple triple{name};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // fma is written where it is meant
  options.FunctionSections = true;
  const auto known = releases::subtarget(registered(triple), triple, "");
  if (!cpu.empty() && known && !known->isCPUStringValid(cpu))
    refuse("target", "a processor that LLVM " LLVM_VERSION_STRING " knows", "`" + cpu + "`", Where{});
  const auto level = llvm::CodeGenOptLevel::Aggressive;
  auto* machine = releases::machine(registered(triple), triple, cpu, features, options, relocations, std::nullopt, level);
  if (!machine) throw InternalError("codegen: no machine for " + name);
  return std::unique_ptr<llvm::TargetMachine>(machine);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> target_machine(const Target& t) {
  // what a linker script places is not moved; 64-bit processors reach it relatively at the same cost
  const bool placed = t.os() == "none" && t.pointer_bytes() == 4;
  return machine_for(std::string(t.triple()), std::string(t.cpu()), t.compiler_features(),
                     placed ? llvm::Reloc::Static : llvm::Reloc::PIC_);
}

std::unique_ptr<llvm::TargetMachine> device_machine(const Target& t) {
  return machine_for("nvptx64-nvidia-cuda", t.device().chip, "", llvm::Reloc::PIC_);
}

llvm::DataLayout data_layout_of(const llvm::Triple& triple) {
  return machine_for(triple.str(), "", "", llvm::Reloc::PIC_)->createDataLayout();
}

bool gathers_fast(const Target& t) {
  if (t.architecture() != Architecture::x86_64) return false;
  const llvm::Triple triple{std::string(t.triple())};
  const std::string tune =
      t.is_host() ? std::string(llvm::sys::getHostCPUName()) : std::string(t.tune().empty() ? t.cpu() : t.tune());
  const std::unique_ptr<llvm::MCSubtargetInfo> of = releases::subtarget(registered(triple), triple, tune);
  return of && of->checkFeatures("+fast-gather");
}

void verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) throw InternalError("codegen: malformed LLVM IR: " + text);
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, Passes kind) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, kind == Passes::host ? kPasses : kDevicePasses))
    throw InternalError("codegen: " + llvm::toString(std::move(error)));
  passes.run(module, modules);
  if (kind != Passes::host) return;
  const auto go_on = [&](const char* with) {
    modules.clear(), functions.clear(), loops.clear();
    llvm::ModulePassManager again;
    if (auto error = builder.parsePassPipeline(again, with))
      throw InternalError("codegen: " + llvm::toString(std::move(error)));
    again.run(module, modules);
  };
  mark_loops(module);
  go_on(kIterations);
  if (lanes_alike(module)) go_on(kPassesOnNumbers);
  nans_apart(module);
  stores_of_one_lane(module);
}

namespace {

// A minimum, a maximum, a clamp or a select of scalars stays a conditional move. On x86-64 LLVM makes branches of those that a
// loop's next iteration waits for, as if they were predicted well; what data decide, as in a table of alignments, is not.
class ChoicesStayMoves final : public llvm::OptPassGate {
 public:
  // One of these overrides, by the release; before 22 the pass has the other name.
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const { return runs(pass); }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) { return runs(pass); }
  bool isEnabled() const override { return true; }

 private:
  static bool runs(llvm::StringRef pass) { return pass != "x86-cmov-conversion" && pass != "X86 cmov Conversion"; }
};

}  // namespace

std::string machine_code(llvm::Module& module, llvm::TargetMachine& machine, bool assembly) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  const auto kind = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine.addPassesToEmitFile(passes, out, nullptr, kind)) throw InternalError("codegen: this target writes no such file");
  llvm::LLVMContext& context = module.getContext();
  llvm::OptPassGate& usual = context.getOptPassGate();
  ChoicesStayMoves gate;
  context.setOptPassGate(gate);
  passes.run(module);
  context.setOptPassGate(usual);
  return {bytes.begin(), bytes.end()};
}

}  // namespace ashlar::codegen
