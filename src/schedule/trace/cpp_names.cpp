// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/trace/cpp_names.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <ashlar/ir/keywords.h>
#include <ashlar/ir/math.h>
#include <ashlar/ir/operation.h>
#include <ashlar/ir/print.h>

namespace ashlar::schedule::cpp {
namespace {

constexpr char open = '\x01', close = '\x02';

// C++'s own words, and those that the statements are written with.
bool is_reserved(const std::string& name) {
  static constexpr std::string_view own[] = {"s",    "std",   "ashlar",   "at",       "min",  "max",   "gpu",
                                             "Loop", "Stage", "Scope",    "Tail",     "Peel", "Parts", "Place",
                                             "Pack", "Var",   "Schedule", "Scalable", "Expr", "main"};
  if (name.size() == 2 && name[0] == 'c' && std::isdigit(static_cast<unsigned char>(name[1]))) return true;  // of index maps
  return ir::is_keyword(name) || std::find(std::begin(own), std::end(own), name) != std::end(own);
}

std::string identifier(const std::string& name) {
  std::string id;
  for (const char c : name) id += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  while (id.find("__") != std::string::npos) id.erase(id.find("__"), 1);  // such names are the compiler's
  if (id.empty() || id[0] == '_' || std::isdigit(static_cast<unsigned char>(id[0]))) id = "x" + id;
  return is_reserved(id) && id != "s" ? id + "_" : id;
}

enum Level { sum = 1, product = 2, other = 3, atom = 4 };

Level level_of(ir::Op op) {
  switch (op) {
    case ir::Op::add:
    case ir::Op::sub:
      return sum;
    case ir::Op::mul:
    case ir::Op::div:
    case ir::Op::mod:
      return product;
    case ir::Op::min:
    case ir::Op::max:
      return atom;
    default:
      return other;
  }
}

std::string integer(std::int64_t n) {
  if (n == INT64_MIN) return "(-9223372036854775807 - 1)";
  return n < 0 ? "(" + std::to_string(n) + ")" : std::to_string(n);
}

std::string sign_of(ir::Op op) { return std::string(" ") + ir::operation(op).laws.sign + " "; }

using NameOf = std::function<std::string(ir::Id, const std::string&)>;
bool write(const Expr&, const NameOf&, std::string& text, Level&);

// Of type bool: comparisons, joined and turned round.
bool write_condition(const Expr& e, const NameOf& name, std::string& text) {
  const ir::Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  const ir::Kind kind = ir::operation(op).kind;
  if (kind != ir::Kind::logic && kind != ir::Kind::comparison) return false;
  std::vector<std::string> parts;
  for (const Expr& a : args) {
    Level level{};
    std::string part;
    if (!write(a, name, part, level)) return false;
    parts.push_back(level == other ? "(" + part + ")" : part);
  }
  if (op == ir::Op::logic_not)
    text = "!(" + parts.at(0) + ")";
  else
    text = parts.at(0) + sign_of(op) + parts.at(1);
  return true;
}

bool write(const Expr& e, const NameOf& name, std::string& text, Level& level) {
  level = atom;
  std::int64_t n = 0;
  if (e.type().is_bool()) return level = other, write_condition(e, name, text);
  if (!e.type().is_index() && !e.type().is_float()) return false;
  if (ir::is(e, ir::Op::float_const)) return constant(e, text);
  if (ir::is_int(e, &n)) return text = integer(n), true;
  if (ir::is(e, ir::Op::var)) return text = name(e.node()->id, e.node()->name), !text.empty();
  const ir::Op op = ir::op_of(e);
  const auto args = ir::args_of(e);
  std::string a, b;
  Level of_a{}, of_b{};
  if (args.size() == 1 && e.type().is_float()) {  // neg, exp, ...: functions, and a sign
    if (!ir::computes_reals(ir::operation(op).kind) || !write(args[0], name, a, of_a)) return false;
    text = op == ir::Op::neg ? "-(" + a + ")" : std::string(ir::op_name(ir::accurate_form(op))) + "(" + a + ")";
    if (op != ir::accurate_form(op)) text = (op == ir::Op::approximate_exp2 ? "approximate(" : "fast(") + text + ")";
    return level = op == ir::Op::neg ? other : atom, true;
  }
  if (op == ir::Op::select && e.type().is_float()) {  // of two numbers one says its type
    std::string condition;
    const bool numbers = ir::args_of(args[1]).empty() && ir::args_of(args[2]).empty() && !ir::is(args[1], ir::Op::var) &&
                         !ir::is(args[2], ir::Op::var);
    if (!write_condition(args[0], name, condition) || !write(args[1], name, a, of_a) || !write(args[2], name, b, of_b))
      return false;
    text = "select(" + condition + ", " + (numbers ? ir::text(e.type()) + "(" + a + ")" : a) + ", " + b + ")";
    return true;
  }
  if (args.size() != 2) return false;
  if (!write(args[0], name, a, of_a) || !write(args[1], name, b, of_b)) return false;
  if (op == ir::Op::min || op == ir::Op::max) return text = (op == ir::Op::min ? "min(" : "max(") + a + ", " + b + ")", true;
  if (!*ir::operation(op).laws.sign) return false;
  level = level_of(op);
  // a chain of sums and products as it is; everything else in parentheses
  if (of_a < level || of_a == other || (level == other && of_a != atom)) a = "(" + a + ")";
  if (of_b <= level || of_b == other || (level == other && of_b != atom)) b = "(" + b + ")";
  text = a + sign_of(op) + b;
  return true;
}

}  // namespace

bool expression(const Expr& e, const std::function<std::string(ir::Id, const std::string&)>& name, std::string& text) {
  Level level{};
  return write(e, name, text, level);
}

bool constant(const Expr& e, std::string& text) {
  if (ir::is(e, ir::Op::int_const)) {
    text = integer(e.node()->i);
    if (text.front() == '(' && e.node()->i != INT64_MIN) text = text.substr(1, text.size() - 2);
    return true;
  }
  if (!ir::is(e, ir::Op::float_const)) return false;
  const double v = e.node()->f;
  if (std::isnan(v)) return text = "std::numeric_limits<double>::quiet_NaN()", true;
  if (std::isinf(v)) return text = std::string(v < 0 ? "-" : "") + "std::numeric_limits<double>::infinity()", true;
  char digits[40];
  if (v == std::nearbyint(v) && std::abs(v) < 1e9 && !(v == 0 && std::signbit(v))) {
    std::snprintf(digits, sizeof digits, "%.0f", v);
    return text = digits, true;
  }
  std::snprintf(digits, sizeof digits, "%.17g", v);
  text = digits;
  if (!std::strpbrk(digits, ".e")) text += ".0";
  return true;
}

std::string quoted(const char* s) {
  std::string text = "\"";
  for (; *s; ++s) {
    if (*s == '"' || *s == '\\') text += '\\';
    text += *s;
  }
  return text + "\"";
}

std::string Names::take(const std::string& wish) {
  const std::string name = identifier(wish);
  std::string unique = name;
  for (int n = 2; !taken_.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
  return unique;
}

std::size_t Names::handle(std::string name, std::string of) {
  handles_.push_back({std::move(name), std::move(of), false, false, {}});
  return handles_.size() - 1;
}

std::string Names::use(std::size_t handle) {
  handles_.at(handle).used = true;
  return open + std::to_string(handle) + close;
}

std::vector<std::string> Names::written(const std::vector<Line>& lines) {
  const auto is_used = [&](const Line& l) {
    return std::any_of(l.binds.begin(), l.binds.end(), [&](std::size_t h) { return handles_[h].used; });
  };
  for (const Line& l : lines) {
    if (!is_used(l)) continue;
    for (const std::size_t h : l.binds) {
      Handle& handle = handles_[h];
      const bool plain = handle.of.empty() || !taken_.count(identifier(handle.name));
      handle.text = take(plain ? handle.name : handle.of + "_" + handle.name);
    }
  }
  std::vector<std::string> result;
  for (const Line& l : lines) {
    if (!l.step && !is_used(l)) {
      result.emplace_back();
      continue;
    }
    std::string text;
    if (is_used(l)) {
      std::string bound;
      for (const std::size_t h : l.binds) bound += (bound.empty() ? "" : ", ") + handles_[h].text;
      text = l.type + (l.single ? " " + bound : " [" + bound + "]") + " = ";
    }
    for (std::size_t k = 0; k < l.call.size(); ++k) {
      if (l.call[k] != open) {
        text += l.call[k];
        continue;
      }
      const std::size_t end = l.call.find(close, k);
      text += handles_[std::stoul(l.call.substr(k + 1, end - k - 1))].text;
      k = end;
    }
    result.push_back(text + ";");
  }
  return result;
}

}  // namespace ashlar::schedule::cpp
