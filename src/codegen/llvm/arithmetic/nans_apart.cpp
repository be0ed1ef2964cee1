// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A minimum or maximum that a loop accumulates keeps its NaNs beside it, in a mask:
//
//   for k                                          for k
//     r = rangeps(r, x[k]) | unordered(r, x[k])      n = rangeps(n, x[k])
//                                                    m = m | unordered(x[k], x[k])
//                                                  r = m ? NaN : n
//
// rangeps gives the number of a NaN and a number, so that n does not wait for the comparison. Of two terms that follow each
// other in the loop one comparison finds the NaNs: unordered(x[k], x[k + 1]).
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "codegen/llvm/backend.h"

namespace ashlar::codegen {
namespace {

using llvm::Value;
namespace match = llvm::PatternMatch;

// r = chosen | unordered(so_far, term), as chosen_by_range (float.cpp) writes it.
struct Link {
  llvm::Instruction* result = nullptr;
  llvm::IntrinsicInst* chosen = nullptr;
  llvm::FCmpInst* compared = nullptr;
  Value *so_far = nullptr, *term = nullptr;
};

bool is_range(const llvm::IntrinsicInst& i) {
  switch (i.getIntrinsicID()) {
    case llvm::Intrinsic::x86_avx512_mask_range_ps_128:
    case llvm::Intrinsic::x86_avx512_mask_range_ps_256:
    case llvm::Intrinsic::x86_avx512_mask_range_ps_512:
    case llvm::Intrinsic::x86_avx512_mask_range_pd_128:
    case llvm::Intrinsic::x86_avx512_mask_range_pd_256:
    case llvm::Intrinsic::x86_avx512_mask_range_pd_512:
      return match::match(i.getArgOperand(4), match::m_AllOnes());
    default:
      return false;
  }
}

// so_far and term are not told apart yet.
std::optional<Link> link_of(Value* value) {
  Value *ordered = nullptr, *unordered = nullptr;
  const auto bits = match::m_c_Or(match::m_BitCast(match::m_Value(ordered)), match::m_SExt(match::m_Value(unordered)));
  if (Value* ones = nullptr;
      match::match(value, match::m_Select(match::m_Value(unordered), match::m_Value(ones), match::m_Value(ordered)))) {
    if (!match::match(ones, match::m_BitCast(match::m_AllOnes())) && !match::match(ones, match::m_NaN())) return {};
  } else if (!match::match(value, match::m_BitCast(bits))) {
    return {};
  }
  auto* chosen = llvm::dyn_cast<llvm::IntrinsicInst>(ordered);
  auto* compared = llvm::dyn_cast<llvm::FCmpInst>(unordered);
  if (!chosen || !is_range(*chosen) || !compared || compared->getPredicate() != llvm::CmpInst::FCMP_UNO ||
      !compared->hasOneUse())
    return {};
  Value *a = chosen->getArgOperand(0), *b = chosen->getArgOperand(1);
  const Value *u = compared->getOperand(0), *v = compared->getOperand(1);
  if (!((a == u && b == v) || (a == v && b == u))) return {};
  return Link{llvm::cast<llvm::Instruction>(value), chosen, compared, a, b};
}

// The links from the value of one iteration to that of the next, first to last; empty if something else reads what is between
// them, or all of an iteration's values.
std::vector<Link> chain_of(llvm::PHINode& phi, const llvm::Loop& loop) {
  std::vector<Link> chain;
  Value* value = phi.getIncomingValueForBlock(loop.getLoopLatch());
  while (value != &phi) {
    std::optional<Link> link = link_of(value);
    if (!link || !loop.contains(link->result)) return {};
    if (link->term == &phi || (link->so_far != &phi && !link_of(link->so_far))) std::swap(link->so_far, link->term);
    if (link->term == &phi) return {};
    chain.insert(chain.begin(), *link);
    value = link->so_far;
  }
  for (const Link& link : chain)
    for (const llvm::User* user : link.so_far->users())
      if (user != link.chosen && user != link.compared) return {};
  for (const llvm::User* user : chain.empty() ? phi.users() : chain.back().result->users())
    if (user != &phi && loop.contains(llvm::cast<llvm::Instruction>(user))) return {};
  return chain;
}

void take_apart(llvm::PHINode& phi, const llvm::Loop& loop, const std::vector<Link>& chain, llvm::DominatorTree& tree,
                llvm::LoopInfo& loops) {
  llvm::BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  llvm::IRBuilder<> outside(before->getTerminator()), start(&phi);
  Value* first = phi.getIncomingValueForBlock(before);
  Value* mask = outside.CreateFCmpUNO(first, first);
  llvm::PHINode* nans = start.CreatePHI(mask->getType(), 2, "nans");
  nans->addIncoming(mask, before);
  Value* so_far = &phi;
  for (const Link& link : chain) {
    for (unsigned at = 0; at < 4; ++at)
      if (link.chosen->getArgOperand(at) == link.so_far) link.chosen->setArgOperand(at, so_far);
    so_far = link.chosen;
  }
  llvm::IRBuilder<> inside(chain.back().result);
  Value* found = nans;
  for (std::size_t k = 0; k < chain.size(); k += 2)
    found = inside.CreateOr(found, inside.CreateFCmpUNO(chain[k].term, chain[std::min(k + 1, chain.size() - 1)].term));
  nans->addIncoming(found, latch);
  llvm::Instruction* last = chain.back().result;
  phi.setIncomingValueForBlock(latch, so_far);

  // Behind the loop.
  llvm::BasicBlock* exiting = loop.getExitingBlock();
  llvm::BasicBlock* exit = llvm::SplitEdge(exiting, loop.getExitBlock(), &tree, &loops);
  llvm::IRBuilder<> b(exit, exit->getFirstInsertionPt());
  llvm::Type* type = phi.getType();
  llvm::Type* words = llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type));
  Value* result = b.CreateSelect(found, b.CreateBitCast(llvm::Constant::getAllOnesValue(words), type), so_far);
  last->replaceAllUsesWith(result);
  llvm::RecursivelyDeleteTriviallyDeadInstructions(last);  // and with it the comparisons and the links before
}

void nans_apart(llvm::Function& f) {
  llvm::DominatorTree tree(f);
  llvm::LoopInfo loops(tree);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    // At the latch all values of an iteration are there, those that are read behind the loop, too.
    if (!loop->getLoopLatch() || loop->getExitingBlock() != loop->getLoopLatch()) continue;
    const auto is_vector = [](const llvm::PHINode& phi) {
      return phi.getType()->isVectorTy() && phi.getType()->isFPOrFPVectorTy();
    };
    if (llvm::none_of(loop->getHeader()->phis(), is_vector)) continue;
    if (!loop->getLoopPreheader()) llvm::simplifyLoop(loop, &tree, &loops, nullptr, nullptr, nullptr, false);
    if (!loop->getLoopPreheader() || !loop->getExitBlock() || loop->getExitingBlock() != loop->getLoopLatch()) continue;
    std::vector<llvm::PHINode*> phis;  // those that are left
    for (llvm::PHINode& phi : loop->getHeader()->phis())
      if (is_vector(phi)) phis.push_back(&phi);
    for (llvm::PHINode* phi : phis)
      if (const std::vector<Link> chain = chain_of(*phi, *loop); !chain.empty()) take_apart(*phi, *loop, chain, tree, loops);
  }
}

}  // namespace

void nans_apart(llvm::Module& module) {
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) nans_apart(f);
}

}  // namespace ashlar::codegen
