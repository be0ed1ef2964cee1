// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// choose(name, values, usual): one of the values, which the schedule goes on with. Who decides it (the command line, a tuner)
// says so before the schedule runs; otherwise it is the usual one.
//
//   s.choose("edge", {64, 32, 128})     ->     choose(edge = 32 of 64, 32, 128)
//
// Nothing is rewritten. The step keeps what was chosen, among which, so that the trace of a schedule is also the space that it
// was found in. choose_factor and choose_one_of are this step with candidates of their own.
#include <algorithm>
#include <array>
#include <map>

#include "schedule/calls.h"
#include "schedule/legality/legality.h"
#include "schedule/primitives/primitives.h"
#include "schedule/trace/cpp_names.h"

namespace ashlar::schedule {

namespace {

constexpr std::size_t values_begin = 3;  // after the name, the value and the place of the usual one

std::string values_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return text;
}

std::vector<std::int64_t> values_of(const Step& step) {
  std::vector<std::int64_t> values;
  for (std::size_t k = values_begin; k < step.args.size(); ++k) values.push_back(step.args[k].value);
  return values;
}

void apply_choose(Context& c) {
  const std::vector<std::int64_t> values = values_of(c.step);
  const std::int64_t value = c.step.args[1].value, usual = c.step.args[2].value;
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (c.step.args[0].word.empty()) c.refuse("a name", "\"\"");
  if (c.step.args[0].word.find('#') != std::string::npos)
    c.refuse("a name without #, which numbers choices of one name", "\"" + c.step.args[0].word + "\"");
  if (values.empty()) c.refuse("candidates", "none");
  if (twice != sorted.end()) c.refuse("candidates that differ", std::to_string(*twice) + " twice");
  if (usual < 0 || static_cast<std::size_t>(usual) >= values.size())
    c.refuse("as the usual one a candidate from 0 to " + std::to_string(values.size() - 1), std::to_string(usual));
  if (!std::binary_search(sorted.begin(), sorted.end(), value))
    c.refuse(c.step.args[0].word + " to be one of " + values_text(values), std::to_string(value));
}

bool draw_choose(Draw& d) {
  std::vector<Arg> args{Arg::text(d.any(std::array{"edge", "order", "depth"})), Arg::integer(0), Arg::integer(0)};
  const int count = d.between(1, 4);
  for (int k = 0; k < count; ++k) args.push_back(Arg::integer(k * d.between(1, 9)));
  args[1] = args[values_begin + d.pick(static_cast<std::uint32_t>(count))];
  args[2] = Arg::integer(d.between(0, count - 1));
  return d.step("choose", std::move(args));
}

std::string choose_text(const Step& s) {
  return "choose(" + s.args[0].word + " = " + std::to_string(s.args[1].value) + " of " + values_text(values_of(s)) + ")";
}

// A record of what was chosen, among which: the calls that follow have its numbers, and a decision changes none of them.
std::string cpp_choose(CppCall& w, const Step& s) {
  const std::vector<std::int64_t> values = values_of(s);
  const auto usual = std::find(values.begin(), values.end(), s.args[1].value) - values.begin();
  return w.schedule() + ".choose(" + cpp::quoted(s.args[0].word.c_str()) + ", {" + values_text(values) + "}" +
         (usual ? ", " + std::to_string(usual) : "") + ")";
}

}  // namespace

extern constexpr Primitive choose_primitive{
    .name = "choose",
    .spelling = "choose",
    .parameters = {takes::name(), takes::number("value"), takes::number("usual").unhashed(),
                   takes::number("candidate").any_number()},
    .traits = Traits{Reads::kept, Places::kept, Boxes::kept, Layouts::kept, Callers::kept, Gives::nothing},
    .apply = apply_choose,
    .cpp = cpp_choose,
    .draw = Drawing{.often = 1, .draw = draw_choose},
    .text = choose_text,
};

std::vector<Chosen> choices_of(const std::vector<Step>& trace) {
  std::vector<Chosen> choices;
  std::map<std::string, int> count;
  for (const Step& s : trace) {
    if (s.primitive != std::string_view(choose_primitive.name)) continue;
    const int n = ++count[s.args[0].word];
    choices.push_back({s.args[0].word + (n > 1 ? "#" + std::to_string(n) : ""), s.args[1].value, values_of(s),
                       static_cast<std::size_t>(s.args[2].value), s.place});
  }
  return choices;
}

}  // namespace ashlar::schedule

