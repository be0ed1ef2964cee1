// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step says, against the parameters of its primitive.
#include <algorithm>
#include <sstream>

#include <ashlar/ir/refusal.h>

#include "schedule/edit.h"
#include "schedule/primitives/parameters.h"

namespace ashlar::schedule {
namespace {

using Times = Parameter::Times;

Arg::Kind kind_of(Parameter::Type t) {
  switch (t) {
    case Parameter::Type::stage:
      return Arg::Kind::stage;
    case Parameter::Type::loop:
      return Arg::Kind::loop;
    case Parameter::Type::tensor:
      return Arg::Kind::buffer;
    case Parameter::Type::number:
      return Arg::Kind::integer;
    case Parameter::Type::word:
    case Parameter::Type::name:
    case Parameter::Type::scope:
      return Arg::Kind::word;
    case Parameter::Type::intrinsic:
      return Arg::Kind::intrinsic;
    default:
      return Arg::Kind::exprs;
  }
}

const char* word_for(Arg::Kind k) {
  static constexpr const char* words[] = {"a stage", "a loop",       "a tensor",    "a number",
                                          "a word",  "an index map", "an intrinsic"};
  return words[static_cast<int>(k)];
}

// What is expected: a condition is not an index map, but both are expressions.
const char* word_for(Parameter::Type t) {
  return t == Parameter::Type::point       ? "a point"
         : t == Parameter::Type::condition ? "a condition"
         : t == Parameter::Type::value     ? "a value"
         : t == Parameter::Type::rescale   ? "a rescale"
         : t == Parameter::Type::scope     ? "a scope"
         : t == Parameter::Type::name      ? "a name"
                                           : word_for(kind_of(t));
}

std::string with_article(const std::string& name) {
  return (std::string_view("aeiou").find(name[0]) == std::string_view::npos ? "a " : "an ") + name;
}

std::string alternatives(const char* words) {
  std::istringstream in(words);
  std::vector<std::string> all;
  for (std::string w; in >> w;) all.push_back(w);
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) text += (k == 0 ? "" : k + 1 == all.size() ? " or " : ", ") + all[k];
  return text;
}

bool is_one_of(const std::string& word, const char* words) {
  std::istringstream in(words);
  for (std::string w; in >> w;)
    if (w == word) return true;
  return false;
}

class Check {
 public:
  Check(const Step& step, const char* call) : step_(step), call_(call) {}

  void argument(const Parameter& p, std::size_t k) const {
    const Arg& a = step_.args[k];
    if (a.kind != kind_of(p.type))
      refuse(std::string(word_for(p.type)) + " as argument " + std::to_string(k + 1) + " (" + p.name + ")", word_for(a.kind));
    const bool one = a.exprs.size() == 1;
    switch (p.type) {
      case Parameter::Type::word:
        if (!is_one_of(a.word, p.words)) refuse(with_article(p.name) + ": " + alternatives(p.words), "\"" + a.word + "\"");
        break;
      case Parameter::Type::scope:
        if (a.word != a.scope.name)
          refuse("a scope: global, stack, shared, registers, fragment or tile (a user's own with its limits)",
                 "\"" + a.word + "\"");
        break;
      case Parameter::Type::point:
        if (!one || !a.exprs.front().type().is_index()) refuse("one point, an index", "something else");
        break;
      case Parameter::Type::condition:
        if (!one || !a.exprs.front().type().is_bool()) refuse("one condition", "something else");
        break;
      case Parameter::Type::value:
        if (!one) refuse("one " + std::string(p.name), std::to_string(a.exprs.size()));
        break;
      case Parameter::Type::rescale:
        if (!one || a.vars.size() != 2) refuse("a rescale of two values", "something else");
        break;
      default:
        break;
    }
  }
  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const {
    ashlar::refuse(call_, expected, found, step_.where);
  }

 private:
  const Step& step_;
  const char* call_;
};

}  // namespace

std::vector<const Parameter*> Parameters::of(const Step& step) const {
  std::vector<const Parameter*> result;
  for (const Parameter& p : *this) {
    const std::size_t at = result.size();
    if (p.times == Times::if_so && (at == 0 || at > step.args.size() || step.args[at - 1].value == 0)) continue;
    const std::size_t most = p.times == Times::any ? step.args.size() : at + 1;
    while (result.size() < std::min(most, step.args.size())) result.push_back(&p);
  }
  return result;
}

void Parameters::check(const Step& step, const char* call) const {
  const Check check(step, call);
  const std::vector<const Parameter*> own = of(step);
  for (std::size_t k = 0; k < own.size(); ++k) check.argument(*own[k], k);
  if (step.args.size() > own.size())
    check.refuse("at most " + std::to_string(own.size()) + (own.size() == 1 ? " argument" : " arguments"),
                 std::to_string(step.args.size()));
  for (const Parameter& p : *this) {
    const bool needed = p.times == Times::once ||
                        (p.times == Times::if_so && !own.empty() && step.args.back().value != 0 && own.back() + 1 == &p);
    if (needed && std::find(own.begin(), own.end(), &p) == own.end())
      check.refuse(std::string(word_for(p.type)) + " as argument " + std::to_string(own.size() + 1) + " (" + p.name + ")",
                   "a step of " + std::to_string(own.size()) + (own.size() == 1 ? " argument" : " arguments"));
  }
}

std::string spelled(const Parameter& p, const Arg& a) {
  const std::string before = p.cpp ? p.cpp : "";
  if (a.kind == Arg::Kind::word) return before + a.word;
  return before + std::to_string(a.value) + (before.ends_with("{") ? "}" : "");
}

}  // namespace ashlar::schedule
