// What the inputs of tests hold, and how a program's arguments are declared.
#include "tests/ops/check.h"

namespace ops_test {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
double ordinary(std::uint64_t r) { return static_cast<double>(static_cast<std::int64_t>(r >> 20 & 1023) - 512) / 128; }

}  // namespace

void each(const Dims& shape, const std::function<void(const Dims&)>& f) {
  Dims at(shape.size(), 0);
  for (std::int64_t k = 0, n = Nd::count(shape); k < n; ++k) {
    std::int64_t rest = k;
    for (std::size_t d = at.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    f(at);
  }
}

Values between(double low, double high) {
  return [=](std::uint64_t r, std::int64_t) { return low + (high - low) * static_cast<double>(r >> 20 & 255) / 256; };
}
Values whole(std::int64_t low, std::int64_t high) {
  return [=](std::uint64_t r, std::int64_t) {
    return static_cast<double>(low + static_cast<std::int64_t>((r >> 12) % static_cast<std::uint64_t>(high - low + 1)));
  };
}
Values edges() {
  return [](std::uint64_t r, std::int64_t) {
    const double list[] = {std::nan(""), inf, -inf, 0.0, -0.0, 3e38, -3e38, 1e-40, -1e-40, 88.5, -104.0, 1e-3};
    return r % 3 == 0 ? list[(r >> 8) % 12] : ordinary(r);
  };
}
Values infinities() {
  return [](std::uint64_t r, std::int64_t) {
    const double list[] = {inf, -inf, 0.0, -0.0, 100.0, -100.0};
    return r % 4 == 0 ? list[(r >> 8) % 6] : ordinary(r);
  };
}
Values falls_to(double value, int one_in) {
  return [=](std::uint64_t r, std::int64_t) { return r % static_cast<std::uint64_t>(one_in) == 0 ? value : ordinary(r); };
}

Tensor Maker::in(const char* name, Type type, const std::vector<Extent>& shape, Values values) {
  const Tensor t = lang::make_input(name, type, shape);
  inputs.push_back({t, {}, type, std::move(values)});
  return t;
}
Expr Maker::scalar(const char* name, Type type) {
  const Expr e = lang::make_scalar(name, type);
  inputs.push_back({{}, e, type, {}});
  return e;
}
void Maker::out(const Tensor& t) { results.push_back(t); }

}  // namespace ops_test
