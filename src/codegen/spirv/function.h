// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The instructions of one function, block by block. Structured control flow: each branch names where its construct ends.
//
//   Function f(module);
//   Ref sum = f.op(spv::OpIAdd, module.type(i32), {x, y});
//   f.when(condition, [&] { c.effect(spv::OpStore, {pointer, sum}); });
//   f.finish(id);
//
// With tables of lines, `at` says which line the instructions from there on stand for.
//
// Invariant: `block()` is the label of the block that instructions are being added to, as a later OpPhi needs it.
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "codegen/spirv/module.h"

namespace ashlar::codegen::spirv {

class Function {
 public:
  explicit Function(Module& module);

  Module& m;

  Ref op(spv::Op, Ref type, std::span<const Word> operands);
  Ref op(spv::Op o, Ref type, std::initializer_list<Word> w) { return op(o, type, std::span(w.begin(), w.size())); }
  Ref glsl(Word instruction, Ref type, std::initializer_list<Word> operands);
  void effect(spv::Op, std::initializer_list<Word> operands);
  Ref local(Ref pointee);  // an OpVariable of the function

  Module::Line at() const { return line_; }
  void at(Module::Line line) { line_ = line; }

  Ref block() const { return block_; }
  void open(Ref label);
  void jump(Ref label) { effect(spv::OpBranch, {label}); }
  void when(Ref condition, const std::function<void()>& then);
  void choose(Ref condition, const std::function<void()>& then, const std::function<void()>& otherwise);
  // The value of `then` where the condition holds, else `otherwise`.
  Ref value_when(Ref condition, Ref type, Ref otherwise, const std::function<Ref()>& then);
  // for i in [begin, end), i of the type given, one step at a time
  void loop(Type type, Ref begin, Ref end, const std::function<void(Ref)>& body);

  void finish(Ref function);  // appends the function to the module

 private:
  void add(spv::Op, std::span<const Word>);  // to the body, with its line

  std::vector<Word> variables_, body_;
  Module::Line line_, written_;  // a block begins without one
  Ref first_ = 0, block_ = 0;
};

}  // namespace ashlar::codegen::spirv
