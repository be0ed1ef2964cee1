// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// PTX instructions that LLVM has no intrinsic for, as inline assembly.
//
//   PtxAsm a(emitter);
//   a.text("mbarrier.init.shared.b64 [" + a.in("r", address) + "], 4;");
//   a.run();
//
// Operands are numbered as LLVM wants them, results first: out() before in(). Every instruction stays where it stands among the
// others and is taken to read and write all memory, but for one that only reads: of two alike with no write between them one is
// left. A collective one is convergent too.
#include <string>
#include <vector>

#include <llvm/IR/InlineAsm.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

class PtxAsm {
 public:
  explicit PtxAsm(Emitter& e) : e_(e) {}

  std::string out(const char* constraint, llvm::Type* type) {
    constraints_ += std::string(constraints_.empty() ? "" : ",") + "=" + constraint;
    results_.push_back(type);
    return "$" + std::to_string(count_++);
  }
  std::string in(const std::string& constraint, llvm::Value* v) {
    constraints_ += (constraints_.empty() ? "" : ",") + constraint;
    arguments_.push_back(v);
    return "$" + std::to_string(count_++);
  }
  // An operand that is read where result number `result` is written.
  void tied(std::size_t result, llvm::Value* v) { in(std::to_string(result), v); }
  void text(const std::string& t) { text_ += t; }

  std::vector<llvm::Value*> run(bool collective = false, bool reads = false) {
    llvm::LLVMContext& c = e_.b.getContext();
    if (!reads) constraints_ += std::string(constraints_.empty() ? "" : ",") + "~{memory}";
    llvm::Type* result = results_.empty()       ? llvm::Type::getVoidTy(c)
                         : results_.size() == 1 ? results_[0]
                                                : static_cast<llvm::Type*>(llvm::StructType::get(c, results_));
    std::vector<llvm::Type*> types;
    for (llvm::Value* v : arguments_) types.push_back(v->getType());
    auto* type = llvm::FunctionType::get(result, types, false);
    llvm::CallInst* call =
        e_.b.CreateCall(type, llvm::InlineAsm::get(type, text_, constraints_, /*hasSideEffects=*/!reads), arguments_);
    if (reads) call->setOnlyReadsMemory();
    call->addFnAttr(llvm::Attribute::NoUnwind);
    if (collective) call->addFnAttr(llvm::Attribute::Convergent);
    std::vector<llvm::Value*> values;
    if (results_.size() == 1) values.push_back(call);
    for (unsigned n = 0; results_.size() > 1 && n < results_.size(); ++n) values.push_back(e_.b.CreateExtractValue(call, n));
    return values;
  }

 private:
  Emitter& e_;
  std::string text_, constraints_;
  std::vector<llvm::Type*> results_;
  std::vector<llvm::Value*> arguments_;
  int count_ = 0;
};

}  // namespace ashlar::codegen
