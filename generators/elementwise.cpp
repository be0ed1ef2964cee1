// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators of one operand, and arithmetic of several that broadcasts.
#include <algorithm>

#include "generators/chain.h"

namespace ashlar::generators {

namespace {

// A row of an operator without numbers of its own.
#define ROW(NAME, FORMULA, KIND) {#NAME, FORMULA, KIND, [](const Tensor& x, const double*) { return Tensor(ops::NAME(x)); }}
#define ROW_TO_BOOL(NAME, FORMULA, KIND) \
  {#NAME, FORMULA, KIND, [](const Tensor& x, const double*) { return Tensor(ops::NAME(x)); }, {}, false}

constexpr UnaryRow functions[] = {
    ROW(abs, "y = |x|", Kind::numbers),
    ROW(acos, "y = acos(x)", Kind::floats),
    ROW(asin, "y = asin(x)", Kind::floats),
    ROW(atan, "y = atan(x)", Kind::floats),
    ROW(bitwise_not, "y = ~x", Kind::integers),
    ROW(cbrt, "y = x^(1/3)", Kind::floats),
    ROW(ceil, "y = x rounded up", Kind::floats),
    {"clamp",
     "y = max(min(x, high), low)",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::clamp(x, a[0], a[1]); },
     {{"low", 0, "lower bound"}, {"high", 1, "upper bound"}}},
    ROW(cos, "y = cos(x)", Kind::floats),
    ROW(cosh, "y = cosh(x)", Kind::floats),
    ROW(erf, "y = erf(x)", Kind::floats),
    ROW(erfc, "y = 1 - erf(x)", Kind::floats),
    ROW(exp, "y = e^x", Kind::floats),
    ROW(exp2, "y = 2^x", Kind::floats),
    ROW(expm1, "y = e^x - 1", Kind::floats),
    ROW(floor, "y = x rounded down", Kind::floats),
    ROW_TO_BOOL(isfinite, "y = whether x is finite", Kind::floats),
    ROW_TO_BOOL(isinf, "y = whether x is infinite", Kind::floats),
    ROW_TO_BOOL(isnan, "y = whether x is NaN", Kind::floats),
    ROW(log, "y = ln(x)", Kind::floats),
    ROW(log1p, "y = ln(1 + x)", Kind::floats),
    ROW(log2, "y = log2(x)", Kind::floats),
    ROW(logical_not, "y = !x", Kind::booleans),
    ROW(neg, "y = -x", Kind::numbers),
    ROW(reciprocal, "y = 1 / x", Kind::floats),
    ROW(round, "y = x rounded to nearest, ties to even", Kind::floats),
    ROW(rsqrt, "y = 1 / sqrt(x)", Kind::floats),
    {"scale",
     "y = x * by",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::scale(x, a[0]); },
     {{"by", 1, "factor"}}},
    {"shift",
     "y = x + by",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::shift(x, a[0]); },
     {{"by", 0, "what is added"}}},
    ROW(sign, "y = -1, 0 or 1", Kind::numbers),
    ROW(sin, "y = sin(x)", Kind::floats),
    ROW(sinh, "y = sinh(x)", Kind::floats),
    ROW(sqrt, "y = sqrt(x)", Kind::floats),
    ROW(square, "y = x^2", Kind::numbers),
    ROW(tan, "y = tan(x)", Kind::floats),
    ROW(tanh, "y = tanh(x)", Kind::floats),
    ROW(trunc, "y = x rounded toward 0", Kind::floats),
};

