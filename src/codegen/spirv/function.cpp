// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/spirv/function.h"

namespace ashlar::codegen::spirv {

Function::Function(Module& module) : m(module), first_(module.fresh()), block_(first_) {}

// Nothing may stand between the merge instruction of a block and its branch: both have the line that the first one wrote.
void Function::add(spv::Op o, std::span<const Word> words) {
  if (line_ != written_ && line_.file && o != spv::OpPhi) {
    Module::put(body_, spv::OpLine, {line_.file, line_.line, 0});
    written_ = line_;
  }
  Module::put(body_, o, words);
}

Ref Function::op(spv::Op o, Ref type, std::span<const Word> operands) {
  const Ref r = m.fresh();
  std::vector<Word> words = {type, r};
  words.insert(words.end(), operands.begin(), operands.end());
  add(o, words);
  return r;
}

Ref Function::glsl(Word instruction, Ref type, std::initializer_list<Word> operands) {
  std::vector<Word> words = {m.glsl(), instruction};
  words.insert(words.end(), operands.begin(), operands.end());
  return op(spv::OpExtInst, type, words);
}

void Function::effect(spv::Op o, std::initializer_list<Word> operands) { add(o, {operands.begin(), operands.size()}); }

Ref Function::local(Ref pointee) {
  const Ref type = m.pointer(spv::StorageClassFunction, pointee), r = m.fresh();
  Module::put(variables_, spv::OpVariable, {type, r, static_cast<Word>(spv::StorageClassFunction)});
  return r;
}

void Function::open(Ref label) {
  Module::put(body_, spv::OpLabel, {label});
  block_ = label;
  written_ = {};
}

void Function::when(Ref condition, const std::function<void()>& then) {
  const Ref inside = m.fresh(), after = m.fresh();
  effect(spv::OpSelectionMerge, {after, 0});
  effect(spv::OpBranchConditional, {condition, inside, after});
  open(inside);
  then();
  jump(after);
  open(after);
}

void Function::choose(Ref condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  const Ref taken = m.fresh(), other = m.fresh(), after = m.fresh();
  effect(spv::OpSelectionMerge, {after, 0});
  effect(spv::OpBranchConditional, {condition, taken, other});
  open(taken);
  then();
  jump(after);
  open(other);
  otherwise();
  jump(after);
  open(after);
}

Ref Function::value_when(Ref condition, Ref type, Ref otherwise, const std::function<Ref()>& then) {
  const Ref before = block_, inside = m.fresh(), after = m.fresh();
  effect(spv::OpSelectionMerge, {after, 0});
  effect(spv::OpBranchConditional, {condition, inside, after});
  open(inside);
  const Ref value = then();
  const Ref last = block_;
  jump(after);
  open(after);
  return op(spv::OpPhi, type, {value, last, otherwise, before});
}

void Function::loop(Type type, Ref begin, Ref end, const std::function<void(Ref)>& body) {
  const Ref before = block_, header = m.fresh(), test = m.fresh(), inside = m.fresh(), step = m.fresh(), after = m.fresh(),
            next = m.fresh();
  const Ref ty = m.type(type);
  jump(header);
  open(header);
  const Ref i = op(spv::OpPhi, ty, {begin, before, next, step});
  effect(spv::OpLoopMerge, {after, step, 0});
  jump(test);
  open(test);
  const Ref more = op(spv::OpSLessThan, m.type(bool_), {i, end});
  effect(spv::OpBranchConditional, {more, inside, after});
  open(inside);
  body(i);
  jump(step);
  open(step);
  add(spv::OpIAdd, std::initializer_list<Word>{ty, next, i, m.integer(type, 1)});
  jump(header);
  open(after);
}

void Function::finish(Ref function) {
  const Ref void_type = m.void_type(), type = m.function_type(void_type);
  effect(spv::OpReturn, {});
  Module::put(m.functions, spv::OpFunction, {void_type, function, 0, type});
  Module::put(m.functions, spv::OpLabel, {first_});
  m.functions.insert(m.functions.end(), variables_.begin(), variables_.end());
  m.functions.insert(m.functions.end(), body_.begin(), body_.end());
  Module::put(m.functions, spv::OpFunctionEnd, {});
}

}  // namespace ashlar::codegen::spirv
