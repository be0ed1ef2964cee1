// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of functions: statements and operands.
#include <algorithm>

#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/parser.h"
#include "tests/ptx/executor/warp.h"

namespace ashlar::ptx {

void Parser::body(int number) {
  function_ = number;
  file_ = line_ = 0;
  m_.functions[static_cast<std::size_t>(number)].code = static_cast<u32>(m_.code.size());
  const int outer = scope_;
  expect('{');
  int depth = 1;
  while (depth > 0) {
    if (peek().kind == Token::kEnd) fail("a \"{\" is not closed");
    if (accept('{')) {
      ++depth;
      Scope s;
      s.parent = scope_;
      scopes_.push_back(std::move(s));
      scope_ = static_cast<int>(scopes_.size()) - 1;
    } else if (accept('}')) {
      --depth;
      if (depth > 0) scope_ = scopes_[static_cast<std::size_t>(scope_)].parent;
    } else {
      statement();
    }
  }
  // what runs off the end returns
  Instr end;
  end.flow = Flow::kReturn, end.line = peek().line, end.function = static_cast<u32>(number);
  end.begin = end.end = 0;
  m_.code.push_back(std::move(end));
  Function& f = m_.functions[static_cast<std::size_t>(number)];
  f.end = static_cast<u32>(m_.code.size());
  f.frame_bytes = (f.frame_bytes + 15) / 16 * 16;
  resolve_labels();
  scope_ = outer;
  function_ = -1;
}

void Parser::statement() {
  const Token& t = peek();
  if (accept(';')) return;
  if (t.is('@')) return instruction();
  if (t.kind != Token::kWord) fail("expected a statement, found \"" + std::string(t.text) + "\"");
  if (peek(1).is(':')) {
    const std::string_view name = next().text;
    next();
    Scope& s = scopes_[static_cast<std::size_t>(scope_)];
    if (peek().word(".branchtargets")) {
      next();
      std::vector<std::string_view>& to = s.targets[name];
      do to.push_back(expect_word("a label"));
      while (accept(','));
      expect(';');
    } else if (peek().word(".callprototype") || peek().word(".calltargets")) {
      while (!accept(';')) next();
      s.prototypes[name] = true;
    } else if (!s.labels.emplace(name, static_cast<u32>(m_.code.size())).second) {
      fail("the label " + std::string(name) + " stands twice");
    }
    return;
  }
  if (t.text[0] == '.') return directive();
  instruction();
}

void Parser::directive() {
  const std::string_view name = next().text;
  if (name == ".reg") return registers();
  if (name == ".local") return variable(Space::kLocal, false, true);
  if (name == ".shared") return variable(Space::kShared, false, true);
  if (name == ".param") return variable(Space::kParam, false, true);
  if (name == ".global") return variable(Space::kGlobal, false, false);
  if (name == ".const") return variable(Space::kConst, false, false);
  if (name == ".loc") return location();
  if (name == ".file") return file();
  if (name == ".pragma") {
    while (!accept(';')) next();
    return;
  }
  --at_;
  fail("the directive " + std::string(name) + " is not known in a body");
}

u32 Parser::slot(u8 bits, u32 count) {
  Function& f = m_.functions[static_cast<std::size_t>(function_)];
  const u32 first = f.slots;
  f.slots += count * (bits > 64 ? 2 : 1);
  return first;
}

void Parser::registers() {
  const Type t = type_words("a register");
  if (t.vector != 1) fail("registers of vectors are not known");
  do {
    const std::string_view name = expect_word("the name of a register");
    Family family;
    family.bits = static_cast<u8>(bits_of(t.type)), family.predicate = t.type == T::pred;
    if (accept('<')) {
      family.count = static_cast<u32>(expect_number("how many"));
      expect('>');
    }
    const u32 count = std::max(family.count, 1u);
    if (family.predicate) {
      Function& f = m_.functions[static_cast<std::size_t>(function_)];
      family.first = f.predicates, f.predicates += count;
    } else {
      family.first = slot(family.bits, count);
    }
    scopes_[static_cast<std::size_t>(scope_)].registers[name] = family;
  } while (accept(','));
  expect(';');
}

bool Parser::find_register(std::string_view name, Operand& o) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  u64 number = 0;
  for (std::size_t n = digits; n < name.size() && n < digits + 9; ++n) number = number * 10 + static_cast<u64>(name[n] - '0');
  for (int s = scope_; s >= 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const auto& registers = scopes_[static_cast<std::size_t>(s)].registers;
    u32 index = 0;
    auto at = registers.find(name);
    if (at == registers.end() || at->second.count != 0) {
      if (digits == name.size()) continue;
      at = registers.find(name.substr(0, digits));
      if (at == registers.end() || at->second.count <= number) continue;
      index = static_cast<u32>(number);
    }
    const Family& f = at->second;
    o.kind = f.predicate ? Operand::kPred : Operand::kReg;
    o.bits = f.bits, o.index = f.first + index * (f.bits > 64 ? 2 : 1);
    return true;
  }
  return false;
}

