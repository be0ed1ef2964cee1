// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The parameters of a primitive: what its steps take, in order. A step is checked against them before the primitive runs, so
// that what a malformed trace says is refused by the parameter's name; and they say how an argument is written as C++.
//
//   .parameters = {takes::loop(), takes::number("factor"), takes::word("tail", "guard exact").as("Tail::").unsaid("guard")}
//
//   {"primitive": "split", "args": [{"loop": 12}, "4"]}      split: expected a number as argument 2 (factor), found a word
#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/schedule/step.h>

namespace ashlar::schedule {

struct Parameter {
  // Of expressions: a map from coordinates to coordinates, a number of iterations, a condition on symbols, one value of any
  // type, a factor by two values.
  enum class Type { stage, loop, tensor, number, word, name, scope, intrinsic, map, point, condition, value, rescale };
  enum class Times { once, maybe, if_so, any };  // if_so: where the number before it is not 0

  constexpr Parameter maybe() const { return times_is(Times::maybe); }  // it may be left out, with all that follow
  constexpr Parameter if_so() const { return times_is(Times::if_so); }
  constexpr Parameter any_number() const { return times_is(Times::any); }  // of them, to the end
  constexpr Parameter as(const char* text) const {
    Parameter p = *this;
    p.cpp = text;
    return p;
  }
  constexpr Parameter unhashed() const {  // it tells nothing of the program, so trace_hash leaves it out
    Parameter p = *this;
    p.hashed = false;
    return p;
  }
  constexpr Parameter unsaid(const char* word) const {
    Parameter p = *this;
    p.left_out = word;
    return p;
  }

  Type type;
  const char* name;
  const char* words = "";     // of a word: those that there are, "guard exact"
  const char* cpp = nullptr;  // in C++, in front of a word or a number: "Tail::", "Parts{"; null: a word is not said there
  const char* left_out = "";  // the word that a call in C++ leaves out
  Times times = Times::once;
  bool hashed = true;

 private:
  constexpr Parameter times_is(Times t) const {
    Parameter p = *this;
    p.times = t;
    return p;
  }
};

namespace takes {
using Type = Parameter::Type;
constexpr Parameter loop(const char* name = "loop") { return {Type::loop, name}; }
constexpr Parameter stage(const char* name = "stage") { return {Type::stage, name}; }
constexpr Parameter tensor() { return {Type::tensor, "tensor"}; }
constexpr Parameter number(const char* name) { return {Type::number, name, "", ""}; }
constexpr Parameter word(const char* name, const char* words) { return {Type::word, name, words}; }
constexpr Parameter name() { return {Type::name, "name"}; }  // any word
constexpr Parameter scope() { return {Type::scope, "scope"}; }
constexpr Parameter intrinsic() { return {Type::intrinsic, "intrinsic"}; }
constexpr Parameter map() { return {Type::map, "map"}; }
constexpr Parameter point() { return {Type::point, "point"}; }
constexpr Parameter condition() { return {Type::condition, "condition"}; }
constexpr Parameter value(const char* name) { return {Type::value, name}; }
constexpr Parameter rescale() { return {Type::rescale, "rescale"}; }
constexpr Parameter tail() { return word("tail", "guard predicate shift pad peel exact cover").as("Tail::").unsaid("guard"); }
}  // namespace takes

class Parameters {
 public:
  template <std::same_as<Parameter>... P>
    requires(sizeof...(P) > 0)
  constexpr Parameters(P... all) : all_{all...}, count_(sizeof...(P)) {}
  constexpr const Parameter* begin() const { return all_.data(); }
  constexpr const Parameter* end() const { return all_.data() + count_; }

  // Of each argument of a step its parameter, as far as there are any.
  std::vector<const Parameter*> of(const Step&) const;
  // Refuses a step with other arguments, by the name of the call.
  void check(const Step&, const char* call) const;

 private:
  std::array<Parameter, 6> all_;
  std::size_t count_;
};

// A word or a number with what stands around it in C++: "Tail::exact", "Parts{4}", "8".
std::string spelled(const Parameter&, const Arg&);

}  // namespace ashlar::schedule
