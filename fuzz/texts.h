#pragma once
// What a random program is made of: expressions with the text that a user would type for them, and tensors with their boxes.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ashlar.h>
#include <ashlar/ir/print.h>

#include "c_functions.h"
#include "forms.h"
#include "program.h"

namespace fuzz {

using namespace ashlar;

struct Text {  // an expression, and how it is written
  Expr e;
  std::string s;
  Type type() const { return e.type(); }
};

struct Span {  // [low, symbol + high), with max(.., least) unless that is 0; or [low, high) where symbol is -1
  int symbol = -1, low = 0, high = 1, least = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

struct Known {  // a tensor that later stages may read
  Tensor tensor;
  std::string name;
  Type type;
  std::vector<Span> spans;  // where it has values
  bool argument = false, inferred = false, read = false;
};

struct Index {
  Text value;
  Span span;
};  // an index variable and the values it takes

inline const char* name_of(Type t) {
  static constexpr std::pair<Type, const char*> names[] = {
      {f32, "f32"},     {f64, "f64"},   {f16, "f16"},   {bf16, "bf16"}, {i8, "i8"},   {i16, "i16"},
      {i32, "i32"},     {i64, "i64"},   {u8, "u8"},     {u16, "u16"},   {u32, "u32"}, {u64, "u64"},
      {bool_, "bool_"}, {e4m3, "e4m3"}, {e5m2, "e5m2"}, {i4, "i4"},     {u4, "u4"}};
  for (const auto& [type, name] : names)
    if (type == t) return name;
  return "?";
}

}  // namespace fuzz
