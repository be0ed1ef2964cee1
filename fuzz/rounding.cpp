#include "rounding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "arguments.h"

namespace fuzz {

using namespace ashlar;

namespace {

// The sum of |a b| over the terms of a result.
double magnitude(const interp::Array& a, const interp::Array& b, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t k = 0; k < a.shape[1]; ++k) sum += std::abs(a.at(std::array{row, k}).f * b.at(std::array{k, column}).f);
  return sum;
}

}  // namespace

bool sums_on_tensor_cores(const Made& made, const std::vector<schedule::Step>& trace) {
  if (!made.product || made.exact || !made.product->half.is_float()) return false;
  return std::any_of(trace.begin(), trace.end(), [](const schedule::Step& step) {
    return step.primitive == "tensorize" && step.args[1].intrinsic->rounds_freely;
  });
}

std::string beyond_rounding(const Made::TiledProduct& product, const interp::Arguments& given, const interp::Arguments& found,
                            const interp::Arguments& expected) {
  const interp::Array &a = given[0].array, &b = given[1].array, &is = found[2].array, &meant = expected[2].array;
  // Tensor cores and the chain of fma's are within their own bounds of the sum without rounding. A stage behind the product
  // doubles it.
  const double terms = static_cast<double>(a.shape[1]);
  const double scale = product.product.id() == product.result.id() ? 1 : 2;
  const double units = scale * (1.5 * terms * 0x1p-23 + terms * 0x1p-24);
  std::string wrong;
  each(meant.shape, [&](const auto& at) {
    const double x = is.at(at).f, y = meant.at(at).f, most = units * magnitude(a, b, at[0], at[1]);
    if (!wrong.empty() || std::abs(x - y) <= most) return;
    wrong = "C[" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + "]: " + std::to_string(x) + ", expected " +
            std::to_string(y) + " within " + std::to_string(most);
  });
  return wrong;
}

}  // namespace fuzz
