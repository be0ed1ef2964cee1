// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/generator/extent.h>

#include <string_view>

#include <ashlar/ir/build.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 40;  // products of a few of them stay in 63 bits

struct Value {
  std::int64_t number = -1;  // negative: dynamic
  std::int64_t multiple_of = 1;
  std::string text() const {
    if (number >= 0) return fmt::format("{}", number);
    return multiple_of == 1 ? "dynamic" : fmt::format("dynamic%{}", multiple_of);
  }
};

bool parse(std::string_view s, const Symbol::Facts& facts, Value* v) {
  constexpr std::string_view dynamic = "dynamic";
  if (s.starts_with(dynamic)) {
    s.remove_prefix(dynamic.size());
    if (s.empty()) return true;
    return s[0] == '%' && detail::parse_integer(s.substr(1), 0, std::uint64_t{1} << 20, &v->multiple_of) && v->multiple_of > 0;
  }
  return detail::parse_integer(s, 0, largest, &v->number) && v->number >= facts.min && v->number <= facts.max &&
         v->number % facts.multiple_of == 0;
}

std::string wanted(const Symbol::Facts& facts) {
  std::string number = fmt::format("a number of at least {}", facts.min);
  if (facts.max != INT64_MAX) number = fmt::format("a number from {} to {}", facts.min, facts.max);
  if (facts.multiple_of != 1) number += fmt::format(", a multiple of {}", facts.multiple_of);
  return number + ", dynamic, or dynamic%N for multiples of N";
}

// The least common multiple: both facts hold.
std::int64_t common_multiple(std::int64_t a, std::int64_t b) {
  std::int64_t x = a, y = b;
  while (y != 0) {
    const std::int64_t rest = x % y;
    x = y, y = rest;
  }
  return a / x * b;
}

}  // namespace

ExtentParam::ExtentParam(const char* name, Symbol::Facts facts, const char* doc, Where where)
    : ExtentParam(name, -1, facts, doc, where) {}

ExtentParam::ExtentParam(const char* name, std::int64_t fallback, Symbol::Facts facts, const char* doc, Where where) {
  Value value;
  value.number = fallback;
  Value checked;
  const bool in_range = fallback < 0 || parse(fmt::format("{}", fallback), facts, &checked);
  detail::ParamEntry entry({name, "extent", value.text(), doc, {}, {}, wanted(facts), in_range});
  if (entry.asked()) {
    Value asked;
    if (parse(*entry.asked(), facts, &asked)) {
      value = asked;
      entry.accept(value.text());
    } else {
      entry.reject("extent");
    }
  }
  number_ = value.number;
  if (number_ >= 0) {
    static_cast<Expr&>(*this) = ir::index(number_);
  } else {
    facts.multiple_of = common_multiple(facts.multiple_of, value.multiple_of);
    static_cast<Expr&>(*this) = Symbol(name, facts, where);
  }
}

}  // namespace ashlar
