// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Says which loops LLVM's unroller may unroll. Innermost loops of numbers run a few iterations one after the other:
//
//   for k in N                       for k in N / 4
//     y[table[k]] += x[k]              y[table[4 k]] += x[4 k]
//                                      ..
//                                    for the rest
//
// Such a loop is a scatter, or the step of a recurrence: the schedule found no lanes for it, and counting the iterations is a
// large part of its work. A loop whose number of iterations depends on data, such as the terms of a row of a sparse matrix,
// keeps its form, since most rows are short; so does the rest of a row that vectors leave. Other innermost loops are unrolled
// only if their number of iterations is a constant, and then as a whole. A loop that holds a register tile, or an instruction
// that the schedule asked for, is left alone: the schedule has counted its registers.
#include <initializer_list>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "codegen/llvm/backend.h"

namespace ashlar::codegen {
namespace {

constexpr unsigned together = 4;               // iterations
constexpr std::size_t most_instructions = 48;  // instructions of one
constexpr unsigned rest_iterations = 32;       // iterations that pay for no copies
constexpr std::size_t most_sums = 8;           // vectors that a loop accumulates
constexpr std::size_t most_numbers = 4;        // numbers that it does, beside its counter

// The schedule has put no iterations side by side itself, as it does with eight rows of sums.
bool of_numbers(const llvm::Loop& loop) {
  std::size_t count = 0, carried = 0;
  for ([[maybe_unused]] const llvm::PHINode& phi : loop.getHeader()->phis()) ++carried;
  if (carried > most_numbers + 1) return false;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& i : *block) {
      if (++count > most_instructions || i.getType()->isVectorTy()) return false;
      for (const llvm::Value* operand : i.operand_values())
        if (operand->getType()->isVectorTy()) return false;
      if (llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i)) return false;
    }
  return true;
}

// Is the value known before all loops, or computed from such values and the counters of the loops around it alone? A load in a
// loop gives data, also if one iteration passes it on to the next.
bool of_sizes(const llvm::Value* bound, const llvm::LoopInfo& loops) {
  llvm::SmallVector<const llvm::Value*, 16> open{bound};
  llvm::SmallPtrSet<const llvm::Value*, 16> seen{bound};
  while (!open.empty()) {
    const auto* i = llvm::dyn_cast<llvm::Instruction>(open.pop_back_val());
    if (!i || !loops.getLoopFor(i->getParent())) continue;
    if (i->mayReadFromMemory()) return false;
    for (const llvm::Value* operand : i->operand_values())
      if (seen.insert(operand).second) open.push_back(operand);
  }
  return true;
}

bool counts_sizes(const llvm::Loop& loop, const llvm::LoopInfo& loops) {
  const auto* branch =
      llvm::dyn_cast_or_null<llvm::BranchInst>(loop.getLoopLatch() ? loop.getLoopLatch()->getTerminator() : nullptr);
  if (!branch || !branch->isConditional() || loop.getExitingBlock() != loop.getLoopLatch()) return false;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (!compare) return false;
  for (const llvm::Value* operand : compare->operand_values())
    if (llvm::isa<llvm::Constant>(operand) || (loop.isLoopInvariant(operand) && !of_sizes(operand, loops))) return false;
  return true;
}

// Sizes may give it a few iterations only: W - i * 16 of a row of W in vectors of 16.
bool is_rest(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);
  return most > 0 && most <= rest_iterations;
}

// A tile of sums, or an instruction that the schedule asked for.
bool was_counted(const llvm::Loop& loop) {
  std::size_t sums = 0;
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) sums += phi.getType()->isVectorTy();
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& i : *block)
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i))
        if (call->isInlineAsm() || !call->getCalledFunction() || !call->getCalledFunction()->isIntrinsic() ||
            call->getCalledFunction()->isTargetIntrinsic())
          return true;
  return sums > most_sums;
}

void mark(const llvm::Loop& loop, std::initializer_list<llvm::Metadata*> what) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  llvm::MDNode* own = llvm::MDNode::getDistinct(context, {nullptr, llvm::MDNode::get(context, what)});
  own->replaceOperandWith(0, own);  // a loop's mark begins with itself
  loop.setLoopID(own);
}

}  // namespace

void mark_loops(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const auto word = [&](const char* text) { return llvm::MDString::get(context, text); };
  llvm::Metadata* number = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), together));
  const llvm::TargetLibraryInfoImpl libraries{llvm::Triple(module.getTargetTriple())};
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    llvm::DominatorTree tree(f);
    llvm::LoopInfo loops(tree);
    llvm::TargetLibraryInfo library(libraries);
    llvm::AssumptionCache assumptions(f);
    llvm::ScalarEvolution evolution(f, library, assumptions, tree, loops);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && of_numbers(*loop) && counts_sizes(*loop, loops) && !is_rest(*loop, evolution))
        mark(*loop, {word("llvm.loop.unroll.count"), number});
      else if (!loop->isInnermost() || was_counted(*loop))
        mark(*loop, {word("llvm.loop.unroll.disable")});
  }
}

}  // namespace ashlar::codegen
