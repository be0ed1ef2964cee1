// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes: of known kind as operations have them, and with a tag where they stand in arrays and dictionaries.
#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

constexpr int kDeepest = 8;

std::string string_of(const Image& image, Cursor& c) {
  const Cursor at = c;
  const u64 n = c.varint("a string");
  if (n >= image.strings.size())
    at.fail("there is no string " + std::to_string(n) + " of " + std::to_string(image.strings.size()));
  return image.strings[n];
}

const Type* type_of(const Image& image, Cursor& c) {
  const Cursor at = c;
  const u64 n = c.varint("a type");
  if (n >= image.types.size()) at.fail("there is no type " + std::to_string(n) + " of " + std::to_string(image.types.size()));
  return image.types[n];
}

void dictionary(const Image& image, Cursor& c, Attribute& a, int depth) {
  const u64 n = c.count("the size of a dictionary", 2);
  for (u64 k = 0; k < n; ++k) {
    a.keys.push_back(string_of(image, c));
    a.items.push_back(read_tagged(image, c, depth + 1));
  }
}

void numbers(Cursor& c, Attribute& a, int bytes) {
  const u64 n = c.count("the length of an array", static_cast<std::size_t>(bytes));
  for (u64 k = 0; k < n; ++k) a.numbers.push_back(signed_of(c.little(bytes, "a number of an array"), bytes * 8));
}

// A float's bits: one byte up to 8 bits, else a signed variable number.
u64 float_bits(Cursor& c, Kind k) {
  const Cursor at = c;
  const int bits = bits_of(k);
  const u64 v = bits <= 8 ? c.byte("a float") : static_cast<u64>(c.signed_varint("a float"));
  if ((v & ~mask_of(bits)) != 0) at.fail("a float of more than " + std::to_string(bits) + " bits");
  return v;
}

void optional_pair(Cursor& c, Attribute& a) {
  const u8 bits = c.byte("which of two numbers are there");
  if (bits > 3) c.fail("which of two numbers are there: " + std::to_string(bits), c.at() - 1);
  if ((bits & 1) != 0) a.first = c.signed_varint("a number");
  if ((bits & 2) != 0) a.second = c.signed_varint("a number");
}

}  // namespace

Attribute read_attribute(const Image& image, Cursor& c, const std::string& kind, int depth) {
  const Cursor at = c;
  Attribute a;
  if (const auto& names = names_of(kind); !names.empty()) {
    a.tag = Attribute::kInteger, a.value = c.varint("an enumeration");
    if (a.value >= names.size()) at.fail("there is no " + std::to_string(a.value) + " of " + kind);
    a.text = names[a.value];
  } else if (kind == "int") {
    a.tag = Attribute::kInteger, a.value = c.varint("a number");
  } else if (kind == "bool") {
    a.tag = Attribute::kBool, a.value = c.byte("a truth value");
    if (a.value > 1) at.fail("a truth value " + std::to_string(a.value));
  } else if (kind == "str") {
    a.tag = Attribute::kString, a.text = string_of(image, c);
  } else if (kind == "const") {
    a.tag = Attribute::kDense, a.value = c.varint("a constant");
    if (a.value >= image.constants.size())
      at.fail("there is no constant " + std::to_string(a.value) + " of " + std::to_string(image.constants.size()));
  } else if (kind == "ints" || kind == "bools") {
    a.tag = Attribute::kArray, numbers(c, a, kind == "ints" ? 4 : 1);
  } else if (kind == "array") {
    a.tag = Attribute::kArray;
    const u64 n = c.count("the length of an array", 1);
    for (u64 k = 0; k < n; ++k) a.items.push_back(read_tagged(image, c, depth + 1));
  } else if (kind == "hints") {
    a.tag = Attribute::kHints, dictionary(image, c, a, depth);
  } else {
    a = read_tagged(image, c, depth);
  }
  return a;
}

