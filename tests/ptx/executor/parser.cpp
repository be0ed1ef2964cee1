// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives of a module, variables, the heads of functions.
#include "tests/ptx/executor/parser.h"

#include <algorithm>
#include <cstring>

namespace ashlar::ptx {

Parser::Parser(Image& image) : m_(image), tokens_(tokens_of(image.text)) { scopes_.emplace_back(); }

void Parser::fail(const std::string& what) const { throw Error(what, peek().line); }

bool Parser::accept(char c) {
  if (!peek().is(c)) return false;
  next();
  return true;
}
void Parser::expect(char c) {
  if (!accept(c)) fail(std::string("expected \"") + c + "\", found \"" + std::string(peek().text) + "\"");
}
std::string_view Parser::expect_word(const char* what) {
  if (peek().kind != Token::kWord) fail(std::string("expected ") + what + ", found \"" + std::string(peek().text) + "\"");
  return next().text;
}
u64 Parser::expect_number(const char* what) {
  if (peek().kind != Token::kInteger) fail(std::string("expected ") + what + ", found \"" + std::string(peek().text) + "\"");
  return next().value;
}

void Parser::run() {
  while (peek().kind != Token::kEnd) module_directive();
  layout();
}

void Parser::skip_line() {
  const int line = peek().line;
  while (peek().kind != Token::kEnd && peek().line == line) next();
}

void Parser::skip_braces() {
  while (!peek().is('{')) {
    if (peek().kind == Token::kEnd) fail("expected \"{\"");
    next();
  }
  int depth = 0;
  do {
    if (peek().kind == Token::kEnd) fail("a \"{\" is not closed");
    depth += peek().is('{') ? 1 : peek().is('}') ? -1 : 0;
    next();
  } while (depth > 0);
}

void Parser::file() {  // .file 1 "path" [, time, size]
  const u32 number = static_cast<u32>(expect_number("the number of a file"));
  if (peek().kind != Token::kString) fail("expected the name of a file");
  const std::string_view quoted = next().text;
  m_.files[number] = std::string(quoted.substr(1, quoted.size() - 2));
  while (accept(',')) expect_number("a time or a size");
}

void Parser::location() {  // .loc 1 20 3 [, function_name label [+ number], inlined_at 1 10 5]
  const int line = peek().line;
  file_ = static_cast<u32>(expect_number("the number of a file"));
  line_ = static_cast<u32>(expect_number("a line"));
  while (peek().kind != Token::kEnd && peek().line == line) next();
}

void Parser::module_directive() {
  const Token& t = peek();
  if (t.is(';')) {
    next();
    return;
  }
  if (t.kind != Token::kWord || t.text[0] != '.') {
    if (t.is('@')) return skip_line();  // @@dwarf of old
    fail("expected a directive, found \"" + std::string(t.text) + "\"");
  }
  const std::string_view name = next().text;
  if (name == ".version") {
    m_.version = std::string(peek().text);
    skip_line();
  } else if (name == ".target") {
    m_.target = std::string(peek().text);
    skip_line();
  } else if (name == ".address_size") {
    if (expect_number("the size of an address") != 64) fail("addresses have 64 bits here");
  } else if (name == ".file") {
    file();
  } else if (name == ".loc") {
    location();
  } else if (name == ".section") {
    skip_braces();
  } else if (name == ".pragma") {
    while (!accept(';')) next();
  } else if (name == ".alias") {
    alias();
  } else {
    bool external = false;
    std::string_view what = name;
    while (what == ".visible" || what == ".weak" || what == ".extern" || what == ".common") {
      external = external || what == ".extern";
      what = expect_word("a function or a variable");
    }
    if (what == ".entry" || what == ".func") return function(what == ".entry", external);
    if (what == ".global") return variable(Space::kGlobal, external, false);
    if (what == ".const") return variable(Space::kConst, external, false);
    if (what == ".shared") return variable(Space::kShared, external, false);
    fail("the directive " + std::string(what) + " is not known");
  }
}

void Parser::alias() {  // .alias a, b;
  const std::string_view name = expect_word("a name");
  expect(',');
  const int target = function_number(expect_word("a function"));
  m_.functions[static_cast<std::size_t>(function_number(name))].alias = target;
  expect(';');
}

Parser::Type Parser::type_words(const char* of) {  // .align 4 .v2 .b32
  Type t;
  while (peek().kind == Token::kWord && peek().text[0] == '.') {
    const std::string_view w = peek().text.substr(1);
    if (w == "align") {
      next();
      t.align = expect_number("an alignment");
      continue;
    }
    if (w == "ptr") {  // .ptr .global .align 16: of what it points to
      next();
      while (peek().kind == Token::kWord && peek().text[0] == '.') {
        const std::string_view space = next().text;
        if (space == ".align")
          expect_number("an alignment");
        else if (space != ".global" && space != ".shared" && space != ".local" && space != ".const")
          fail("the directive " + std::string(space) + " is not known behind .ptr");
      }
      continue;
    }
    if (w == "attribute") {
      next();
      expect('(');
      if (!peek().word(".managed") && !peek().word(".unified"))
        fail("the attribute " + std::string(peek().text) + " is not known");
      while (!accept(')')) next();
      continue;
    }
    if (w == "v2" || w == "v4") {
      next();
      t.vector = w == "v2" ? 2 : 4;
      continue;
    }
    if (w == "texref" || w == "samplerref" || w == "surfref") fail("textures are not known");
    t.type = type_named(w);
    if (t.type == T::none) fail(std::string("the type ") + std::string(peek().text) + " of " + of + " is not known");
    next();
  }
  if (t.type == T::none) fail(std::string("expected the type of ") + of);
  return t;
}

void Parser::variable(Space space, bool external, bool in_function) {
  const Type t = type_words("a variable");
  do {
    Variable v;
    const std::string_view name = expect_word("the name of a variable");
    v.name = std::string(name), v.space = space, v.type = t.type, v.external = external;
    const u64 element = static_cast<u64>(bits_of(t.type) / 8);
    v.align = std::max(t.align, element * t.vector), v.bytes = element * t.vector;
    if (t.align != 0) v.align = t.align;
    bool open = false;
    while (accept('[')) {
      if (accept(']')) {
        open = true;
        continue;
      }
      v.bytes *= expect_number("an extent");
      expect(']');
    }
    if (open) v.bytes = 0;
    if (accept('=')) initial(v, element);
    if (open) v.bytes = v.initial.size();
    v.initial.resize(static_cast<std::size_t>(v.bytes));
    if (in_function && (space == Space::kLocal || space == Space::kParam)) {
      Function& f = m_.functions[static_cast<std::size_t>(function_)];
      f.frame_bytes = static_cast<u32>((f.frame_bytes + v.align - 1) / v.align * v.align);
      v.offset = f.frame_bytes;
      f.frame_bytes += static_cast<u32>(v.bytes);
      v.function = function_;
    }
    const int number = static_cast<int>(m_.variables.size());
    if (space == Space::kShared && !external) shared_.emplace_back(in_function ? function_ : -1, static_cast<u64>(number));
    scopes_[static_cast<std::size_t>(in_function ? scope_ : 0)].variables[name] = number;
    m_.variables.push_back(std::move(v));
  } while (accept(','));
  expect(';');
}

void Parser::initial(Variable& v, u64 element) {
  if (!accept('{')) return initial_value(v, element);
  if (accept('}')) return;
  do initial(v, element);
  while (accept(','));
  expect('}');
}

void Parser::initial_value(Variable& v, u64 element) {  // a number; a name, generic(name), each with + number; mask(name)
  const bool minus = accept('-');
  const Token& t = peek();
  u64 value = 0;
  if (t.kind == Token::kWord) {
    Variable::Pointer p;
    p.at = v.initial.size(), p.bytes = static_cast<u32>(element), p.generic = t.text == "generic", p.addend = 0;
    std::string_view name = next().text;
    if (name == "generic") {
      expect('(');
      name = expect_word("a name");
      expect(')');
    }
    p.variable = find_variable(name);
    p.function = p.variable < 0 ? function_number(name) : -1;
    if (peek().is('+') || peek().is('-')) {
      const bool less = next().is('-');
      const i64 n = static_cast<i64>(expect_number("a distance"));
      p.addend = less ? -n : n;
    }
    v.pointers.push_back(p);
  } else if (t.kind == Token::kFloat32 || t.kind == Token::kFloat64) {
    value = next().value;
    if (t.kind == Token::kFloat64 && element == 4) {
      double d = 0;
      std::memcpy(&d, &value, 8);
      const float f = static_cast<float>(d);
      value = 0;
      std::memcpy(&value, &f, 4);
    } else if (t.kind == Token::kFloat32 && element == 8) {
      float f = 0;
      std::memcpy(&f, &value, 4);
      const double d = f;
      std::memcpy(&value, &d, 8);
    }
    if (minus) value ^= u64(1) << (element * 8 - 1);
  } else {
    value = expect_number("an initial value");
    if (minus) value = 0 - value;
  }
  const auto* bytes = reinterpret_cast<const u8*>(&value);
  for (u64 n = 0; n < element; ++n) v.initial.push_back(n < 8 ? bytes[n] : u8(0));
}

int Parser::function_number(std::string_view name) {
  const auto at = functions_.find(name);
  if (at != functions_.end()) return at->second;
  const int number = static_cast<int>(m_.functions.size());
  functions_[name] = number;
  Function f;
  f.name = std::string(name);
  if (name == "vprintf") f.builtin = Function::kPrintf;
  if (name == "__assertfail") f.builtin = Function::kAssert;
  m_.functions.push_back(std::move(f));
  return number;
}

// A parameter of an entry lies in its buffer, one of a function in its frame or in a register.
void Parser::parameters(Function& f, std::vector<Operand>& to, bool entry, int number) {
  if (accept(')')) return;
  to.clear();
  u64 offset = 0;
  do {
    const std::string_view where = expect_word("a parameter");
    const Type t = type_words("a parameter");
    std::string_view name = expect_word("the name of a parameter");
    const u64 element = static_cast<u64>(bits_of(t.type) / 8) * t.vector;
    u64 bytes = element;
    while (accept('[')) {
      bytes *= peek().is(']') ? 0 : expect_number("an extent");
      expect(']');
    }
    Operand o;
    if (where == ".reg") {
      if (entry) fail("a parameter of an entry is no register");
      Family family;
      family.bits = static_cast<u8>(bits_of(t.type)), family.predicate = t.type == T::pred;
      family.first = family.predicate ? f.predicates++ : f.slots++;
      scopes_[static_cast<std::size_t>(scope_)].registers[name] = family;
      o.kind = family.predicate ? Operand::kPred : Operand::kReg, o.bits = family.bits, o.index = family.first;
    } else if (where == ".param") {
      Variable v;
      v.name = std::string(name), v.space = Space::kParam, v.type = t.type, v.bytes = bytes, v.function = number,
      v.of_entry = entry;
      v.align = t.align != 0 ? t.align : element;
      u64& at = offset;
      if (!entry) at = f.frame_bytes;
      at = (at + v.align - 1) / v.align * v.align;
      v.offset = at;
      at += bytes;
      if (!entry) f.frame_bytes = static_cast<u32>(at);
      if (entry) f.kernel.parameters.push_back({v.name, v.offset, v.bytes, v.align});
      o.kind = Operand::kLocal, o.offset = static_cast<i64>(v.offset), o.index = static_cast<u32>(bytes);
      scopes_[static_cast<std::size_t>(scope_)].variables[name] = static_cast<int>(m_.variables.size());
      m_.variables.push_back(std::move(v));
    } else {
      fail("expected .param or .reg, found " + std::string(where));
    }
    to.push_back(o);
  } while (accept(','));
  expect(')');
  if (entry) f.kernel.parameter_bytes = offset;
}

void Parser::tuning(Function& f) {
  const auto three = [&](std::array<u32, 3>& to) {
    to = {1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
      to[d] = static_cast<u32>(expect_number("an extent"));
      if (!accept(',')) break;
    }
  };
  std::array<u32, 3> ignored = {};
  while (peek().kind == Token::kWord) {
    const std::string_view w = next().text;
    if (w == ".reqntid") {
      three(f.kernel.required_threads);
    } else if (w == ".maxntid") {
      three(f.kernel.most_threads);
    } else if (w == ".reqnctapercluster") {
      three(f.kernel.cluster);
    } else if (w == ".minnctapersm" || w == ".maxnreg" || w == ".maxnctapersm" ||
               w == ".maxclusterrank") {  // no meaning for values
      three(ignored);
    } else if (w == ".explicitcluster" || w == ".noreturn") {
      continue;
    } else if (w == ".pragma") {
      while (!accept(';')) next();
    } else {
      fail("the directive " + std::string(w) + " is not known before a body");
    }
  }
}

void Parser::function(bool entry, bool external) {
  scopes_.emplace_back();
  scopes_.back().parent = 0;
  scope_ = static_cast<int>(scopes_.size()) - 1;
  Function f;
  f.entry = entry;
  std::vector<Operand> results, arguments;
  int number = static_cast<int>(m_.functions.size());  // of the parameters' variables, corrected below
  const std::size_t before = m_.variables.size();
  if (!entry && accept('(')) parameters(f, results, false, number);
  while (peek().word(".noreturn")) next();
  const std::string_view name = expect_word("the name of a function");
  number = function_number(name);
  if (accept('(')) parameters(f, arguments, entry, number);
  for (std::size_t n = before; n < m_.variables.size(); ++n) m_.variables[n].function = number;
  tuning(f);
  Function& to = m_.functions[static_cast<std::size_t>(number)];
  const bool has_body = peek().is('{');
  if (!has_body || external) {
    if (has_body) fail("an external function has a body");
    expect(';');
    scope_ = 0;
    if (!to.defined) to.results = results, to.parameters = arguments, to.entry = entry;
    return;
  }
  if (to.defined) fail("the function " + std::string(name) + " is defined twice");
  f.name = std::string(name), f.defined = true, f.results = std::move(results), f.parameters = std::move(arguments);
  f.alias = to.alias, f.kernel.name = f.name;
  m_.functions[static_cast<std::size_t>(number)] = std::move(f);
  body(number);
  scope_ = 0;
}

// Static shared memory: what the module and its functions have lies at one place for all; what an entry has lies behind that,
// and dynamic memory behind the most that an entry has.
void Parser::layout() {
  u64 common = kFirstShared;
  const auto place = [&](u64 number, u64& at) {
    Variable& v = m_.variables[number];
    at = (at + v.align - 1) / v.align * v.align;
    v.offset = at;
    at += v.bytes;
  };
  for (const auto& [f, number] : shared_)
    if (f < 0 || !m_.functions[static_cast<std::size_t>(f)].entry) place(number, common);
  u64 most = common;
  for (std::size_t f = 0; f < m_.functions.size(); ++f) {
    u64 at = common;
    for (const auto& [owner, number] : shared_)
      if (owner == static_cast<int>(f) && m_.functions[f].entry) place(number, at);
    m_.functions[f].shared_end = at;
    most = std::max(most, at);
  }
  m_.dynamic_shared = (most + 1023) / 1024 * 1024;
  for (Variable& v : m_.variables)
    if (v.space == Space::kShared && v.external) v.offset = m_.dynamic_shared;
  for (std::size_t f = 0; f < m_.functions.size(); ++f) {
    Function& g = m_.functions[f];
    for (int hops = 0; g.alias >= 0 && !m_.functions[static_cast<std::size_t>(g.alias)].defined; ++hops) {
      if (hops > 8) throw Error(".alias " + g.name + " names no function with a body", 0);
      g.alias = m_.functions[static_cast<std::size_t>(g.alias)].alias;
    }
    if (!g.entry || !g.defined) continue;
    g.kernel.shared_bytes = g.shared_end - kFirstShared;
    m_.kernels.push_back(g.kernel);
    m_.kernel_functions.push_back(static_cast<u32>(f));
  }
}

std::string Image::instruction(const Instr& i) const {
  std::string s;
  for (u32 at = i.begin; at < i.end; ++at) {
    const char c = text[at];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space)
      s += c;
    else if (!s.empty() && s.back() != ' ')
      s += ' ';
  }
  while (!s.empty() && s.back() == ' ') s.pop_back();
  return s;
}

Module Module::parse(std::string text) {
  auto image = std::make_shared<Image>();
  image->text = std::move(text);
  Parser(*image).run();
  return Module(image);
}
const std::vector<Kernel>& Module::kernels() const { return image_->kernels; }
const std::string& Module::text() const { return image_->text; }
const Kernel& Module::kernel(std::string_view name) const {
  for (const Kernel& k : image_->kernels)
    if (k.name == name) return k;
  throw Error("there is no entry " + std::string(name), 0);
}

}  // namespace ashlar::ptx
