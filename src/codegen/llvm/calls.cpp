// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of users' intrinsics: the text for llvm becomes a function of its own, which is inlined where it is called.
//
//   m.emit(Backend::llvm, "call void @npu_gemm16(ptr {C.ptr}, ptr {A.ptr}, ptr {B.ptr}, i32 {zero})")
//
//   define internal void @f.npu_gemm(ptr %A.ptr, i64 %A.stride0, ..., i32 %zero) alwaysinline {
//     call void @npu_gemm16(ptr %C.ptr, ptr %A.ptr, ptr %B.ptr, i32 %zero)
//     ret void
//   }
//   declare void @npu_gemm16(ptr, ptr, ptr, i32)
//
// Addresses are ptr; strides, sizes and indices i64; bool i1; f16, bf16 and the 8-bit floats integers that hold their bits. A
// function that a text calls is declared with the types of the call, unless the text has a line `declare ...` of its own.
//
// A tile that the text takes by value is a vector parameter; what it leaves there, {C.result}, is what the function returns
// (tiles.cpp):
//
//   define internal <16 x i32> @f.vpdpbusd(<16 x i32> %C.value, <4 x i8> %a.value, <64 x i8> %b.value) alwaysinline
//
// What waits for an asynchronous intrinsic stands right behind it.
#include <cctype>
#include <set>
#include <sstream>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <ashlar/ir/emit_text.h>
#include <ashlar/ir/refusal.h>

#include "codegen/llvm/emitter.h"

namespace ashlar::codegen {

using Operand = ir::IntrinsicOperand;

namespace {

std::string text_of(const llvm::Type* t) {
  std::string s;
  llvm::raw_string_ostream(s) << *t;
  return s;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' || c == '-'; }

// The position behind the bracket that closes the one at `from`; npos where none does.
std::size_t behind_bracket(std::string_view s, std::size_t from) {
  int depth = 0;
  for (std::size_t k = from; k < s.size(); ++k) {
    if (s[k] == '(' || s[k] == '[' || s[k] == '{' || s[k] == '<') ++depth;
    if ((s[k] == ')' || s[k] == ']' || s[k] == '}' || s[k] == '>') && --depth == 0) return k + 1;
  }
  return std::string_view::npos;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

// The type that an argument begins with: "ptr addrspace(3) %x", "<4 x i32> %v", "i32 noundef 5".
std::string_view type_of_argument(std::string_view a) {
  a = trimmed(a);
  if (a.empty()) return a;
  std::size_t end = a[0] == '<' || a[0] == '[' || a[0] == '{' ? behind_bracket(a, 0) : a.find_first_of(" \t");
  end = std::min(end, a.size());
  const std::string_view rest = trimmed(a.substr(end));
  if (rest.starts_with("addrspace(")) end = std::min(a.find(')', end), a.size() - 1) + 1;
  return a.substr(0, end);
}

// The type that the words before a callee end with: "call fastcc <4 x i32> ".
std::string_view type_of_result(std::string_view before) {
  before = trimmed(before);
  if (before.empty()) return before;
  const char last = before.back();
  if (last == '>' || last == ']' || last == '}') {
    int depth = 0;
    for (std::size_t k = before.size(); k-- > 0;) {
      if (before[k] == '>' || before[k] == ']' || before[k] == '}') ++depth;
      if ((before[k] == '<' || before[k] == '[' || before[k] == '{') && --depth == 0) return before.substr(k);
    }
    return {};
  }
  const std::size_t space = before.find_last_of(" \t");
  return space == std::string_view::npos ? before : before.substr(space + 1);
}

// Declarations of the functions that a body calls and nobody declares. What it cannot read it leaves to the parser's message.
std::string declarations(std::string_view body, std::set<std::string> known) {
  std::string out;
  for (std::size_t at = body.find('@'); at != std::string_view::npos; at = body.find('@', at + 1)) {
    std::size_t end = at + 1;
    while (end < body.size() && is_name(body[end])) ++end;
    const std::string name(body.substr(at + 1, end - at - 1));
    if (name.empty() || name.starts_with("llvm.") || end >= body.size() || body[end] != '(' || !known.insert(name).second)
      continue;
    const std::size_t line = body.find_last_of('\n', at);
    const std::size_t call = body.rfind("call ", at);
    const std::size_t close = behind_bracket(body, end);
    if (call == std::string_view::npos || (line != std::string_view::npos && call < line) || close == std::string_view::npos)
      continue;
    const std::string_view result = type_of_result(body.substr(call + 4, at - call - 4));
    std::string types;
    const std::string_view arguments = body.substr(end + 1, close - end - 2);
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t k = 0; k <= arguments.size() && !trimmed(arguments).empty(); ++k) {
      const char c = k < arguments.size() ? arguments[k] : ',';
      if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
      if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
      if (c != ',' || depth != 0) continue;
      types += (types.empty() ? "" : ", ") + std::string(type_of_argument(arguments.substr(from, k - from)));
      from = k + 1;
    }
    out += "declare " + std::string(result) + " @" + name + "(" + types + ")\n";
  }
  return out;
}

std::string local_name(const ir::Placeholder& p) { return "%" + p.name + (p.field.empty() ? "" : "." + p.field); }

// The module of one intrinsic: its function, with the types of this call, and what it calls.
std::string module_text(const ir::Intrinsic& f, const std::string& function,
                        const std::vector<std::pair<std::string, llvm::Type*>>& parameters, llvm::Type* result,
                        const std::string& result_name) {
  std::string text = ir::filled(f.emit.at("llvm"), local_name);
  if (const auto wait = f.wait.find("llvm"); wait != f.wait.end()) text += "\n" + ir::filled(wait->second, local_name);
  std::string outside, body;
  std::set<std::string> known;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view words = trimmed(line);
    if (!words.starts_with("declare ")) {
      body += line + "\n";
      continue;
    }
    outside += line + "\n";
    const std::size_t at = words.find('@'), end = words.find('(', at);
    if (at != std::string_view::npos && end != std::string_view::npos)
      known.insert(std::string(words.substr(at + 1, end - at - 1)));
  }
  std::string list;
  for (const auto& [name, type] : parameters) list += (list.empty() ? "" : ", ") + text_of(type) + " %" + name;
  const std::string returned = result ? text_of(result) : "void";
  return outside + declarations(body, known) + "define internal " + returned + " @" + function + "(" + list +
         ") alwaysinline nounwind {\n" + body + "ret " + returned + (result ? " %" + result_name : "") + "\n}\n";
}

// The distance of each element from the tile's first one, in row-major order.
std::vector<std::int64_t> offsets_of(const Operand& o, const ir::Call::Actual& a) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t d = 0; d < o.shape.size(); ++d) {
    std::int64_t stride = 0;
    if (o.shape[d] > 1 && !ir::is_int(a.strides.at(d), &stride))
      throw InternalError("codegen: a tile by value with a stride that is not constant");
    std::vector<std::int64_t> longer;
    for (const std::int64_t from : offsets)
      for (std::int64_t k = 0; k < o.shape[d]; ++k) longer.push_back(from + k * stride);
    offsets = std::move(longer);
  }
  return offsets;
}

}  // namespace