Attribute read_tagged(const Image& image, Cursor& c, int depth) {
  const Cursor at = c;
  if (depth > kDeepest) at.fail("attributes are nested more than " + std::to_string(kDeepest) + " deep");
  const u64 tag = c.varint("the tag of an attribute");
  if (tag == 0 || tag > Attribute::kBounded) at.fail("there is no attribute with the tag " + std::to_string(tag));
  Attribute a;
  a.tag = static_cast<Attribute::Tag>(tag);
  switch (a.tag) {
    case Attribute::kInteger:
      a.type = type_of(image, c);
      if (!is_integer(a.type->kind)) at.fail("an integer of type " + a.type->text);
      a.value = a.type->kind == Kind::kI1 ? c.byte("an integer") : c.varint("an integer");
      if ((a.value & ~mask_of(bits_of(a.type->kind))) != 0) at.fail("an integer that " + a.type->text + " does not hold");
      break;
    case Attribute::kFloat:
      a.type = type_of(image, c);
      if (!is_float(a.type->kind)) at.fail("a float of type " + a.type->text);
      a.value = float_bits(c, a.type->kind);
      break;
    case Attribute::kBool:
      a = read_attribute(image, c, "bool", depth);
      break;
    case Attribute::kType:
      a.type = type_of(image, c);
      break;
    case Attribute::kString:
      a = read_attribute(image, c, "str", depth);
      break;
    case Attribute::kArray:
      a = read_attribute(image, c, "array", depth);
      break;
    case Attribute::kDense: {
      const Type* const type = type_of(image, c);
      a = read_attribute(image, c, "const", depth);
      a.type = type;
      break;
    }
    case Attribute::kDivBy:
      a.value = c.varint("a divisor");
      optional_pair(c, a);
      if (a.value == 0 || (a.value & (a.value - 1)) != 0)
        at.fail("div_by " + std::to_string(a.value) + ", which is no power of two");
      if (a.first.has_value() != a.second.has_value() || (a.first && *a.first < 1))
        at.fail("div_by: every and along come together, every is positive");
      break;
    case Attribute::kSameElements:
      numbers(c, a, 8);
      break;
    case Attribute::kDictionary:
    case Attribute::kHints:
      dictionary(image, c, a, depth);
      break;
    case Attribute::kBounded:
      optional_pair(c, a);
      break;
    case Attribute::kNone:
      break;
  }
  return a;
}

std::vector<u64> elements_of(const std::vector<u8>& constant, const Type& tile, std::size_t offset) {
  if (!tile.is_tile() || tile.element() == Kind::kPointer) throw Error("a constant of type " + tile.text, offset);
  const u64 n = static_cast<u64>(tile.elements());
  const int each = constant_bytes(tile.element()), bits = bits_of(tile.element());
  std::vector<u64> v;
  v.reserve(n);
  if (tile.element() == Kind::kI1) {  // all alike: one byte 0 or 255; else a bit each
    const bool alike = constant.size() == 1 && (constant[0] == 0 || constant[0] == 0xff || n == 1);
    if (!alike && constant.size() != (n + 7) / 8)
      throw Error("a constant of " + std::to_string(constant.size()) + " bytes for " + tile.text, offset);
    for (u64 k = 0; k < n; ++k) v.push_back(alike ? u64(constant[0] != 0) : u64(constant[k / 8] >> (k % 8) & 1));
    return v;
  }
  const u64 there = constant.size() / static_cast<u64>(each);
  if (constant.size() % static_cast<u64>(each) != 0 || (there != 1 && there != n)) {
    throw Error("a constant of " + std::to_string(constant.size()) + " bytes for " + tile.text, offset);
  }
  for (u64 k = 0; k < n; ++k) {
    u64 e = 0;
    for (int b = 0; b < each; ++b)
      e |= static_cast<u64>(constant[(there == 1 ? 0 : k) * static_cast<u64>(each) + static_cast<u64>(b)]) << (8 * b);
    v.push_back(e & mask_of(bits));
  }
  return v;
}

}  // namespace ashlar::tileir
