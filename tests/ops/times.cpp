#include "tests/ops/times.h"

#include <ashlar/runtime/runtime.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/generator/compile.h>
#include <ashlar/ir/build.h>
#include <ashlar/schedules/by_default.h>

#include <ashlar/analysis/evaluate.h>

#include "tests/ops/pointers.h"

namespace ops_test {
namespace {

constexpr double goal = 0.95;
constexpr double longest_call_ns = 3e8, sample_ns = 2e5, budget_ns = 1e8;

double thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// The values that Symbols have in a run, from the extents that hold one of them.
analysis::Assignment symbols_of(const Maker& m, const Run& run) {
  analysis::Assignment known;
  const auto is_known = [&](ir::Id v) {
    return std::any_of(known.begin(), known.end(), [&](const analysis::Binding& b) { return b.id == v; });
  };
  std::size_t next = 0;
  for (const Maker::Input& i : m.inputs) {
    if (i.tensor.empty()) continue;
    const Dims& shape = run.shapes.at(next++);
    const std::vector<Extent> extents = i.tensor.shape().extents();
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const std::vector<ir::Id> in = [&] {
        std::vector<ir::Id> r;
        for (const ir::Id v : ir::free_vars(extents[d].end()))
          if (!is_known(v)) r.push_back(v);
        return r;
      }();
      if (in.size() != 1) continue;
      for (std::int64_t n = 0; n <= 4096; ++n) {
        known.push_back({in.front(), nullptr, n});
        if (analysis::evaluate(extents[d].end(), known) == shape[d]) break;
        known.pop_back();
      }
    }
  }
  return known;
}

std::optional<Dims> evaluated(const Tensor& t, const analysis::Assignment& at) {
  Dims shape;
  const std::vector<Extent> extents = t.shape().extents();
  for (const Extent& e : extents) {
    const auto n = analysis::evaluate(e.end(), at);
    const auto begin = e.begin().empty() ? std::optional<std::int64_t>(0) : analysis::evaluate(e.begin(), at);
    if (!n || !begin) return std::nullopt;
    shape.push_back(*n - *begin);
  }
  return shape;
}

// Arguments of a call at a size; empty where it is not known.
std::optional<interp::Arguments> arguments_at(const Maker& m, const Run& run, const analysis::Assignment& at) {
  interp::Arguments r;
  std::uint64_t seed = 1;
  for (const Maker::Input& i : m.inputs) {
    if (i.tensor.empty()) continue;
    const auto shape = evaluated(i.tensor, at);
    if (!shape) return std::nullopt;
    std::int64_t position = 0;
    r.emplace_back(interp::Array::make(i.type, *shape, [&](auto) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      return i.values(seed ^ seed >> 32, position++);
    }));
  }
  std::size_t next = 0;
  for (const Maker::Input& i : m.inputs)
    if (i.tensor.empty()) {
      const double v = run.scalars.at(next++);
      r.emplace_back(i.type.is_float() ? ir::float_value(i.type, v) : ir::int_value(i.type, static_cast<std::int64_t>(v)));
    }
  for (const Tensor& t : m.results) {
    const auto shape = evaluated(t, at);
    if (!shape) return std::nullopt;
    r.emplace_back(interp::Array::zeros(t.type(), *shape));
  }
  return r;
}

std::int64_t largest(const interp::Arguments& arguments) {
  std::int64_t n = 0;
  for (const interp::Actual& a : arguments)
    if (!a.is_scalar) n = std::max(n, a.array.elements());
  return n;
}

std::string text(const interp::Arguments& arguments) {
  std::string r;
  for (const interp::Actual& a : arguments) {
    if (a.is_scalar) continue;
    r += r.empty() ? "" : " ";
    for (std::size_t d = 0; d < a.array.shape.size(); ++d) r += (d == 0 ? "" : "x") + std::to_string(a.array.shape[d]);
  }
  return r;
}

