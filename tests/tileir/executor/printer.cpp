// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was read, as text: names of values are their numbers.
#include <algorithm>
#include <cstdio>

#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
      out += hex;
    } else
      out += c;
  }
  return out + "\"";
}

std::string number(u64 bits, const Type& t) {
  if (!is_float(t.kind)) return std::to_string(signed_of(bits, bits_of(t.kind)));
  char s[40];
  std::snprintf(s, sizeof s, "%.17g", number_of(bits, t.kind));
  return s;
}

std::string value(u32 n) { return "%" + std::to_string(n); }

std::string constant(const Op& op, const Image& image) {
  const Type& t = *op.results[0];
  const std::vector<u64> v = elements_of(image.constants[op.number(0)], t, op.offset);
  const bool alike = std::all_of(v.begin(), v.end(), [&](u64 e) { return e == v[0]; });
  if (alike) return "<" + number(v[0], *t.of) + ">";
  std::string s = "<[";
  for (std::size_t n = 0; n < v.size() && n < 64; ++n) s += (n > 0 ? ", " : "") + number(v[n], *t.of);
  return s + (v.size() > 64 ? ", …]>" : "]>");
}

std::string block(const Block& b, const Image& image, int depth) {
  std::string s = " {";
  if (!b.arguments.empty()) {
    s += "  // (";
    for (std::size_t n = 0; n < b.arguments.size(); ++n)
      s += (n > 0 ? ", " : "") + value(b.first_argument + static_cast<u32>(n)) + ": " + b.arguments[n]->text;
    s += ")";
  }
  s += "\n";
  for (const Op& op : b.ops) s += text_of(op, image, depth + 1) + "\n";
  return s + std::string(static_cast<std::size_t>(2 * depth), ' ') + "}";
}

}  // namespace

std::string text_of(const Attribute& a) {
  const auto pair = [&](const char* none) {
    return (a.first ? std::to_string(*a.first) : none) + std::string(", ") + (a.second ? std::to_string(*a.second) : none);
  };
  switch (a.tag) {
    case Attribute::kInteger:
      return !a.text.empty()     ? a.text
             : a.type != nullptr ? number(a.value, *a.type) + ": " + a.type->text
                                 : std::to_string(a.value);
    case Attribute::kFloat:
      return number(a.value, *a.type) + ": " + a.type->text;
    case Attribute::kBool:
      return a.value != 0 ? "true" : "false";
    case Attribute::kType:
      return a.type->text;
    case Attribute::kString:
      return quoted(a.text);
    case Attribute::kDense:
      return "constant " + std::to_string(a.value);
    case Attribute::kDivBy:
      return "div_by<" + std::to_string(a.value) +
             (a.first ? ", every " + std::to_string(*a.first) + " along " + std::to_string(*a.second) : "") + ">";
    case Attribute::kBounded:
      return "bounded<" + pair("?") + ">";
    case Attribute::kArray:
    case Attribute::kSameElements: {
      std::string s = a.tag == Attribute::kSameElements ? "same_elements<[" : "[";
      for (std::size_t n = 0; n < a.numbers.size(); ++n) s += (n > 0 ? ", " : "") + std::to_string(a.numbers[n]);
      for (std::size_t n = 0; n < a.items.size(); ++n) s += (n > 0 ? ", " : "") + text_of(a.items[n]);
      return s + (a.tag == Attribute::kSameElements ? "]>" : "]");
    }
    case Attribute::kDictionary:
    case Attribute::kHints: {
      std::string s = "{";
      for (std::size_t n = 0; n < a.items.size(); ++n) s += (n > 0 ? ", " : "") + a.keys[n] + " = " + text_of(a.items[n]);
      return s + "}";
    }
    case Attribute::kNone:
      break;
  }
  return "";
}

std::string text_of(const Op& op, const Image& image, int depth) {
  std::string s(static_cast<std::size_t>(2 * depth), ' ');
  for (std::size_t n = 0; n < op.results.size(); ++n) s += (n > 0 ? ", " : "") + value(op.first_result + static_cast<u32>(n));
  if (!op.results.empty()) s += " = ";
  s += op.info->name;
  for (const Field& f : op.info->fields)
    for (std::size_t bit = 0; bit < f.flags.size(); ++bit)
      if (op.flag(static_cast<int>(bit)) && op.info->operand(f.flags[bit]) < 0 && op.info->attribute(f.flags[bit]) < 0)
        s += " " + f.flags[bit];
  for (std::size_t n = 0; n < op.attributes.size(); ++n) {
    if (op.attributes[n].tag == Attribute::kNone) continue;
    s += " " + op.info->attributes[n] + "=" +
         (op.info->code == Code::kConstant ? constant(op, image) : text_of(op.attributes[n]));
  }
  for (std::size_t g = 0; g < op.operands.size(); ++g) {
    if (op.operands[g].empty()) continue;
    s += " " + op.info->operands[g] + "=";
    for (std::size_t n = 0; n < op.operands[g].size(); ++n) s += (n > 0 ? "," : "") + value(op.operands[g][n]);
  }
  for (std::size_t n = 0; n < op.results.size(); ++n) s += (n > 0 ? ", " : " : ") + op.results[n]->text;
  for (const Block& b : op.regions)
    if (b.present) s += block(b, image, depth);
  return s;
}

std::string Module::text() const {
  const Version v = version();
  std::string s = "tile_ir " + std::to_string(v.major) + "." + std::to_string(v.minor) + "\n";
  for (const Global& g : image_->globals)
    s += std::string(g.constant ? "constant" : "global") + " " + g.name + " : " + g.type->text +
         " alignment=" + std::to_string(g.alignment) + "\n";
  for (const Function& f : image_->functions) {
    s += (f.entry ? "entry " : "function ") + f.name + " : " + f.type->text;
    if (f.hints.tag != Attribute::kNone) s += " hints=" + text_of(f.hints);
    s += block(f.body, *image_, 0) + "\n";
  }
  return s;
}

}  // namespace ashlar::tileir