constexpr UnaryRow activations[] = {
    {"celu",
     "y = max(x, 0) + min(alpha (e^(x / alpha) - 1), 0)",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::celu(x, a[0]); },
     {{"alpha", 1, "y approaches -alpha for large negative x"}}},
    {"elu",
     "y = x where x > 0, else alpha (e^x - 1)",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::elu(x, a[0]); },
     {{"alpha", 1, "y approaches -alpha for large negative x"}}},
    ROW(gelu, "y = x / 2 * (1 + erf(x / sqrt(2)))", Kind::floats),
    {"gelu_tail", "y = x / 2 * erfc(-x / sqrt(2)): gelu, accurate for large negative x too", Kind::floats,
     [](const Tensor& x, const double*) { return ops::gelu(x, ops::Gelu::tail); }},
    {"gelu_tanh", "y = x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))", Kind::floats,
     [](const Tensor& x, const double*) { return ops::gelu(x, ops::Gelu::tanh); }},
    ROW(hard_sigmoid, "y = clamp(x / 6 + 1/2, 0, 1)", Kind::floats),
    ROW(hard_swish, "y = x clamp(x + 3, 0, 6) / 6", Kind::floats),
    {"hard_tanh",
     "y = clamp(x, low, high)",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::hard_tanh(x, a[0], a[1]); },
     {{"low", -1, "lower bound"}, {"high", 1, "upper bound"}}},
    {"leaky_relu",
     "y = x where x > 0, else slope x",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::leaky_relu(x, a[0]); },
     {{"slope", 0.01, "slope for negative x"}}},
    ROW(log_sigmoid, "y = -log(1 + e^-x)", Kind::floats),
    ROW(mish, "y = x tanh(log(1 + e^x))", Kind::floats),
    ROW(relu, "y = max(x, 0)", Kind::numbers),
    ROW(relu6, "y = min(max(x, 0), 6)", Kind::numbers),
    ROW(selu, "y = scale elu(x), with the constants of self-normalizing networks", Kind::floats),
    ROW(sigmoid, "y = 1 / (1 + e^-x)", Kind::floats),
    {"silu",
     "y = x sigmoid(beta x)",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::silu(x, a[0]); },
     {{"beta", 1, "steepness"}}},
    {"soft_shrink",
     "y = x moved toward 0 by `by`, or 0",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::soft_shrink(x, a[0]); },
     {{"by", 0.5, "distance toward 0"}}},
    {"softplus",
     "y = log(1 + e^(beta x)) / beta",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::softplus(x, a[0]); },
     {{"beta", 1, "steepness"}}},
    ROW(softsign, "y = x / (1 + |x|)", Kind::floats),
    ROW(tanh_shrink, "y = x - tanh(x)", Kind::floats),
    {"threshold",
     "y = x where x > above, else otherwise",
     Kind::floats,
     [](const Tensor& x, const double* a) { return ops::threshold(x, a[0], a[1]); },
     {{"above", 0, "threshold"}, {"otherwise", 0, "y at or below the threshold"}}},
};
#undef ROW
#undef ROW_TO_BOOL

class Unary : public ChainedOp {
 public:
  explicit Unary(const UnaryRow& row) {
    const Param<Type> type = type_param(row.types);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "N", "shape of x and y");
    double attributes[2] = {};
    for (std::size_t k = 0; k < 2; ++k)
      if (row.attributes[k].name)
        attributes[k] = *Param<double>{row.attributes[k].name, row.attributes[k].fallback, row.attributes[k].doc};
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor x = input("x", type, shape);
    output("y", apply(epilogue, row.apply(x, attributes), {type, {x.rank() - 1}}));
  }
};
const auto registered_functions = register_rows<Unary, functions>("elementwise");
const auto registered_activations = register_rows<Unary, activations>("activations");

// ---- two operands ----------------------------------------------------------------------------------------------------------

struct BinaryRow {
  const char* name;
  const char* formula;
  Kind types;
  Tensor (*apply)(const Tensor& a, const Tensor& b);
};
#define ROW(NAME, FORMULA, KIND) {#NAME, FORMULA, KIND, [](const Tensor& a, const Tensor& b) { return ops::NAME(a, b); }}
constexpr BinaryRow binary[] = {
    ROW(add, "y = a + b", Kind::numbers),
    ROW(atan2, "y = the angle of the point (b, a)", Kind::floats),
    ROW(bitwise_and, "y = a & b", Kind::integers),
    ROW(bitwise_or, "y = a | b", Kind::integers),
    ROW(bitwise_xor, "y = a ^ b", Kind::integers),
    ROW(div, "y = a / b; integers round down", Kind::numbers),
    ROW(equal, "y = a == b, as bool", Kind::numbers),
    ROW(greater, "y = a > b, as bool", Kind::numbers),
    ROW(greater_equal, "y = a >= b, as bool", Kind::numbers),
    ROW(less, "y = a < b, as bool", Kind::numbers),
    ROW(less_equal, "y = a <= b, as bool", Kind::numbers),
    ROW(logical_and, "y = a && b", Kind::booleans),
    ROW(logical_or, "y = a || b", Kind::booleans),
    ROW(logical_xor, "y = a != b", Kind::booleans),
    ROW(maximum, "y = max(a, b), NaN if one is", Kind::numbers),
    ROW(minimum, "y = min(a, b), NaN if one is", Kind::numbers),
    ROW(mul, "y = a b", Kind::numbers),
    ROW(not_equal, "y = a != b, as bool", Kind::numbers),
    ROW(pow, "y = a^b", Kind::floats),
    ROW(prelu, "y = a where a > 0, else a b", Kind::floats),
    ROW(remainder, "y = a - floor(a / b) b", Kind::numbers),
    ROW(shift_left, "y = a << b", Kind::integers),
    ROW(shift_right, "y = a >> b", Kind::integers),
    ROW(squared_difference, "y = (a - b)^2", Kind::numbers),
    ROW(sub, "y = a - b", Kind::numbers),
    ROW(swiglu, "y = a sigmoid(a) b, of one shape", Kind::floats),
};
#undef ROW

