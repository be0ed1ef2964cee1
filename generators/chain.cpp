#include "generators/chain.h"

#include <algorithm>
#include <map>

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

const char* param_of(Chain::Place place) { return place == Chain::Place::epilogue ? "epilogue" : "prologue"; }

std::string wanted(Chain::Place place) {
  std::string names;
  if (place == Chain::Place::epilogue)
    for (const BinaryLink& b : binary_links) names += std::string(b.name) + ", ";
  for (const std::string& n : unary_names()) names += n + ", ";
  names.resize(names.size() - 2);
  return "a list of " + names + "; numbers may follow, leaky_relu:0.1";
}

}  // namespace

Chain::Chain(Place place) : place_(place) {
  detail::ParamEntry entry({param_of(place),
                            "list",
                            "",
                            place == Place::epilogue ? "elementwise operators on the result: bias,relu,residual"
                                                     : "elementwise operators on x: scale:0.125,abs",
                            {},
                            {}});
  if (!entry.asked() || entry.asked()->empty()) return;
  bool good = true;
  std::vector<Link> links;
  for (const std::string& word : split(*entry.asked(), ',')) {
    const std::vector<std::string> parts = split(word, ':');
    Link link;
    link.name = parts[0];
    link.unary = find_unary(link.name);
    if (link.unary && !link.unary->same_type) link.unary = nullptr;
    std::size_t most = 0;
    if (link.unary)
      for (const Attribute& a : link.unary->attributes)
        if (a.name) link.attributes[most++] = a.fallback;
    good = good && (link.unary || (place == Place::epilogue && find_binary(link.name))) && parts.size() - 1 <= most;
    for (std::size_t k = 1; good && k < parts.size(); ++k) good = detail::parse_real(parts[k], &link.attributes[k - 1]);
    links.push_back(std::move(link));
  }
  entry.accept(*entry.asked());
  if (good)
    links_ = std::move(links);
  else
    rejected_ = wanted(place);
}

Tensor ChainedOp::apply(const Chain& chain, const Tensor& x, const Chain::Inputs& inputs) {
  const char* param = param_of(chain.place());
  if (!chain.rejected_.empty()) reject(param, chain.rejected_);
  const Type type = x.type();
  std::map<std::string, int> seen;
  Tensor y = x;
  for (const Chain::Link& link : chain.links_) {
    if (link.unary) {
      if (!takes(link.unary->types, type)) {
        reject(param, link.name + " on " + text(link.unary->types) + ", and here it meets " + ir::text(type));
        return y;
      }
      y = link.unary->apply(y, link.attributes);
      continue;
    }
    const int number = ++seen[link.name];
    const std::string name = number == 1 ? link.name : link.name + std::to_string(number);
    std::vector<Extent> shape;
    const bool bias = link.name == "bias";
    for (int d = 0; d < x.rank(); ++d)
      if (!bias || std::find(inputs.channels.begin(), inputs.channels.end(), d) != inputs.channels.end())
        shape.emplace_back(x.extent(d));
    const Tensor other = input(name, inputs.given, shape);
    const BinaryLink& binary = *find_binary(link.name);
    const Tensor before = y;
    y = compute(link.name.c_str(), before.shape(), [&](Indices i) {
      std::vector<Expr> at;
      for (int d = 0; d < i.rank(); ++d)
        if (!bias || std::find(inputs.channels.begin(), inputs.channels.end(), d) != inputs.channels.end()) at.push_back(i[d]);
      return binary.apply(before(i), type(other(ops::detail::point(at))));
    });
  }
  return y;
}

Tensor ChainedOp::finish(const Chain& epilogue, const Tensor& accumulated, const Tensor& result, const Chain::Inputs& inputs) {
  if (epilogue.empty() && epilogue.rejected_.empty()) return result;
  const Tensor y = apply(epilogue, accumulated, inputs);
  return y.type() == result.type() ? y : ops::cast(y, result.type());
}

}  // namespace ashlar::generators