void Emitter::call_of_user(const ir::Call& c) {
  const ir::Intrinsic& f = unit.kernel.intrinsics.at(c.intrinsic);
  if (!f.is_users() || !f.emit.count("llvm"))
    throw InternalError("codegen: a call of " + f.name + ", which has no text for llvm, in kernel " + unit.name);
  std::vector<llvm::Value*> values;
  std::vector<std::pair<std::string, llvm::Type*>> parameters;
  std::size_t result = 0;  // the tile that is returned, if there is a type
  llvm::Type* result_type = nullptr;
  const auto add = [&](const std::string& name, llvm::Value* v) {
    values.push_back(v);
    parameters.emplace_back(name, v->getType());
  };
  for (std::size_t k = 0; k < f.operands.size(); ++k) {
    const Operand& o = f.operands[k];
    const ir::Call::Actual& a = c.actuals.at(k);
    if (o.kind != Operand::Kind::tile) {
      add(o.name, expr(a.address));
      continue;
    }
    if (ir::by_value(f, "llvm", o)) {
      const std::vector<std::int64_t> offsets = offsets_of(o, a);
      const ir::KBuffer& buffer = unit.kernel.buffers.at(a.buffer);
      if (o.access != Operand::Access::write) add(o.name + ".value", tile(buffer, a.address, offsets));
      if (ir::has_result(f, "llvm", o)) {
        result = k;
        result_type = llvm::FixedVectorType::get(math.memory_type(o.type), static_cast<unsigned>(offsets.size()));
      }
      continue;
    }
    add(o.name + ".ptr", element(unit.kernel.buffers.at(a.buffer), address(a.address)));
    for (std::size_t d = 0; d < a.strides.size(); ++d) add(o.name + ".stride" + std::to_string(d), expr(a.strides[d]));
  }
  const std::string name = unit.name + ".intrinsic." + std::to_string(c.intrinsic) + "." + f.name;
  llvm::Function* callee = unit.module->getFunction(name);
  if (!callee) {
    const std::string text = module_text(f, name, parameters, result_type, f.operands.at(result).name + ".result");
    llvm::SMDiagnostic wrong;
    std::unique_ptr<llvm::Module> made = llvm::parseAssemblyString(text, wrong, *unit.context);
    std::string broken;
    if (made) {
      llvm::raw_string_ostream out(broken);
      if (llvm::verifyModule(*made, &out)) made.reset();
    }
    if (!made)
      refuse("m.emit", "LLVM assembly as the text of " + f.name + " for llvm",
             (broken.empty() ? wrong.getMessage().str() + ", at `" + std::string(trimmed(wrong.getLineContents().str())) + "`"
                             : broken),
             f.where);
    made->setTargetTriple(unit.module->getTargetTriple());
    made->setDataLayout(unit.module->getDataLayout());
    for (const llvm::Function& other : *made)
      if (other.isDeclaration() && !other.isIntrinsic()) unit.users_functions.insert(other.getName().str());
    llvm::Function* own = made->getFunction(name);
    own->setLinkage(llvm::GlobalValue::ExternalLinkage);  // the linker takes no internal function along
    for (const char* attribute :
         {"target-cpu", "target-features", "tune-cpu", "prefer-vector-width", "no-trapping-math", "frame-pointer"})
      if (function->hasFnAttribute(attribute)) own->addFnAttr(function->getFnAttribute(attribute));
    if (llvm::Linker::linkModules(*unit.module, std::move(made)))
      refuse("m.emit", "functions with one type everywhere",
             "another type for one that the kernel has, in the text of " + f.name, f.where);
    callee = unit.module->getFunction(name);
    if (!callee) throw InternalError("codegen: the text of " + f.name + " was lost");
    callee->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  llvm::Value* returned = b.CreateCall(callee, values);
  if (!result_type) return;
  const ir::Call::Actual& to = c.actuals.at(result);
  set_tile(unit.kernel.buffers.at(to.buffer), to.address, offsets_of(f.operands[result], to), returned);
}

}  // namespace ashlar::codegen