class Binary : public ChainedOp {
 public:
  explicit Binary(const BinaryRow& row) {
    const Param<Type> type = type_param(row.types);
    Extents extents;
    const std::vector<Extent> of_a = extents.shape("a", "M,N", "shape of a; an extent of 1 broadcasts"),
                              of_b = extents.shape("b", extents.written("a").c_str(), "shape of b; left out: that of a");
    const Chain epilogue(Chain::Place::epilogue);
    const Tensor a = input("a", type, of_a), b = input("b", type, of_b);
    const Tensor y = decided_by("b", [&] { return row.apply(a, b); });
    output("y", apply(epilogue, y, {y.type(), {y.rank() - 1}}));
  }
};
const auto registered_binary = register_rows<Binary, binary>("arithmetic");

class Where3 : public Op {
 public:
  Where3() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents;
    const std::vector<Extent> of_c = extents.shape("condition", "M,N", "shape of the condition"),
                              of_a = extents.shape("a", extents.written("condition").c_str(), "shape of a"),
                              of_b = extents.shape("b", extents.written("a").c_str(), "shape of b");
    const Tensor condition = input("condition", bool_, of_c), a = input("a", type, of_a), b = input("b", type, of_b);
    output("y", decided_by("b", [&] { return ops::where(condition, a, b); }));
  }
};
ASHLAR_GENERATOR(Where3, "where", "arithmetic", "y = condition ? a : b");

class Lerp : public Op {
 public:
  Lerp() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<Extent> of_a = extents.shape("a", "M,N", "shape of a"),
                              of_b = extents.shape("b", extents.written("a").c_str(), "shape of b; left out: that of a");
    const Tensor a = input("a", type, of_a), b = input("b", type, of_b);
    const Expr weight = scalar("weight", type);
    output("y", decided_by("b", [&] { return ops::lerp(a, b, weight); }));
  }
};
ASHLAR_GENERATOR(Lerp, "lerp", "arithmetic", "y = a + weight (b - a)");

class BroadcastTo : public Op {
 public:
  BroadcastTo() {
    const Param<Type> type = type_param(Kind::any);
    Extents extents;
    const std::vector<Extent> shape = extents.shape("shape", "1,N", "shape of x"),
                              to = extents.shape("to", "M,N", "shape of the result");
    const Tensor x = input("x", type, shape);
    output("y", decided_by("to", [&] { return ops::broadcast_to(x, Shape::of(to)); }));
  }
};
ASHLAR_GENERATOR(BroadcastTo, "broadcast_to", "arithmetic", "y = x, with extents of 1 repeated");

// ---- other types -----------------------------------------------------------------------------------------------------------

template <bool saturating>
class Cast : public Op {
 public:
  Cast() {
    const Param<Type> type = type_param(saturating ? Kind::numbers : Kind::any, "type", "type of x"),
                      to = type_param(saturating ? Kind::numbers : Kind::any, "to", "type of y");
    Extents extents;
    const Tensor x = input("x", type, extents.shape("shape", "N", "shape of x and y"));
    output("y", saturating ? ops::saturating_cast(x, to) : ops::cast(x, to));
  }
};
ASHLAR_GENERATOR(Cast<false>, "cast", "elementwise", "y = x converted to another type");
ASHLAR_GENERATOR(Cast<true>, "saturating_cast", "elementwise",
                 "y = x rounded to nearest and clamped to the range of another type");

class Glu : public Op {
 public:
  Glu() {
    const Param<Type> type = type_param(Kind::floats);
    Extents extents;
    const std::vector<std::string> list = extents.list("shape", "M,N", "shape of x", 1, max_rank);
    const Param<int> axis = axis_param(static_cast<int>(list.size()));
    const int d = *axis < 0 ? *axis + static_cast<int>(list.size()) : *axis;
    const Tensor x = input("x", type, extents.shape(list, static_cast<std::size_t>(d), {.multiple_of = 2}));
    const std::int64_t n = ops::detail::number_or(x.extent(d), 0);
    require(n % 2 == 0, "shape", "an even extent of the axis, found " + std::to_string(n));
    output("y", ops::glu(x, d));
  }
};
ASHLAR_GENERATOR(Glu, "glu", "activations", "y = a sigmoid(b), a and b the halves of x along the axis");

}  // namespace

const UnaryRow* find_unary(const std::string& name) {
  for (const auto& rows : {std::span<const UnaryRow>(functions), std::span<const UnaryRow>(activations)})
    for (const UnaryRow& r : rows)
      if (name == r.name) return &r;
  return nullptr;
}

std::vector<std::string> unary_names() {
  std::vector<std::string> names;
  for (const auto& rows : {std::span<const UnaryRow>(functions), std::span<const UnaryRow>(activations)})
    for (const UnaryRow& r : rows)
      if (r.same_type && r.types != Kind::booleans) names.push_back(r.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ashlar::generators
