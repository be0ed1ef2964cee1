// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/src/problem.h"

#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include <ashlar/ir/numeric.h>
#include <ashlar/runtime/runtime.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ashlar::tune {

namespace {

Type type_of(const ashlar_abi1_argument& a) {
  static constexpr struct {
    int code;
    Type type;
  } known[] = {{ASHLAR_I8, i8},   {ASHLAR_I16, i16},   {ASHLAR_I32, i32},   {ASHLAR_I64, i64},   {ASHLAR_U8, u8},
               {ASHLAR_U16, u16}, {ASHLAR_U32, u32},   {ASHLAR_U64, u64},   {ASHLAR_F16, f16},   {ASHLAR_F32, f32},
               {ASHLAR_F64, f64}, {ASHLAR_BF16, bf16}, {ASHLAR_E4M3, e4m3}, {ASHLAR_E5M2, e5m2}, {ASHLAR_BOOL, bool_}};
  for (const auto& k : known)
    if (k.code == (a.type_bits << 8 | a.type_code)) return k.type;
  throw std::runtime_error(fmt::format("{}: a type that the tuner cannot fill", a.name));
}

std::string signature_of(const ashlar_abi1_argument& a) {
  std::string text = fmt::format("{} {} {} {}:{}", a.name, a.kind, a.rank, a.type_code, a.type_bits);
  for (std::int32_t d = 0; d < a.rank; ++d) text += fmt::format(" {}", a.dims[d].text);
  return text;
}

std::byte* mapped(std::size_t bytes, int sharing) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::runtime_error(fmt::format("there is no memory for a tensor of {} bytes", bytes));
  return static_cast<std::byte*>(p);
}

Range usual_range(const Type& t) {
  if (t.is_float()) return {-1, 1};
  if (t.is_bool()) return {0, 1};
  return t.is_unsigned() ? Range{0, 15} : Range{-8, 7};
}

double usual_tolerance(const Type& t) { return !t.is_float() ? 0 : t.bits == 64 ? 1e-12 : t.bits == 32 ? 1e-4 : 3e-2; }

ir::Value drawn(const Type& t, const Range& range, std::mt19937_64& random) {
  if (t.is_float()) return ir::float_value(t, std::uniform_real_distribution<double>(range.low, range.high)(random));
  return ir::int_value(t, std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(range.low),
                                                                      static_cast<std::int64_t>(range.high))(random));
}

std::vector<std::int64_t> symbols_of(const ashlar_abi1_desc& d, const ProblemOptions& options) {
  std::vector<std::int64_t> values;
  for (std::int32_t k = 0; k < d.symbol_count; ++k) {
    const ashlar_abi1_symbol& s = d.symbols[k];
    const auto given = options.sizes.find(s.name);
    if (given == options.sizes.end())
      throw std::runtime_error(fmt::format("--size {}=N: expected a size of every Symbol", s.name));
    const std::int64_t n = given->second;
    if (n < s.min || n > s.max || n % s.multiple_of != 0)
      throw std::runtime_error(
          fmt::format("--size {}={}: expected {} to {}, a multiple of {}", s.name, n, s.min, s.max, s.multiple_of));
    values.push_back(n);
  }
  for (const auto& [name, n] : options.sizes) {
    bool known = false;
    for (std::int32_t k = 0; k < d.symbol_count; ++k) known = known || name == d.symbols[k].name;
    if (!known) throw std::runtime_error(fmt::format("--size {}={}: there is no Symbol of this name", name, n));
  }
  if (const int broken = d.assume ? d.assume(values.data()) : 0)
    throw std::runtime_error(fmt::format("--size: expected sizes with {}", d.assumptions[broken - 1]));
  return values;
}

void require_argument(const ashlar_abi1_desc& d, const char* option, const std::string& name) {
  for (std::int32_t k = 0; k < d.argument_count; ++k)
    if (name == d.arguments[k].name) return;
  throw std::runtime_error(fmt::format("{} {}: there is no argument of this name", option, name));
}

}  // namespace

