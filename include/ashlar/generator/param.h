// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Param: a C++ value that is chosen when the generator runs, such as a tile size, a type or a switch. It converts to its value;
// next to an Expr it behaves like any other number.
//
//   Param<int> edge{"edge", 64, {{32, 64, 128}}, "square cache tile"};   // edge=128 on the command line
//   Param<Type> T{"T", f32};                                             // T=bf16
//   Param<Kind> kind{"kind", Kind::box};                                 // kind=binomial, with ParamNames<Kind> below
//
// The value is set when the Param is constructed, from the command line or else from the default, and never changes. A value
// that does not parse or is not allowed is refused: the tool prints the allowed values and does not run the algorithm. A Param
// cannot be copied, because the copy would be a second Param with the same name.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ashlar/lang/operand.h>

namespace ashlar {

// The names of an enum's values on the command line. Specialize it for an enum that you use as a Param:
//   template <> struct ashlar::ParamNames<Kind> { static constexpr NamedValue<Kind> values[] = {{"box", Kind::box}, ...}; };
template <class E>
struct NamedValue {
  const char* name;
  E value;
};
template <class E>
struct ParamNames;

namespace detail {

struct ParamInfo {
  std::string name, type, fallback, doc;  // type as in --help; fallback as it would be written after `name=`
  std::vector<std::string> choices;       // empty: any value of the type, or of the range
  std::string value;                      // the value in use
  std::string range = {};                 // "1 to 4096"; empty: no range
  bool in_range = true;                   // whether the fallback is in the range
};

// An inclusive range of values. Only between() creates one, so a list in braces is always a list of choices.
template <class T>
class Between {
 public:
  static Between made(T low, T high) { return {low, high}; }
  T low, high;

 private:
  Between(T l, T h) : low(l), high(h) {}
};

// Registers a Param with the generator under construction. asked() is the text from the command line, or null. Outside a
// generator a Param has its default.
class ParamEntry {
 public:
  explicit ParamEntry(ParamInfo);
  const std::string* asked() const { return asked_; }
  void accept(std::string text);         // the text of the value in use
  void reject(std::string_view wanted);  // asked() is not allowed; `wanted` says which values are
 private:
  const std::string* asked_ = nullptr;
  std::size_t place_ = 0;
  bool registered_ = false;
};

bool parse_integer(std::string_view, std::int64_t low, std::uint64_t high, std::int64_t* bits);
bool parse_real(std::string_view, double*);
bool parse_type(std::string_view, Type*);
std::string integer_text(std::int64_t);
std::string unsigned_text(std::uint64_t);
std::string real_text(float);  // the shortest text that reads back as the same number
std::string real_text(double);
std::string type_text(Type);  // "f32"
std::string type_names();     // "bool, i8, …"

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires { ParamNames<E>::values; };

template <class T>
struct ParamFormat {
  static_assert(never<T>, "Param<T>: T is an integer, bool, a floating type, Type, std::string, or an enum with ParamNames<T>");
};
template <std::integral T>
struct ParamFormat<T> {
  static std::string type() {
    return type_text(
        {std::is_signed_v<T> ? Type::Code::signed_ : Type::Code::unsigned_, static_cast<std::uint8_t>(sizeof(T) * 8)});
  }
  static std::string text(T v) {
    if constexpr (std::is_signed_v<T>)
      return integer_text(v);
    else
      return unsigned_text(v);
  }
  static bool parse(std::string_view s, T* v) {
    constexpr T low = std::is_signed_v<T> ? static_cast<T>(T{1} << (sizeof(T) * 8 - 1)) : T{0};
    std::int64_t bits = 0;
    if (!parse_integer(s, static_cast<std::int64_t>(low), static_cast<std::uint64_t>(static_cast<T>(~low)), &bits))
      return false;
    *v = static_cast<T>(bits);
    return true;
  }
};
template <>
struct ParamFormat<bool> {
  static std::string type() { return "bool"; }
  static std::string text(bool v) { return v ? "true" : "false"; }
  static bool parse(std::string_view s, bool* v) {
    *v = s == "true" || s == "1";
    return *v || s == "false" || s == "0";
  }
};
template <std::floating_point T>
struct ParamFormat<T> {
  static std::string type() { return type_text(sizeof(T) == 4 ? f32 : f64); }
  static std::string text(T v) { return real_text(v); }
  static bool parse(std::string_view s, T* v) {
    double d = 0;
    if (!parse_real(s, &d)) return false;
    *v = static_cast<T>(d);
    return true;
  }
};
template <>
struct ParamFormat<Type> {
  static std::string type() { return "type"; }
  static std::string text(Type v) { return type_text(v); }
  static bool parse(std::string_view s, Type* v) { return parse_type(s, v); }
};
template <>
struct ParamFormat<std::string> {
  static std::string type() { return "text"; }
  static std::string text(const std::string& v) { return v; }
  static bool parse(std::string_view s, std::string* v) {
    *v = s;
    return true;
  }
};
template <NamedEnum E>
struct ParamFormat<E> {
  static std::string type() { return "name"; }
  static std::string text(E v) {
    for (const auto& n : ParamNames<E>::values)
      if (n.value == v) return n.name;
    return "?";
  }
  static bool parse(std::string_view s, E* v) {
    for (const auto& n : ParamNames<E>::values)
      if (s == n.name) {
        *v = n.value;
        return true;
      }
    return false;
  }
};

}  // namespace detail

// An inclusive range of allowed values:  Param<int> block{"block", 384, between(1, 4096)};
template <Number T>
detail::Between<T> between(T low, T high) {
  return detail::Between<T>::made(low, high);
}

template <class T>
class Param {  // NAME=VALUE on the command line: a number, bool, enum, Type or text
 public:
  struct Choices {  // the allowed values: {{32, 64, 128}}
    std::initializer_list<T> of;
  };
  Param(const char* name, T fallback, const char* doc = "") : value_(fallback) { choose(name, {}, doc); }
  // With a list of the allowed values; others are refused.
  Param(const char* name, T fallback, Choices choices, const char* doc = "") : value_(fallback) {
    choose(name, choices.of, doc);
  }
  Param(const char* name, T fallback, detail::Between<T> range, const char* doc = "") : value_(fallback) {
    choose(name, {}, doc, &range);
  }
  Param(const Param& other) : value_(other.value_) { no_copy(); }
  Param& operator=(const Param&) { return no_copy(), *this; }

