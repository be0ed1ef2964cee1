// Params: what each type accepts on the command line, what it refuses, and what the record says of it.
#include <doctest/doctest.h>

#include <concepts>
#include <limits>
#include <string>

#include <ashlar/ashlar.h>

#include "generator/frame.h"

using namespace ashlar;

namespace {

enum class Edge { soft, hard };

// The record of one Param<T>{"p", fallback, ...} when `text` is asked for.
template <class T, class... More>
generator::GeneratorRecord asked(const std::string& text, T* value, T fallback, More... more) {
  generator::GeneratorRecord record;
  record.asked = {{"p", text}};
  generator::Construction here(record);
  Param<T> p("p", fallback, more...);
  *value = *p;
  return record;
}
template <class T>
bool accepts(const std::string& text, T expected, T fallback = T{}) {
  T value{};
  const generator::GeneratorRecord record = asked<T>(text, &value, fallback);
  return record.rejected.empty() && value == expected && record.params.at(0).value == detail::ParamFormat<T>::text(expected);
}
template <class T>
bool rejects(const std::string& text, T fallback = T{}) {
  T value{};
  const generator::GeneratorRecord record = asked<T>(text, &value, fallback);
  return record.rejected.size() == 1 && record.rejected[0].asked == text && value == fallback;
}

}  // namespace

template <>
struct ashlar::ParamNames<Edge> {
  static constexpr NamedValue<Edge> values[] = {{"soft", Edge::soft}, {"hard", Edge::hard}};
};

TEST_CASE("integers: decimal, the whole range of the type and nothing beyond") {
  CHECK(accepts<int>("64", 64));
  CHECK(accepts<int>("-2147483648", std::numeric_limits<int>::min()));
  CHECK(rejects<int>("2147483648"));
  CHECK(rejects<int>("-2147483649"));
  CHECK(accepts<std::uint8_t>("255", 255));
  CHECK(rejects<std::uint8_t>("256"));
  CHECK(rejects<std::uint8_t>("-1"));
  CHECK(accepts<std::uint64_t>("18446744073709551615", std::numeric_limits<std::uint64_t>::max()));
  CHECK(accepts<std::int64_t>("-9223372036854775808", std::numeric_limits<std::int64_t>::min()));
  for (const char* text : {"", "x", "1.5", "0x10", " 1", "1 ", "+1"}) CHECK(rejects<int>(text, 7));
}

TEST_CASE("floats read back as what was written") {
  CHECK(accepts<float>("0.1", 0.1f));
  CHECK(accepts<double>("1e-3", 1e-3));
  CHECK(detail::ParamFormat<float>::text(0.1f) == "0.1");
  CHECK(rejects<float>("1,5"));
}

TEST_CASE("signs and complements of Params are C++ numbers") {
  generator::GeneratorRecord record;
  generator::Construction here(record);
  Param<int> n("n", 6);
  Param<float> x("x", 0.5f);
  Param<std::uint32_t> u("u", 1);
  static_assert(std::same_as<decltype(-n), int> && std::same_as<decltype(~u), std::uint32_t>);
  CHECK(-n == -6);
  CHECK(~n == -7);
  CHECK(-x == -0.5f);
  CHECK(~u == 0xfffffffeu);
}

TEST_CASE("bool, types, texts and named enums") {
  CHECK(accepts<bool>("true", true));
  CHECK(accepts<bool>("0", false, true));
  CHECK(rejects<bool>("yes"));
  CHECK(accepts<Type>("bf16", bf16, f32));
  CHECK(rejects<Type>("float", f32));
  CHECK(accepts<std::string>("a b", "a b"));
  CHECK(accepts<Edge>("hard", Edge::hard));
  CHECK(rejects<Edge>("sharp"));
}

TEST_CASE("anything but a choice is rejected") {
  int value = 0;
  CHECK(asked<int>("128", &value, 64, Param<int>::Choices{{32, 64, 128}}).rejected.empty());
  CHECK(value == 128);
  const auto record = asked<int>("65", &value, 64, Param<int>::Choices{{32, 64, 128}}, "tile");
  REQUIRE(record.rejected.size() == 1);
  CHECK(value == 64);
  CHECK(record.params[0].choices == std::vector<std::string>{"32", "64", "128"});
  CHECK(record.params[0].doc == "tile");
}

TEST_CASE("mistakes of the generator's author are noted") {
  generator::GeneratorRecord record;
  generator::Construction here(record);
  Param<int> a("a", 1), again("a", 2), target("target", 3), outside("outside", 5, {{1, 2}}), unwritable("x=y", 1);
  CHECK(record.mistakes.size() == 4);
}

TEST_CASE("a Param reads as its value, outside a generator as its fallback") {
  Param<int> n("n", 6), m("m", 4);
  Param<bool> yes("yes", true);
  int array[10] = {};
  CHECK(n + 1 == 7);
  CHECK(n * m == 24);
  CHECK((n > m && yes));
  CHECK(array[n] == 0);
  CHECK(static_cast<int>(n) == *n);
}
