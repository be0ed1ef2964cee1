// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generators/chain.h"

#include <algorithm>

namespace ashlar::generators {

namespace {

struct BinaryLink {
  const char* name;
  Expr (*apply)(const Operand& x, const Operand& other);
};
constexpr BinaryLink binary_links[] = {
    {"bias", [](const Operand& x, const Operand& b) { return Expr(x + b); }},
    {"residual", [](const Operand& x, const Operand& b) { return Expr(x + b); }},
    {"add", [](const Operand& x, const Operand& b) { return Expr(x + b); }},
    {"sub", [](const Operand& x, const Operand& b) { return Expr(x - b); }},
    {"mul", [](const Operand& x, const Operand& b) { return Expr(x * b); }},
    {"div", [](const Operand& x, const Operand& b) { return Expr(x / b); }},
    {"minimum", [](const Operand& x, const Operand& b) { return Expr(min(x, b)); }},
    {"maximum", [](const Operand& x, const Operand& b) { return Expr(max(x, b)); }},
};
const BinaryLink* find_binary(const std::string& name) {
  for (const BinaryLink& b : binary_links)
    if (name == b.name) return &b;
  return nullptr;
}

// Links that change the type.
struct TypeLink {
  const char* name;
  std::vector<Type> to;  // what may follow the name; empty: nothing
};
const std::vector<TypeLink>& type_links() {
  static const std::vector<TypeLink> links = {{"cast", {f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64}},
                                              {"dequantize", {}},
                                              {"quantize", {i8, u8, i16, u16}},
                                              {"requantize", {i8, u8, i16, u16}}};
  return links;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

const char* param_of(Chain::Place place) { return place == Chain::Place::epilogue ? "epilogue" : "prologue"; }

// What the operands of a link are that is not an operator of elementwise.cpp.
Kind kind_of(const std::string& name) {
  return name == "quantize" ? Kind::floats : name == "dequantize" || name == "requantize" ? Kind::integers : Kind::numbers;
}

std::string link_names(Chain::Place place) {
  std::vector<std::string> names = unary_names();
  if (place == Chain::Place::epilogue) {
    for (const TypeLink& t : type_links()) names.insert(names.begin(), t.name);
    for (const BinaryLink& b : binary_links) names.push_back(b.name);
    std::sort(names.begin(), names.end());
  }
  return joined(names);
}

// Where a vector over the channels is read for the element at `i`.
std::vector<Expr> channels_at(const Indices& i, const std::vector<int>& channels) {
  std::vector<Expr> at;
  for (const int d : channels) at.push_back(i[d]);
  return at;
}
std::vector<Extent> of_channels(const Tensor& x, const std::vector<int>& channels) {
  std::vector<Extent> shape;
  for (const int d : channels) shape.emplace_back(x.extent(d));
  return shape;
}
std::vector<int> within(const std::vector<int>& channels, int rank) {  // of a result of rank 0 none
  std::vector<int> some;
  for (const int d : channels)
    if (d >= 0 && d < rank) some.push_back(d);
  return some;
}

}  // namespace

Chain::Chain(Place place) : place_(place) {
  detail::ParamEntry entry({param_of(place),
                            "list",
                            "",
                            place == Place::epilogue ? "elementwise operators on the result: bias,relu,residual"
                                                     : "elementwise operators on the first input: scale:0.125,abs",
                            {},
                            {}});
  if (!entry.asked() || entry.asked()->empty()) return;
  for (const std::string& word : split(*entry.asked(), ','))
    if (rejected_.empty()) rejected_ = read(word, &links_.emplace_back());
  entry.accept(*entry.asked());
}

// A word of the list: NAME[:NUMBER[:NUMBER]] or NAME:TYPE. What was expected in its place, "" if nothing else.
std::string Chain::read(const std::string& word, Link* link) const {
  const std::vector<std::string> parts = split(word, ':');
  link->name = parts[0];
  link->unary = find_unary(link->name);
  if (link->unary && !link->unary->same_type) link->unary = nullptr;
  if (link->unary) {
    std::size_t most = 0;
    for (const Attribute& a : link->unary->attributes)
      if (a.name) link->attributes[most++] = a.fallback;
    bool numbers = parts.size() - 1 <= most;
    for (std::size_t k = 1; k < parts.size() && numbers; ++k) numbers = detail::parse_real(parts[k], &link->attributes[k - 1]);
    if (numbers) return "";
    if (most == 0) return "no numbers behind " + link->name;
    return most == 1 ? "a number behind " + link->name + ", or none" : "two numbers behind " + link->name + ", or less";
  }
  if (place_ == Place::epilogue) {
    for (const TypeLink& t : type_links()) {
      if (link->name != t.name) continue;
      link->to = f32;
      std::vector<std::string> types;
      for (const Type& to : t.to) types.push_back(ir::text(to));
      if (types.empty()) return parts.size() == 1 ? "" : "nothing behind " + link->name;
      if (parts.size() == 2 && detail::parse_type(parts[1], &link->to) &&
          std::find(t.to.begin(), t.to.end(), link->to) != t.to.end())
        return "";
      return "a type behind " + link->name + ", " + link->name + ":" + types[0] + ", one of " + joined(types);
    }
    if (find_binary(link->name)) return parts.size() == 1 ? "" : "nothing behind " + link->name;
  }
  return "in the place of \"" + link->name + "\" one of " + link_names(place_);
}

bool Chain::changes_type() const {
  return std::any_of(links_.begin(), links_.end(), [](const Link& l) { return !l.unary && !find_binary(l.name); });
}

Tensor ChainedOp::retyped(const Chain::Link& link, const Tensor& x, const Chain::Inputs& inputs) {
  if (link.name == "cast") return ops::cast(x, link.to);
  if (link.name == "quantize") {
    const Expr scale = scalar(free_name("out_scale"), f32), zero = scalar(free_name("out_zero"), i32);
    return ops::quantize(x, scale, zero, link.to);
  }
  const std::vector<int> channels = within(inputs.channels, x.rank());
  const Tensor scale = input(free_name("scale"), f32, of_channels(x, channels));
  if (link.name == "dequantize")
    return compute("dequantize", x.shape(),
                   [&](Indices i) { return f32(x(i)) * scale(ops::detail::point(channels_at(i, channels))); });
  const Expr zero = scalar(free_name("zero"), i32);
  return compute("requantize", x.shape(), [&](Indices i) {
    const Expr q = saturate(i32, ashlar::round(f32(x(i)) * scale(ops::detail::point(channels_at(i, channels)))));
    return saturate(link.to, add_sat(q, zero));
  });
}

Tensor ChainedOp::apply(const Chain& chain, const Tensor& x, const Chain::Inputs& inputs) {
  const char* param = param_of(chain.place());
  if (!chain.rejected_.empty()) reject(param, chain.rejected_);
  Type given = inputs.given;  // of the inputs of links
  std::vector<int> everywhere;
  for (int d = 0; d < x.rank(); ++d) everywhere.push_back(d);
  Tensor y = x;
  for (const Chain::Link& link : chain.links_) {
    const Type type = y.type();
    const BinaryLink* binary = find_binary(link.name);
    const Kind kind = link.unary ? link.unary->types : kind_of(link.name);
    if (!takes(kind, type) || (link.name == "requantize" && type != i32)) {
      const std::string on = link.name == "requantize" ? "i32" : text(kind);
      reject(param, link.name + " on " + on + ", and here it meets " + ir::text(type));
      return y;
    }
    if (link.unary) {
      y = link.unary->apply(y, link.attributes);
      continue;
    }
    if (!binary) {
      y = retyped(link, y, inputs);
      given = y.type();
      continue;
    }
    const std::vector<int> dims = link.name == "bias" ? within(inputs.channels, x.rank()) : everywhere;
    const Tensor other = input(free_name(link.name), given, of_channels(x, dims)), before = y;
    y = compute(link.name.c_str(), before.shape(),
                [&](Indices i) { return binary->apply(before(i), type(other(ops::detail::point(channels_at(i, dims))))); });
  }
  return y;
}

Tensor ChainedOp::finish(const Chain& epilogue, const Tensor& accumulated, const Tensor& result, const Chain::Inputs& inputs) {
  if (epilogue.empty() && epilogue.rejected_.empty()) return result;
  const Tensor y = apply(epilogue, accumulated, inputs);
  return y.type() == result.type() || epilogue.changes_type() ? y : ops::cast(y, result.type());
}

}  // namespace ashlar::generators
