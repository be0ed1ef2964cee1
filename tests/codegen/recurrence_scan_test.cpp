// Scans in lanes, compiled: minima and maxima of floats to the bit, with NaN, both zeros and infinities anywhere.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include <ashlar/codegen/emit.h>
#include <ashlar/codegen/jit.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include "tests/codegen/kernels.h"
#include "tests/uses/tensors.h"

using namespace ashlar;

template <>
struct TypeOf<double> {
  static constexpr std::uint8_t code = 2;
};

namespace {

template <class T>
T combined(Combine how, T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  const bool least = how == Combine::min;
  if (a == b) return std::signbit(a) == least ? a : b;  // -0 lies below +0
  return (a < b) == least ? a : b;
}

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check(Type type, Combine how, const Target& target, bool backwards) {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", type, {N}), y = lang::make_output("y", type, {N});
  lang::bind(y, scan("best", {N}, backwards ? Along{0}.backwards() : Along{0}, how, [&](Var i) { return x(i); }));
  Schedule s(lang::build_program("running", {lang::ArgumentRef(x), lang::ArgumentRef(y)}), target);
  schedule::finish(s.scheduled(), target);
  const codegen::Compiled code = codegen::compile(lower(s.scheduled().program, options_for(target)), target);
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> special{T(0), -T(0), inf, -inf, nan, -nan, std::numeric_limits<T>::denorm_min()};
  std::mt19937 engine(7);
  for (const int odds : {2, 40, 1000})  // one in so many is special
    for (const std::int64_t n : {0, 1, 5, 16, 17, 33, 100, 257}) {
      Dense<T> in({n}, [&](std::size_t) {
        const T number = T(static_cast<int>(engine() % 2001) - 1000) / 8;
        return engine() % static_cast<unsigned>(odds) == 0 ? special[engine() % special.size()] : number;
      });
      Dense<T> out({n});
      const ashlar_tensor a = in.tensor(), b = out.tensor();
      const std::vector<const void*> arguments{&a, &b};
      REQUIRE(code.call(arguments) == ASHLAR_OK);
      T best = 0;
      bool good = true;
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t i = backwards ? n - 1 - step : step;
        best = step == 0 ? in(i) : combined(how, best, in(i));
        good = good && same(out(i), best);
      }
      CHECK(good);
    }
}

}  // namespace

TEST_CASE("running minima and maxima of floats, to the bit") {
  for (const Target& target : kernels::runnable({"host", "x86-64-v3", "x86-64"}))
    for (const Combine how : {Combine::max, Combine::min})
      for (const bool backwards : {false, true}) {
        check<float>(f32, how, target, backwards);
        check<double>(f64, how, target, backwards);
      }
}

TEST_CASE("the loop of a running maximum loads and stores vectors, and asks of no number by itself") {
  lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  lang::bind(y, scan("best", {N}, Along{0}, Combine::max, [&](Var i) { return x(i); }));
  const Target target = Target::parse("x86-64-v4");
  Schedule s(lang::build_program("running", {lang::ArgumentRef(x), lang::ArgumentRef(y)}), target);
  schedule::finish(s.scheduled(), target);
  const std::string text = codegen::emit(lower(s.scheduled().program, options_for(target)), target, codegen::Output::assembly);
  const std::size_t first = text.find("vpmaxsd"), begin = text.rfind("\n.L", first), end = text.find("\tj", first);
  REQUIRE(first != text.npos);
  const std::string loop = text.substr(begin, end - begin);
  CAPTURE(loop);
  const auto count = [&](const char* part) {
    int n = 0;
    for (std::size_t at = loop.find(part); at != loop.npos; at = loop.find(part, at + 1)) ++n;
    return n;
  };
  CHECK(count("vpmaxsd") == 5);
  CHECK(count("\n") <= 30);    // for 16 elements
  CHECK(count("(%rsp") == 0);  // lanes are shifted in registers
}