int Parser::find_variable(std::string_view name) const {
  for (int s = scope_; s >= 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const auto& variables = scopes_[static_cast<std::size_t>(s)].variables;
    const auto at = variables.find(name);
    if (at != variables.end()) return at->second;
  }
  return -1;
}

Operand Parser::pool(u64 value, Operand::Literal literal, int variable, int function) {
  Operand o;
  o.kind = Operand::kImm, o.literal = literal, o.bits = 64;
  if (variable < 0 && function < 0) {
    const auto [at, fresh] = constants_.emplace(value, static_cast<u32>(m_.pool.size()));
    o.index = at->second;
    if (!fresh) return o;
  } else {
    o.index = static_cast<u32>(m_.pool.size());
  }
  PoolEntry e;
  e.value = value, e.variable = variable, e.function = function;
  m_.pool.push_back(e);
  return o;
}

Operand Parser::operand_word() {
  const std::string_view name = next().text;
  Operand o;
  if (name == "_") {
    o.kind = Operand::kSink;
    return o;
  }
  if (find_register(name, o)) return o;
  if (name == "WARP_SZ") return pool(32);
  if (const SpecialRow* special = name[0] == '%' ? special_named(name) : nullptr) {
    o.kind = Operand::kSpecial, o.bits = static_cast<u8>(special->bits), o.index = static_cast<u32>(special->special);
    return o;
  }
  const int v = find_variable(name);
  i64 more = 0;
  if (v >= 0 && (peek().is('+') || peek().is('-'))) {
    const bool less = next().is('-');
    more = static_cast<i64>(expect_number("a distance"));
    if (less) more = -more;
  }
  if (v >= 0) {
    const Variable& variable = m_.variables[static_cast<std::size_t>(v)];
    if (variable.space == Space::kLocal || (variable.space == Space::kParam && !variable.of_entry)) {
      o.kind = Operand::kLocal, o.offset = static_cast<i64>(variable.offset) + more, o.index = static_cast<u32>(variable.bytes);
      o.space = variable.space;
      return o;
    }
    o = pool(static_cast<u64>(more), Operand::kInteger, v);
    o.space = variable.space;
    return o;
  }
  const auto f = functions_.find(name);
  if (f != functions_.end()) {
    o.kind = Operand::kFunction, o.index = static_cast<u32>(f->second);
    return o;
  }
  for (int s = scope_; s >= 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const Scope& scope = scopes_[static_cast<std::size_t>(s)];
    const auto targets = scope.targets.find(name);
    if (scope.prototypes.count(name) != 0) {
      o.kind = Operand::kSink;
      return o;
    }
    if (targets == scope.targets.end()) continue;
    o.kind = Operand::kList;
    for (const std::string_view label : targets->second) {
      Operand part;
      part.kind = Operand::kLabel, part.offset = -1;
      pending_.push_back({static_cast<u32>(m_.code.size()), static_cast<u32>(o.parts.size()) | 0x80000000u, s, label});
      o.parts.push_back(part);
    }
    return o;
  }
  if (name[0] == '%') fail("the register " + std::string(name) + " is not declared");
  o.kind = Operand::kLabel;
  pending_.push_back({static_cast<u32>(m_.code.size()), 0, scope_, name});
  return o;
}

Operand Parser::vector_of() {
  Operand o;
  o.kind = Operand::kVector;
  if (accept('}')) return o;
  do o.parts.push_back(operand());
  while (accept(','));
  expect('}');
  return o;
}

Operand Parser::list() {
  Operand o;
  o.kind = Operand::kList;
  if (accept(')')) return o;
  do o.parts.push_back(operand());
  while (accept(','));
  expect(')');
  return o;
}

Operand Parser::address() {
  Operand o;
  o.kind = Operand::kAddress;
  o.parts.push_back(operand());
  if (peek().is('+') || peek().is('-')) {
    const bool less = next().is('-');
    const bool minus = accept('-');
    const i64 n = static_cast<i64>(expect_number("a distance"));
    o.offset = less != minus ? -n : n;
  }
  while (accept(',')) o.parts.push_back(operand());
  expect(']');
  return o;
}