Problem::Problem(const ashlar_abi1_desc& d, const ProblemOptions& options) {
  if (d.device_type != 1) throw std::runtime_error("expected a kernel for a processor, found one for a device");
  const std::vector<std::int64_t> symbols = symbols_of(d, options);
  std::vector<std::int64_t> computed(static_cast<std::size_t>(d.computed_count) + 1);
  if (d.shape) d.shape(symbols.data(), computed.data());
  for (const auto& [name, range] : options.ranges) require_argument(d, "--range", name);
  for (const auto& [name, tolerance] : options.tolerances) require_argument(d, "--tolerance", name);
  for (const auto& [name, range] : options.ranges)
    if (!(range.low <= range.high))
      throw std::runtime_error(fmt::format("--range {}={}:{}: expected LOW:HIGH in this order", name, range.low, range.high));
  tensors_.reserve(static_cast<std::size_t>(d.argument_count));
  scalars_.reserve(static_cast<std::size_t>(d.argument_count));
  for (std::int32_t k = 0; k < d.argument_count; ++k) {
    const ashlar_abi1_argument& a = d.arguments[k];
    signature_.push_back(signature_of(a));
    const Type type = type_of(a);
    const auto given = options.ranges.find(a.name);
    const Range range = given == options.ranges.end() ? usual_range(type) : given->second;
    const std::uint64_t seed = options.seed * 1000003 + static_cast<std::uint64_t>(k);
    if (a.kind == ASHLAR_ABI1_SCALAR) {
      std::mt19937_64 random(seed);
      auto& bytes = scalars_.emplace_back(8);
      ir::write_value(bytes.data(), drawn(type, range, random));
      arguments_.push_back(bytes.data());
      continue;
    }
    Tensor& t = tensors_.emplace_back();
    t.name = a.name, t.type = type, t.output = a.kind != ASHLAR_ABI1_INPUT;
    for (std::int32_t dim = 0; dim < a.rank; ++dim) {
      const ashlar_abi1_dim& of = a.dims[dim];
      std::int64_t n = of.computed >= 0 ? computed[static_cast<std::size_t>(of.computed)] : of.constant;
      for (std::int32_t term = 0; term < of.term_count; ++term)
        n += of.terms[term].coefficient * symbols[static_cast<std::size_t>(of.terms[term].symbol)];
      if (n < 0) throw std::runtime_error(fmt::format("--size: {}.shape[{}] = {} would be {}", a.name, dim, of.text, n));
      t.shape.push_back(n), t.elements *= n;
    }
    t.bytes = static_cast<std::size_t>(t.elements) * static_cast<std::size_t>(type.bytes()) + 64;
    t.data = mapped(t.bytes, MAP_PRIVATE);
    if (a.kind != ASHLAR_ABI1_OUTPUT) fill(t, seed, range);
    if (t.output) {
      t.expected = mapped(t.bytes, MAP_SHARED);
      const auto tolerance = options.tolerances.find(a.name);
      t.tolerance = tolerance == options.tolerances.end() ? usual_tolerance(type) : tolerance->second;
    }
    t.handle.data = t.data, t.handle.device_type = 1, t.handle.ndim = a.rank;
    t.handle.type_code = a.type_code, t.handle.type_bits = a.type_bits, t.handle.type_lanes = 1;
    t.handle.shape = t.shape.data();
    arguments_.push_back(&t.handle);
  }
}

Problem::~Problem() {
  for (const Tensor& t : tensors_) {
    ::munmap(t.data, t.bytes);
    if (t.expected) ::munmap(t.expected, t.bytes);
  }
}

void Problem::fill(Tensor& t, std::uint64_t seed, const Range& range) const {
  std::mt19937_64 random(seed);
  const int bytes = t.type.bytes();
  for (std::int64_t k = 0; k < t.elements; ++k) ir::write_value(t.data + k * bytes, drawn(t.type, range, random));
}

int Problem::call(const ashlar_abi1_desc& d) const { return ashlar_abi1_call(&d, arguments_.data(), nullptr); }

void Problem::clear_outputs() const {
  for (const Tensor& t : tensors_)
    if (t.output) std::memset(t.data, 0xa5, t.bytes);
}

void Problem::protect_inputs() const {
  for (const Tensor& t : tensors_)
    if (!t.output && ::mprotect(t.data, t.bytes, PROT_READ) != 0) throw std::runtime_error("mprotect fails");
}

void Problem::keep_results() const {
  for (const Tensor& t : tensors_)
    if (t.output) std::memcpy(t.expected, t.data, t.bytes);
}

std::string Problem::difference() const {
  for (const Tensor& t : tensors_) {
    if (!t.output || std::memcmp(t.data, t.expected, t.bytes) == 0) continue;
    const int bytes = t.type.bytes();
    const auto value = [&](const std::byte* from, std::int64_t k) { return ir::read_value(t.type, from + k * bytes); };
    double largest = 0;
    if (t.type.is_float())
      for (std::int64_t k = 0; k < t.elements; ++k)
        if (const double v = std::fabs(value(t.expected, k).f); std::isfinite(v)) largest = std::max(largest, v);
    for (std::int64_t k = 0; k < t.elements; ++k) {
      const ir::Value found = value(t.data, k), expected = value(t.expected, k);
      if (ir::same_value(found, expected)) continue;
      if (t.type.is_float() && std::fabs(found.f - expected.f) <= t.tolerance * largest) continue;
      return fmt::format("{}[{}] is {}, expected {}", t.name, k, ir::text(found), ir::text(expected));
    }
    if (std::memcmp(t.data + t.elements * bytes, t.expected + t.elements * bytes,
                    t.bytes - static_cast<std::size_t>(t.elements * bytes)) != 0)
      return fmt::format("{}: bytes beyond its end were written", t.name);
  }
  return {};
}

std::string Problem::mismatch(const ashlar_abi1_desc& d) const {
  std::vector<std::string> other;
  for (std::int32_t k = 0; k < d.argument_count; ++k) other.push_back(signature_of(d.arguments[k]));
  if (other == signature_) return {};
  return fmt::format("other arguments: {}, expected {}", fmt::join(other, ", "), fmt::join(signature_, ", "));
}

}  // namespace ashlar::tune