// The median time of unscheduled code by that of the default schedule, in turns; the times in ns.
struct Pair {
  double unscheduled = 0, by_default = 0, ratio = 0;
};
Pair raced(const codegen::Compiled& unscheduled, const codegen::Compiled& by_default, const std::vector<const void*>& all) {
  const codegen::Compiled* codes[] = {&unscheduled, &by_default};
  double once[2];
  for (int k = 0; k < 2; ++k) {
    for (int call = 0; call < 2; ++call) {
      const double start = thread_ns();
      if (codes[k]->call(all) != ASHLAR_OK) {
        char said[400];
        ashlar_error_text(ashlar_last_error(), said, sizeof said);
        throw std::runtime_error(said);
      }
      once[k] = std::max(50.0, thread_ns() - start);
      if (once[k] > longest_call_ns) break;
    }
  }
  const double round = std::max(once[0], sample_ns) + std::max(once[1], sample_ns);
  const int rounds = static_cast<int>(std::clamp(budget_ns / round, 3.0, 101.0));
  std::vector<double> samples[2], ratios;
  for (int r = 0; r < rounds; ++r) {
    for (const int k : {r % 2, 1 - r % 2}) {
      const int calls = static_cast<int>(std::max(1.0, std::ceil(sample_ns / once[k])));
      const double start = thread_ns();
      for (int call = 0; call < calls; ++call) (void)codes[k]->call(all);
      samples[k].push_back((thread_ns() - start) / calls);
    }
    ratios.push_back(samples[0].back() / samples[1].back());
  }
  return {median(samples[0]), median(samples[1]), median(ratios)};
}

}  // namespace

bool times_are_asked_for() { return std::getenv("ASHLAR_OPS_TIMES") != nullptr; }

void print_times(const std::string& name, const Maker& m, const lang::Built& built, const Run& run) {
  if (ashlar_set_threads(1) != ASHLAR_OK) throw std::runtime_error("the pool refuses one thread");
  try {
    const analysis::Assignment base = symbols_of(m, run);
    std::optional<codegen::Compiled> unscheduled, by_default;
    std::int64_t done = 0;
    for (const std::int64_t wanted : {std::int64_t{4096}, std::int64_t{32768}, std::int64_t{262144}}) {
      std::optional<interp::Arguments> found;
      for (std::int64_t times = 1; times <= 4096; times += std::max<std::int64_t>(1, times / 4)) {
        analysis::Assignment at = base;
        for (analysis::Binding& b : at) b.value *= times;
        std::int64_t elements = 0;
        for (const Maker::Input& i : m.inputs) {
          if (i.tensor.empty()) continue;
          const auto shape = evaluated(i.tensor, at);
          if (!shape) throw std::runtime_error("a shape is not known by its Symbols");
          elements = std::max(elements, Nd::count(*shape));
        }
        for (const Tensor& t : m.results)
          if (const auto shape = evaluated(t, at)) elements = std::max(elements, Nd::count(*shape));
        if (elements < wanted && times < 4096 && !base.empty()) continue;
        found = arguments_at(m, run, at);
        break;
      }
      if (!found || largest(*found) == done) continue;  // no Symbols: the size is there already
      done = largest(*found);
      if (!unscheduled) {
        unscheduled = compile(Schedule(built, Target::host()));
        Schedule s(built, Target::host());
        schedule_by_default(s);
        by_default = compile(s);
      }
      const Pointers pointers(*found);
      Pair p = raced(*unscheduled, *by_default, pointers.all);
      if (p.ratio < goal) p = raced(*unscheduled, *by_default, pointers.all);  // a miss counts when it repeats
      std::printf("%-44s %10.1f us %10.1f us unscheduled %8.2f%s  %s\n", name.c_str(), p.by_default / 1e3, p.unscheduled / 1e3,
                  p.ratio, p.ratio < goal ? "  MISS" : "", text(*found).c_str());
    }
  } catch (const std::exception& e) { std::printf("%-44s left out: %.200s\n", name.c_str(), e.what()); }
  std::fflush(stdout);
}

}  // namespace ops_test
