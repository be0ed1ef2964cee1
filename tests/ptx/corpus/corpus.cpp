// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/corpus/corpus.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace ashlar::ptx_corpus {
namespace {

struct Totals {
  std::map<std::string, ptx::Module> modules;
  std::map<std::string, std::set<std::string>> launched;  // by file
  std::size_t launches = 0;
  std::uint64_t warp_instructions = 0;
  ptx::Coverage coverage;
  std::vector<void (*)()> before;
};
Totals& totals() {
  static Totals t;
  return t;
}

}  // namespace

std::uint64_t Rng::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

const ptx::Module& module_of(const std::string& file) {
  auto at = totals().modules.find(file);
  if (at == totals().modules.end()) {
    std::ifstream in(ASHLAR_PTX_CORPUS "/" + file + ".ptx");
    if (!in) throw ptx::Error("there is no " + file + ".ptx in " ASHLAR_PTX_CORPUS, 0);
    std::ostringstream text;
    text << in.rdbuf();
    try {
      at = totals().modules.emplace(file, ptx::Module::parse(text.str())).first;
    } catch (const ptx::Error& e) { throw ptx::Error(file + ".ptx:" + std::to_string(e.line) + ": " + e.what(), e.line); }
  }
  return at->second;
}

Corpus::Corpus(const std::string& file, std::uint64_t seed) : rng(seed), file_(file), module_(module_of(file)) {}
Corpus::~Corpus() { count_coverage(device.coverage()); }

ptx::Report Corpus::run(const std::string& kernel, const ptx::Grid& grid, const std::vector<ptx::Piece>& pieces) {
  return counted_launch(device, file_, kernel, grid, pieces);
}

ptx::Report counted_launch(ptx::Device& device, const std::string& file, const std::string& kernel, const ptx::Grid& grid,
                           const std::vector<ptx::Piece>& pieces) {
  Totals& t = totals();
  t.launched[file].insert(kernel);
  ++t.launches;
  ptx::Report r = device.launch(module_of(file), kernel, grid, pieces);
  t.warp_instructions += r.warp_instructions;
  return r;
}
void count_coverage(const ptx::Coverage& c) { totals().coverage.merge(c); }

void before_totals(void (*f)()) { totals().before.push_back(f); }

void print_totals() {
  const Totals& t = totals();
  for (const auto f : t.before) f();
  std::size_t kernels = 0;
  for (const auto& [file, names] : t.launched) kernels += names.size();
  std::printf("%zu kernels of nvcc in %zu files, %zu launches, %llu instructions of warps, %zu opcodes:\n%s", kernels,
              t.launched.size(), t.launches, static_cast<unsigned long long>(t.warp_instructions), t.coverage.counts.size(),
              t.coverage.text().c_str());
}

std::vector<std::string> not_launched() {
  std::vector<std::string> names;
  for (const auto& [file, module] : totals().modules)
    if (file.find('/') ==
        std::string::npos)  // not a program, whose headers instantiate more than it needs, as all do with mangled names
      for (const ptx::Kernel& k : module.kernels())
        if (k.name.rfind("_Z", 0) != 0 && !totals().launched[file].count(k.name)) names.push_back(file + ": " + k.name);
  return names;
}

template <class T>
bool within(T got, T want, Bound b) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return std::signbit(got) == std::signbit(want) || b.ulps > 0 || b.absolute > 0;
  if (std::isinf(want) || std::isinf(got)) {  // the bound may reach across the largest number
    const T most = std::numeric_limits<T>::max();
    return b.ulps > 0 && std::signbit(got) == std::signbit(want) &&
           std::fabs(std::isinf(want) ? got : want) >= most * (1 - 8 * std::numeric_limits<T>::epsilon());
  }
  const double difference = std::fabs(static_cast<double>(got) - static_cast<double>(want));
  if (b.absolute > 0 && difference <= b.absolute) return true;
  const T size = std::max(std::fabs(want), std::numeric_limits<T>::min());
  const double ulp = std::ldexp(1.0, std::ilogb(size) - (std::numeric_limits<T>::digits - 1));
  return b.ulps > 0 && difference <= b.ulps * ulp;
}
template bool within(float, float, Bound);
template bool within(double, double, Bound);

void judge(const std::string& what, std::size_t at, const std::string& got, const std::string& want) {
  CHECK_MESSAGE((got.empty() && want.empty()), what, ": element ", at, " is ", got, ", expected ", want);
}

std::string shown(double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g (%a)", v, v);
  return text;
}
std::string shown(float v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g (%a)", static_cast<double>(v), static_cast<double>(v));
  return text;
}

}  // namespace ashlar::ptx_corpus