  operator const T&() const { return value_; }  // a Param is used as its value
  const T& operator*() const { return value_; }
  Expr operator()(Operand v) const
    requires std::same_as<T, Type>
  {
    return value_(v);
  }  // converts, as Type does

  friend auto operator-(const Param& a)
    requires Number<T>
  {
    return -*a;
  }
  friend auto operator~(const Param& a)
    requires std::integral<T>
  {
    return ~*a;
  }
  // Two Params are combined in C++ arithmetic. Without these overloads, a number and an Expr would match equally well.
  friend auto operator+(const Param& a, const Param& b)
    requires Number<T>
  {
    return *a + *b;
  }
  friend auto operator-(const Param& a, const Param& b)
    requires Number<T>
  {
    return *a - *b;
  }
  friend auto operator*(const Param& a, const Param& b)
    requires Number<T>
  {
    return *a * *b;
  }
  friend auto operator/(const Param& a, const Param& b)
    requires Number<T>
  {
    return *a / *b;
  }
  friend auto operator%(const Param& a, const Param& b)
    requires std::integral<T>
  {
    return *a % *b;
  }
  friend bool operator==(const Param& a, const Param& b) { return *a == *b; }
  friend bool operator!=(const Param& a, const Param& b) { return !(*a == *b); }
  friend bool operator<(const Param& a, const Param& b)
    requires Number<T>
  {
    return *a < *b;
  }
  friend bool operator>(const Param& a, const Param& b)
    requires Number<T>
  {
    return *b < *a;
  }
  friend bool operator<=(const Param& a, const Param& b)
    requires Number<T>
  {
    return !(*b < *a);
  }
  friend bool operator>=(const Param& a, const Param& b)
    requires Number<T>
  {
    return !(*a < *b);
  }
  friend bool operator&&(const Param& a, const Param& b)
    requires std::same_as<T, bool>
  {
    return *a && *b;
  }
  friend bool operator||(const Param& a, const Param& b)
    requires std::same_as<T, bool>
  {
    return *a || *b;
  }

 private:
  static void no_copy() {
    static_assert(detail::never<T>, "a Param is not copied: write its value, int n = p, or hand it on by reference");
  }
  void choose(const char* name, std::initializer_list<T> choices, const char* doc, const detail::Between<T>* range = nullptr) {
    using Format = detail::ParamFormat<T>;
    detail::ParamInfo info{name, Format::type(), Format::text(value_), doc, {}, {}};
    for (const T& c : choices) info.choices.push_back(Format::text(c));
    if constexpr (detail::NamedEnum<T>)
      if (info.choices.empty())
        for (const auto& n : ParamNames<T>::values) info.choices.push_back(n.name);
    if constexpr (Number<T>) {
      if (range) info.range = Format::text(range->low) + " to " + Format::text(range->high);
      info.in_range = !range || (value_ >= range->low && value_ <= range->high);
    }
    detail::ParamEntry entry(std::move(info));
    if (!entry.asked()) return;
    T asked{};
    if (!Format::parse(*entry.asked(), &asked)) return entry.reject(Format::type());
    bool allowed = choices.size() == 0;
    for (const T& c : choices) allowed = allowed || c == asked;
    if constexpr (Number<T>)
      if (range) allowed = asked >= range->low && asked <= range->high;
    if (!allowed) return entry.reject("");
    value_ = asked;
    entry.accept(Format::text(value_));
  }

  T value_;
};

}  // namespace ashlar
