// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Choices: the numbers and alternatives of a schedule that may be decided from outside, on the command line or by a tuner.
//
//   const std::int64_t edge = s.choose("edge", {64, 32, 128});                // the first value, if nobody decides
//   auto [ko, ki] = s[C].split(k, s.choose_factor(k, Factors::powers_of_two(2, 64), 8));
//   s.choose_one_of("order", {[&] { s[C].reorder(i, k, j); }, [&] { s[C].reorder(k, i, j); }});
//
// A schedule makes its choices while it runs, so later ones may depend on earlier ones. Each is a step of the trace: a saved
// schedule repeats what was chosen (docs/schedules.md, "Choices").
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ashlar {

class Factors {  // candidates for a factor of a loop; those above a constant extent are left out
 public:
  static Factors powers_of_two(std::int64_t low, std::int64_t high);   // of 1 to 2^62
  static Factors multiples(std::int64_t of, std::int64_t high);        // of, 2 of, 3 of, ... up to high
  static Factors divisors() { return Factors(Kind::divisors, 1, 0); }  // of the extent, which must be a constant

 private:
  friend class Schedule;
  enum class Kind { powers_of_two, multiples, divisors };
  Factors(Kind kind, std::int64_t low, std::int64_t high) : kind_(kind), low_(low), high_(high) {}
  Kind kind_;
  std::int64_t low_, high_;
};

class Way {  // one of the alternatives of choose_one_of: anything that can be called without arguments
 public:
  template <std::invocable F>
    requires(!std::same_as<std::remove_cvref_t<F>, Way>)
  Way(const F& steps) : call_([](const void* f) { (*static_cast<const F*>(f))(); }), steps_(&steps) {}
  void take() const { call_(steps_); }

 private:
  void (*call_)(const void*);
  const void* steps_;
};

struct Decision {
  std::string name;  // as choose was given it; "name#2" for the second choice of this name, and so on
  std::int64_t value = 0;
  bool required = true;  // false: nothing happens if the choice is not made, or if the value is not a candidate
};

struct Chosen {  // a choice that a schedule made
  std::string name;
  std::int64_t value = 0;
  std::vector<std::int64_t> values;  // the candidates, in the order of the call
  std::size_t usual = 0;             // which of them is taken if nobody decides
  std::string place;                 // "matmul.cpp:31"
};

namespace schedule {
struct Step;
std::vector<Chosen> choices_of(const std::vector<Step>& trace);
}  // namespace schedule

}  // namespace ashlar