Operand Parser::operand() {
  const Token& t = peek();
  if (accept('[')) return address();
  if (accept('{')) return vector_of();
  if (accept('!')) {
    Operand o = operand();
    if (o.kind != Operand::kPred) fail("! stands before what is no predicate");
    o.negate = true;
    return o;
  }
  if (accept('(')) return list();
  if (accept('~')) return pool(~expect_number("a number"));
  const bool minus = accept('-');
  const Token& n = peek();
  if (n.kind == Token::kInteger) {
    const u64 value = next().value;
    return pool(minus ? 0 - value : value);
  }
  if (n.kind == Token::kFloat32 || n.kind == Token::kFloat64) {
    const bool single = n.kind == Token::kFloat32;
    const u64 value = next().value ^ (minus ? u64(1) << (single ? 31 : 63) : 0);
    Operand o = pool(value, single ? Operand::kFloat32 : Operand::kFloat64);
    return o;
  }
  if (minus || n.kind != Token::kWord) fail("expected an operand, found \"" + std::string(t.text) + "\"");
  Operand o = operand_word();
  if (accept('|')) {  // d|p: two results
    Operand both;
    both.kind = Operand::kList;
    both.parts.push_back(std::move(o));
    both.parts.push_back(operand());
    return both;
  }
  return o;
}

void Parser::instruction() {
  Instr i;
  i.function = static_cast<u32>(function_);
  i.begin = peek().begin, i.line = peek().line;
  i.source_file = file_, i.source_line = line_;
  if (accept('@')) {
    i.guarded = true, i.guard_negated = accept('!');
    Operand o;
    const std::string_view name = expect_word("a predicate");
    if (!find_register(name, o) || o.kind != Operand::kPred) fail(std::string(name) + " is no predicate");
    i.guard = o.index;
  }
  i.line = peek().line;
  const std::string_view opcode = expect_word("an instruction");
  if (!peek().is(';')) {
    do {
      const std::size_t before = pending_.size();
      i.ops.push_back(operand());
      for (std::size_t n = before; n < pending_.size(); ++n)  // labels of this operand
        pending_[n].operand |= static_cast<u32>(i.ops.size() - 1) << 16;
    } while (accept(','));
  }
  i.end = peek().begin;
  expect(';');
  const std::size_t dot = opcode.find('.');
  const auto decoder = decoders().find(opcode.substr(0, dot));
  if (decoder == decoders().end()) throw Error("the instruction " + std::string(opcode) + " is not known", i.line);
  // two results become two operands
  if (!i.ops.empty() && i.ops[0].kind == Operand::kList && opcode.substr(0, 4) != "call") {
    std::vector<Operand> parts = std::move(i.ops[0].parts);
    i.ops.erase(i.ops.begin());
    i.ops.insert(i.ops.begin(), parts.begin(), parts.end());
    i.flags |= 1u << 31;
  }
  const auto [at, fresh] = names_.emplace(opcode, static_cast<u32>(m_.names.size()));
  if (fresh) m_.names.emplace_back(opcode);
  i.name = at->second;
  Decode d(m_, i, opcode);
  decoder->second(d);
  d.finish();
  m_.code.push_back(std::move(i));
}

bool Parser::label_of(std::string_view name, int scope, u32& target) const {
  for (int s = scope; s > 0; s = scopes_[static_cast<std::size_t>(s)].parent) {
    const auto& labels = scopes_[static_cast<std::size_t>(s)].labels;
    const auto at = labels.find(name);
    if (at == labels.end()) continue;
    target = at->second;
    return true;
  }
  return false;
}

void Parser::resolve_labels() {
  for (const Pending& p : pending_) {
    Instr& i = m_.code[p.instr];
    u32 target = 0;
    if (!label_of(p.name, p.scope, target)) throw Error("the name " + std::string(p.name) + " is not declared", i.line);
    Operand& o = i.ops[(p.operand >> 16) & 0x7fff];
    Operand& to = (p.operand & 0x80000000u) != 0 ? o.parts[p.operand & 0xffff] : o;
    if (to.kind != Operand::kLabel) throw Error("the name " + std::string(p.name) + " is not declared", i.line);
    to.index = target;
  }
  pending_.clear();
}

}  // namespace ashlar::ptx