namespace ashlar {

using schedule::Arg;

namespace {

constexpr std::int64_t most_candidates = 4096;

// A number for a choice, the same in every run: FNV-1a of the name from the seed on, mixed by the finalizer of MurmurHash3.
std::uint64_t drawn(std::uint64_t seed, const std::string& name) {
  std::uint64_t h = 0xcbf29ce484222325 ^ (seed * 0x9e3779b97f4a7c15);
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

std::vector<std::int64_t> powers_of_two(std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> all;
  for (int bit = 0; bit < 63; ++bit)
    if (const std::int64_t v = std::int64_t{1} << bit; v >= low && v <= high) all.push_back(v);
  return all;
}

// In ascending order.
std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t v = 1; v <= n / v; ++v)
    if (n % v == 0) {
      low.push_back(v);
      if (v != n / v) high.insert(high.begin(), n / v);
    }
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

}  // namespace

Factors Factors::powers_of_two(std::int64_t low, std::int64_t high) { return Factors(Kind::powers_of_two, low, high); }
Factors Factors::multiples(std::int64_t of, std::int64_t high) { return Factors(Kind::multiples, of, high); }

std::int64_t Schedule::choose(const char* name, std::initializer_list<std::int64_t> values, std::size_t usual, Where w) {
  return choose(name, std::span(values.begin(), values.size()), usual, w);
}

std::int64_t Schedule::choose(const char* name, std::span<const std::int64_t> values, std::size_t usual, Where w) {
  std::vector<Arg> args{Arg::text(name), Arg::integer(usual < values.size() ? values[usual] : 0),
                        Arg::integer(static_cast<std::int64_t>(usual))};
  for (const std::int64_t v : values) args.push_back(Arg::integer(v));
  int number = 1;
  for (const schedule::Step& s : state_->whole().scheduled.trace)
    number += s.primitive == std::string_view(schedule::choose_primitive.name) && s.args[0].word == name;
  const std::string key = name + (number > 1 ? "#" + std::to_string(number) : std::string());
  if (const auto seed = state_->whole().seed; seed && !values.empty())
    args[1].value = values[drawn(*seed, key) % values.size()];
  for (const Decision& d : state_->whole().decisions)
    if (d.name == key && (d.required || std::find(values.begin(), values.end(), d.value) != values.end()))
      args[1].value = d.value;
  const std::int64_t value = args[1].value;
  Stage(0, state_).apply(schedule::choose_primitive, std::move(args), w);
  return value;
}

std::int64_t Schedule::choose_factor(Loop loop, const Factors& factors, Factor usual, Where w) {
  detail::Transaction transaction(*state_, "choose_factor");
  const Stage all(0, state_);
  const ir::Id id = all.any(loop, "choose_factor", w).id;
  const Expr length = loop.extent(w);  // which refuses a loop that was consumed
  const ir::Program& p = state_->scheduled.program;
  const std::string name = schedule::stage_around(p, id).name + "." + std::string(loop.label(w));
  std::int64_t extent = 0;
  const bool constant = ir::is_int(length, &extent);
  std::vector<std::int64_t> values;
  switch (factors.kind_) {
    case Factors::Kind::divisors:
      if (!constant) refuse("choose_factor", "divisors of a constant extent", name + " of " + ir::text(length), w);
      values = divisors(extent);
      break;
    case Factors::Kind::powers_of_two:
      values = powers_of_two(factors.low_, factors.high_);
      break;
    case Factors::Kind::multiples:
      if (factors.low_ < 1 || factors.high_ / factors.low_ > most_candidates)
        refuse("choose_factor", "at most " + std::to_string(most_candidates) + " multiples of a positive number",
               "multiples of " + std::to_string(factors.low_) + " up to " + std::to_string(factors.high_), w);
      for (std::int64_t n = 1; n <= factors.high_ / factors.low_; ++n) values.push_back(n * factors.low_);
      break;
  }
  if (constant) std::erase_if(values, [&](std::int64_t v) { return v > extent; });
  // The usual factor comes first, among the candidates or not.
  std::erase(values, usual.value());
  values.insert(values.begin(), usual.value());
  const std::int64_t value = choose(ir::intern(name), values, 0, w);
  transaction.keep();
  return value;
}

std::size_t Schedule::choose_one_of(const char* name, std::initializer_list<Way> ways, Where w) {
  std::size_t taken = 0;
  {
    detail::Transaction transaction(*state_, "choose_one_of");
    std::vector<std::int64_t> numbers;
    for (std::size_t k = 0; k < ways.size(); ++k) numbers.push_back(static_cast<std::int64_t>(k));
    taken = static_cast<std::size_t>(choose(name, numbers, 0, w));
    transaction.keep();
  }
  ways.begin()[taken].take();  // its steps are refused by their own names
  return taken;
}

void Schedule::decide(std::span<const Decision> decisions) {
  state_->whole().decisions.assign(decisions.begin(), decisions.end());
}
void Schedule::draw_choices(std::uint64_t seed) { state_->whole().seed = seed; }
std::vector<Chosen> Schedule::choices() const { return schedule::choices_of(state_->whole().scheduled.trace); }

}  // namespace ashlar
