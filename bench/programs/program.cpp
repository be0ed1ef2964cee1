#include "bench/programs/program.h"

#include <stdexcept>

#include <ashlar/analysis/evaluate.h>

namespace bench::programs {

Fill uniform(double low, double high) {
  return [=](std::int64_t elements, std::mt19937_64& engine) {
    std::vector<double> r(static_cast<std::size_t>(elements));
    for (double& v : r) v = low + (high - low) * static_cast<double>(engine() >> 40) * 0x1p-24;
    return r;
  };
}

Fill integers(std::int64_t low, std::int64_t high) {
  return [=](std::int64_t elements, std::mt19937_64& engine) {
    std::vector<double> r(static_cast<std::size_t>(elements));
    for (double& v : r)
      v = static_cast<double>(low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low)));
    return r;
  };
}

Symbol Program::size(const char* name, std::int64_t value, Symbol::Facts facts, Where where) {
  symbols_.emplace_back(name, facts, where), sizes.push_back(value);
  return symbols_.back();
}

Dims Program::evaluated(const std::vector<Extent>& shape) const {
  analysis::Assignment at;
  for (std::size_t k = 0; k < symbols_.size(); ++k) at.push_back({symbols_[k].node()->id, nullptr, sizes[k]});
  Dims r;
  for (const Extent& e : shape) {
    const std::optional<std::int64_t> begin = e.begin().empty() ? 0 : analysis::evaluate(e.begin(), at),
                                      end = analysis::evaluate(e.end(), at);
    if (!begin || !end) throw std::runtime_error("expected a shape made of numbers and of Program::size()");
    r.push_back(*end - *begin);
  }
  return r;
}

Tensor Program::in(const char* name, Type type, const std::vector<Extent>& shape, Fill fill, Where where) {
  const Tensor t = lang::make_input(name, type, shape, {}, where);
  inputs.push_back({name, type, evaluated(shape), std::move(fill)});
  arguments.emplace_back(t);
  return t;
}

void Program::out(const Tensor& t) {
  const std::string name = "result" + std::to_string(outputs.size());
  const std::vector<Extent> shape = t.shape().extents();
  const Tensor bound = lang::make_output(name.c_str(), t.type(), shape);
  lang::bind(bound, t);
  outputs.push_back({name, t.type(), evaluated(shape), {}});
  arguments.emplace_back(bound);
}

}  // namespace bench::programs
